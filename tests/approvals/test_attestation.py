"""What a security key says of itself when it is made: checked against its challenge, its key and its certificate."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from authenticators import SecurityKey, pack
from in_process import guard
from repositories import Repo

MODEL = bytes.fromhex("d8522d9f575b486688a9ba99fa02f35b")
pytestmark = pytest.mark.skipif(
    not (shutil.which("openssl") and shutil.which("ssh-keygen")),
    reason="needs openssl and ssh-keygen",
)


class Maker:
    """A maker of security keys: a certificate, and what a device of theirs attests."""

    def __init__(self, folder: Path) -> None:
        self.key = folder / "maker.pem"
        self.certificate = folder / "maker.der"
        subprocess.run(
            (
                *(
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:P-256",
                    "-nodes",
                ),
                *(
                    "-keyout",
                    str(self.key),
                    "-outform",
                    "DER",
                    "-out",
                    str(self.certificate),
                ),
                *("-subj", "/O=Example Keys/CN=Batch 7", "-days", "30"),
            ),
            check=True,
            capture_output=True,
        )

    def attest(
        self,
        key: SecurityKey,
        challenge: bytes,
        *,
        application: bytes = b"ssh:",
        flags: int = 0x41,
    ) -> bytes:
        """What `ssh-keygen -O write-attestation` would write (PROTOCOL.u2f)."""
        data = (
            hashlib.sha256(application).digest()
            + bytes((flags,))
            + bytes(4)
            + MODEL
            + b"\0\x10"
            + bytes(16)
        )
        data += b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20" + raw_key(key)
        signed = data + hashlib.sha256(challenge).digest()
        made = subprocess.run(
            ("openssl", "dgst", "-sha256", "-sign", str(self.key)),
            input=signed,
            check=True,
            capture_output=True,
        ).stdout
        wrapped = b"\x58" + bytes((len(data),)) + data
        return (
            pack(b"ssh-sk-attest-v01", self.certificate.read_bytes(), made, wrapped)
            + bytes(4)
            + pack(b"")
        )


def raw_key(key: SecurityKey) -> bytes:
    """The 32 bytes of the public key, between its type and its application."""
    return key.blob[-(4 + len(key.application)) - 32 : -(4 + len(key.application))]


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    return Maker(tmp_path_factory.mktemp("maker"))


Change = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("options", "change", "says"),
    [
        (
            {},
            None,
            "attestation good: challenge answered, model d8522d9f575b486688a9ba99fa02f35b, certificate of CN",
        ),
        (
            {"challenge": b"another challenge of 32 bytes...."},
            None,
            "its signature is not good for this challenge",
        ),
        ({"application": b"ssh:other"}, None, "it is of another application"),
        ({"flags": 0x40}, None, "nobody touched the device"),
        ({"key": SecurityKey(b"\2" * 32)}, None, "it is of another key"),
        (
            {},
            lambda raw: raw.replace(b"attest-v01", b"attest-v00"),
            "not an attestation of version 1",
        ),
        ({}, lambda raw: raw[:200], "cannot be read"),
        ({}, lambda raw: b"", "cannot be read"),
        ({}, lambda raw: raw.replace(MODEL, bytes(16)), "its signature is not good"),
    ],
    ids=[
        "good",
        "challenge",
        "application",
        "touch",
        "key",
        "version",
        "cut",
        "empty",
        "model",
    ],
)
def test_an_attestation_is_checked(
    committed: Repo,
    maker: Maker,
    options: dict[str, object],
    change: Change | None,
    says: str,
) -> None:
    key = SecurityKey(b"\1" * 32)
    challenge = os.urandom(32)
    given = {"key": key, "challenge": challenge, **options}
    raw = maker.attest(**given)  # type: ignore[arg-type]
    folder = committed.path.parent
    for name, content in (
        ("sk.pub", key.public_line().encode()),
        ("challenge", challenge),
        ("attestation", change(raw) if change else raw),
    ):
        (folder / name).write_bytes(content)
    files = (
        "--challenge",
        str(folder / "challenge"),
        "--attestation",
        str(folder / "attestation"),
    )
    done = guard(
        committed,
        "signers",
        "add",
        str(folder / "sk.pub"),
        "--principal",
        "ada@example.org",
        *files,
    )
    signers = committed.path / ".cli-guard" / "signers"
    assert says in done.all
    assert (done.code, signers.exists()) == (
        (0, True) if says.startswith("attestation good") else (2, False)
    )
    if done.code == 0:
        assert f"# {says}" in signers.read_text()


def test_without_one_the_file_says_so(committed: Repo) -> None:
    (committed.path.parent / "sk.pub").write_text(SecurityKey(b"\1" * 32).public_line())
    guard(committed, "signers", "add", "../sk.pub", "--principal", "ada@example.org")
    assert (
        "# no attestation: nothing proves"
        in (committed.path / ".cli-guard" / "signers").read_text()
    )
    done = guard(committed, "signers", "add", "../sk.pub", "--challenge", "x")
    assert (done.code, done.err.count("\n")) == (2, 1) and "belong together" in done.err
