"""What a signature says of itself, read without ssh-keygen: its key, its flags, and every form that is refused."""

import base64

import pytest
from examples import table

from cli_guard.approvals.signatures import Signature, parse, read_public_key, read_strings
from cli_guard.errors import CliGuardError
from cli_guard.model import Presence

BEGIN = "-----BEGIN SSH SIGNATURE-----"
END = "-----END SSH SIGNATURE-----"
PLAIN = b"ssh-ed25519"
HARDWARE = b"sk-ssh-ed25519@openssh.com"
VERSION = b"SSHSIG\0\0\0\1"
COUNTER = b"\0\0\0\7"


def strings(*parts: bytes) -> bytes:
    """Strings in the wire format: four bytes of length before each."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def envelope(
    blob: bytes, key: bytes = PLAIN, *, head: bytes = VERSION, after: bytes = b""
) -> str:
    """A signature file around what the key made."""
    body = strings(strings(key, b"public"), b"space", b"", b"sha512", blob)
    text = base64.b64encode(head + body + after).decode()
    return f"{BEGIN}\n{text}\n{END}\n"


@table(
    ("flags", "presence"),
    [(0, Presence.KEY), (1, Presence.TOUCH), (5, Presence.VERIFIED), (4, Presence.KEY)],
)
def test_flags_of_a_security_key_say_how_a_person_was_there(
    flags: int, presence: Presence
) -> None:
    made = strings(HARDWARE, b"made") + bytes([flags]) + COUNTER
    signature = parse(envelope(made, HARDWARE))
    key = strings(HARDWARE, b"public")
    assert signature == Signature(key, "space", flags, 7)
    assert signature.presence is presence


def test_a_key_in_a_file_proves_no_person() -> None:
    signature = parse(envelope(strings(PLAIN, b"made")))
    assert (signature.flags, signature.counter) == (None, None)
    assert signature.presence is Presence.KEY


@table(
    "key",
    [b"ssh-ed25519-cert-v01@openssh.com", PLAIN, b"ssh-rsa"],
)
def test_the_type_of_the_key_is_that_of_the_signature_or_of_its_certificate(
    key: bytes,
) -> None:
    assert parse(envelope(strings(PLAIN, b"made"), key)).namespace == "space"


GOOD = envelope(strings(PLAIN, b"made"))


@table(
    ("armored", "says"),
    [
        ("", "not an SSH signature"),
        (GOOD.replace(BEGIN, ""), "not an SSH signature"),
        (GOOD.replace(END, ""), "not an SSH signature"),
        (GOOD + GOOD, "not an SSH signature"),
        (GOOD.replace("\n", "\n*", 1), "not an SSH signature"),
        (GOOD + "é", "not an SSH signature"),
        (envelope(strings(PLAIN, b"made"), head=b"SSHSIG\0\0\0\2"), "version 1"),
        (envelope(strings(PLAIN, b"made"), head=b"SSHGIS\0\0\0\1"), "version 1"),
        (envelope(strings(PLAIN, b"made"), after=b"more"), "more than one signature"),
        (envelope(strings(PLAIN, b"made")[:-1]), "cut off"),
        (envelope(strings(PLAIN, b"")), "unknown form"),
        (envelope(strings(PLAIN, b"made") + b"\1"), "unknown form"),
        (envelope(strings(HARDWARE, b"made"), HARDWARE), "no flags"),
        (envelope(strings(HARDWARE, b"made") + b"\1" + COUNTER), "another type"),
        (envelope(strings(PLAIN, b"made"), b"ssh-dss"), "another type"),
    ],
)
def test_any_other_form_is_refused(armored: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse(armored)


def test_strings_end_where_they_say() -> None:
    raw = strings(b"a", b"") + b"rest"
    assert read_strings(raw, 2, more=True) == [b"a", b"", b"rest"]
    assert read_strings(strings(b"a"), 1) == [b"a"]
    for short in (b"", b"\0\0\0", b"\0\0\0\5abcd"):
        with pytest.raises(ValueError, match="cut off"):
            read_strings(short, 1)
    with pytest.raises(ValueError, match="more than one"):
        read_strings(raw, 2)


def test_a_public_key_file_holds_one_key_of_the_type_that_it_names(tmp_path) -> None:
    blob = base64.b64encode(strings(PLAIN, b"public")).decode()
    file = tmp_path / "id.pub"
    file.write_text(f"ssh-ed25519 {blob} Ada at home\n")
    assert read_public_key(file) == ("ssh-ed25519", blob, "Ada at home")
    assert read_public_key(tmp_path / "id") == read_public_key(file)
    file.write_text(f"ssh-ed25519 {blob}\n")
    assert read_public_key(file) == ("ssh-ed25519", blob, "")
    for wrong in (f"ssh-rsa {blob} x", "ssh-ed25519", "ssh-ed25519 *", f"a {blob} x\ny"):
        file.write_text(wrong)
        with pytest.raises(CliGuardError, match="is not a public key"):
            read_public_key(file)
