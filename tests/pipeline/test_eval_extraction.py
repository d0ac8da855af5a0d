"""`wrac eval extraction`: its numbers mean what docs/parsing.md says, on small pages."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pipeline.evaluation import extraction

PROSE = "The lever closes the blocks on the rim, and the rim gets warm on the way down. "
HTML = f"""<html><body><nav class="menu"><a href="/">Back to the start</a></nav>
<main><article><p>{PROSE}</p><p>A second paragraph, number 7. <img src="a.png" alt="Not a word">
</p></article></main><footer class="footer"><p>© 2026 Bikes</p></footer></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "1.html.gz").write_bytes(gzip.compress(HTML.encode()))
    row = {
        "id": "1",
        "url": "https://site.example/brakes",
        "page_type": "article",
        "title": "Brakes",
        "main_content": f"{PROSE}\n\nA second paragraph, number 7.",
        "with": ["A second paragraph, number 7.", "the rim gets WARM"],
        "without": ["Back to the start", "second paragraph number 77"],
    }
    (tmp_path / "pages.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_a_page_that_is_read_rightly_scores_one(folder: Path) -> None:
    result = extraction.evaluate(folder)
    assert (result["pages"], result["trained_on"]) == (1, 0)
    assert (result["f1"], result["with"], result["without"]) == (1.0, 1.0, 0.0)
    assert result["by_type"] == {"article": 1.0}
    assert result["ms_per_page"] > 0
    assert len(result["peers"]) + len(result["missing"]) == 2
    for peer in result["peers"].values():
        assert {"f1", "with", "without", "ms_per_page"} <= peer.keys()
    assert extraction.table(result).row_count == 7 + len(result["by_type"])


def test_leaks_and_losses_are_counted(folder: Path) -> None:
    (page,) = extraction.read(folder)
    everything = extraction.measure(page, lambda body, url: body.decode())
    assert (everything.required_found, everything.forbidden_found) == (2, 1)
    assert 0 < everything.f1 < 1
    nothing = extraction.measure(page, lambda body, url: "")
    assert (nothing.f1, nothing.required_found, nothing.forbidden_found) == (0.0, 0, 0)


def test_a_folder_without_pages_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        extraction.evaluate(tmp_path)
