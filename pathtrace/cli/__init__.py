"""The command line: arguments, streams, colour, progress, exit codes. One short file per command.

Everything that a command needs beyond click is imported when it runs, never on the way to ``--help``.
"""

from pathtrace.cli.edge import main

__all__ = ["main"]
