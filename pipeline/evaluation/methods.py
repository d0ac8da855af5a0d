"""What is compared: a method takes the documents of one organisation and gives their chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pipeline.evaluation.retrieval_corpus import Piece


@dataclass(frozen=True, slots=True)
class Original:
    """A document as a method gets it."""

    file: str
    """File name without its ending."""
    ending: str
    """`md`, `html`, `docx`, `pptx` or `pdf`."""
    body: bytes

    @property
    def markdown(self) -> str:
        """The text of a Markdown document."""
        return self.body.decode("utf-8")


Method = Callable[[Sequence[Original]], list[Piece]]


def per_document(
    split: Callable[[str, str], Iterable[tuple[str, str]]],
) -> Method:
    """A method from a function of file name and Markdown that gives (shown, embedded) pairs."""

    def method(originals: Sequence[Original]) -> list[Piece]:
        return [
            Piece(shown, embedded, original.file)
            for original in originals
            for shown, embedded in split(original.file, original.markdown)
        ]

    return method
