"""Vallelujah: a climbing game of banners, powers, battalions and captures."""
