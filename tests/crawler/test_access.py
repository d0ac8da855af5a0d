"""Sites that let in who shows something, and what becomes of what is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from crawler.access import Access, AccessMiddleware, Form, hosts_of, stored_cookies
from crawler.errors import AccessError
from crawler.model import Politeness, Scope
from crawler.session import _filled
from crawler.settings import for_crawl
from tests.crawler.crawling import crawl, ledger_of
from tests.crawler.site import Answer, Asked, Site

SECRET = "o-mega-secret"
HTML = {"Content-Type": "text/html"}
PAGES = {
    "/": '<h1>Members</h1><a href="/a">a</a> <a href="/b">b</a> <a href="/leads-away">c</a>',
    "/a": "<p>One of the pages that members read.</p>",
    "/b": "<p>Another of the pages that members read.</p>",
}
LOGIN = Answer(
    '<form action="/session" method="post"><input name="user"><input type="password" name="pass">'
    '<input type="hidden" name="csrf" value="abc"></form>',
    headers=HTML,
)


def locked(site: Site, lets_in: Callable[[Asked], bool], elsewhere: str = "") -> None:
    """The site's pages, for those who are let in; the others are sent to log in."""

    def route(asked: Asked, times: int) -> Answer:
        if asked.path in ("/robots.txt", "/sitemap.xml"):
            return Answer("", 404)
        if not lets_in(asked):
            return Answer(status=302, headers={"Location": "/login?next=x"})
        if asked.path == "/leads-away":
            return Answer(status=302, headers={"Location": elsewhere or "/a"})
        return Answer(
            PAGES.get(asked.path, "no such page"), 200 if asked.path in PAGES else 404, HTML
        )

    site.fallback = route
    site.routes["/login"] = LOGIN


def pages(ledger: Path) -> int:
    return sum(one["kind"] == "Fetched" for one in ledger_of(ledger).outcomes().values())


@pytest.mark.parametrize(
    ("access", "header", "value"),
    [
        (Access(headers={"X-Key": SECRET}), "x-key", SECRET),
        (Access(bearer=SECRET), "authorization", f"Bearer {SECRET}"),
        (Access(basic=("ann", SECRET)), "authorization", "Basic YW5uOm8tbWVnYS1zZWNyZXQ="),
        (Access(cookies={"sid": SECRET}), "cookie", f"sid={SECRET}"),
        (
            Access(stored=({"name": "sid", "value": SECRET, "domain": "127.0.0.1", "path": "/"},)),
            "cookie",
            f"sid={SECRET}",
        ),
    ],
)
def test_a_site_lets_in_who_shows_it(
    tmp_path: Path, access: Access, header: str, value: str
) -> None:
    with Site().serving() as site, Site().serving() as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        locked(site, lambda asked: asked.headers.get(header) == value, f"{elsewhere}/x")
        # Another host of the same crawl, which the secrets are not of.
        other.page("/x")
        crawl(
            tmp_path / "ledger",
            f"{site.url}/",
            hosts=("*.localhost", "*.example"),
            allow_hosts=("127.0.0.1", "localhost"),
            access=access,
        )
        assert pages(tmp_path / "ledger") == 4
        assert SECRET not in repr([(one.path, one.headers) for one in other.log])
    assert SECRET not in repr(access)
    assert SECRET not in (tmp_path / "ledger").read_bytes().decode("latin-1")


def test_secrets_are_for_the_hosts_of_the_seeds_and_those_that_are_named() -> None:
    assert hosts_of(("https://a.example/x",), ("b.example:81", "*.c.example")) == {
        "a.example",
        "b.example",
    }


@pytest.mark.parametrize(
    ("seed", "asked", "shown"),
    [
        ("https://a.example/", "https://a.example/x", True),
        ("https://a.example/", "http://a.example/x", False),
        ("a.example", "http://a.example/x", False),
        ("a.example", "https://a.example/x", True),
        ("http://a.example/", "http://a.example/x", True),
        ("https://a.example/", "https://b.example/x", False),
    ],
)
def test_what_is_for_https_is_not_shown_over_http(seed: str, asked: str, shown: bool) -> None:
    access = Access(bearer=SECRET, cookies={"sid": SECRET})
    settings = for_crawl(Scope(seeds=(seed,)), Politeness(user_agent="wrac"), access)
    middleware = AccessMiddleware(access, settings["ACCESS_HOSTS"], settings["ACCESS_ENCRYPTED"])
    request = Request(asked)
    middleware.process_request(request)
    assert ("Authorization" in request.headers) is shown
    assert ("Cookie" in request.headers) is shown


