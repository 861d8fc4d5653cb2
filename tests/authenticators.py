"""A software FIDO authenticator behind a small ssh-agent: real `ssh-keygen` signs with chosen flags and counter.

Only for tests: this Ed25519 does not run in constant time and the seeds are no secret.
"""

import base64
import hashlib
import os
import secrets
import socket
import socketserver
import struct
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

# The curve of RFC 8032, section 5.1: the prime, the order of the base point, the constant d.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

# Extended homogeneous coordinates (X, Y, Z, T): x = X/Z, y = Y/Z, x * y = T/Z.
Point = tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)
BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE_Y = 4 * pow(5, -1, P) % P
BASE: Point = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)

# Message numbers of the agent protocol (draft-miller-ssh-agent, section 6.1).
FAILURE = 5
REQUEST_IDENTITIES = 11
IDENTITIES_ANSWER = 12
SIGN_REQUEST = 13
SIGN_RESPONSE = 14


def add_points(p: Point, q: Point) -> Point:
    """Add two points of the curve (RFC 8032, section 5.1.4); doubling is the same formula."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e = b - a
    f = d - c
    g = d + c
    h = b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def encode_multiple(scalar: int) -> bytes:
    """Multiply the base point by `scalar` and encode the result (RFC 8032, section 5.1.2)."""
    total = NEUTRAL
    power = BASE
    while scalar:
        if scalar & 1:
            total = add_points(total, power)
        power = add_points(power, power)
        scalar >>= 1
    inverse = pow(total[2], -1, P)
    x = total[0] * inverse % P
    y = total[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


@cache
def expand_seed(seed: bytes) -> tuple[int, bytes, bytes]:
    """Return the secret scalar, the prefix and the 32-byte public key of a seed (RFC 8032, section 5.1.5)."""
    if len(seed) != 32:
        raise ValueError(f"an Ed25519 seed has 32 bytes, not {len(seed)}")
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
    return scalar, digest[32:], encode_multiple(scalar)


def ed25519_sign(seed: bytes, message: bytes) -> bytes:
    """Return the 64-byte signature of `message` (RFC 8032, section 5.1.6)."""
    scalar, prefix, public_key = expand_seed(seed)
    nonce = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ORDER
    commitment = encode_multiple(nonce)
    challenge = int.from_bytes(
        hashlib.sha512(commitment + public_key + message).digest(), "little"
    )
    return commitment + ((nonce + challenge * scalar) % ORDER).to_bytes(32, "little")


def pack(*strings: bytes | str) -> bytes:
    """Encode each as an SSH `string`: a 32-bit length, then the bytes (RFC 4251, section 5)."""
    values = [value.encode() if isinstance(value, str) else value for value in strings]
    return b"".join(struct.pack(">I", len(value)) + value for value in values)


def unpack(data: bytes) -> tuple[bytes, bytes]:
    """Split an SSH `string` from what follows it; where `data` is too short, so is the string."""
    end = 4 + int.from_bytes(data[:4], "big")
    return data[4:end], data[end:]


@dataclass
class PlainKey:
    """An `ssh-ed25519` key that the agent holds in software (RFC 8709)."""

    algorithm: ClassVar[str] = "ssh-ed25519"
    seed: bytes
    comment: str = "plain key"

    @property
    def blob(self) -> bytes:
        """The public key on the wire."""
        return pack(self.algorithm, expand_seed(self.seed)[2])

    def public_line(self) -> str:
        """Return the line of a `.pub` file, without a line end."""
        return f"{self.algorithm} {base64.b64encode(self.blob).decode()} {self.comment}"

    def sign(self, message: bytes) -> bytes:
        """Return the SSH signature blob of `message`."""
        return pack(self.algorithm, ed25519_sign(self.seed, message))


@dataclass
class SecurityKey:
    """An `sk-ssh-ed25519@openssh.com` key on a FIDO authenticator (OpenSSH PROTOCOL.u2f).

    `flags`: 0x01 user present, 0x04 user verified. `counter` is what the next signature carries;
    each signature raises it by one.
    """

    algorithm: ClassVar[str] = "sk-ssh-ed25519@openssh.com"
    seed: bytes
    application: str = "ssh:"
    comment: str = "security key"
    flags: int = 0x01
    counter: int = 1

    @property
    def blob(self) -> bytes:
        """The public key on the wire (PROTOCOL.u2f, "SSH U2F Key formats")."""
        return pack(self.algorithm, expand_seed(self.seed)[2], self.application)

    def public_line(self) -> str:
        return f"{self.algorithm} {base64.b64encode(self.blob).decode()} {self.comment}"

    def sign(self, message: bytes) -> bytes:
        """Return the SSH signature blob of `message` (PROTOCOL.u2f, "SSH U2F signatures")."""
        state = struct.pack(">BI", self.flags, self.counter)
        self.counter += 1
        application = hashlib.sha256(self.application.encode()).digest()
        signature = ed25519_sign(
            self.seed, application + state + hashlib.sha256(message).digest()
        )
        return pack(self.algorithm, signature) + state


Key = PlainKey | SecurityKey


def sshsig(key: Key, message: bytes, namespace: str, hash_name: str = "sha512") -> str:
    """Return an armored signature as `ssh-keygen -Y sign` writes it (OpenSSH PROTOCOL.sshsig)."""
    context = pack(namespace, b"", hash_name)
    signature = key.sign(
        b"SSHSIG" + context + pack(hashlib.new(hash_name, message).digest())
    )
    envelope = b"SSHSIG" + struct.pack(">I", 1) + pack(key.blob) + context + pack(signature)
    # ssh-keygen breaks lines at 70 characters, so that both outputs are the same to the byte.
    lines = textwrap.wrap(base64.b64encode(envelope).decode(), 70)
    return "\n".join(
        ["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]
    )


class AgentServer(socketserver.ThreadingUnixStreamServer):
    """Answer the agent protocol (draft-miller-ssh-agent) on a Unix socket, a thread per connection."""

    def __init__(self, path: str, keys: Sequence[Key], refuses: bool, locked: bool) -> None:
        self.keys = keys
        self.refuses = refuses
        self.locked = locked
        self.signing = threading.Lock()
        self.connections: list[socket.socket] = []
        super().__init__(path, socketserver.BaseRequestHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note the connection, so that `running_agent` can close it, then start its thread."""
        self.connections.append(request)
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer each message, a 32-bit length before it, until the client closes the connection."""
        with suppress(OSError), request.makefile("rb") as stream:
            while len(header := stream.read(4)) == 4:
                request.sendall(
                    pack(self.answer(stream.read(int.from_bytes(header, "big"))))
                )

    def answer(self, message: bytes) -> bytes:
        """Return the answer to a message; both without their length."""
        keys = [] if self.locked else self.keys
        if message == bytes([REQUEST_IDENTITIES]):
            listed = b"".join(pack(key.blob, key.comment) for key in keys)
            return struct.pack(">BI", IDENTITIES_ANSWER, len(keys)) + listed
        if message[:1] == bytes([SIGN_REQUEST]) and not self.refuses:
            blob, rest = unpack(message[1:])
            for key in keys:
                if key.blob == blob:
                    with self.signing:  # two connections must not use the same counter
                        return bytes([SIGN_RESPONSE]) + pack(key.sign(unpack(rest)[0]))
        return bytes([FAILURE])


@contextmanager
def running_agent(
    keys: Sequence[Key],
    folder: str | os.PathLike[str],
    *,
    refuses: bool = False,
    locked: bool = False,
) -> Iterator[str]:
    """Run an agent with `keys` on a new socket in `folder` and yield the path for SSH_AUTH_SOCK.

    `refuses`: fail every sign request, as when the user says no. `locked`: list no keys and sign nothing.
    Raise ValueError where the path is too long for a socket.
    """
    path = Path(folder, f"agent-{secrets.token_hex(3)}")
    if len(os.fsencode(path)) >= 100:  # Linux has 108 bytes for it, macOS 104
        raise ValueError(f"the path of a socket must be shorter than 100 bytes: {path}")
    server = AgentServer(str(path), keys, refuses, locked)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="ssh-agent")
    thread.start()
    try:
        yield str(path)
    finally:
        server.shutdown()
        thread.join()
        for (
            connection
        ) in server.connections:  # no thread may wait for a client that stays connected
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        server.server_close()
        path.unlink(missing_ok=True)
