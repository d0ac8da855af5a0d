"""What is left out of a text before a model or a term counter reads it. Nothing of it is shown."""

from __future__ import annotations

import re

#: Part of an embedder's identity: raise it when the rules below change.
RULES = 1

_RULER = re.compile(r"^[ \t]*(?=[^\n]*[-=])[-=:|+ \t]+$\n?", re.MULTILINE)
_RUN = re.compile(r"([^\w\s])\1{3,}")


def collapse(text: str) -> str:
    """`text` without table rulers, and with long runs of one mark cut to three.

    A dash costs a word piece: the ruler of a table of ten columns would take a tenth of what
    the model reads. Lone surrogates (an argument of a command line) become question marks.
    """
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return _RUN.sub(r"\1\1\1", _RULER.sub("", text))
