"""Runs on disk: one folder each, in a format with a number, written as the run goes.

``files`` names what lies in a folder, ``recorder`` takes samples and readings as they come,
``facts`` has everything else that a run is, ``runs`` creates, finds and loads.
"""
