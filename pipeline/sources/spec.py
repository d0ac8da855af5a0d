"""What a file may say of a source. Every key has a default but the seeds."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from crawler.errors import InvalidUrlError, SeedError
from crawler.model import Politeness, Scope
from crawler.scope import Rules
from crawler.urls import host
from pipeline.ledger.schedules import Schedule
from pipeline.settings import Settings
from pipeline.sources.durations import Duration, spell

#: How often a source is asked where its file does not say.
EVERY = timedelta(days=1)
DAY = timedelta(days=1)


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        # The value itself may be a secret that was put in the wrong place: it is not repeated.
        raise ValueError("is to be the name of an environment variable, never the secret itself")
    return name


Variable = Annotated[str, AfterValidator(_variable)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Basic(_Table):
    """HTTP's own log-in."""

    user: Variable = Field(description="variable that holds the user's name")
    password: Variable = Field(description="variable that holds the password")


class Form(_Table):
    """A page with a form to log in by."""

    url: Text = Field(description="page that holds the form")
    fields: dict[str, Variable] = Field(description="field of the form -> variable with its value")


class AccessSpec(_Table):
    """How a site lets the crawler in. Values are names of environment variables only."""

    headers: dict[str, Variable] = Field({}, description="header -> variable")
    cookies: dict[str, Variable] = Field({}, description="cookie -> variable")
    bearer: Variable | None = Field(None, description="variable that holds a bearer token")
    basic: Basic | None = Field(None, description="user and password, as variables")
    form: Form | None = Field(None, description="a form to log in by")
    storage_state: Variable | None = Field(
        None, description="variable that holds a browser's storage state, or the path of its file"
    )
    proxy: Variable | None = Field(None, description="variable that holds the proxy's URL")


class SourceSpec(_Table):
    """One `[sources.NAME]`."""

    seeds: tuple[Text, ...] = Field(min_length=1, description="where the site begins")
    customer: str | None = Field(None, description="whose it is; default: the source's name")
    include: tuple[Text, ...] = Field((), description="only such URLs (patterns)")
    exclude: tuple[Text, ...] = Field((), description="no such URLs (patterns)")
    hosts: tuple[Text, ...] = Field((), description="hosts besides those of the seeds")
    subdomains: bool = Field(False, description="take in all hosts below those of the seeds")
    parameters: tuple[Text, ...] | None = Field(
        None, description="query parameters that are kept, all others are cut; default: all"
    )
    allow_hosts: tuple[Text, ...] = Field(
        (), description="hosts that may be loopback or private addresses"
    )
    max_pages: int | None = Field(None, ge=1, description="pages fetched in one pass")
    max_depth: int | None = Field(None, ge=0, description="clicks from a seed")
    max_per_template: int | None = Field(
        20_000, ge=1, description="URLs that differ in numbers and values only"
    )

    every: Duration = Field(EVERY, description="how often a page is visited, on the average")
    between: tuple[Duration, Duration] | None = Field(
        None, description="visit by how often a page changes, between these two spans"
    )
    requests_per_day: int | None = Field(None, ge=1, description="most requests in a day (UTC)")
    bytes_per_day: int | None = Field(None, ge=1024, description="most bytes of bodies in a day")

    requests_per_second: float | None = Field(None, gt=0, le=100, description="to one host")
    concurrency_per_host: int | None = Field(None, ge=1, le=64, description="requests at a time")
    language: str | None = Field(
        None, pattern=r"^[A-Za-z0-9;=.,* -]+$", description="languages to ask for, as de, en;q=0.5"
    )
    ignore_robots: Text | None = Field(
        None, description="the reason why robots.txt is not followed; it is logged"
    )
    render: bool | None = Field(None, description="run the pages' JavaScript, in a browser")
    access: AccessSpec = Field(
        default=AccessSpec.model_validate({}), description="log-in, headers, cookies, proxy"
    )
    policy: Path | None = Field(None, description="chunking policy, a file beside this one")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.between is not None and not self.between[0] <= self.every <= self.between[1]:
            low, high = (spell(one) for one in self.between)
            raise ValueError(f"every ({spell(self.every)}) must lie between {low} and {high}")
        try:
            Rules(self.scope)
        except (SeedError, InvalidUrlError) as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def scope(self) -> Scope:
        """Which URLs belong to the source."""
        below = tuple(f"*.{_bare(seed)}" for seed in self.seeds) if self.subdomains else ()
        return Scope(
            seeds=self.seeds,
            include=self.include,
            exclude=self.exclude,
            hosts=self.hosts + tuple(dict.fromkeys(below)),
            allow_hosts=self.allow_hosts,
            max_pages=self.max_pages,
            max_depth=self.max_depth,
            max_per_template=self.max_per_template,
            parameters=self.parameters,
        )

    @property
    def schedule(self) -> Schedule:
        """When its pages are visited, and what it may cost."""
        least, most = self.between or (None, None)
        return Schedule(
            every=self.every / DAY,
            least=least / DAY if least else None,
            most=most / DAY if most else None,
            requests_per_day=self.requests_per_day,
            bytes_per_day=self.bytes_per_day,
        )

    def politeness(self, settings: Settings) -> Politeness:
        """How its sites are asked: as the settings say, where its file says nothing else."""
        slowest = 1 / self.requests_per_second if self.requests_per_second else 0.0
        one_by_one = self.requests_per_second is not None
        return Politeness(
            user_agent=settings.user_agent,
            obey_robots=settings.obey_robots and self.ignore_robots is None,
            delay=max(settings.delay, slowest),
            concurrency_per_host=self.concurrency_per_host
            or (1 if one_by_one else settings.concurrency_per_host),
            timeout=settings.timeout,
            max_body_bytes=settings.max_body_bytes,
            language=self.language,
            render=settings.render if self.render is None else self.render,
        )


def _bare(seed: str) -> str:
    return host(seed if "://" in seed else f"https://{seed}").removeprefix("www.")
