"""Options that many commands take, and the settings that come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.logs import configure
from pipeline.parts import Parts
from pipeline.settings import Settings, load

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="Folder of all embedded state.", metavar="DIR")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
PolicyOption = Annotated[
    Path | None, typer.Option("--policy", help="Chunking policy, a TOML file.", metavar="FILE")
]
SourceOption = Annotated[str, typer.Option("--source", help="Name of the source.", metavar="NAME")]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="A host that may be loopback or private.", metavar="HOST"),
]

#: `--home` given before the command.
_before: dict[str, Any] = {}


def given_before(home: Path | None) -> None:
    """Remember what stood before the command's name."""
    _before["home"] = home


def settings(home: Path | None = None, **flags: Any) -> tuple[Settings, dict[str, str]]:
    """Settings with these flags (None: not given), and where each came from."""
    loaded, origins = load({"home": home or _before.get("home"), **flags})
    configure(loaded.log_level)
    return loaded, origins


def parts(home: Path | None, make: bool = False, **flags: Any) -> Parts:
    """The parts over the home. `make` creates the home; otherwise it must be there."""
    return Parts.of(settings(home, **flags)[0], make)
