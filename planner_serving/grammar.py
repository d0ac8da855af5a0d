"""The answer that a model may give: one symbol a line of the outline, and nothing else.

The grammar hangs on the number of lines alone. No text of a page can change it, and an answer in
it cannot name what does not exist, cannot write words and cannot run on.
"""

from __future__ import annotations

from typing import Final

from chunker.model import Role

#: Changes whenever the symbols or their meaning do.
REVISION: Final = "1"

#: The line is a heading of this level.
LEVELS: Final = "123456"
#: The line is no heading and goes on with what is above it.
BODY: Final = "."
#: The line is no heading and begins a new subject.
BEGINS: Final = "+"
#: The line is no heading and goes on with the section around the one that just ended.
OUTWARD: Final = "<"
#: The line, and the text up to the next one, is no content: the closed list of reasons.
DROPS: Final[dict[str, Role]] = {
    "n": "navigation",
    "c": "cookie",
    "l": "login",
    "s": "share",
    "g": "legal",
}
SYMBOLS: Final = LEVELS + BODY + BEGINS + OUTWARD + "".join(DROPS)


def regex(lines: int) -> str:
    """What an answer for so many lines matches, from end to end."""
    return f"[1-6{BODY}{BEGINS}{OUTWARD}{''.join(DROPS)}]{{{lines}}}"


def max_tokens(lines: int) -> int:
    """Most tokens an answer takes: a symbol is at most one, and the end is one."""
    return lines + 1
