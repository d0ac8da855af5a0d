from __future__ import annotations

from pathlib import Path

import pytest

from chunker.errors import PolicyError
from chunker.policy import Policy, from_mapping, load


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("")
    assert load(file) == Policy()


def test_values_are_read(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('target_tokens = 80\nmax_tokens = 120\ndrop = ["cookie"]\n')
    assert load(file) == Policy(target_tokens=80, max_tokens=120, drop=("cookie",))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_token": 5}, "did you mean max_tokens"),
        ({"colour": "red"}, "known keys"),
        ({"max_tokens": "many"}, "max_tokens must be a whole number"),
        ({"max_tokens": True}, "max_tokens must be a whole number"),
        ({"max_tokens": 3}, "must be 16 to 8192"),
        ({"target_tokens": 0}, "target_tokens is 0"),
        ({"target_tokens": 999}, "must be 1 to max_tokens"),
        ({"planner": "structual"}, "did you mean structural"),
        ({"drop": "cookie"}, "drop must be a list"),
        ({"drop": ["cookies"]}, "did you mean cookie"),
        ({"escalation_threshold": 2}, "must be 0 to 1"),
        ({"cue_words": -1}, "must not be negative"),
    ],
)
def test_a_wrong_value_is_named(values: dict[str, object], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        from_mapping(values)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    with pytest.raises(PolicyError, match=r"cannot read policy .*policy\.toml"):
        load(file)
    file.write_bytes(b"max_tokens = \xff")
    with pytest.raises(PolicyError, match=r"policy\.toml is not TOML"):
        load(file)


def test_the_fingerprint_is_that_of_the_values() -> None:
    assert Policy().fingerprint == from_mapping({}).fingerprint
    assert Policy().fingerprint != Policy(target_tokens=20).fingerprint
