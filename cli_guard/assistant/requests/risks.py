"""What in a request must not be done at all, or not without a person."""

from collections.abc import Sequence

from cli_guard.assistant.requests.model import Risk
from cli_guard.assistant.requests.scoring import facts, holds
from cli_guard.assistant.requests.tables import tables
from cli_guard.assistant.requests.wishes import Wish

WORDS_SHOWN = 120


def said(wish: Wish) -> str:
    """The words of a wish, as far as they are shown."""
    return " ".join(word.text for word in wish.words)[:WORDS_SHOWN]


def risk_of(wish: Wish) -> Risk | None:
    """The first risk rule that a wish meets."""
    known = tables()
    if wish.mood == "forbid":
        return None
    given = facts(wish)
    for rule in known.risks:
        if holds(rule.conditions, given):
            return Risk(rule.kind, said(wish), rule.supported, rule.reason)
    if wish.mood in ("order", "phrase", "state") and (
        wish.verb < 0 or wish.leading() & {"run", "unknown", "remove", "git", "push"}
    ):
        text = " ".join(word.text for word in wish.words).casefold()
        for command, kind, reason in known.commands:
            if command in text:
                return Risk(kind, command, False, reason)
    return None


def worst(risks: Sequence[Risk]) -> Risk | None:
    """The risk that decides: one without a way first, then the first named."""
    return next((risk for risk in risks if not risk.supported), risks[0] if risks else None)
