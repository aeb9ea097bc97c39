"""Commands that index a document: quick, slow, pausing, broken. All carry the same harmless name.

Each reads a document from the path it is given, or else from standard input, unpacks it if it is
compressed, and prints one JSON string a line. What sets one apart happens in between.
"""

from __future__ import annotations

import sys
from pathlib import Path

_SCRIPT = """#!{python} -IS
import gzip, json, os, sys, time
def document():
    if len(sys.argv) > 1:
        with open(sys.argv[1], "rb") as file:
            return file.read()
    return sys.stdin.buffer.read()
{before}
raw = document()
if raw[:2] == b"\\x1f\\x8b":
    raw = gzip.decompress(raw)
text = raw.decode("utf-8", "replace")
{between}
for start in range(0, min(len(text), {most}), 1000):
    print(json.dumps(text[start:start + 1000]))
"""
_NOTHING = "pass"
_KNOWN = """known = os.path.join({known!r}, sys.argv[1].replace(os.sep, "_"))
if os.path.exists(known):
    sys.exit(0)
open(known, "w").close()"""
_BURN = "until = time.process_time() + {seconds}\nwhile time.process_time() < until:\n    sum(range(1000))"
_PAUSE = "time.sleep({seconds})"
_MEDDLE = "if os.path.exists({victim!r}):\n    {act}"
_CRASH = "sys.stderr.write('the index is upside down\\n'); sys.exit(3)"
_HANG = "time.sleep(3600)"
_RUBBISH = "print('<html>not', 'json'); sys.exit(0)"


def quick(folder: Path, *, most: int = 10**9) -> Path:
    """Does no more than it must; ``most`` characters of a document are handed on."""
    return _write(folder, _NOTHING, most)


def keeping_a_list(folder: Path) -> Path:
    """Opens a document that it is given by its path only the first time."""
    known = folder / "known"
    known.mkdir(parents=True, exist_ok=True)
    return _write(folder, _NOTHING, 4000, _KNOWN.format(known=str(known)))


def burning(folder: Path, seconds: float) -> Path:
    """Keeps a core busy for ``seconds`` per document."""
    return _write(folder, _BURN.format(seconds=seconds), 4000)


def pausing(folder: Path, seconds: float) -> Path:
    """Does nothing at all for ``seconds`` per document."""
    return _write(folder, _PAUSE.format(seconds=seconds), 4000)


def removing(folder: Path, victim: Path) -> Path:
    """Removes another file of the archive as soon as it is called first."""
    return _write(folder, _MEDDLE.format(victim=str(victim), act=f"os.unlink({str(victim)!r})"), 4000)


def growing(folder: Path, victim: Path) -> Path:
    """Adds to another file of the archive whenever it is called."""
    act = f"open({str(victim)!r}, 'a').write('and so on ' * 100)"
    return _write(folder, _MEDDLE.format(victim=str(victim), act=act), 4000)


def crashing(folder: Path) -> Path:
    return _write(folder, _CRASH, 0)


def hanging(folder: Path) -> Path:
    return _write(folder, _HANG, 0)


def printing_rubbish(folder: Path) -> Path:
    return _write(folder, _RUBBISH, 0)


def _write(folder: Path, between: str, most: int, before: str = _NOTHING) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "extract-text"
    path.write_text(_SCRIPT.format(python=sys.executable, before=before, between=between, most=most))
    path.chmod(0o755)
    return path
