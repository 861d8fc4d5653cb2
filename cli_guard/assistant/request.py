"""The one reader of a developer's request: its words, read once, as a typed `UserRequest`.

text -> words (request_words) -> intents (request_intents) -> kind and risk by the rules of rules/requests.toml
-> names of paths and code (request_names) -> Request
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice

from cli_guard.assistant.request_change import Change, read_change
from cli_guard.assistant.request_command import QUOTED, read_command_request
from cli_guard.assistant.request_documentation import DocRequest, read_doc_request
from cli_guard.assistant.request_intents import Intent, find_intents, nouns_of
from cli_guard.assistant.request_names import NO_NAMES, Names, find_names
from cli_guard.assistant.request_rules import IntentFacts, facts_of, matching
from cli_guard.assistant.request_words import TABLES, pattern, read_words, word_set
from cli_guard.graph.state import (
    CONTROL,
    REQUEST_CHARS,
    TaskType,
    normalise,
    question_of,
)
from cli_guard.lazy import dataclass, frozen

# A request with more intents than this is cut there, and says so.
INTENTS = 400
WORDS_SHOWN = 120
# The last letter of the scripts that English borrows words from (Latin Extended-B).
LAST_LATIN = "\u024f"
# A wish for a command says so in fewer words.
LONG_WISH = 7
# Two kinds whose points are this near are both possible.
CLOSE = 1
# Points of a rule that guesses rather than knows, and of what is refusal.
GUESSED = 3
SURE = 10
TICKET = re.compile(
    r"\[?(?:[A-Z][A-Z0-9]{1,9}-\d{1,6}|\#\d{1,6})(?:\]|:)?[ \t]*[:-]?[ \t]+(?=\S+\s+\S)"
)
# Verbs that are an order where even a command is their object.
RUNNING = frozenset(("run", "rerun", "execute", "invoke", "start", "launch"))
QUERY_CHARS = 2_000
# What a request wants recorded beside a change of files: the tool, and what its words are.
RECORDED = {
    "git_commit": "commits",
    "git_push": "pushes",
    "open_pull_request": "pull_requests",
}
# What no tool does, and a person may: the kind of risk, and the tool that leaves it to them.
LEFT_TO_YOU = {"deployment": "deploy", "publish": "publish"}
EDITING: tuple[TaskType, ...] = ("code_change", "refactor_plan")


@frozen
class Risk:
    """What makes a request more than reading.

    `words` are those that decided. `supported` says whether there is a tool for it (a commit, a push). Without one the
    request ends as a controlled failure and never becomes a command, unless it `is_left_to_you`: then a person is shown
    what would be run. `reason` is one line for the user.
    """

    kind: str
    words: str
    supported: bool
    reason: str

    @property
    def is_left_to_you(self) -> bool:
        return self.kind in LEFT_TO_YOU

    @property
    def is_refused(self) -> bool:
        return not (self.supported or self.is_left_to_you)

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the tools for what is to happen outside the files: a commit, a push, a pull request, a deployment."""
        if self.is_left_to_you:
            return (LEFT_TO_YOU[self.kind],)
        return tools_in(self.words)


def leave_out_files(question: str, paths: Collection[str]) -> str:
    """Return a question without the names of some files; "" for one about those files as such."""
    names = {name for path in paths for name in (path, path.rsplit("/", 1)[-1])}
    lines = [
        " ".join(word for word in line.split() if word.strip("`'\"(),.:;?!") not in names)
        for line in question.split("\n")
    ]
    left = "\n".join(lines)
    return "" if pattern("about_a_file").fullmatch(left) else left


def tools_in(words: str) -> tuple[str, ...]:
    """Return the tools for what words want recorded."""
    return tuple(tool for tool, form in RECORDED.items() if pattern(form).search(words))


