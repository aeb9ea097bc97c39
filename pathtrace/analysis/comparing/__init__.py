"""Runs held against each other: may they be, what differs, how sure each change is."""
