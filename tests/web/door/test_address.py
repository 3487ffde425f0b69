"""Where the server is: from its own settings, and refused where they make no sense."""

from __future__ import annotations

import pytest
from streamlit import config

from dpsynth_core.web.shell.door import address
from tests.refusals import refused


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        ("https://studio.example.org", "https://studio.example.org"),
        ("https://Studio.Example.org:443/path?x=1", "https://studio.example.org"),
        ("http://studio.example.org:80", "http://studio.example.org"),
        ("http://studio.example.org:8080/", "http://studio.example.org:8080"),
        ("http://[::1]:8501", "http://[::1]:8501"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(written: str, origin: str) -> None:
    assert address.origin_of(written, "DPSYNTH_URL") == origin


@pytest.mark.parametrize(
    "text", ["studio.example.org", "ftp://a", "http://", "http://user@host", "http://host:port", "http://host:99999", "http://["]
)
def test_what_is_not_an_address_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_URL", text)
    refused(address.configured, saying="DPSYNTH_URL")


@pytest.mark.parametrize(
    ("listens", "base", "shown"),
    [
        ("127.0.0.1", "", "http://127.0.0.1:8501"),
        ("0.0.0.0", "", "http://localhost:8501"),
        ("::1", "", "http://[::1]:8501"),
        ("127.0.0.1", "studio", "http://127.0.0.1:8501/studio"),
    ],
)
def test_the_address_to_open_is_the_one_that_the_server_listens_on(listens: str, base: str, shown: str) -> None:
    config.set_option("server.address", listens)
    config.set_option("server.baseUrlPath", base)
    assert address.url() == shown


def test_the_address_to_open_is_the_published_one_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_URL", "https://studio.example.org/")
    assert address.url() == "https://studio.example.org"
    assert address.scheme() == "https"


def test_a_certificate_of_its_own_means_https() -> None:
    assert address.scheme() == "http"
    config.set_option("server.sslCertFile", "cert.pem")
    assert address.scheme() == "https"
