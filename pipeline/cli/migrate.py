"""`wrac migrate`: the ledger of an older release becomes this one's, or goes back."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.options import HomeOption, JsonOption, parts
from pipeline.cli.output import answer, out


def migrate(
    to: Annotated[
        int | None, typer.Option("--to", help="Schema to go to; default: this release's.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be added.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the ledger to this release's schema. Only adds; --to goes back for an older release."""
    from pipeline.ledger import migrations, schema
    from pipeline.ledger.ledger import connect, named

    opened = parts(home)
    url = opened.settings.ledger_at(opened.home)
    wanted = schema.VERSION if to is None else to
    engine = connect(url)
    with named(url):
        with engine.connect() as connection:
            before = migrations.checked(connection, wanted)
            adds = migrations.missing(connection) if wanted > before else {}
        if not dry_run:
            migrations.migrate(engine, wanted)
    engine.dispose()
    value = {"before": before, "after": wanted, "adds": adds, "migrated": not dry_run}

    def show() -> None:
        verb = "would go" if dry_run else "went"
        out.print(f"the ledger {verb} from schema {before} to {wanted}")
        for number, names in adds.items():
            out.print(f"  {number} adds {', '.join(names) or 'nothing'}", markup=False)

    answer(value, as_json, show)
