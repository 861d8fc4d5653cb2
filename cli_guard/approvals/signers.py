"""The people whose signatures count: `.cli-guard/signers`, in the form of an allowed_signers file (ssh-keygen(1)).

One line a key: `principal options type base64 comment`. Only a plain principal counts (no pattern, no list, no
certificate authority), so that one key cannot speak for several people. A first comment names the repository.
"""

import re
from collections.abc import Mapping
from functools import cached_property

from cli_guard.approvals.signatures import NAMESPACE, SECURITY_KEYS, decode_key
from cli_guard.errors import ConfigError
from cli_guard.lazy import dataclass, frozen
from cli_guard.repository.entries import list_entries
from cli_guard.repository.protocol import Repository

SIGNERS = ".cli-guard/signers"
REVOKED = ".cli-guard/revoked"
PRINCIPAL = re.compile(r"[A-Za-z0-9][\w.+%-]*@[\w.-]+", re.ASCII)
LINE = re.compile(
    r'(\S+) ((?>(?:[\w-]++(?:="[^"]*")?,?)+)) (\S+) (\S+)(?: (.*))?', re.ASCII
)
OPTION = re.compile(r'([\w-]+)(?:="([^"]*)")?')
REPOSITORY = re.compile(r"# repository((?: [0-9a-f]{40}| [0-9a-f]{64})+)")
DAY = re.compile(r"\d{8}(?:\d{4}(?:\d{2})?)?Z?", re.ASCII)
KNOWN_OPTIONS = {"namespaces", "valid-after", "valid-before"}


@frozen
class Signer:
    """One enrolled key. `key` is its public key in wire format, `line` its line without the comment."""

    principal: str
    kind: str
    key: bytes
    line: str
    options: Mapping[str, str]
    comment: str = ""

    @property
    def is_security_key(self) -> bool:
        """Return whether the key is one of a FIDO device, which can prove a touch."""
        return self.kind in SECURITY_KEYS

    @property
    def public_key(self) -> str:
        """Return the type and the base64 of the public key, as a file of ssh-keygen has them."""
        return self.line.split(" ", 2)[2]

    def allows(self, namespace: str) -> str:
        """Return the line that lets the key sign in another namespace of ours."""
        return self.line.replace(NAMESPACE, namespace, 1)


@dataclass(frozen=True)
class Signers:
    """The signers of one commit, and the keys that it revokes (a KRL of ssh-keygen)."""

    known: tuple[Signer, ...] = ()
    revoked: bytes = b""
    repository: tuple[str, ...] = ()

    @classmethod
    def at_commit(cls, repository: Repository, revision: str | None) -> "Signers":
        """Return the signers of a commit, none for None. Raises ConfigError for a broken file, GitError."""
        if revision is None:
            return cls()
        where = f"{SIGNERS} at {revision[:12]}"
        files = ("ls-tree", "-z", "--full-tree", revision, "--", SIGNERS, REVOKED)
        modes = {
            path: mode for (mode, *_), path in list_entries(repository.git.run(*files))
        }
        if modes.get(SIGNERS, "").startswith("12"):
            raise ConfigError(f"{where}: it is a link; commit a file")

        def read(name: str) -> bytes:
            return (repository.show(revision, name) if name in modes else None) or b""

        raw = read(SIGNERS)
        known, named = parse_signers(raw, where)
        roots = named or (
            () if repository.is_shallow else tuple(repository.root_commits(revision))
        )
        return cls(known, read(REVOKED), roots)

    @cached_property
    def by_key(self) -> Mapping[bytes, Signer]:
        """Return the signers by their keys."""
        return {each.key: each for each in self.known}


def parse_signers(raw: bytes, source: str) -> tuple[tuple[Signer, ...], tuple[str, ...]]:
    """Return the signers of a file and the first commits of the repository that it names. Raises ConfigError."""
    found: list[Signer] = []
    named: tuple[str, ...] = ()
    try:
        lines = raw.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: not UTF-8: save it as UTF-8") from error
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("#") or not text:
            said = REPOSITORY.fullmatch(text)
            named = tuple(said[1].split()) if said and not named else named
            continue
        signer = parse_line(text)
        if isinstance(signer, str):
            raise ConfigError(f"{source}, line {number}: {signer}")
        if any(each.key == signer.key for each in found):
            raise ConfigError(
                f"{source}, line {number}: this key is already enrolled: one key, one person"
            )
        found.append(signer)
    return tuple(found), named


def parse_line(text: str) -> Signer | str:
    """Return the signer of a line, or what is wrong with it."""
    words = LINE.fullmatch(text)
    if words is None:
        return (
            f'not a signer; write: you@example.org namespaces="{NAMESPACE}" ssh-ed25519 KEY'
        )
    principal, given, kind, key, comment = words.groups()
    options = {name: value or "" for name, value in OPTION.findall(given)}
    raw = decode_key(kind, key)
    if not PRINCIPAL.fullmatch(principal):
        return f"{principal!r} is not a mail address: one person a line, without a pattern"
    if unknown := sorted(options.keys() - KNOWN_OPTIONS):
        return f"the option {unknown[0]} is not supported"
    if options.get("namespaces") != NAMESPACE:
        return f'the key needs namespaces="{NAMESPACE}"'
    if raw is None:
        return "the key is not a public key of OpenSSH"
    if not all(
        DAY.fullmatch(value) for name, value in options.items() if name != "namespaces"
    ):
        return "a date is written as 20270131"
    return Signer(
        principal.lower(),
        kind,
        raw,
        f"{principal.lower()} {given} {kind} {key}",
        options,
        comment or "",
    )
