"""Sign and verify with `ssh-keygen`, and read from a signature how surely a person made it.

Sources: ssh-keygen(1), `-Y`; OpenSSH's PROTOCOL.sshsig (the envelope) and PROTOCOL.u2f (flags and counter).
"""

import base64
import binascii
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen
from cli_guard.model import Presence
from cli_guard.runtime import Env

NAMESPACE = "cli-guard-approval@v1"
TRUST = "cli-guard-trust@v1"
BEGIN = "-----BEGIN SSH SIGNATURE-----"
END = "-----END SSH SIGNATURE-----"
MAGIC = b"SSHSIG"
SECURITY_KEYS = ("sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com")
USER_PRESENT = 0x01
USER_VERIFIED = 0x04
SIGN_SECONDS = 120
VERIFY_SECONDS = 10


@frozen
class Signature:
    """What a signature says of itself: its key (wire format), namespace, flags and counter (of a security key)."""

    key: bytes
    namespace: str
    flags: int | None = None
    counter: int | None = None

    @property
    def presence(self) -> Presence:
        """Return the level that the signature proves. `ssh-keygen -Y verify` does not demand a touch."""
        if self.flags is None or not self.flags & USER_PRESENT:
            return Presence.KEY
        return Presence.VERIFIED if self.flags & USER_VERIFIED else Presence.TOUCH


def parse(armored: str) -> Signature:
    """Parse an armored signature. Raises ValueError for any other form."""
    body = armored.strip() if armored.isascii() else ""
    if not body.startswith(BEGIN) or not body.endswith(END) or body.count(BEGIN) != 1:
        raise ValueError("not an SSH signature")
    try:
        raw = base64.b64decode("".join(body[len(BEGIN) : -len(END)].split()), validate=True)
    except binascii.Error as error:
        raise ValueError("not an SSH signature") from error
    if raw[:6] != MAGIC or raw[6:10] != (1).to_bytes(4, "big"):
        raise ValueError("not an SSH signature of version 1")
    key, namespace, _reserved, _hash, blob = read_strings(raw[10:], 5)
    form, made, *rest = read_strings(blob, 2, more=True)
    flags = counter = None
    if form.decode("ascii", "replace") in SECURITY_KEYS:
        if len(rest[0]) != 5:
            raise ValueError("the signature of a security key has no flags")
        flags = rest[0][0]
        counter = int.from_bytes(rest[0][1:], "big")
    elif rest[0] or not made:
        raise ValueError("a signature of an unknown form")
    if read_strings(key, 1, more=True)[0].partition(b"-cert-")[0] not in (form, b"ssh-rsa"):
        raise ValueError("the signature is of another type than its key")
    return Signature(key, namespace.decode("ascii", "replace"), flags, counter)


def read_strings(raw: bytes, number: int, *, more: bool = False) -> list[bytes]:
    """Return the first strings of a wire format (RFC 4251, 5), and the rest if there may be `more`."""
    found = []
    for _ in range(number):
        length = int.from_bytes(raw[:4], "big")
        if len(raw) < 4 + length or len(raw) < 4:
            raise ValueError("the signature is cut off")
        found.append(raw[4 : 4 + length])
        raw = raw[4 + length :]
    if raw and not more:
        raise ValueError("there is more than one signature")
    return [*found, raw] if more else found


def agent_keys(env: Env) -> list[tuple[str, str, str]]:
    """Return type, base64 and comment of the keys that the user's agent holds (ssh-add(1)); none without an agent."""
    if not env.get("SSH_AUTH_SOCK"):
        return []
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ("ssh-add", "-L"),
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=2,
            check=False,
        )
        words = (
            line.split(None, 2)
            for line in done.stdout.decode("utf-8", "replace").splitlines()
        )
        return [
            (each[0], each[1], each[2] if len(each) > 2 else "")
            for each in words
            if len(each) > 1
        ]
    return []


def read_public_key(path: Path) -> tuple[str, str, str]:
    """Return type, base64 and comment of a public key file. Raises CliGuardError."""
    path = path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub")
    try:
        words = path.read_text("utf-8", "replace").split(None, 2)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "it is not a public key"
        raise CliGuardError(
            f"{path} cannot be read: {said}; name a public key, made by ssh-keygen"
        ) from error
    comment = " ".join(words[2:]).strip()
    if len(words) < 2 or "\n" in comment or decode_key(words[0], words[1]) is None:
        raise CliGuardError(f"{path} is not a public key of OpenSSH")
    return words[0], words[1], comment


