"""How often bytes really move, by what others than pathtrace moved."""
