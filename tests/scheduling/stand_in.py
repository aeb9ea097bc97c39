"""Stands in for Python in a schedule: notes how it was called, and that is all."""

from __future__ import annotations

import json
from pathlib import Path

HOSTILE = (
    "with blanks  and\ttabs",
    "100 % of %h %n %%",
    "it's \"quoted\" 'twice' ''",
    "$HOME ${HOME} $$ $(touch never) `touch never`",
    "back\\slash \\\\ \\n \\% \\",
    "line\nend\n\nand\r\nmore\n",
    "bäume und 木 und 🌲",
    ";",
    "; touch never; #",
    "&& || | > never < * ? [a] {a,b} ~ !",
    "-leading",
    "\x01\x02\x1b[31m\x7f",
    "",
)
"""Words that must arrive as they are."""


def make(path: Path, notes: Path) -> Path:
    """An executable that appends its words, folder and PATH to ``notes``, a line of JSON for each call."""
    path.write_text(
        "#!/usr/bin/python3 -I\n"
        "import json, os, sys\n"
        f"with open({str(notes)!r}, 'a') as file:\n"
        "    file.write(json.dumps({'words': sys.argv[1:], 'folder': os.getcwd(),\n"
        "        'path': os.environ['PATH'], 'secret': os.environ.get('NAS_PASSWORD')}) + '\\n')\n"
    )
    path.chmod(0o755)
    return path


def noted(notes: Path) -> list[dict[str, object]]:
    """The calls, in order."""
    return [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
