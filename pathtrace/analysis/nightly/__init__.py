"""Nights held against earlier ones: as expected or not, what changed and lasts."""