@dataclass(frozen=True)
class UserRequest:
    """What a request wants, by its words alone.

    `decided_by` are the words that decided about `kind`, for the log. `assumed` is one line where the request can be
    taken in more than one way. `searches` says whether it may be a question about the code although its kind is another
    one: both are answered then. `also` are the kinds of further intents, in their order. `writes` says whether files
    should change, `forbids` whether the request says that none may, `runs` whether it orders that something be run.
    `names` are the paths and the code that it names. `effects` are the tools for what its words want to happen outside
    the files; `edits` says whether files are to be changed before that.
    """

    text: str
    kind: TaskType
    decided_by: tuple[str, ...]
    assumed: str | None = None
    risk: Risk | None = None
    searches: bool = False
    also: tuple[TaskType, ...] = ()
    writes: bool = False
    forbids: bool = False
    runs: bool = False
    names: Names = NO_NAMES
    effects: tuple[str, ...] = ()
    edits: bool = False

    @property
    def refusal(self) -> str:
        """Return why no tool can do it, "" if one can."""
        if not self.server_call and (reason := find_unreadable(self.text)):
            return reason
        if self.risk and self.risk.is_refused:
            return self.risk.reason
        is_ours = self.kind != "unsupported" or (self.risk and self.risk.is_left_to_you)
        return "" if is_ours else "this is nothing that a repository's assistant does"

    @property
    def topic(self) -> str:
        """Return what it is about, without the second wish behind it ("... and suggest a test command").

        Of a text that is pasted above a question about it, the question comes first.
        """
        if (asked := question_of(self.text)) != self.text:
            return f"{asked}\n{self.text.removesuffix(asked)}"[:QUERY_CHARS]
        return pattern("second_wish").split(self.text, maxsplit=1)[0][:QUERY_CHARS]

    @property
    def task(self) -> str:
        """Return what is to be changed, without that nothing be written and without what is to come after it."""
        said = pattern("no_edits").sub("", self.text)
        return (pattern("afterwards").sub("", said) if self.risk else said) or self.text

    @property
    def recorded(self) -> tuple[str, ...]:
        """Return the tools for what is to happen afterwards, outside the files, in the order of the graph's tools."""
        wanted = {*self.effects, *(tools_in(self.text) if self.only_recorded else ())}
        return tuple(tool for tool in (*RECORDED, *LEFT_TO_YOU.values()) if tool in wanted)

    @property
    def only_recorded(self) -> bool:
        """Return whether nothing is to be changed before it is recorded ("commit my changes and push")."""
        # `git commit -m x` is a command to explain.
        ordered = not self.refusal and not self.is_question and self.kind != "command_help"
        return ordered and bool(pattern("only_recorded").fullmatch(self.text[:QUERY_CHARS]))

    @property
    def server_call(self) -> tuple[str, str] | None:
        """Return the tool of an MCP server that it calls, and the arguments in JSON."""
        found = pattern("server_tool").fullmatch(self.text)
        return (found[1], found[2] or "{}") if found else None

    @property
    def is_question(self) -> bool:
        return self.text.endswith("?")

    @property
    def mentions_tests(self) -> bool:
        return pattern("tests").search(self.text) is not None

    @property
    def is_about_git(self) -> bool:
        """Return whether it is about Git alone ("recover a lost commit"), not about code that uses Git."""
        names = self.names
        risky = self.risk is not None and self.risk.kind in ("history", "destructive")
        # A question how, or about something lost, wants to know; an order is answered by its risk.
        past = risky and (
            pattern("lost").search(self.text) or pattern("how").match(self.text)
        )
        if (
            names.paths
            or names.missing
            or names.outside
            or names.symbols
            or pattern("about_code").search(self.text)
        ):
            return False
        fits = bool(past) or self.kind in ("repo_qna", "code_change")
        return fits and read_command_request(self.text).recipe is not None

    @cached_property
    def change(self) -> Change:
        """Return what it wants changed."""
        return read_change(self.text, self.names)

    @cached_property
    def documentation(self) -> DocRequest:
        """Return what it wants documented."""
        return read_doc_request(self.text, self.names)


@frozen
class Scored:
    """An intent with its kinds, the most points first, and its risk."""

    intent: Intent
    scores: tuple[tuple[TaskType, int], ...]
    risk: Risk | None

    @property
    def kind(self) -> TaskType:
        return self.scores[0][0]


def read_request(text: str, paths: Collection[str] = ()) -> UserRequest:
    """Read a request over the paths that may be looked at.

    Reads the first 20,000 characters and the first 400 intents; a longer request says in `assumed` that it was cut.
    """
    return replace(classify(text), names=find_names(text, paths))


