"""The example server speaks HTTP as a crawler needs it: validators, redirects, a request log."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from examples.server import Request, Running, serve


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve() as running:
        yield running


def ask(
    running: Running, site: str, path: str, method: str = "GET", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(urlsplit(running.urls[site]).netloc, timeout=10)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def test_every_page_of_every_site_is_served(running: Running) -> None:
    for name, site in running.sites.items():
        for page in site.pages:
            response, body = ask(running, name, page.path)
            assert response.status == 200
            assert response.headers["Content-Type"] == "text/html; charset=utf-8"
            assert f'<html lang="{page.lang}">' in body.decode()
            assert page.body in body.decode()


def test_a_query_string_makes_no_difference(running: Running) -> None:
    _, plain = ask(running, "harrier", "/guides/flat-tyre")
    _, tracked = ask(running, "harrier", "/guides/flat-tyre?utm_source=news")
    assert plain == tracked


def test_sitemap_and_robots_name_the_address_that_serves_them(running: Running) -> None:
    for name, url in running.urls.items():
        assert f"{url}/sitemap.xml" in ask(running, name, "/robots.txt")[1].decode()
        assert f"<loc>{url}/</loc>" in ask(running, name, "/sitemap.xml")[1].decode()


def test_a_redirect_names_its_target(running: Running) -> None:
    response, body = ask(running, "harrier", "/register")
    assert (response.status, response.headers["Location"], body) == (
        301,
        "/support/registration",
        b"",
    )


def test_an_unknown_path_gets_the_sites_own_404(running: Running) -> None:
    response, body = ask(running, "port-auben", "/forms/blue-badge.html")
    assert response.status == 404
    assert b"Page not found" in body
    assert "ETag" not in response.headers


@pytest.mark.parametrize(
    ("validators", "status"),
    [
        ({"If_None_Match": "{etag}"}, 304),
        ({"If_None_Match": 'W/{etag}, "other"'}, 304),
        ({"If_None_Match": '"other"'}, 200),
        ({"If_Modified_Since": "{modified}"}, 304),
        ({"If_Modified_Since": "Mon, 01 Jan 2001 00:00:00 GMT"}, 200),
        ({"If_Modified_Since": "not a date"}, 200),
        ({"If_None_Match": '"other"', "If_Modified_Since": "{modified}"}, 200),
    ],
)
def test_conditional_requests(running: Running, validators: dict[str, str], status: int) -> None:
    first, _ = ask(running, "larder", "/docs/install/")
    known = {"etag": first.headers["ETag"], "modified": first.headers["Last-Modified"]}
    sent = {name: value.format(**known) for name, value in validators.items()}
    response, body = ask(running, "larder", "/docs/install/", **sent)
    assert response.status == status
    assert (body == b"") is (status == 304)
    assert running.requests[-1] == Request("larder", "GET", "/docs/install/", status, True)


def test_validators_do_not_depend_on_the_port() -> None:
    def etag() -> str:
        with serve(["larder"]) as running:
            return ask(running, "larder", "/docs/install/")[0].headers["ETag"]

    assert etag() == etag()


def test_an_edited_page_is_new_under_all_its_names_and_the_rest_is_as_it_was() -> None:
    paths = ("/guides/flat-tyre", "/guides/flat-tyre/", "/guides")
    with serve(["harrier"]) as running:
        known = {path: ask(running, "harrier", path)[0].headers for path in paths}
        running.sites["harrier"].edit("/guides/flat-tyre", "Allow 25 minutes", "Allow 20 minutes")

        def statuses(header: str, validator: str) -> list[int]:
            return [
                ask(running, "harrier", path, **{header: known[path][validator]})[0].status
                for path in paths
            ]

        assert statuses("If_None_Match", "ETag") == [200, 200, 304]
        assert statuses("If_Modified_Since", "Last-Modified") == [200, 200, 304]
        assert b"Allow 20 minutes" in ask(running, "harrier", "/guides/flat-tyre/")[1]


def test_an_edit_names_text_that_stands_there_once() -> None:
    with serve(["harrier"]) as running, pytest.raises(ValueError, match="0 times"):
        running.sites["harrier"].edit("/guides", "no such words", "")


def test_a_removed_page_is_not_found_under_any_of_its_names() -> None:
    with serve(["harrier"]) as running:
        running.sites["harrier"].remove("/guides/flat-tyre")
        for path in ("/guides/flat-tyre", "/guides/flat-tyre/"):
            assert ask(running, "harrier", path)[0].status == 404


def test_head_has_the_headers_and_no_body(running: Running) -> None:
    full, body = ask(running, "harrier", "/")
    head, nothing = ask(running, "harrier", "/", method="HEAD")
    assert nothing == b""
    assert head.headers["Content-Length"] == full.headers["Content-Length"] == str(len(body))


def test_the_log_holds_every_request_in_order() -> None:
    with serve(["harrier"]) as running:
        ask(running, "harrier", "/bikes?x=1")
        ask(running, "harrier", "/nowhere", method="HEAD")
    assert running.requests == [
        Request("harrier", "GET", "/bikes?x=1", 200, False),
        Request("harrier", "HEAD", "/nowhere", 404, False),
    ]


def test_a_stopped_server_refuses_connections() -> None:
    with serve(["harrier"]) as running:
        running.stop()
        with pytest.raises(ConnectionRefusedError):
            ask(running, "harrier", "/")


def test_an_unknown_site_is_named() -> None:
    with pytest.raises(KeyError, match="atlantis"), serve(["atlantis"]):
        pass
