"""What an outline shows of a short line that may be a heading, as named numbers.

Only what stands in the outline: the line itself, the sizes and kinds around it, the shape of the
short lines beside it. `data/headings.json` has a weight for each name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunker.model import OutlineRow

Features = Mapping[str, float]

_STOP_WORDS = (
    "a an and any are as at be been by can each for from has have in is it its may must not of on "
    "or our per that the their they this to was we were will with you your"
)
_STOP = frozenset(_STOP_WORDS.split())
_NUMBER = re.compile(r"^\d{1,2}[.)]\s")
_MONEY = re.compile(r"[%$€£¥₹]")
_DASH = re.compile("\\s[-\u2013\u2014]\\s")
_WORD_STEPS = (1, 2, 3, 4, 5, 6, 8, 10)
_BLOCKS = ("list", "table", "code")
#: Traits that are looked at in the line and in those beside it.
_SHARED = ("colon", "digit", "comma", "paren", "money", "period", "numbered", "bar", "question")
_FAR = 6
_LARGE = 20


@dataclass(frozen=True, slots=True)
class _Line:
    """A short unmarked line."""

    words: int
    traits: Mapping[str, float]


def is_marked(row: OutlineRow) -> bool:
    """A heading, or a line that typography sets apart as one."""
    return row.level is not None or (row.emphasised and row.text is not None)


def line_features(rows: Sequence[OutlineRow]) -> list[Features | None]:
    """For each row that is a short unmarked line its features; None for every other row."""
    lines = [_line(row) for row in rows]
    run = _runs(lines, range(len(rows)))
    rest = _runs(lines, range(len(rows) - 1, -1, -1))
    found: list[Features | None] = []
    for i, line in enumerate(lines):
        if line is None:
            found.append(None)
            continue
        features: dict[str, float] = {
            "bias": 1.0,
            **line.traits,
            "first": i == 0,
            "second": i == 1,
            "last": i == len(rows) - 1,
        }
        features.update({f"words_to_{n}": line.words <= n for n in _WORD_STEPS})
        features.update({f"run_{n}": run[i] == n for n in range(3)})
        features.update({f"rest_{n}": rest[i] == n for n in range(3)})
        features.update(_beside("previous", rows, lines, i, -1))
        features.update(_beside("next", rows, lines, i, 1))
        found.append({name: float(value) for name, value in features.items()})
    return found


def _line(row: OutlineRow) -> _Line | None:
    text = row.text
    if text is None or is_marked(row):
        return None
    words = text.split()
    traits: dict[str, float] = {
        "question": text.endswith("?"),
        "colon_end": text.endswith(":"),
        "colon": ":" in text[:-1],
        "digit": any(c.isdigit() for c in text),
        "numbered": bool(_NUMBER.match(text)),
        "lower": text[:1].islower(),
        "bar": "|" in text,
        "slash": "/" in text,
        "address": "@" in text or "http" in text,
        "dash": bool(_DASH.search(text)),
        "ampersand": "&" in text,
        "comma": min(text.count(","), 3) / 3,
        "paren": "(" in text,
        "money": bool(_MONEY.search(text)),
        "period": "." in text,
        "stop": sum(w.lower().strip(".,:;()") in _STOP for w in words) / len(words),
        "caps": sum(w[:1].isupper() for w in words) / len(words),
    }
    return _Line(len(words), traits)


def _beside(
    side: str, rows: Sequence[OutlineRow], lines: Sequence[_Line | None], i: int, step: int
) -> dict[str, float]:
    """Features of the neighbour on one side, and of the two there together."""
    line, j = lines[i], i + step
    if line is None or not 0 <= j < len(rows):
        return {}
    other, row = lines[j], rows[j]
    found: dict[str, float] = {
        f"{side}_size": max(-2.0, min(2.0, math.log((row.size + 1) / (rows[i].size + 1)))),
        f"{side}_large": row.size >= _LARGE,
        f"{side}_block": row.kind in _BLOCKS,
        f"{side}_lead_in": row.lead_in,
        f"{side}_body": other is None,
        f"{side}_body_short": other is None and line.words <= 4,
    }
    if other is not None:
        found[f"{side}_unlike"] = min(abs(other.words - line.words), _FAR) / _FAR
        found[f"{side}_longer"] = other.words > line.words + 2
        found[f"{side}_stop"] = other.traits["stop"]
        for name in _SHARED:
            found[f"{side}_{name}"] = other.traits[name]
            found[f"{side}_{name}_both"] = bool(other.traits[name] and line.traits[name])
        second = lines[j + step] if 0 <= j + step < len(rows) else None
        found[f"{side}_run_unlike"] = (
            second is not None
            and abs(other.words - second.words) <= 2
            and abs(other.words - line.words) > 2
        )
    return found


def _runs(lines: Sequence[_Line | None], order: range) -> list[int]:
    """How many short lines stand in a row before each, on the side that the walk comes from."""
    found, length = [0] * len(lines), 0
    for i in order:
        found[i] = length
        length = length + 1 if lines[i] is not None else 0
    return found


def score(features: Features, weights: Mapping[str, float]) -> float:
    """Probability that a line is a heading, by logistic regression."""
    z = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))