@lru_cache(maxsize=8)
def classify(text: str) -> UserRequest:
    """Read a request without what it names: the main intent decides, and what must not be done before anything else."""
    bounded = (
        CONTROL.sub("", question_of(text)[: 4 * REQUEST_CHARS])
        .strip()[:REQUEST_CHARS]
        .replace("\r", "\n")
    )
    words = read_words(TICKET.sub("", unicodedata.normalize("NFKC", bounded), count=1))
    intents = list(islice(find_intents(words), INTENTS + 1))
    cut = len(intents) > INTENTS or len(normalise(text)) >= REQUEST_CHARS
    scored = [each for each in map(score, intents[:INTENTS]) if each]
    if not scored:
        return UserRequest(text, "repo_qna", ("nothing else fits",), unknown())
    risks = [each for each in scored if each.risk]
    main = deciding(scored, risks)
    risk = risks[0].risk if risks else None
    if main in risks and main.kind == "unsupported":
        risk = main.risk
    forbids = any(intent.forbids_edits for intent in intents[:INTENTS])
    assumed = assumption(main, forbids)
    if cut:
        assumed = "; ".join(
            filter(None, (assumed, "only the beginning of this long request was read"))
        )
    others = (
        each.kind for each in scored if each is not main and each.intent.mood != "phrase"
    )
    also = tuple(
        dict.fromkeys(kind for kind in others if kind not in (main.kind, "unsupported"))
    )
    runs = any(map(orders_a_run, scored))
    writes = wants_writing(main, text, forbids)
    effects = [tool for each in risks if each.risk for tool in each.risk.tools]
    return UserRequest(
        text,
        main.kind,
        deciding_words(main.intent),
        assumed,
        risk,
        not risk and may_be_question(main),
        also,
        writes,
        forbids,
        runs,
        effects=tuple(dict.fromkeys(effects)),
        edits=writes and not main.risk,
    )


def deciding(scored: Sequence[Scored], risks: Sequence[Scored]) -> Scored:
    """Return the intent that decides: one that is refused, else a change, then what is left to a person."""
    refused = [each for each in risks if each.risk and each.risk.is_refused]
    left = [each for each in risks if each.risk and each.risk.is_left_to_you]
    main = main_of(scored)
    if refused:
        return refused[0]
    return left[0] if left and main.kind not in (*EDITING, "doc_generation") else main


def score(intent: Intent) -> Scored | None:
    """Return the points of an intent by kind; None where no rule says anything."""
    facts = facts_of(intent)
    points: Counter[TaskType] = Counter()
    for rule in matching("score", facts):
        points[rule["kind"]] = max(points[rule["kind"]], rule["points"])
    risk = risk_of(intent, facts)
    order = TABLES["order"].split()
    ranked = sorted(points.items(), key=lambda each: (-each[1], order.index(each[0])))
    if risk and not risk.supported:
        ranked.insert(0, ("unsupported", SURE))
    elif risk and not ranked:
        ranked = [("code_change", GUESSED)]
    return Scored(intent, tuple(ranked), risk) if ranked else None


def risk_of(intent: Intent, facts: IntentFacts) -> Risk | None:
    """Return the first risk rule that an intent meets."""
    if intent.mood == "forbid":
        return None
    text = " ".join(word.text for word in intent.words)
    rule = next(matching("risk", facts), None)
    found = None
    if rule is not None:
        found = Risk(
            rule["kind"], text[:WORDS_SHOWN], rule.get("supported", False), rule["reason"]
        )
        if not found.supported:
            return found
    may_run = intent.verb < 0 or intent.verbs & {"run", "unknown", "remove", "git", "push"}
    if intent.mood in ("order", "phrase", "state") and may_run:
        for table in TABLES["command_risk"]:
            if table["text"] in text.casefold():
                return Risk(table["kind"], table["text"], False, table["reason"])
    return found


def main_of(scored: Sequence[Scored]) -> Scored:
    """Return the intent that decides: the first clear one; one that only leads to another leaves it to that."""
    clear = [
        each for each in scored if each.intent.mood in ("ask", "how_to", "order")
    ] or scored
    first = clear[0]
    means = word_set("openers", "means")
    leads = first.kind in ("repo_qna", "change_review") and bool(first.intent.verbs & means)
    # "Is it still right? Review the diff."
    vague = first.intent.mood == "ask" and [w.text for w in first.intent.words[:2]] == [
        "is",
        "it",
    ]
    if vague or (leads and first.intent.mood == "order"):
        return next((each for each in clear[1:] if each.intent.mood == "order"), first)
    return first


