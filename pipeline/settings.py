"""Every setting with its default: flag, then `WRAC_*`, then `wrac.toml`, then what stands here."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from pipeline.errors import UsageError
from pipeline.home import Home

CONFIG_FILE = Path("wrac.toml")


class Budget(BaseModel):
    """What a customer may cost. A limit that is not given is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_day: int | None = Field(None, ge=0)
    requests_per_month: int | None = Field(None, ge=0)
    plan_tokens_per_day: int | None = Field(None, ge=0)
    plan_tokens_per_month: int | None = Field(None, ge=0)
    embeddings_per_day: int | None = Field(None, ge=0)
    embeddings_per_month: int | None = Field(None, ge=0)
    warn_at: float = Field(0.8, gt=0, le=1)
    """Share of a limit from which on it is warned of."""


class Settings(BaseSettings):
    """What a command runs with. Empty addresses mean the home folder."""

    model_config = SettingsConfigDict(env_prefix="WRAC_", extra="forbid", frozen=True)

    home: Path = Field(Path(".wrac"), description="folder that holds all embedded state")
    ledger_url: str = Field("", description="database of the ledger; empty: SQLite in the home")
    store_url: str = Field("", description="fsspec address of the page store; empty: the home")
    index_url: str = Field("", description="Qdrant server; empty: the embedded engine")
    cache_url: str = Field("", description="Redis of the caches; empty: SQLite in the home")
    cache_days: float = Field(90, gt=0, description="days that the caches keep what is not used")
    cache_bytes: int = Field(
        2 * 2**30, ge=2**20, description="most bytes of each kind in the home's caches"
    )
    embedder: str = Field(
        "minilm", description="minilm, onnx:DIR, endpoint:URL#MODEL, fastembed:MODEL; e5+... for E5"
    )
    planner_url: str = Field(
        "", description='OpenAI-compatible server for planner = "endpoint": http://HOST:8000/v1'
    )
    planner_model: str = Field("", description="name of the model at planner_url")
    planner_model_dir: str = Field("", description='folder of the model for planner = "vllm"')
    planner_python: str = Field(
        "", description="interpreter that has vLLM; empty: this one, or that of make install-vllm"
    )
    planner_replicas: int = Field(1, ge=1, le=64, description="most vLLM engines of a cluster")
    planner_gpus: float = Field(1.0, ge=0, description="GPUs of one vLLM engine; 0: on the CPU")
    planner_timeout: float = Field(120.0, gt=0, description="seconds for one answer of a model")
    user_agent: str = Field(
        "wrac/0.1 (+set user_agent to your contact address)",
        description="how the crawler names itself; put a way to reach you in it",
    )
    obey_robots: bool = Field(True, description="follow robots.txt")
    delay: float = Field(0.0, ge=0, description="least seconds between requests to one host")
    concurrency_per_host: int = Field(4, ge=1, le=64, description="requests to one host at a time")
    timeout: float = Field(30.0, gt=0, description="seconds for a whole response")
    max_body_bytes: int = Field(32 * 2**20, ge=1024, description="largest body, decompressed")
    render: bool = Field(False, description="run the JavaScript of pages, in a browser")
    max_deleted: float = Field(
        0.1, ge=0, le=1, description="share of a source's pages that may go in one pass unasked"
    )
    page_seconds: float = Field(30.0, gt=0, description="deadline for parsing one page")
    page_memory: int = Field(4 * 2**30, ge=2**28, description="bytes a parse worker may take")
    parse_workers: int = Field(1, ge=1, le=64, description="parse processes of an ingest")
    budgets: dict[str, Budget] = Field(
        {}, description='limits by customer, "*" for all others: [budgets.NAME] in wrac.toml'
    )
    body_days: float = Field(
        30, ge=1, description="days that a body which no page has any more is kept"
    )
    ray_address: str = Field("", description="Ray cluster; empty: one is started for the command")
    sources_at_once: int = Field(2, ge=1, le=256, description="sources that wrac run works on")
    turn_seconds: float = Field(
        600.0, ge=1, description="a source's turn in wrac run, while others wait for theirs"
    )
    fail_over: float = Field(0.05, ge=0, le=1, description="share of failed pages that is an error")
    log_level: str = Field(
        "WARNING", description="DEBUG, INFO, WARNING or ERROR, on standard error"
    )

    def ledger_at(self, home: Home) -> str:
        return self.ledger_url or f"sqlite:///{home.ledger}"

    def store_at(self, home: Home) -> str:
        return self.store_url or str(home.store)


def load(flags: Mapping[str, Any]) -> tuple[Settings, dict[str, str]]:
    """Settings, and for each key where its value came from.

    `flags` holds what the command line gave; None means not given. Raises `UsageError` naming
    the key, where it stands, and what would do.
    """
    origins = dict.fromkeys(Settings.model_fields, "default")
    values: dict[str, Any] = {}
    for origin, given in (
        (str(CONFIG_FILE), _from_file()),
        ("environment", EnvSettingsSource(Settings)()),
        ("flag", {key: value for key, value in flags.items() if value is not None}),
    ):
        for key in given:
            if key not in Settings.model_fields:
                raise UsageError(f"unknown setting {key} in {origin}", _nearest(key))
        values |= given
        origins |= dict.fromkeys(given, origin)
    try:
        return Settings.model_validate(values), origins
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        raise UsageError(
            f"setting {key} ({origins.get(key, 'default')}) cannot be "
            f"{first['input']!r}: {first['msg']}",
            Settings.model_fields[key].description or "",
        ) from error


def without_password(url: str) -> str:
    """An address as it may be shown."""
    return re.sub(r"(://[^/@:]*):[^/]*@", r"\1:***@", url)


def read_toml(file: Path) -> dict[str, Any]:
    """The tables of a file; none where it is not there. Raises `UsageError` naming the file."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}", "mend or remove it") from error


def _from_file() -> dict[str, Any]:
    values = read_toml(CONFIG_FILE)
    values.pop("sources", None)  # `pipeline/sources` reads those
    return values


def _nearest(key: str) -> str:
    near = get_close_matches(key, Settings.model_fields, n=1)
    return f"did you mean {near[0]}?" if near else "wrac config lists all settings"
