"""One resource measured alone, outside the timed part: the ceilings that figures are held against.

Each file holds one probe (``ports.Probe``). A ceiling that cannot be known here is ``None``.
"""