def decode_key(kind: str, text: str) -> bytes | None:
    """Decode the base64 of a public key, None if it is not one of this kind."""
    raw = blob_of(text)
    try:
        named = read_strings(raw or b"", 2, more=True)[0]
    except ValueError:
        return None
    return raw if named == kind.encode("utf-8") else None


def blob_of(text: str) -> bytes | None:
    """Decode the base64 of a public key, None if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def run_ssh_keygen(
    *arguments: str,
    env: Env,
    stdin: bytes = b"",
    seconds: float = VERIFY_SECONDS,
    unattended: bool = False,
) -> tuple[int, str, bytes]:
    """Run ssh-keygen; return its exit code, the last line of what it said, and its output.

    It may ask for a passphrase or a PIN on the controlling terminal, never through a program of the environment; if
    `unattended` it has no terminal. Raises CliGuardError if it cannot run.
    """
    try:
        done = subprocess.run(
            ("ssh-keygen", *arguments),
            input=stdin,
            env={**env, "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"},
            capture_output=True,
            timeout=seconds,
            check=False,
            start_new_session=unattended,
        )
    except FileNotFoundError as error:
        raise CliGuardError(
            "ssh-keygen was not found on PATH: install OpenSSH 8.9 or newer to use signatures"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise CliGuardError(f"ssh-keygen did not end within {seconds:g} s") from error
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").split("\n")
    said = next(
        (line.strip() for line in reversed(lines) if line.strip()), "no reason given"
    )
    if "illegal option" in said or "unknown option" in said or said.startswith("usage:"):
        raise CliGuardError(
            "ssh-keygen is too old for signatures: install OpenSSH 8.9 or newer"
        )
    return done.returncode, said, done.stdout


@contextmanager
def scratch_files(contents: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Yield the paths of temporary files with these names and contents."""
    with tempfile.TemporaryDirectory(prefix="cli-guard-") as folder:
        for name, content in contents.items():
            Path(folder, name).write_bytes(content)
        yield [f"{folder}/{name}" for name in contents]


def sign(
    message: bytes,
    path: str | Path,
    env: Env,
    namespace: str = NAMESPACE,
    *,
    public_key: str = "",
    seconds: float = SIGN_SECONDS,
    unattended: bool = False,
) -> str:
    """Sign with a key file, or with "" by the agent that holds the `public_key`; return the armored signature.

    Raises CliGuardError.
    """
    with scratch_files({"key.pub": f"{public_key}\n".encode("ascii")}) as (public,):
        # On standard input: while a person touches the key, a file could be replaced.
        command = ("-Y", "sign", "-n", namespace, "-f", str(path or public))
        code, said, made = run_ssh_keygen(
            *command, env=env, stdin=message, seconds=seconds, unattended=unattended
        )
    if code or not made:
        named = path or "the key in your agent"
        raise CliGuardError(
            f"{named} did not sign: {said}; is it unlocked, or in your agent (`ssh-add -l`)?"
        )
    return made.decode("ascii", "replace")


def verify(
    message: bytes,
    armored: str,
    line: str,
    principal: str,
    env: Env,
    revoked: bytes = b"",
    namespace: str = NAMESPACE,
) -> str | None:
    """Return why a signature is not good, None if it is. Raises CliGuardError if ssh-keygen cannot run.

    `line` is the one line of an allowed_signers file that may have made it; `revoked` a key revocation list.
    """
    path = env.get("PATH", os.defpath)
    return _verify(message, armored, line, principal, path, revoked, namespace)


@lru_cache(
    maxsize=4_096
)  # a statement may stand in several notes; each signature is verified once
def _verify(
    message: bytes,
    armored: str,
    line: str,
    principal: str,
    path: str,
    revoked: bytes,
    namespace: str,
) -> str | None:
    written = {"signers": f"{line}\n".encode(), "sig": armored.encode("ascii")}
    with scratch_files({**written, "revoked": revoked}) as (signers, made, krl):
        who = ("-f", signers, "-I", principal, "-n", namespace, "-s", made)
        more = ("-r", krl) if revoked else ()
        code, said, _ = run_ssh_keygen(
            "-Y", "verify", *who, *more, env={"PATH": path}, stdin=message
        )
    return None if code == 0 else said
