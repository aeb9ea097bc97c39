"""YAML text becomes a ``model.Scenario``, or every fault at once with line, column and nearest match.

Does no file access and reads no environment; what a place really is, ``places`` find out.
"""

from pathtrace.scenario.read import decode, parse
from pathtrace.scenario.schema import schema

__all__ = ["decode", "parse", "schema"]
