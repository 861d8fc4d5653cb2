"""A model on loopback needs no certificate: loading those of the system takes 40 ms a client, and each call has two."""

from pathlib import Path

import pytest
from chat_desk import write_one_certificate


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the first certificate of the system's."""
    return Path(write_one_certificate(tmp_path_factory.mktemp("certificates")))


@pytest.fixture(autouse=True)
def few_certificates(
    one_certificate: Path, isolated: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have it alone loaded by every client of this test."""
    if one_certificate.stat().st_size:
        isolated["SSL_CERT_FILE"] = str(one_certificate)
        monkeypatch.setenv("SSL_CERT_FILE", str(one_certificate))