def find_unreadable(text: str) -> str:
    """Return why the words of a text cannot be read, "" if they can: there are none, or they are not English."""
    if sum(map(str.isalpha, text)) <= 1:
        return "the request has no words: ask a question, or say what to do"
    plain = QUOTED.sub(" ", text)
    letters = list(filter(str.isalpha, plain))
    words = set(plain.casefold().split())
    other = words & word_set("grammar", "foreign") and not words & word_set(
        "grammar", "english"
    )
    if other or sum(each > LAST_LATIN for each in letters) * 2 > len(letters):
        return "requests are read in English only: ask again in English, with names as they are in the code"
    return ""


def may_be_question(main: Scored) -> bool:
    """Return whether an intent of another kind may ask about the code ("which test checks that ...")."""
    intent = main.intent
    facts = nouns_of(intent.words)
    if main.kind not in ("command_help", "test_workflow", "refactor_plan") or facts & {
        "shell",
        "path",
        "symbol",
    }:
        return False
    if main.kind == "test_workflow":
        return intent.mood != "order" or "run" not in intent.verbs
    runs = any(
        "run" in word.verbs or word.nouns & {"operation", "build", "script"}
        for word in intent.words
    )
    is_long = main.kind == "command_help" and len(intent.words) >= LONG_WISH
    return is_long or (intent.mood == "ask" and not runs)


def deciding_words(intent: Intent) -> tuple[str, ...]:
    """Return the question word, the verb and the head of the object, as far as there are any."""
    verb = intent.words[intent.verb].text if intent.verb >= 0 else ""
    return tuple(
        dict.fromkeys(
            filter(None, (intent.asks, verb, intent.head.text if intent.head else ""))
        )
    )


def wants_writing(main: Scored, text: str, forbids: bool) -> bool:
    """Return whether an intent wants files changed, as far as its words go."""
    verbs = main.intent.verbs
    if not forbids and main.kind == "doc_generation" and pattern("into").search(text):
        return True
    if (
        forbids
        or main.kind not in (*EDITING, "doc_generation")
        or main.intent.mood not in ("order", "state")
    ):
        return False
    if main.kind == "doc_generation":
        return bool(verbs & {"add", "edit", "move", "replace"}) and not verbs & {
            "write",
            "document",
        }
    return not verbs & {
        "plan",
        "explain",
        "show",
        "summarise",
    } and "plan_noun" not in nouns_of(main.intent.object)


def orders_a_run(scored: Scored) -> bool:
    """Return whether it is an order to run something; `Format command?` is none."""
    intent = scored.intent
    return (
        scored.kind in ("command_help", "test_workflow")
        and intent.mood == "order"
        and "run" in intent.verbs
        and (
            intent.words[intent.verb].lemma in RUNNING
            or "command" not in nouns_of(intent.object)
        )
    )


def assumption(main: Scored, forbids: bool) -> str | None:
    """Return what was assumed where the words leave a choice."""
    kind = main.kind
    intent = main.intent
    rival: TaskType | None = None
    if kind == "unsupported":
        return None
    if forbids and kind in (*EDITING, "doc_generation") and "plan" not in intent.verbs:
        how = "that edits nothing: the request forbids changes; only a plan is shown"
        return f"taken as {wording('called', kind)} {how}"
    if main.scores[0][1] <= GUESSED and intent.mood in (
        "phrase",
        "state",
        "order",
        "topic",
    ):
        if not any(word.verbs or word.nouns for word in intent.words):
            return unknown()
        rival = "code_change" if kind == "repo_qna" else "repo_qna"
    elif len(main.scores) > 1 and main.scores[0][1] - main.scores[1][1] <= CLOSE:
        rival = main.scores[1][0]
    elif (
        kind == "command_help"
        and intent.mood == "how_to"
        and "tests" in nouns_of(intent.words)
    ):
        rival = "test_workflow"
    return f"taken as {wording('called', kind)}; {wording('say', rival)}" if rival else None


def unknown() -> str:
    """Return what is assumed of a request without a word that says anything."""
    question = wording("called", "repo_qna")
    return f"taken as {question}, as no word says more (English is read); {wording('say', 'code_change')}"


def wording(table: str, kind: TaskType) -> str:
    """Return a kind as it is named in an answer (`called`), or what to say to get it (`say`)."""
    return str(TABLES[table][kind])
