"""Frozen values that rooms hand to each other. No behaviour beyond what a value knows of itself."""
