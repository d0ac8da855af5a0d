"""The embedders, by specification. Nothing heavy is imported before one is opened."""

from __future__ import annotations

from chunker import tokens
from chunker.tokens import Counter
from indexer.errors import EmbedderSpecError
from indexer.ports import Embedder

#: The specification of the model that is installed with the package.
DEFAULT = "minilm"

#: `[CLS]` before a text and `[SEP]` behind it.
_SPECIAL = 2

_KINDS = "minilm, onnx:FOLDER[#SHA256], endpoint:URL#MODEL, fastembed:MODEL, FAMILY+SPECIFICATION"


def open_embedder(spec: str = DEFAULT, threads: int | None = None) -> Embedder:
    """The embedder that `spec` names, ready to use.

    `minilm` is the installed model; `onnx:FOLDER` a sentence-transformer exported to ONNX, with
    the digest of its weights where it shall be pinned; `endpoint:URL#MODEL` an OpenAI-compatible
    `/v1/embeddings`; `fastembed:MODEL` a model that fastembed fetches; `e5+` (or another of
    `prefixed.FAMILIES`) before one of these adds what that family of models expects before
    questions and passages. `threads` bounds the cores of a local model (all, when None).

    Raises `EmbedderSpecError` for anything else, and `ModelNotFoundError`, `ModelDigestError` or
    `ModelUnsupportedError` for a model that is absent, another one, or of no use.
    """
    family, plus, inner = spec.partition("+")
    if plus and ":" not in family:
        from indexer.embedders.prefixed import FAMILIES, PrefixedEmbedder

        if family not in FAMILIES:
            raise EmbedderSpecError(
                f"unknown family {family!r} before {inner!r}; known: {', '.join(FAMILIES)}"
            )
        return PrefixedEmbedder(open_embedder(inner, threads), family)
    kind, _, rest = spec.partition(":")
    if spec == "minilm":
        from indexer.embedders.onnx import open_minilm

        return open_minilm(threads)
    if kind == "onnx" and rest:
        from indexer.embedders.onnx import open_folder

        folder, _, digest = rest.partition("#")
        return open_folder(folder, digest or None, threads)
    if kind == "endpoint" and "#" in rest:
        from indexer.embedders.endpoint import open_endpoint

        url, _, model = rest.partition("#")
        return open_endpoint(url, model)
    if kind == "fastembed" and rest:
        from indexer.embedders.fastembed import open_fastembed

        return open_fastembed(rest, threads)
    raise EmbedderSpecError(f"unknown embedder {spec!r}; known: {_KINDS}")


def open_counter(spec: str = DEFAULT) -> Counter:
    """`Embedder.count` of the embedder that `spec` names, without its weights where that can be.

    The default model's tokenizer is the one that `chunker.tokens` holds. Raises as
    `open_embedder` does.
    """
    if spec == "minilm":
        return _count_minilm
    return open_embedder(spec).count


def _count_minilm(text: str) -> int:
    return tokens.count(text) + _SPECIAL
