"""Three questions for each example site, each with the page and the phrase that answer it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

QUESTIONS = Path(__file__).parent / "questions.toml"


@dataclass(frozen=True, slots=True)
class Question:
    site: str
    text: str
    path: str
    """Path of the page that answers it."""
    phrase: str
    """Verbatim text of that page which a right hit contains."""


def read_questions() -> list[Question]:
    """All questions of `questions.toml`, in its order."""
    tables = tomllib.loads(QUESTIONS.read_text("utf-8"))
    return [Question(site, **row) for site, rows in tables.items() for row in rows]
