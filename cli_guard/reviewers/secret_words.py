"""Word the finding of a secret: what it is, where, and what to do about it."""

from collections.abc import Callable, Sequence

from cli_guard.lazy import frozen
from cli_guard.model import Finding, fingerprint
from cli_guard.rules import catalog
from cli_guard.secrets import SecretHit
from cli_guard.secrets.redact import evidence, slow_hash

IN_HISTORY = (
    " It stays in the history although a later commit removes it: rotate the credential."
)
# Of commits that a push publishes first.
BEFORE_PUSH = IN_HISTORY.replace(
    "credential.",
    "credential, then rewrite the commits (`git rebase -i`) before they are pushed.",
)


@frozen
class SearchedText:
    """The text that hits were found in, and the map from offsets to lines."""

    path: str
    text: str
    hits: Sequence[SecretHit]
    line: Callable[[int], int | None]
    commit: str | None
    where: str = ""


def no_line(_offset: int) -> None:
    """Return None: a name has no lines."""


def secret_finding(
    source: SearchedText, hits: Sequence[SecretHit], *, marked: bool, advice: str = ""
) -> Finding:
    """Return the finding of one secret; `marked`: with a mark of the secret, to join it with others.

    `advice` is added to the remedy of the rule.
    """
    hit = hits[0]
    rule = catalog.one("secrets", hit.rule)
    line = source.line(hit.start)
    end_line = source.line(max(hit.end - 1, hit.start))
    return Finding(
        rule=hit.rule,
        category=rule.category,
        severity=hit.severity,
        confidence=hit.confidence,
        path=source.path,
        line=line,
        end_line=end_line if end_line != line else None,
        message=describe(rule, source, hits),
        remedy=rule.remedy + advice,
        evidence=evidence(source.text, source.hits, hit),
        fingerprint=fingerprint(hit.rule, source.path, slow_hash(source.path, hit.value)),
        commit=source.commit,
        mark=slow_hash("", hit.value)[:16] if marked else "",
    )


def describe(rule: catalog.Rule, source: SearchedText, hits: Sequence[SecretHit]) -> str:
    """Say in one sentence what was found."""
    hit = hits[0]
    words = [rule.title]
    if hit.name and not any(other.value in hit.name for other in source.hits):
        words.append(f"({hit.name})")
    if hit.encoded:
        words.append("in base64 or another encoding")
    if source.where:
        words.append(source.where)
    if hit.doubt:
        words.append(f"(rated lower: {hit.doubt})")
    more = len({source.line(other.start) for other in hits} - {source.line(hit.start)})
    text = "file" if source.path else "message"
    repeated = ""
    if more:
        repeated = f"; it is on {more} more line{'s' if more > 1 else ''} of the {text}"
    return " ".join(words) + repeated + "."
