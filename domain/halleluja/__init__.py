"""Halleluja: a shedding game of the Mau-Mau family, set in a little monastery."""