def test_a_form_of_https_that_sends_to_http_is_not_filled() -> None:
    page = HtmlResponse(
        "https://a.example/login",
        body=b'<form action="http://a.example/in"><input type="password" name="pass"></form>',
    )
    with pytest.raises(AccessError, match="unencrypted"):
        _filled(page, Form("https://a.example/login", {"pass": SECRET}))


def form(site: Site) -> None:
    """A log-in by a form, whose session is a cookie."""
    locked(site, lambda asked: "sid=open" in asked.headers.get("cookie", ""))

    def session(asked: Asked, times: int) -> Answer:
        right = "pass=o-mega-secret" in asked.body and "csrf=abc" in asked.body
        headers = {"Location": "/", "Set-Cookie": "sid=open"} if right else {"Location": "/login"}
        return Answer(status=303, headers=headers)

    site.routes["/session"] = session


def test_a_form_is_filled_once_and_its_session_kept(tmp_path: Path) -> None:
    with Site().serving() as site:
        form(site)
        fields = {"user": "ann", "pass": SECRET}
        access = Access(form=Form(f"{site.url}/login", fields))
        crawl(tmp_path / "ledger", f"{site.url}/", access=access)
        assert site.asked("/session") == 1
    assert pages(tmp_path / "ledger") == 3
    assert SECRET not in (tmp_path / "ledger").read_bytes().decode("latin-1")


@pytest.mark.parametrize("fields", [{"user": "ann", "pass": "wrong-one"}, {"nosuch": "wrong-one"}])
def test_a_form_that_does_not_log_in_ends_the_crawl(tmp_path: Path, fields: dict[str, str]) -> None:
    with Site().serving() as site:
        form(site)
        with pytest.raises(AccessError) as raised:
            access = Access(form=Form(f"{site.url}/login", fields))
            crawl(tmp_path / "ledger", f"{site.url}/", access=access)
    assert "/login" in str(raised.value)
    assert "wrong-one" not in str(raised.value)


def test_a_log_in_that_expires_ends_the_crawl(tmp_path: Path) -> None:
    with Site().serving() as site:
        # The look at the beginning, robots.txt and the front page; then it is over.
        locked(site, lambda asked: len(site.log) <= 4)
        with pytest.raises(AccessError, match="expired"):
            crawl(tmp_path / "ledger", f"{site.url}/", access=Access(bearer=SECRET))


def test_a_site_that_lets_nobody_in_is_asked_for_nothing_more(tmp_path: Path) -> None:
    with Site().serving() as site:
        locked(site, lambda asked: False)
        with pytest.raises(AccessError):
            crawl(tmp_path / "ledger", f"{site.url}/", access=Access(bearer=SECRET))
        assert {one.path for one in site.log} <= {"/", "/robots.txt"}


def test_a_storage_state_that_is_none_is_not_repeated() -> None:
    assert stored_cookies('{"cookies": [{"name": "a", "value": "b", "domain": ".x.example"}]}')
    with pytest.raises(AccessError) as raised:
        stored_cookies(f"{{{SECRET}")
    assert SECRET not in str(raised.value)


def test_a_proxy_is_asked_in_the_sites_place_and_for_no_forbidden_address(tmp_path: Path) -> None:
    with Site().serving() as proxy:
        proxy.routes["http://127.0.0.1:9/"] = Answer("<p>by proxy</p>", headers=HTML)
        access = Access(proxy=proxy.url)
        crawl(tmp_path / "one", "http://127.0.0.1:9/", access=access)
        assert pages(tmp_path / "one") == 1
        asked = len(proxy.log)
        crawl(tmp_path / "two", "http://10.0.0.1/", allow_hosts=(), access=access)
        assert len(proxy.log) == asked
    (outcome,) = ledger_of(tmp_path / "two").outcomes().values()
    assert outcome["reason"] == "forbidden_address"


def test_the_scope_of_the_tests_has_no_wildcard_among_its_secrets() -> None:
    assert hosts_of(Scope(seeds=("http://127.0.0.1/",)).seeds, ("*.localhost",)) == {"127.0.0.1"}
