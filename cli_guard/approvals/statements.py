"""What a person signs: an in-toto Statement v1 in canonical JSON, with its signature (SSHSIG).

It binds an approval to the content, the policy and the findings, and to the repository, so that it holds nowhere else.
Source: the in-toto attestation framework, Statement v1.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from cli_guard import __version__
from cli_guard.approvals.signatures import Signature, parse
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Presence

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE = "cli-guard/approval/v1"
MOST_BYTES = 1_000_000
SHA256 = re.compile("[0-9a-f]{64}")
APPROVE = "approve"
BREAK_GLASS = "break-glass"


@frozen
class Statement:
    """One approval, or a break-glass for a commit.

    `content` is the identity of the change (SHA-256; the commit's id for a break-glass), `tree` what it records and
    `base` what it starts from (tree ids), `parent` the commit at HEAD; `blobs` maps the paths of the findings to their
    contents, `findings` fingerprints to rules, and `lines` fingerprints to the changed lines that they were shown with
    (SHA-256, see `counting.RecordedContent`); `repository` are the ids of its first commits. `at` and `expires` are
    ISO 8601 times in UTC, `expires` may be empty.
    """

    content: str
    policy: str
    findings: Mapping[str, str]
    principal: str
    at: str
    repository: tuple[str, ...]
    expires: str = ""
    reason: str = ""
    tree: str = ""
    base: str = ""
    parent: str = ""
    blobs: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    decision: str = APPROVE

    def canonical(self) -> bytes:
        """Return the bytes that are signed: sorted keys, no blanks, ASCII, so that a statement has one form."""
        kind = "gitCommit" if self.decision == BREAK_GLASS else "sha256"
        named = [
            ("content", kind, self.content),
            ("tree", "gitTree", self.tree),
            ("base", "gitTree", self.base),
            ("parent", "gitCommit", self.parent),
        ]
        named = [each for each in named if each[2] or each[0] == "content"]
        named += [
            (f"file:{path}", "gitBlob", oid) for path, oid in sorted(self.blobs.items())
        ]
        findings = [
            {"fingerprint": mark, "rule": rule, "lines": self.lines.get(mark, "")}
            for mark, rule in sorted(self.findings.items())
        ]
        predicate = {
            "at": self.at,
            "decision": self.decision,
            "expires": self.expires,
            "findings": findings,
            "policy": self.policy,
            "principal": self.principal,
            "reason": self.reason,
            "repository": list(self.repository),
            "version": __version__,
        }
        return encode(
            {
                "_type": TYPE,
                "predicateType": PREDICATE,
                "predicate": predicate,
                "subject": [
                    {"name": name, "digest": {kind: oid}} for name, kind, oid in named
                ],
            }
        )


def encode(data: Mapping[str, Any]) -> bytes:
    """Return canonical JSON."""
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=True
    ).encode("ascii")


def read_statement(raw: bytes) -> Statement:
    """Parse signed bytes. Raises ValueError, with the reason, for any but the canonical form."""
    if len(raw) > MOST_BYTES:
        raise ValueError("the statement is too long")
    if b"\r" in raw:
        raise ValueError("the statement has a carriage return")
    try:
        data = json.loads(raw)
        if encode(data) != raw:
            raise ValueError("the statement is not in canonical form")
        if (data["_type"], data["predicateType"]) != (TYPE, PREDICATE):
            raise ValueError(f"the statement is not a {PREDICATE}")
        said = data["predicate"]
        named = {each["name"]: each["digest"] for each in data["subject"]}
        if len(named) != len(data["subject"]):
            raise ValueError("the statement names a subject twice")
        kind = "gitCommit" if said["decision"] == BREAK_GLASS else "sha256"
        content = text(named["content"][kind])
        if kind == "sha256" and not SHA256.fullmatch(content):
            raise ValueError("the statement names no content")
        return Statement(
            content=content,
            policy=text(said["policy"]),
            findings={
                text(each["fingerprint"]): text(each["rule"]) for each in said["findings"]
            },
            principal=text(said["principal"]),
            at=text(said["at"]),
            repository=tuple(text(each) for each in said["repository"]),
            expires=text(said["expires"]),
            reason=text(said["reason"]),
            tree=text(named.get("tree", {}).get("gitTree", "")),
            base=text(named.get("base", {}).get("gitTree", "")),
            parent=text(named.get("parent", {}).get("gitCommit", "")),
            blobs={
                name.removeprefix("file:"): text(digest["gitBlob"])
                for name, digest in named.items()
                if name.startswith("file:")
            },
            lines={
                each["fingerprint"]: text(each["lines"])
                for each in said["findings"]
                if each.get("lines")
            },
            decision=text(said["decision"]),
        )
    except (
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        json.JSONDecodeError,
    ) as error:
        raise ValueError("the statement is broken") from error


def text(value: object) -> str:
    """Return a string. Raises TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


@dataclass(frozen=True)
class Signed:
    """A statement as it was signed, and its armored signature; a line of a storage. Nothing of it is checked.

    What was approved at a terminal has no signature ("").
    """

    statement: Statement
    payload: bytes
    armored: str

    @classmethod
    def parse(cls, line: str) -> "Signed":
        """Parse a line, but for the signature in it. Raises ValueError, with the reason."""
        if len(line) > 2 * MOST_BYTES:
            raise ValueError("the approval is too long")
        try:
            data = json.loads(line)
            payload = text(data["payload"]).encode("utf-8")
            armored = text(data["signature"])
        except (
            ValueError,
            KeyError,
            TypeError,
            RecursionError,
            UnicodeEncodeError,
        ) as error:
            raise ValueError("the approval is broken") from error
        return cls(read_statement(payload), payload, armored)

    @cached_property
    def signature(self) -> Signature:
        """Return what the signature says of itself. Raises ValueError."""
        return parse(self.armored)

    @property
    def level(self) -> str:
        """Return how far it is proved who approved. Raises ValueError."""
        return str(self.signature.presence if self.armored else Presence.TTY)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of what is signed, which names it in the audit log."""
        return hashlib.sha256(self.payload).hexdigest()

    def line(self) -> str:
        """Return it in one line of JSON."""
        data = {"payload": self.payload.decode("ascii"), "signature": self.armored}
        return encode(data).decode("ascii")

    def audit_details(self) -> dict[str, object]:
        """Return what the audit log says of it."""
        made = self.statement
        details: dict[str, object] = {"level": self.level, "statement": self.digest}
        if not self.armored:
            return details
        details["principal"] = made.principal
        if made.expires:
            details["expires"] = made.expires
        if self.signature.counter is not None:
            details["counter"] = self.signature.counter
        return details

    @property
    def binding(self) -> list[object]:
        """Return what an entry of the audit log must say of it."""
        marks = sorted(self.statement.findings)
        return binding_of({**self.audit_details(), "fingerprints": marks})


def binding_of(entry: Mapping[str, object]) -> list[object]:
    """Return what an entry of the audit log says of an approval; one for a whole commit names no findings."""
    named = [entry.get(name) for name in ("statement", "level", "principal")]
    return [*named, entry.get("fingerprints", [])]
