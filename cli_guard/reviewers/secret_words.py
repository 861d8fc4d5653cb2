"""How a secret that was found is told: in words, and by a fingerprint that does not give it away."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cli_guard.rules import catalog
from cli_guard.secrets import Hit

# Slow on purpose: a fingerprint is stored and shown, and a short password must not be guessed from it.
HASH_ROUNDS = 2_000


@dataclass(frozen=True)
class Source:
    """The text that hits were found in, and how to tell the line of an offset."""

    path: str
    text: str
    hits: Sequence[Hit]
    line: Callable[[int], int | None]
    commit: str | None
    where: str = ""


def rules() -> dict[str, catalog.Rule]:
    """The rules about secrets, by id."""
    return {rule.id: rule for rule in catalog.load("secrets")}


def told(rule: catalog.Rule, source: Source, hits: list[Hit]) -> str:
    """What is said of one secret and all places of a file at which it stands."""
    hit = hits[0]
    words = [rule.title]
    if hit.name and not any(other.value in hit.name for other in source.hits):
        words.append(f"({hit.name})")
    if hit.encoded:
        words.append("in base64")
    if source.where:
        words.append(source.where)
    more = len({source.line(other.start) for other in hits} - {source.line(hit.start)})
    repeated = f"; it stands on {more} more line{'s' if more > 1 else ''} of the file" if more else ""
    return " ".join(words) + repeated + "."


def slow_hash(path: str, value: str) -> str:
    """A hash of a secret from which nobody gets it back by trying."""
    salt = b"cli-guard/" + path.encode("utf-8", "surrogateescape")
    return hashlib.pbkdf2_hmac("sha256", value.encode("utf-8", "surrogateescape"), salt, HASH_ROUNDS).hex()
