"""State that the previous release wrote opens; a migrated ledger is a fresh one's equal."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, MetaData, inspect, select, update

from pipeline.errors import HomeError, UsageError
from pipeline.ledger import migrations, open_ledger, schema
from pipeline.ledger.ledger import connect
from tests.pipeline.command import WRAC, wrac
from tests.pipeline.released import DATA, unpacked


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with unpacked(tmp_path / "home") as made:
        yield made


@pytest.fixture
def first(ledger_url: str) -> Iterator[Engine]:
    """An empty ledger of schema 1, as release 0.1.0 made it."""
    engine = connect(ledger_url)
    script = (DATA / f"ledger-1.{engine.dialect.name}.sql").read_text()
    with engine.begin() as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.exec_driver_sql(statement)
    yield engine
    engine.dispose()


def shape(engine: Engine) -> dict[str, object]:
    """Tables with columns and indexes, as the database has them."""
    there = inspect(engine)
    return {
        table: (
            sorted(
                (one["name"], str(one["type"]), one["nullable"]) for one in there.get_columns(table)
            ),
            there.get_pk_constraint(table)["constrained_columns"],
            sorted(
                (str(one["name"]), tuple(map(str, one["column_names"])), bool(one["unique"]))
                for one in there.get_indexes(table)
            ),
        )
        for table in there.get_table_names()
    }


def test_the_state_of_the_previous_release_opens_and_agrees(home: Path) -> None:
    code, answer = wrac(home, "verify")
    assert (code, answer["problems"], answer["pages"]) == (0, [], 7)
    code, answer = wrac(home, "search", "when does the ferry leave", "--source", "auben")
    assert code == 0
    assert answer["hits"]
    with connect(f"sqlite:///{home / 'ledger.sqlite'}").connect() as connection:
        assert migrations.version(connection) == schema.VERSION
        # Nothing is to be done because of the migration alone.
        waiting = select(schema.pages.c.url).where(schema.DIFFERS)
        assert connection.execute(waiting).all() == []


def test_a_dry_run_says_what_would_be_added_and_adds_nothing(home: Path) -> None:
    for _ in range(2):
        code, answer = wrac(home, "migrate", "--dry-run")
        assert (code, answer["before"], answer["after"]) == (0, 1, schema.VERSION)
        assert "forgotten" in answer["adds"]["2"]
    assert wrac(home, "migrate")[1]["migrated"]
    code, answer = wrac(home, "migrate", "--dry-run")
    assert (answer["before"], answer["adds"]) == (schema.VERSION, {})


def test_a_dry_run_refuses_what_the_command_refuses(home: Path) -> None:
    code, answer = wrac(home, "migrate", "--dry-run", "--to", str(schema.VERSION + 1))
    assert (code, answer["error"]["code"]) == (2, "usage")
    with connect(f"sqlite:///{home / 'ledger.sqlite'}").begin() as connection:
        connection.execute(update(schema.schema).values(version=schema.VERSION + 1))
    code, answer = wrac(home, "migrate", "--dry-run")
    assert (code, answer["error"]["code"]) == (2, "home")


def test_the_way_back_leaves_what_the_older_release_reads(home: Path) -> None:
    assert wrac(home, "migrate")[0] == 0
    code, answer = wrac(home, "migrate", "--to", "1")
    assert (code, answer["before"], answer["after"]) == (0, schema.VERSION, 1)
    assert wrac(home, "verify")[1]["ok"]


def test_a_migrated_ledger_is_a_fresh_ones_equal(first: Engine, tmp_path: Path) -> None:
    migrations.migrate(first)
    migrated = shape(first)
    with first.begin() as connection:
        old = MetaData()
        old.reflect(connection)
        old.drop_all(connection)
        schema.metadata.create_all(connection)
    assert migrated == shape(first)


def test_a_pass_that_was_open_goes_on(first: Engine) -> None:
    with first.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO sources (name, customer, scope, pins, build, created_at, pass_number, "
            "pass_open, verdicts, settled_verdicts) "
            "VALUES ('docs', 'acme', '{}', '{}', 1, '2026-01-01 00:00:00', 2, true, '', '')"
        )
        for url, visited, fetch in (("a", 2, "fetched"), ("b", 1, "fetched"), ("c", 1, "skipped")):
            connection.exec_driver_sql(
                'INSERT INTO pages (source, url, depth, visited_pass, "fetch", missing_passes, '
                f"chunks, attempts) VALUES ('docs', '{url}', 0, {visited}, '{fetch}', 0, 0, 0)"
            )
    migrations.migrate(first)
    with first.connect() as connection:
        queued = connection.scalars(select(schema.pages.c.url).where(schema.QUEUED)).all()
    assert queued == ["b"]


def test_what_is_added_to_rows_that_are_there_may_be_null_or_has_a_default(first: Engine) -> None:
    there = inspect(first)
    for table in migrations.STEPS[0].added.tables.values():
        if there.has_table(table.name):
            known = {one["name"] for one in there.get_columns(table.name)}
            for column in table.columns:
                plain = column.nullable or column.server_default is not None
                assert column.name in known or plain, f"{table.name}.{column.name}"


def test_a_shared_ledger_waits_for_the_command(first: Engine, ledger_url: str) -> None:
    if first.dialect.name == "sqlite":
        open_ledger(ledger_url).close()
        return
    with pytest.raises(HomeError, match="has schema 1") as raised:
        open_ledger(ledger_url)
    assert "wrac migrate" in raised.value.hint
    migrations.migrate(first)
    open_ledger(ledger_url).close()


def test_a_newer_ledger_is_refused_by_name(ledger_url: str) -> None:
    open_ledger(ledger_url).close()
    engine = connect(ledger_url)
    with engine.begin() as connection:
        connection.execute(update(schema.schema).values(version=schema.VERSION + 1))
    for call in (lambda: open_ledger(ledger_url), lambda: migrations.migrate(engine)):
        with pytest.raises(HomeError, match=f"schema {schema.VERSION + 1}"):
            call()
    with pytest.raises(UsageError, match="no schema"):
        migrations.migrate(engine, schema.VERSION + 1)
    engine.dispose()


def test_the_version_is_told(tmp_path: Path) -> None:
    done = subprocess.run([WRAC, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("wrac 0.")
