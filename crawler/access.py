"""How a site lets the crawler in: headers, cookies, a log-in. Only the site's own hosts get them.

The values are secrets. They are held in memory by the process that crawls, and are in no log, no
error and no store: what prints an `Access` does not print them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http.cookiejar import Cookie
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.errors import AccessError
from crawler.urls import from_name, host


@dataclass(frozen=True, slots=True)
class Form:
    """A form to log in by: the page that holds it, and what goes into its fields."""

    url: str
    fields: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """What is sent to the hosts of a source, and to no others."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    bearer: str | None = field(default=None, repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)
    form: Form | None = None
    stored: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """Cookies of a browser's storage state, each with `name`, `value`, `domain` and `path`."""
    proxy: str | None = field(default=None, repr=False)

    @property
    def sent(self) -> dict[str, str]:
        """Request headers."""
        sent = dict(self.headers)
        if self.bearer is not None:
            sent["Authorization"] = f"Bearer {self.bearer}"
        if self.basic is not None:
            pair = ":".join(self.basic).encode()
            sent["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        return sent

    @property
    def lets_in(self) -> bool:
        """Whether there is anything that a site may cease to accept."""
        return bool(self.sent or self.cookies or self.stored or self.form)


def stored_cookies(state: str) -> tuple[Mapping[str, Any], ...]:
    """The cookies of a browser's storage state, as Playwright writes it. Raises `AccessError`."""
    try:
        cookies = json.loads(state)["cookies"]
        return tuple({"path": "/", **one} for one in cookies if one["name"] and one["domain"])
    except (ValueError, KeyError, TypeError) as error:
        # The message must not repeat what it was given.
        raise AccessError("the storage state is no JSON with cookies in it") from error


class AccessMiddleware(CookiesMiddleware):
    """Scrapy's cookies, begun with a source's own; its headers, and its proxy."""

    def __init__(self, access: Access, hosts: Collection[str], encrypted: bool) -> None:
        """`encrypted`: nothing is shown to a host over plain http."""
        super().__init__(debug=False)
        self._access = access
        self._hosts = frozenset(hosts)
        self._encrypted = encrypted
        jar = self.jars[None]
        for cookie in access.stored:
            jar.set_cookie(_cookie(**cookie))
        for name in self._hosts:
            for key, value in access.cookies.items():
                jar.set_cookie(_cookie(name, key, value, secure=encrypted))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AccessMiddleware:
        access = crawler.settings["ACCESS"]
        if access is None:
            raise NotConfigured
        settings = crawler.settings
        middleware = cls(
            access, settings.getlist("ACCESS_HOSTS"), settings.getbool("ACCESS_ENCRYPTED")
        )
        middleware.crawler = crawler
        return middleware

    def process_request(self, request: Request, spider: Any = None) -> None:
        # A redirect copies the headers of the request that it answers.
        own = host(request.url) in self._hosts and not (
            self._encrypted and request.url.startswith("http:")
        )
        for name, value in self._access.sent.items():
            if own:
                request.headers[name] = value
            else:
                request.headers.pop(name, None)
        if self._access.proxy is not None:
            request.meta["proxy"] = self._access.proxy
        super().process_request(request)

    def process_response(
        self, request: Request, response: Response, spider: Any = None
    ) -> Request | Response:
        return super().process_response(request, response)


def hosts_of(seeds: Collection[str], hosts: Collection[str]) -> frozenset[str]:
    """The hosts that a source's secrets go to: those of its seeds, and those named besides."""
    named = (host(from_name(name)) for name in hosts if not name.startswith("*."))
    return frozenset({host(_with_scheme(seed)) for seed in seeds} | set(named))


def is_encrypted(seeds: Collection[str]) -> bool:
    """Whether a source is wholly of https, so that a link to http must not show its secrets."""
    return all(_with_scheme(seed).lower().startswith("https:") for seed in seeds)


def _with_scheme(seed: str) -> str:
    return seed if "://" in seed else f"https://{seed}"


def _cookie(domain: str, name: str, value: str, path: str = "/", **more: Any) -> Cookie:
    dotted = domain.startswith(".")
    return Cookie(
        version=0,
        name=name,
        value=value,
        port=None,
        port_specified=False,
        # As `http.cookiejar` has it: a name without a dot in it is local.
        domain=domain if dotted or "." in domain else f"{domain}.local",
        domain_specified=dotted,
        domain_initial_dot=dotted,
        path=path,
        path_specified=True,
        secure=bool(more.get("secure", False)),
        expires=int(more["expires"]) if more.get("expires", -1) > 0 else None,
        discard=False,
        comment=None,
        comment_url=None,
        rest={},
    )
