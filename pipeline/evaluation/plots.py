"""Quality against tokens and against cost, as PNG and SVG (extra `eval`)."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError
from pipeline.evaluation.metrics import BUDGETS

_FORMATS = ("png", "svg")
#: One for each method, as long as they last.
_COLORS = (
    *(f"C{number}" for number in range(10)),
    *("darkblue", "darkgreen", "gold", "deeppink", "peru", "slategray", "crimson", "teal"),
)


def draw(
    retrieval: Mapping[str, Any], tokens: Mapping[str, Any], folder: Path, side: str = "fused"
) -> list[Path]:
    """Write both plots into `folder`, made if it is not there; returns the files.

    `retrieval` and `tokens` are what the two evaluations return. Raises `UsageError` where
    matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return [
        *_save(_against_tokens(retrieval, side), folder / "quality-tokens"),
        *_save(_against_cost(retrieval, tokens, side), folder / "quality-cost"),
    ]


def _against_tokens(retrieval: Mapping[str, Any], side: str) -> Any:
    """Facts found within a budget, one line a method."""
    figure, axes = _figure()
    for (name, row), color in zip(retrieval["methods"].items(), cycle(_COLORS), strict=False):
        found = [row[side][f"fc{budget}"] for budget in BUDGETS]
        axes.plot(BUDGETS, found, **_style(name, color))
        if name == "wrac":
            own = [row["search"][f"fc{budget}"] for budget in BUDGETS]
            style = {**_style(f"{name}, own search", color), "linestyle": ":"}
            axes.plot(BUDGETS, own, **style)
    axes.set_xscale("log", base=2)
    axes.set_xticks(BUDGETS, [f"{budget:,}" for budget in BUDGETS])
    axes.set_xlabel("tokens retrieved")
    axes.set_ylabel(f"facts found, {side}")
    figure.legend(fontsize=8, loc="outside right upper")
    return figure


def _against_cost(retrieval: Mapping[str, Any], tokens: Mapping[str, Any], side: str) -> Any:
    """Facts found within 512 tokens against dollars of planning for 1,000 files."""
    figure, axes = _figure()
    for (name, row), color in zip(retrieval["methods"].items(), cycle(_COLORS), strict=False):
        # What was put back cost nothing, and a method without a row asks no model.
        paid = name.removesuffix("_restored")
        usage = tokens["methods"].get(paid, {"files": 1, "cost": 0.0})
        dollars = 1000 * usage["cost"] / usage["files"]
        style = {**_style(name, color), "linestyle": "none"}
        axes.plot([dollars], [row[side]["fc512"]], **style)
    axes.set_xlabel("planning, dollars for 1,000 files")
    axes.set_ylabel(f"facts found within 512 tokens, {side}")
    figure.legend(fontsize=8, loc="outside right upper")
    return figure


def _figure() -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("plots need matplotlib", "pip install 'wrac[eval]'") from error
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(alpha=0.3)
    return figure, axes


def _style(name: str, color: str) -> dict[str, Any]:
    """The product's line is heavy, the paper's dashed, the others thin."""
    if name.startswith("wrac"):
        return {"label": name, "marker": "o", "linewidth": 2.5, "color": "black"}
    if name.startswith("paper"):
        return {"label": name, "marker": "s", "linestyle": "--", "color": color}
    return {"label": name, "marker": ".", "markersize": 9, "linewidth": 1, "color": color}


def _save(figure: Any, stem: Path) -> list[Path]:
    """Both formats, without a date in them, so that equal results are equal files."""
    import matplotlib

    files = [stem.with_suffix(f".{ending}") for ending in _FORMATS]
    with matplotlib.rc_context({"svg.hashsalt": "wrac"}):
        for file in files:
            metadata = {"Date": None} if file.suffix == ".svg" else {}
            figure.savefig(file, dpi=120, metadata=metadata)
    return files
