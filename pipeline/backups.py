"""A copy of the state in a folder, consistent while runs go on, and an empty home made from it.

    backup.json         what it is, written last: without it a backup is not whole
    ledger.sqlite       every row of the ledger as of one moment, whatever its database is
    store/              the page store, copied after the ledger: what that names is there
    caches.sqlite       the caches, where they are a file
    forgotten.json      sources that were forgotten since: they do not come back

The index is not in it: it is made again from ledger and store.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.errors import HomeError, UsageError
from pipeline.ledger import Source, copying, open_ledger, schema
from pipeline.ledger.removals import Backup
from pipeline.parts import Parts

FORMAT = 1
MANIFEST = "backup.json"
FORGOTTEN = "forgotten.json"
LEDGER = "ledger.sqlite"
CACHES = "caches.sqlite"
STORE = "store"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A source that must not come back, if it was made before that moment."""

    source: str
    customer: str
    at: datetime


def backup(parts: Parts, folder: Path) -> dict[str, Any]:
    """Copy ledger, page store and caches to `folder`; returns the manifest.

    Raises `UsageError` where the folder holds something.
    """
    folder = folder.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} holds something", "give a folder that is empty or not there")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made_at = datetime.now(UTC)
    copied = open_ledger(f"sqlite:///{folder / LEDGER}")
    # On record before a row is read: what is forgotten from here on is noted beside it.
    parts.ledger.removals.add_backup(Backup(str(folder), made_at, 0))
    rows = copying.copy(parts.ledger.engine, copied.engine)
    sources = [one.name for one in copied.sources.all()]
    copied.close()
    files, size = parts.store.save(folder / STORE)
    if not parts.settings.cache_url and parts.home.caches.is_file():
        _copy_sqlite(parts.home.caches, folder / CACHES)
    size += sum(one.stat().st_size for one in folder.glob("*.sqlite*"))
    manifest = {
        "format": FORMAT,
        "wrac": metadata.version("wrac"),
        "schema": schema.VERSION,
        "made_at": made_at.isoformat(),
        "sources": sources,
        "rows": rows,
        "files": files,
        "bytes": size,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    parts.ledger.removals.add_backup(Backup(str(folder), made_at, size))
    return manifest


def load(parts: Parts, folder: Path, receipts: Sequence[Path] = ()) -> list[Source]:
    """Fill an empty home from a backup; returns what must be removed again: it was forgotten.

    `receipts`: what `wrac forget --json` answered since. Raises `HomeError` where the home holds
    something, `UsageError` where the folder is no whole backup.
    """
    folder = folder.expanduser().absolute()
    manifest = _check(folder)
    gone = [one for path in (folder / FORGOTTEN, *receipts) for one in _read(path)]
    if parts.ledger.sources.all() or not parts.store.empty:
        raise HomeError(
            f"the home {parts.home.root} holds something",
            "restore into an empty one: --home DIR",
        )
    parts.store.load(folder / STORE)
    if not parts.settings.cache_url and (folder / CACHES).is_file():
        _copy_sqlite(folder / CACHES, parts.home.caches, still=True)
    # A copy: the release that wrote the backup can go on restoring it, wherever it lies.
    with TemporaryDirectory(dir=parts.home.root) as own:
        _copy_sqlite(folder / LEDGER, Path(own) / LEDGER, still=True)
        kept = open_ledger(f"sqlite:///{Path(own) / LEDGER}")
        copying.copy(kept.engine, parts.ledger.engine)
        kept.close()
    # It holds what this home does: what is forgotten here is noted beside it.
    parts.ledger.removals.add_backup(
        Backup(str(folder), datetime.fromisoformat(manifest["made_at"]), manifest["bytes"])
    )
    gone += [Forgotten(one.source, one.customer, one.at) for one in parts.ledger.removals.all()]
    return [one for one in parts.ledger.sources.all() if _is_gone(one, gone)]


def tell(
    made: Iterable[Backup], source: Source, at: datetime
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Note beside each backup that a source is not to be brought back; again is no harm.

    Returns the places that were told, and those that could not be reached or written to.
    """
    told, away = [], []
    for one in made:
        try:
            _note(Path(one.place), source, at)
        except (OSError, ValueError):
            away.append(one.place)
        else:
            told.append(one.place)
    return tuple(told), tuple(away)


def _note(folder: Path, source: Source, at: datetime) -> None:
    if not (folder / LEDGER).is_file():
        raise FileNotFoundError(folder)
    path, mine = folder / FORGOTTEN, {"source": source.name, "customer": source.customer}
    noted = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    others = [one for one in noted if not mine.items() <= one.items()]
    new = path.with_suffix(".new")
    rows = [*others, mine | {"at": at.isoformat()}]
    new.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    new.replace(path)


def _check(folder: Path) -> dict[str, Any]:
    """The manifest of a backup that this software can read."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{folder} is no whole backup: {MANIFEST} cannot be read",
            "give the folder that wrac backup wrote",
        ) from error
    if manifest["format"] > FORMAT or manifest["schema"] > schema.VERSION:
        raise UsageError(
            f"{folder} was written by wrac {manifest['wrac']}: format {manifest['format']}, "
            f"schema {manifest['schema']}; this software knows {FORMAT} and {schema.VERSION}",
            "install the newer wrac",
        )
    return manifest


def _read(path: Path) -> list[Forgotten]:
    """What a receipt, or the note beside a backup, says was forgotten."""
    if path.name == FORGOTTEN and not path.is_file():
        return []
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        rows: list[Mapping[str, Any]] = value["removed"] if isinstance(value, dict) else value
        return [
            Forgotten(row["source"], row["customer"], datetime.fromisoformat(row["at"]))
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is no receipt: {error}", "give what wrac forget --json printed"
        ) from error


def _is_gone(source: Source, gone: Iterable[Forgotten]) -> bool:
    return any(
        (one.source, one.customer) == (source.name, source.customer) and one.at > source.created_at
        for one in gone
    )


def _copy_sqlite(old: Path, new: Path, still: bool = False) -> None:
    """`still`: nobody writes to `old`, which may lie where nothing can be written."""
    opened = f"{old.as_uri()}?immutable=1" if still else old.as_uri()
    with closing(sqlite3.connect(opened, uri=True)) as source, closing(sqlite3.connect(new)) as to:
        source.backup(to)
