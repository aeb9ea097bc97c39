"""pathtrace: replay a described data path, measure every hop, say where the waiting goes."""

__version__ = "0.1.0"
