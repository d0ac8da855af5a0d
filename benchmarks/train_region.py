"""Train the region's classifier and write `chunker/html/classifier/region.npz`.

    python -m benchmarks.train_region FOLDER [--folds 5] [--splits 1] [--write]

FOLDER is a benchmark folder as `wrac eval extraction` takes it. Needs catboost, scikit-learn and
cydifflib, which the product does not: install them beside it, in an environment of their own.

What is learned: for each text block the share of its words that is in the page's main content,
by a word alignment of the page with that content. With `--folds` the pages are split by
registered domain, and what is printed is the word F1 of pages whose domain was not trained on,
and the shares of required and of forbidden snippets in what they keep; each split is another one.
The trees see the kind of page as a linear layer guesses it that was not trained on the page.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostClassifier, Pool
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.region_samples import BARE, Sample, bare, domain, sample
from chunker.html.classifier.model import page_digest
from chunker.html.region import kept
from chunker.html.region_features import names
from chunker.html.region_scores import alike, summary, with_kinds
from chunker.html.region_text import words
from pipeline.evaluation.extraction import holds, read

TARGET = Path(__file__).parent.parent / "chunker" / "html" / "classifier" / "region.npz"
TREES = {"iterations": 250, "learning_rate": 0.08, "rsm": 0.15, "depth": 6, "l2_leaf_reg": 10}
# Few borders: with more, the trees tell the sample's pages apart by their exact counts.
TREES |= {"border_count": 16, "subsample": 0.7, "bootstrap_type": "Bernoulli"}
TREES |= {"loss_function": "CrossEntropy"}
#: One set of trees a seed; their mean is the answer.
SEEDS = (1,)
#: Trees are surer of pages that they have not seen than they should be: their answers are drawn
#: towards one half by this, on the scale of log odds.
SURENESS = 0.7
#: A mix of kinds that is likelier in a crawl than the sample's even one, for a second mean.
MIX = {"article": 0.62, "service": 0.11}


def f1(one: Sample, keep: np.ndarray) -> float:
    """Word F1 of a choice of blocks."""
    number = one.number[keep[one.block]]
    if not len(number) and not one.total:
        return 1.0
    have = np.bincount(number[number >= 0], minlength=len(one.wanted))
    return 2 * np.minimum(have, one.wanted).sum() / (len(number) + one.total)


def snippets(one: Sample, keep: np.ndarray) -> tuple[int, int]:
    """How many of the page's required and of its forbidden snippets a choice of blocks holds."""
    text = " ".join(one.blocks.text[block] for block in np.flatnonzero(keep))
    spelled = f" {' '.join(words(text))} "
    required = sum(holds(spelled, snippet) for snippet in one.page.required)
    return required, sum(holds(spelled, snippet) for snippet in one.page.forbidden)


def fit(samples: list[Sample], tables: list[np.ndarray]) -> list[Any]:
    """Trees over the visible blocks of some pages. What is the same for all blocks of a page is
    left to the linear layer: with it, trees learn the sample's pages by heart."""
    seen = [~one.hidden for one in samples]
    pool = Pool(
        np.concatenate([table[at] for table, at in zip(tables, seen, strict=True)]),
        np.concatenate([one.label[at] for one, at in zip(samples, seen, strict=True)]),
        weight=np.concatenate(
            [one.weight * one.found.words[at] for one, at in zip(samples, seen, strict=True)]
        ),
    )
    kinds = tables[0].shape[1] - samples[0].found.table.shape[1]
    ignored = [i + kinds for i, name in enumerate(names()) if name.startswith("page.")]
    settings = TREES | {"ignored_features": ignored, "thread_count": 2, "verbose": 0}
    return [
        CatBoostClassifier(**settings, random_seed=seed, allow_writing_files=False).fit(pool)
        for seed in SEEDS
    ]


def answer(trees: list[Any], table: np.ndarray) -> np.ndarray:
    """Probabilities of trees as they come from the training library."""
    raw = [one.predict(table, prediction_type="RawFormulaVal") for one in trees]
    return 1 / (1 + np.exp(-SURENESS * np.mean(raw, axis=0)))


