"""Sites over TLS."""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crawler.trust import find_authorities
from tests.crawler.crawling import crawl, ledger_of
from tests.crawler.site import Site


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for loopback that nobody vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize(
    ("verify", "kind", "reason"), [(True, "Missed", "tls"), (False, "Fetched", None)]
)
def test_a_site_must_prove_its_name_unless_told_otherwise(
    tmp_path: Path, certificate: Path, verify: bool, kind: str, reason: str | None
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Site(tls=context).serving() as site:
        site.page("/")
        crawl(tmp_path / "ledger.db", f"{site.url}/", verify_tls=verify)
        assert bool(site.log) is not verify
    (outcome,) = ledger_of(tmp_path / "ledger.db").outcomes().values()
    assert (outcome["kind"], outcome["reason"]) == (kind, reason)


def test_a_machine_without_authorities_gets_those_of_mozilla(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "restored after the test")
    del os.environ["SSL_CERT_FILE"]
    bare = ssl.DefaultVerifyPaths(None, None, "SSL_CERT_FILE", "none", "SSL_CERT_DIR", "none")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: bare)
    find_authorities()
    assert "BEGIN CERTIFICATE" in Path(os.environ["SSL_CERT_FILE"]).read_text()


def test_authorities_that_are_there_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/our/own.pem")
    find_authorities()
    assert os.environ["SSL_CERT_FILE"] == "/our/own.pem"
