"""Check what a security key said of itself when it was made: that a device made it, now, for us.

Source: OpenSSH's PROTOCOL.u2f (`ssh-sk-attest-v01`) and Web Authentication (authenticator data, packed attestation).
The maker's certificate is not compared with a list of makers: its subject is shown to the person who enrols.
"""

import hashlib
import subprocess

from cli_guard.approvals.signatures import read_strings, scratch_files
from cli_guard.errors import CliGuardError

FORM = b"ssh-sk-attest-v01"
# Authenticator data: hash of the application, flags, counter, the model (AAGUID), the credential's id and public key.
FLAGS = 32
MODEL = slice(37, 53)
ID_LENGTH = slice(53, 55)
PRESENT = 0x01
HAS_KEY = 0x40
SECONDS = 10


def check_attestation(key: bytes, challenge: bytes, attestation: bytes) -> str:
    """Return what was checked, in one line. Raises CliGuardError if it does not fit the key (in wire format)."""
    try:
        form, certificate, signature, wrapped, _flags_and_more = read_strings(
            attestation, 4, more=True
        )
        kind, *parts = read_strings(key, 3 if key.startswith(b"\0\0\0\x1ask-ssh") else 4)
        data = unwrap(wrapped)
    except ValueError as error:
        raise CliGuardError(f"the attestation cannot be read: {error}") from error
    application = parts[-1]
    points = points_of(kind, parts)
    length = int.from_bytes(data[ID_LENGTH], "big")
    public = data[55 + length :]
    problem = None
    if form != FORM:
        problem = "it is not an attestation of version 1"
    elif data[:FLAGS] != hashlib.sha256(application).digest():
        problem = "it is of another application"
    elif data[FLAGS] & (PRESENT | HAS_KEY) != PRESENT | HAS_KEY:
        problem = "nobody touched the device"
    elif not all(point and point in public for point in points):
        problem = "it is of another key"
    elif not certificate:
        problem = "the device gave no certificate"
    if problem:
        raise CliGuardError(f"the attestation does not fit: {problem}")
    subject = verify_by_certificate(
        certificate, signature, data + hashlib.sha256(challenge).digest()
    )
    return f"attestation good: challenge answered, model {data[MODEL].hex()}, certificate of {subject}"


def unwrap(wrapped: bytes) -> bytes:
    """Return the bytes of a CBOR byte string (RFC 8949, 3.1). Raises ValueError."""
    for head, size in ((0x58, 1), (0x59, 2)):
        if wrapped[:1] == bytes((head,)) and len(wrapped) == 1 + size + int.from_bytes(
            wrapped[1 : 1 + size], "big"
        ):
            return wrapped[1 + size :]
    raise ValueError("the data of the device is not a byte string")


def points_of(kind: bytes, parts: list[bytes]) -> tuple[bytes, ...]:
    """Return the numbers of a public key as the device writes them: one of Ed25519, two of P-256."""
    if kind.startswith(b"sk-ssh-ed25519"):
        return (parts[0],)
    return parts[1][1:33], parts[1][33:65]


def verify_by_certificate(certificate: bytes, signature: bytes, signed: bytes) -> str:
    """Return the subject of a certificate (DER) whose key made a signature. Raises CliGuardError."""
    read = ("x509", "-inform", "DER", "-noout")
    public = run_openssl(*read, "-pubkey", stdin=certificate)
    with scratch_files({"key": public, "signature": signature}) as (key, made):
        run_openssl("dgst", "-sha256", "-verify", key, "-signature", made, stdin=signed)
    named = run_openssl(*read, "-subject", "-nameopt", "RFC2253", stdin=certificate)
    subject = named.decode("utf-8", "replace")
    return subject.removeprefix("subject=").strip()


def run_openssl(*arguments: str, stdin: bytes) -> bytes:
    """Return what openssl prints. Raises CliGuardError if it is missing, or finds a fault."""
    try:
        done = subprocess.run(
            ("openssl", *arguments),
            input=stdin,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise CliGuardError(
            "openssl is needed to check an attestation: install it"
        ) from error
    if done.returncode:
        raise CliGuardError(
            "the attestation does not fit: its signature is not good for this challenge"
        )
    return done.stdout