def kinds_of(rows: np.ndarray, kinds: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Weights and bias of the linear layer from a page's summary to its kind."""
    scale = StandardScaler().fit(rows)
    layer = LogisticRegression(C=0.01, max_iter=500).fit(scale.transform(rows), kinds)
    weights = layer.coef_.T / scale.scale_[:, None]
    return weights, layer.intercept_ - scale.mean_ @ weights


def kind_answer(layer: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> np.ndarray:
    raw = rows @ layer[0] + layer[1]
    raw = np.exp(raw - raw.max(axis=1, keepdims=True))
    return raw / raw.sum(axis=1, keepdims=True)


def report(samples: list[Sample], scores: list[np.ndarray], empty: int) -> None:
    """Print the mean word F1, by kind and over a likely mix. `empty` pages have no text."""
    by_kind: dict[str, list[float]] = {}
    found = []
    for one, score in zip(samples, scores, strict=True):
        seen = np.where(one.hidden, 0, score).astype(np.float32)
        keep, _ = kept(one.blocks, one.found.words, alike(seen, one.found), ~one.hidden)
        by_kind.setdefault(one.page.kind, []).append(f1(one, keep))
        found.append(snippets(one, keep))
    required, forbidden = np.sum(found, axis=0)
    required /= max(1, sum(len(one.page.required) for one in samples))
    forbidden /= max(1, sum(len(one.page.forbidden) for one in samples))
    means = {kind: float(np.mean(values)) for kind, values in sorted(by_kind.items())}
    rest = (1 - sum(MIX.values())) / max(1, len(means.keys() - MIX.keys()))
    mix = sum(MIX.get(kind, rest) * mean for kind, mean in means.items())
    every = [value for values in by_kind.values() for value in values]
    shown = " ".join(f"{kind} {mean:.4f}" for kind, mean in means.items())
    print(
        f"{shown} | mean {np.mean(every):.4f} mix {mix:.4f} with {required:.4f} "
        f"without {forbidden:.4f} ({empty} pages left out)",
        flush=True,
    )


def train(folder: Path, folds: int, splits: int, write: bool) -> None:
    """The whole run; see the module's docstring."""
    everything = [sample(page) for page in read(folder)]
    samples = [one for one in everything if one is not None]
    extra = [bare(one) for one in samples if one.page.kind in BARE]
    both = samples + [one for one in extra if one is not None]
    full = np.arange(len(both)) < len(samples)
    rows = np.array([summary(one.found, one.hidden) for one in both])
    kinds = np.array([one.page.kind for one in both])
    for split in range(splits):
        fold = folds_of(both, folds, split)
        tables = tables_of(both, rows, kinds, full, fold)
        scores = held_out(both, tables, fold)
        report(samples, scores[: len(samples)], len(everything) - len(samples))
        report(both[len(samples) :], scores[len(samples) :], 0)
    if write:
        tables = tables_of(both, rows, kinds, full, folds_of(both, folds, 0))
        weights, bias = kinds_of(rows[full], kinds[full])
        np.savez_compressed(
            TARGET,
            kind_weights=weights.astype(np.float32),
            kind_bias=bias.astype(np.float32),
            pages=np.array([page_digest(one.page.body) for one in samples], np.uint64),
            **arrays(fit(both, tables)),
        )


def folds_of(samples: list[Sample], folds: int, split: int) -> np.ndarray:
    """Number of the part that each page is in; a domain's pages are in one."""
    domains = sorted({domain(one.page.url) for one in samples})
    np.random.RandomState(split).shuffle(domains)
    fold_of = {name: i % folds for i, name in enumerate(domains)}
    return np.array([fold_of[domain(one.page.url)] for one in samples])


def tables_of(
    samples: list[Sample], rows: np.ndarray, kinds: np.ndarray, full: np.ndarray, fold: np.ndarray
) -> list[np.ndarray]:
    """The classifier's tables, with kinds as a layer guesses them that has not seen the part."""
    guessed = np.zeros((len(samples), len(set(kinds))))
    for k in set(fold.tolist()):
        layer = kinds_of(rows[(fold != k) & full], kinds[(fold != k) & full])
        guessed[fold == k] = kind_answer(layer, rows[fold == k])
    return [with_kinds(one.found, kind) for one, kind in zip(samples, guessed, strict=True)]


def held_out(samples: list[Sample], tables: list[np.ndarray], fold: np.ndarray) -> list[np.ndarray]:
    """Scores of each page's blocks by trees that have not seen the page's part."""
    scores: list[np.ndarray] = [np.zeros(0)] * len(samples)
    for k in set(fold.tolist()):
        at = np.flatnonzero(fold != k)
        trees = fit([samples[i] for i in at], [tables[i] for i in at])
        for i in np.flatnonzero(fold == k):
            scores[i] = answer(trees, tables[i])
    return scores


def arrays(sets: list[Any]) -> dict[str, Any]:
    """Trees as arrays, see `chunker.html.classifier.model`. A question that a shallow tree lacks
    is one that is never answered with yes."""
    depth = TREES["depth"]
    columns, borders, values, biases = [], [], [], []
    for trees in sets:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trees.json"
            trees.save_model(str(path), format="json")
            model = json.loads(path.read_text())
        scale, (bias,) = model["scale_and_bias"]
        biases.append(bias * SURENESS)
        for tree in model["oblivious_trees"]:
            lacking = depth - len(tree["splits"])
            columns += [split["float_feature_index"] for split in tree["splits"]] + [0] * lacking
            borders += [split["border"] for split in tree["splits"]] + [np.inf] * lacking
            leaves = np.zeros(2**depth)
            leaves[: len(tree["leaf_values"])] = tree["leaf_values"]
            values.append(leaves * scale * SURENESS / len(sets))
    return {
        "column": np.array(columns, np.int16),
        "border": np.array(borders, np.float32),
        "value": np.array(values, np.float16),
        "bias": np.float64(np.mean(biases)),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    train(given.folder, given.folds, given.splits, given.write)
