"""Inline suppressions: `cli-guard: ignore[rule] reason`, on the line or alone on the line above."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from cli_guard.lazy import frozen
from cli_guard.model import Disposition
from cli_guard.policy.globs import rule_matches

MARK = "cli-guard: ignore["
_ANSWER = re.compile(r"cli-guard: ignore\[([A-Za-z0-9*,\- ]{1,200})\]([^\r\n]{0,500})")
_COMMENT_END = re.compile(r"\s*(\*/|-->|--%>|#\}|\}\}|%>|\"\"\"|''')?\s*$")
_COMMENT_START = re.compile(r"^\s*(#|//|/\*+|<!--|--|;|%|\*|\{#|REM\b|rem\b)")
# A quoted string is skipped whole, so that neither an opener nor a mark inside it is seen. Possessive, because a
# quote sign without its partner would otherwise cause backtracking at each step.
_TOKEN = re.compile(
    r"""(?P<mark>cli-guard:\ ignore\[)
    |(?P<quote>"(?:[^"\\]*+(?:\\.[^"\\]*+)*+")?
        |`(?:[^`]*+`)?
        |(?:(?<!\w\w)|(?<=\b[rR][bBfF])|(?<=\b[bBfF][rR]))'(?:[^'\\]*+(?:\\.[^'\\]*+)*+')?
        |(?<=\w\w)'(?!\w))
    |(?P<opener>^\s*+\*|\{\#|<!--|/\*|(?<!:)//|\#|--(?=\s|cli-guard:\ )|;|%|(?:^|(?<=[\s:&@]))(?:REM|rem)\s)
    |\\.""",
    re.VERBOSE,
)
SHORTEST_REASON = 3
WORDS_TO_LIFT = 3
# Chinese, Japanese and Korean are written without blanks: each sign counts as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")

SUPPRESSION_NEW = "policy-suppression-new"
SUPPRESSION_ADDED = "policy-suppression-added"
# No configuration lowers these and no suppression answers them: switching off the guard would allow anything.
FLOORS = MappingProxyType(
    {
        "policy-weakened": Disposition.REVIEW,
        "policy-hook-removed": Disposition.REVIEW,
        "policy-not-reviewed": Disposition.REVIEW,
        "policy-signers-changed": Disposition.REVIEW,
        # Always shown: a suppression must not hide that it was added.
        SUPPRESSION_ADDED: Disposition.ADVISE,
        SUPPRESSION_NEW: Disposition.ADVISE,
        "policy-suppression-without-reason": Disposition.ADVISE,
    }
)

CHECK_FAILED = "push-check-failed"
# What no suppression answers. A check of the repository stands for all that it looks at: an answer to its rule would
# switch every check off for good.
UNANSWERABLE = frozenset((*FLOORS, CHECK_FAILED))


@frozen
class Suppression:
    """One inline suppression: rule ids or prefixes with `*`, and the reason given.

    `lapsed`: the change alters the lines that it was given for. `line` is where it stands, 0 if that is not known.
    `place` is where it says that a check stands now, "" for none, and `is_checked` whether that is so.
    """

    rules: tuple[str, ...]
    reason: str
    lapsed: bool = False
    line: int = 0
    place: str = ""
    is_checked: bool = False

    def answers(self, rule: str) -> bool:
        """Return whether it suppresses findings of this rule; without a reason it suppresses none."""
        return len(self.reason) >= SHORTEST_REASON and any(
            rule_matches(own, rule) for own in self.rules
        )

    @property
    def is_explicit(self) -> bool:
        """Return whether it names each rule in full and gives a reason of three words.

        A new suppression must, to answer what is denied or needs review.
        """
        named = not any(rule.endswith("*") for rule in self.rules)
        return named and len(_WORD.findall(self.reason)) >= WORDS_TO_LIFT


def answer_in(line: str) -> Suppression | None:
    """Return the suppression in a comment of the line, None if there is none; text in quotes does not count."""
    if MARK not in line:
        return None
    found = next(
        filter(None, (_ANSWER.match(line, at) for at in marks_in_comments(line))), None
    )
    if found is None:
        return None
    rules = tuple(part.strip() for part in found[1].split(",") if part.strip())
    return Suppression(rules, _COMMENT_END.sub("", found[2]).strip())


def marks_in_comments(line: str) -> Iterator[int]:
    """Yield the marks after a comment opener with no quote sign in between."""
    opened = False
    for token in _TOKEN.finditer(line):
        if token.lastgroup == "opener":
            opened = True
        elif token.lastgroup == "quote":
            opened = False
        elif token.lastgroup == "mark" and opened:
            yield token.start()


def is_comment(line: str) -> bool:
    """Return whether a line begins like a comment in some language."""
    return _COMMENT_START.match(line) is not None


def answer_for(rule: str, line: str, above: str) -> Suppression | None:
    """Return the suppression that answers a finding of `rule` on `line`, there or in a comment just above."""
    own = answer_in(line)
    if own and own.answers(rule):
        return own
    if is_comment(above):
        before = answer_in(above)
        if before and before.answers(rule):
            return before
    return None
