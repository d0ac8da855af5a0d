"""The forms in which a method may get an organisation's documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline.errors import UsageError
from pipeline.evaluation import flatten
from pipeline.evaluation.methods import Original
from pipeline.evaluation.retrieval_corpus import Organisation, files

#: Forms that are Markdown, which every method reads; the product alone reads the others.
MARKDOWN_FORMS = ("md", "flattened", "flattened-h")
FILE_FORMS = ("html", "docx", "pptx", "pdf")
HTML_FORMS = ("flattened.html", "flattened-h.html")
FORMS = (*MARKDOWN_FORMS, *HTML_FORMS, *FILE_FORMS)

_GENERATED: dict[str, tuple[str, Callable[[str, str], str]]] = {
    "md": ("md", lambda name, text: text),
    "flattened": ("md", flatten.flattened),
    "flattened-h": ("md", flatten.flattened_h),
    "flattened.html": ("html", lambda name, text: flatten.flattened(name, text, html=True)),
    "flattened-h.html": ("html", lambda name, text: flatten.flattened_h(name, text, html=True)),
}


def originals(directory: Path, organisation: Organisation, form: str) -> list[Original]:
    """The organisation's documents in a form. Raises `UsageError` for one that is not there."""
    if form in FILE_FORMS:
        paths = files(directory / "datasets" / organisation.name, form)
        if not paths:
            raise UsageError(f"{organisation.name} has no documents as {form}")
        return [Original(path.stem, form, path.read_bytes()) for path in paths]
    if form not in _GENERATED:
        raise UsageError(f"unknown form {form!r}; known: {', '.join(FORMS)}")
    ending, make = _GENERATED[form]
    return [
        Original(file, ending, make(f"{organisation.name}/{file}", text).encode())
        for file, text in organisation.documents.items()
    ]
