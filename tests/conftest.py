"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# How long an example takes is the machine's business; what must be fast is in benchmarks/.
settings.register_profile("wrac", deadline=None)
settings.load_profile("wrac")


@pytest.fixture(scope="session")
def need():  # type: ignore[no-untyped-def]
    """`need(part, there)` skips a test by the name of the part that is not there.

    `WRAC_TEST_REQUIRE=all` turns the skip into a failure.
    """

    def check(part: str, there: bool) -> None:
        if there:
            return
        if os.environ.get("WRAC_TEST_REQUIRE") == "all":
            pytest.fail(f"{part} is demanded by WRAC_TEST_REQUIRE=all and is not here")
        pytest.skip(f"needs {part}, which is not here")

    return check
