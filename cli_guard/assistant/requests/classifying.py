"""The kind of a request: points for each wish in it by the rules of rules/requests.toml, the main wish decides."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from cli_guard.assistant.requests.model import Classification, Risk
from cli_guard.assistant.requests.moods import linked, wish_of
from cli_guard.assistant.requests.risks import risk_of, worst
from cli_guard.assistant.requests.scoring import facts, holds, nouns_of
from cli_guard.assistant.requests.tables import tables
from cli_guard.assistant.requests.text import folded, untitled
from cli_guard.assistant.requests.wishes import Wish, clauses
from cli_guard.assistant.requests.words import read
from cli_guard.graph.state import REQUEST_CHARS, normalise
from cli_guard.model import TaskType

# A request with more wishes than this is cut there, and says so.
WISHES = 400
# Two kinds whose points are this near are both possible.
CLOSE = 1
# Points of a rule that guesses rather than knows.
GUESSED = 3
SURE = 10
# Verbs that are an order where even a command is their object.
RUNNING = frozenset(("run", "rerun", "execute", "invoke", "start", "launch"))
LANGUAGES = "English, German, French, Spanish, Russian, Chinese and Japanese"
# What a question with a bare pronoun begins with: "is it", "does this".
ABOUT_IT = frozenset("is are does did was it this that".split())
EDITING: tuple[TaskType, ...] = ("code_change", "refactor_plan")
NAMES: dict[TaskType, str] = {
    "repo_qna": "a question about the repository",
    "doc_generation": "a wish for documentation",
    "refactor_plan": "a wish for a refactoring plan",
    "command_help": "a question for a command",
    "test_workflow": "a question about tests",
    "code_change": "a wish to change code",
    "change_review": "a wish for a review",
    "unsupported": "nothing this assistant does",
}
SAY: dict[TaskType, str] = {
    "repo_qna": "ask 'where ...' or 'explain ...' for an answer about the repository",
    "doc_generation": "say 'document ...' to have documentation written",
    "refactor_plan": "say 'plan ...' or 'rename ...' for a refactoring plan",
    "command_help": "ask 'which command ...' for a command",
    "test_workflow": "say 'run the tests' or 'which tests cover ...' for tests",
    "code_change": "say 'change ...' to have it changed",
    "change_review": "say 'review ...' to have a change reviewed",
    "unsupported": "",
}


@dataclass(frozen=True)
class _Scored:
    wish: Wish
    scores: tuple[tuple[TaskType, int], ...]
    told_by: tuple[str, ...]
    risk: Risk | None

    @property
    def kind(self) -> TaskType:
        return self.scores[0][0]

    @property
    def points(self) -> int:
        return self.scores[0][1]


def _scored(wish: Wish) -> _Scored | None:
    """The points of a wish; None where no rule speaks."""
    known = tables()
    given = facts(wish)
    points: Counter[TaskType] = Counter()
    for rule in known.rules:
        if holds(rule.conditions, given):
            points[rule.kind] = max(points[rule.kind], rule.points)
    risk = risk_of(wish)
    if not points and risk is None:
        return None
    ranked = sorted(points.items(), key=lambda each: (-each[1], known.order.index(each[0])))
    if risk and not risk.supported:
        ranked.insert(0, ("unsupported", SURE))
    elif risk and not ranked:
        ranked = [("code_change", GUESSED)]
    told = [
        wish.asks,
        wish.words[wish.verb].text if wish.verb >= 0 else "",
        wish.head.text if wish.head else "",
    ]
    return _Scored(wish, tuple(ranked), tuple(dict.fromkeys(word for word in told if word)), risk)


def _main(scored: list[_Scored]) -> _Scored:
    """The wish that decides: the first clear one; one that only leads to another leaves it to that."""
    wishes = [each for each in scored if each.wish.mood in ("ask", "how_to", "order")] or scored
    first = wishes[0]
    if (
        first.wish.mood == "order"
        and first.kind in ("repo_qna", "change_review")
        and first.wish.leading() & tables().means
    ):
        return next((each for each in wishes[1:] if each.wish.mood == "order"), first)
    if (
        first.wish.mood == "ask"
        and first.wish.asks in ABOUT_IT
        and ABOUT_IT & {w.text for w in first.wish.words[1:2]}
    ):
        # "Is it still right? Review the diff."
        return next((each for each in wishes[1:] if each.wish.mood == "order"), first)
    return first


def _writes(main: _Scored, forbidden: bool) -> bool:
    """Does a wish want files changed, as far as its words go?"""
    leading = main.wish.leading()
    if forbidden or main.kind not in (*EDITING, "doc_generation") or main.wish.mood not in ("order", "state"):
        return False
    if main.kind == "doc_generation":
        return bool(leading & {"add", "edit", "move", "replace"}) and not leading & {"write", "document"}
    return not leading & {"plan", "explain", "show", "summarise"} and "plan_noun" not in nouns_of(
        main.wish.object
    )


def _runs(scored: Sequence[_Scored]) -> bool:
    """Is it an order to run something, as in `find the tests of X and run them`? `Format command?` is none."""
    return any(
        each.kind in ("command_help", "test_workflow")
        and each.wish.mood == "order"
        and "run" in each.wish.leading()
        and (each.wish.words[each.wish.verb].lemma in RUNNING or "command" not in nouns_of(each.wish.object))
        for each in scored
    )


def _assumed(main: _Scored, forbidden: bool) -> str | None:
    """What was assumed where the words leave a choice."""
    kind = main.kind
    if kind == "unsupported":
        return None
    if forbidden and kind in (*EDITING, "doc_generation") and not main.wish.leading() & {"plan"}:
        return f"taken as {NAMES[kind]} that edits nothing: the request forbids changes; only a plan is shown"
    if main.points <= GUESSED and main.wish.mood in ("phrase", "state", "order", "topic"):
        if not any(word.verbs or word.nouns for word in main.wish.words):
            return _unknown()
        rival: TaskType = "code_change" if kind == "repo_qna" else "repo_qna"
        return f"taken as {NAMES[kind]}; {SAY[rival]}"
    if len(main.scores) > 1 and main.points - main.scores[1][1] <= CLOSE:
        return f"taken as {NAMES[kind]}; {SAY[main.scores[1][0]]}"
    if kind == "command_help" and main.wish.mood == "how_to" and "tests" in nouns_of(main.wish.words):
        return f"taken as {NAMES[kind]}; {SAY['test_workflow']}"
    return None


def _unknown() -> str:
    """What is said of a request without a word that tells anything."""
    return f"taken as {NAMES['repo_qna']}, as no word tells more ({LANGUAGES} are read); {SAY['code_change']}"


def classify(request: str) -> Classification:
    """The kind of a request, by its main wish; what it must not do decides before anything else.

    Reads the first 20,000 characters and the first 400 wishes; a longer request says in `assumed` that it was cut.
    """
    words, language = read(untitled(folded(request)))
    parts = list(islice(clauses(words), WISHES + 1))
    wishes = list(linked([wish_of(clause, loose=bool(language)) for clause in parts[:WISHES]]))
    cut = len(parts) > WISHES or len(normalise(request)) >= REQUEST_CHARS
    scored = [each for each in map(_scored, wishes) if each is not None]
    if not scored:
        return Classification("repo_qna", ("nothing else fits",), (("repo_qna", 0),), _unknown())
    risk = worst([each.risk for each in scored if each.risk])
    risky = next((each for each in scored if risk and each.risk == risk and not risk.supported), None)
    main = risky or _main(scored)
    others = (each.kind for each in scored if each is not main and each.wish.mood != "phrase")
    forbidden = any(wish.contrary for wish in wishes)
    assumed = _assumed(main, forbidden)
    if cut:
        assumed = "; ".join(filter(None, (assumed, "only the beginning of this long request was read")))
    return Classification(
        main.kind,
        main.told_by,
        main.scores,
        assumed,
        risk,
        also=tuple(dict.fromkeys(kind for kind in others if kind not in (main.kind, "unsupported"))),
        writes_wanted=_writes(main, forbidden),
        writes_forbidden=forbidden,
        runs_wanted=_runs(scored),
    )
