"""Pages whose text is made by scripts: a real browser, and what it cannot reach."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from crawler.errors import BrowserError
from crawler.rendering import check, executable
from tests.crawler.crawling import crawl, ledger_of
from tests.crawler.site import Answer, Site

HTML = {"Content-Type": "text/html; charset=utf-8"}
SCRIPT = {"Content-Type": "text/javascript"}


@pytest.fixture(autouse=True)
def browser(need: Callable[[str, bool], None]) -> None:
    need("playwright (the extra render)", find_spec("playwright") is not None)
    need("chromium", executable() is not None)


def shell(script: str, **headers: str) -> Answer:
    page = "<!doctype html><meta charset=iso-8859-1><title>Shell</title><main id=app></main>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(f"{page}<script>{script}</script>", headers={**HTML, **named})


def texts(folder: Path) -> dict[str, str]:
    """What is stored of each page."""
    outcomes = ledger_of(folder / "ledger.db").outcomes()
    stored = {url: outcome["body"] for url, outcome in outcomes.items()}
    return {
        url: body.decode("utf-8-sig") for url, body in stored.items() if isinstance(body, bytes)
    }


@contextmanager
def listening(address: str, kind: socket.SocketKind) -> Iterator[tuple[int, list[bytes]]]:
    """A port that must hear nothing, and what it heard."""
    heard: list[bytes] = []
    with socket.socket(socket.AF_INET, kind) as listener:
        listener.bind((address, 0))
        if kind == socket.SOCK_STREAM:
            listener.listen()

        def hear() -> None:
            while True:
                try:
                    if kind == socket.SOCK_STREAM:
                        listener.accept()[0].close()
                        heard.append(b"a connection")
                    else:
                        heard.append(listener.recv(100))
                except OSError:
                    return

        threading.Thread(target=hear, daemon=True).start()
        yield listener.getsockname()[1], heard
        # Wakes the thread, which holds the port open until then.
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def test_text_and_links_that_scripts_make_are_read(tmp_path: Path) -> None:
    with Site().serving() as site:
        shared = "fetch('/data.json?page=' + location.pathname).then(r => r.json()).then(show)"
        show = "function show(it) { app.innerHTML = `<p>${it.text}</p><a href='/two'>two</a>`; }"
        for path in ("/", "/two"):
            site.routes[path] = Answer(
                "<!doctype html><link rel=stylesheet href=/look.css><main id=app></main>"
                "<script src=/app.js></script><img src=/picture.png>",
                headers={**HTML, "ETag": '"shell"'},
            )
        site.routes["/app.js"] = Answer(f"{show} {shared}", headers=SCRIPT)
        site.routes["/data.json"] = lambda asked, _: Answer(
            json.dumps({"text": f"Grüße von {asked.path.rpartition('=')[2]}"}),
            headers={"Content-Type": "application/json"},
        )
        crawl(tmp_path / "ledger.db", f"{site.url}/", render=True)
        pages = texts(tmp_path)
        assert "<p>Grüße von /</p>" in pages[f"{site.url}/"]
        assert "<p>Grüße von /two</p>" in pages[f"{site.url}/two"]
        assert site.asked("/") == site.asked("/two") == 1
        assert site.asked("/app.js") == 1
        assert not site.asked("/look.css") + site.asked("/picture.png")


def test_nothing_that_a_page_asks_for_reaches_a_forbidden_address(tmp_path: Path) -> None:
    with (
        Site().serving() as site,
        listening("127.0.0.2", socket.SOCK_STREAM) as (port, connections),
        listening("127.0.0.1", socket.SOCK_STREAM) as (near, beside),
        listening("127.0.0.1", socket.SOCK_DGRAM) as (udp, datagrams),
    ):
        site.redirect("/hop", f"http://127.0.0.2:{port}/")
        ask = f"""
            const far = "127.0.0.2:{port}", other = "127.0.0.1:{near}";
            const named = ["http://169.254.169.254/latest/meta-data/", "http://" + far, "/hop",
              "http://" + other, "http://localhost:{near}/", "http://2130706433:{near}/",
              "http://[::ffff:127.0.0.1]:{near}/", "file:///etc/passwd"];
            for (const host of [far, other]) {{
              for (const tag of ["img", "iframe", "script", "embed", "video"]) {{
                const made = document.createElement(tag);
                made.src = "http://" + host;
                document.body.append(made);
              }}
              document.head.innerHTML += `<link rel=preconnect href=http://${{host}}>`
                + `<link rel=prefetch href=http://${{host}}><link rel=icon href=http://${{host}}>`;
              new WebSocket("ws://" + host);
              new EventSource("http://" + host);
              navigator.sendBeacon("http://" + host, "it");
              new Worker(URL.createObjectURL(new Blob([`fetch("http://${{host}}")`])));
              window.open("http://" + host);
            }}
            try {{
              const urls = "stun:127.0.0.1:{udp}";
              const peer = new RTCPeerConnection({{iceServers: [{{urls}}]}});
              peer.createDataChannel("it");
              peer.createOffer().then(offer => peer.setLocalDescription(offer));
            }} catch (error) {{}}
            Promise.allSettled(named.map(one => fetch(one, {{mode: "no-cors"}}))).then(all => {{
              app.textContent = all.map(one => one.status).join(" ");
              location.href = "http://" + far;
            }});
        """
        site.routes["/"] = shell(ask)
        # They belong to the source: that alone must not let them in.
        hosts = ("127.0.0.2", "169.254.169.254")
        crawl(
            tmp_path / "ledger.db",
            f"{site.url}/",
            hosts=hosts,
            max_depth=0,
            timeout=10.0,
            render=True,
        )
        body = texts(tmp_path)[f"{site.url}/"]
        assert " ".join(["rejected"] * 8) in body
        assert site.asked("/hop") == 1
        assert (connections, beside, datagrams) == ([], [], [])


def test_a_page_that_does_not_end_or_grows_is_missed_and_the_next_is_read(tmp_path: Path) -> None:
    with Site().serving() as site:
        site.page("/", "/loop", "/huge", "/last")
        site.routes["/loop"] = shell("while (true) {}")
        site.routes["/huge"] = shell("app.textContent = 'x'.repeat(3e6)")
        site.routes["/last"] = shell("app.textContent = 'still ' + 'here'")
        options = {"timeout": 6.0, "max_body_bytes": 2**20, "max_depth": 1}
        crawl(tmp_path / "ledger.db", f"{site.url}/", render=True, **options)
        ledger = ledger_of(tmp_path / "ledger.db")
        reasons = {url.removeprefix(site.url): o["reason"] for url, o in ledger.outcomes().items()}
        assert reasons == {"/": None, "/loop": "timeout", "/huge": "too_large", "/last": None}
        assert "still here" in texts(tmp_path)[f"{site.url}/last"]


def test_robots_hold_for_what_a_page_loads_and_nothing_goes_from_page_to_page(
    tmp_path: Path,
) -> None:
    with Site().serving() as site:
        site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /closed")
        note = "app.textContent = 'had [' + document.cookie + localStorage.length + ']';"
        keep = "document.cookie = 'sid=1'; localStorage.x = 1; fetch('/closed.json');"
        post = "fetch('/act', {method: 'POST'}); fetch('/logout');"
        for path in ("/", "/two"):
            site.routes[path] = shell(
                f"{note} {keep} {post} app.innerHTML += '<a href=/two>t</a>'", Set_Cookie="c=1"
            )
        crawl(tmp_path / "ledger.db", f"{site.url}/", exclude=("/logout",), render=True)
        pages = texts(tmp_path)
        assert all("had [0]" in pages[f"{site.url}{path}"] for path in ("/", "/two"))
        assert not sum(map(site.asked, ("/closed.json", "/logout", "/act")))
        assert not any("cookie" in one.headers for one in site.log)


def test_a_machine_without_a_browser_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BrowserError, match="apt-get install chromium"):
        check()
