"""From the names of environment variables in a source's file to what is sent to its site."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from crawler.access import Access, Form, stored_cookies
from crawler.errors import AccessError
from pipeline.errors import UsageError
from pipeline.sources.spec import AccessSpec


@dataclass(frozen=True, slots=True)
class OpenAccess:
    """Reads a source's secrets in the process that crawls: they travel nowhere.

    Calling it raises `UsageError`, naming a variable that is not set.
    """

    source: str
    spec: AccessSpec

    def __call__(self) -> Access | None:
        spec, value = self.spec, self._value
        if not spec.model_fields_set:
            return None
        return Access(
            headers={name: value(variable) for name, variable in spec.headers.items()},
            cookies={name: value(variable) for name, variable in spec.cookies.items()},
            bearer=value(spec.bearer) if spec.bearer else None,
            basic=(value(spec.basic.user), value(spec.basic.password)) if spec.basic else None,
            form=Form(spec.form.url, {key: value(name) for key, name in spec.form.fields.items()})
            if spec.form
            else None,
            stored=stored_cookies(self._state(spec.storage_state)) if spec.storage_state else (),
            proxy=value(spec.proxy) if spec.proxy else None,
        )

    def _value(self, variable: str) -> str:
        found = os.environ.get(variable)
        if not found:
            raise UsageError(
                f"source {self.source}: the environment variable {variable} is not set",
                "set it where wrac runs; on a cluster, on every machine that crawls",
            )
        return found

    def _state(self, variable: str) -> str:
        """A storage state: the variable holds it, or the path of its file."""
        found = self._value(variable)
        if found.lstrip().startswith("{"):
            return found
        try:
            return Path(found).read_text(encoding="utf-8")
        except OSError as error:
            raise AccessError(f"the file that {variable} names cannot be read") from error
