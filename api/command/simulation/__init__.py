"""Whole games between computer players, and what they show."""
