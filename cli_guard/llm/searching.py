"""Helps to answer a question about the repository where the search without a model is unsure.

unsure result -> the model writes queries -> the graph searches for them -> the model orders the places by their ids

The answer without a model stays whole; what the model has found comes below it. A sure answer asks no model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, islice, zip_longest

from pydantic import BaseModel

from cli_guard.assistant.replies import place_line, result_of
from cli_guard.assistant.sentences import KnownNames, problem_with
from cli_guard.code.definitions import find_definitions
from cli_guard.code.test_files import is_test_or_example
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.state import Data, State
from cli_guard.graph.tools.tool import Tool
from cli_guard.lazy import dataclass
from cli_guard.llm.answers import cited_lines, clean, parse_answer
from cli_guard.llm.guest import Guest
from cli_guard.llm.prompts import fence, sendable, system, user
from cli_guard.llm.providers import ModelError
from cli_guard.model import Action
from cli_guard.secrets.printable import printable

SEARCH = "search_repository"
QUESTION_CHARS = 800
QUERIES = 5
QUERY_CHARS = 120
# The first prompt has at most about 1,500 tokens, the second 2,500.
OUTLINE_CHARS = 2_200
NAMES_CHARS = 1_100
PLACES_CHARS = 6_000
NAMED_FILES = 4
NAMES = 30
PLACES = 30
SHOWN = 3
# Names shown of each folder: as many as fit.
NAMES_OF_FOLDER = (40, 12, 4, 1)
PATH_CHARS = 160
SENTENCE_CHARS = 200

WRITE_QUERIES = (
    "A search found no sure answer to a question about a repository; often the code says it in other words. Write up "
    "to five queries for the same search. It compares words, not meanings: use names of functions, classes, settings "
    "and files that the code may have, or two to five words that a line or a comment there would have. Answer with "
    'JSON alone: {"queries": ["retry backoff", "compute_delay"]}'
)
CHOOSE_PLACES = (
    "Choose, from a numbered list of places in a repository, those that answer a question: their ids, the best first, "
    "at most three. Say for each in one sentence of at most 20 words why. If none answers it, the list is empty. "
    'Answer with JSON alone: {"places": [{"id": 4, "why": "Doubles the delay after each failure."}]}'
)


class Queries(BaseModel):
    """The first answer of the model."""

    queries: list[str]


class Choice(BaseModel):
    """A place, by its number in the list."""

    id: int
    why: str = ""


class Ranking(BaseModel):
    """The second answer of the model: places, the best first."""

    places: list[Choice]


@dataclass
class Search:
    """The use of a model for a question. `queries` are the model's, `chosen` the places that it chose."""

    guest: Guest
    queries: list[str] = field(default_factory=list)
    chosen: list[Data] = field(default_factory=list)
    _asked: Action | None = None
    _planned: bool = False
    _blocked: int = 0

    def tools(self, context: Context) -> Mapping[str, Tool]:
        """Return no tool: those of the assistant search."""
        return {}

    def plan(self, state: State, context: Context) -> Planned:
        """Return the actions without a model; after those, the model's queries if the search was unsure."""
        if not self._planned:
            planned = self.guest.base(state, context)
            if state["round"] == 1:
                # A question about the history, a thing to explain or a server's tool begins with another call.
                self._asked = next(
                    (each for each in planned.actions if each.tool == SEARCH), None
                )
            if planned.failed or self._asked is None:
                return planned
            self._planned = planned.last
            self._blocked = len(state["blocked_actions"])
            return replace(planned, last=False)
        if len(state["blocked_actions"]) > self._blocked:
            # Without a model that round was the last, and its deny the end.
            return Planned((), failed=state["blocked_actions"][-1]["reason"])
        found = result_of(state, SEARCH)
        if self._asked is None or not found or is_sure(found):
            return Planned(())
        texts = sendable(context.world(state).snapshot, self.guest.config)
        self.queries = self.write_queries(state["normalized_input"], found, texts)
        given = self._asked.arguments
        why = "search in the model's words"
        return Planned(
            tuple(
                Action(SEARCH, {**given, "query": each}, purpose=why)
                for each in self.queries
            )
        )

    def write_queries(
        self, question: str, found: Data, texts: Mapping[str, str]
    ) -> list[str]:
        """Ask for queries. Raises ModelError, also if there is none among them."""
        lacks = ", ".join(found["absent"] or found["missing"])[:QUERY_CHARS]
        near = dict.fromkeys(each["path"] for each in (*found["places"], *found["nearest"]))
        parts = (
            f"Question: {question[:QUESTION_CHARS]}",
            lacks and f"Not found: {lacks}",
            fence(outline_files(texts), "file names by folder"),
            fence(list_names(near, texts), "names defined in the nearest files"),
        )
        reply = self.guest.ask(
            [system(WRITE_QUERIES), user(*parts)], purpose="queries", schema=Queries
        )
        given = (one_line(each) for each in parse_answer(reply.text, Queries).queries)
        usable = dict.fromkeys(each for each in given if each and len(each) <= QUERY_CHARS)
        if not usable:
            raise ModelError(
                f"the model wrote no query of at most {QUERY_CHARS} characters"
            )
        return list(usable)[:QUERIES]

    def reply(self, state: State, answer: str) -> str:
        """Return the answer, and below it the places that the model chose. Raises ModelError if it chose none."""
        if not self.queries:
            return answer
        words = "; ".join(self.queries)
        places = self.find_places(state)
        if not places:
            raise ModelError(f"nothing was found with its words ({words})")
        named = (
            f"{place_line(each)}  ({each['kind']}: {each['symbol'] or '-'})"
            for each in places
        )
        lines = fit_lines(
            (printable(f"{id}. {each}") for id, each in enumerate(named, 1)), PLACES_CHARS
        )
        question = f"Question: {state['normalized_input'][:QUESTION_CHARS]}"
        messages = [
            system(CHOOSE_PLACES),
            user(question, fence("\n".join(lines), "places found")),
        ]
        reply = self.guest.ask(messages, purpose="places", schema=Ranking)
        wanted: dict[int, str] = {}
        for each in parse_answer(reply.text, Ranking).places:
            if 1 <= each.id <= len(lines):
                wanted.setdefault(each.id, one_line(each.why))
        if not wanted:
            raise ModelError(
                f"it chose none of {len(lines)} places found with its words ({words})"
            )
        shown = [f"Found with the model's words (queries: {words}):"]
        for number, sentence in islice(wanted.items(), SHOWN):
            self.chosen.append(place := places[number - 1])
            is_kept = sentence and is_supported(sentence, places[: len(lines)])
            shown += (
                [place_line(place), f"  {sentence}"] if is_kept else [place_line(place)]
            )
        return "\n".join((answer, *shown))

    def find_places(self, state: State) -> list[Data]:
        """Return the places of all searches, the best of each first; none if the model's searches found none."""
        found = [
            each
            for each in state["tool_results"]
            if each["tool"] == SEARCH and "error" not in each
        ]
        if not any(each["places"] or each["nearest"] for each in found[1:]):
            return []
        rows = zip_longest(*((*each["places"], *each["nearest"]) for each in found))
        places: dict[tuple[str, int], Data] = {}
        for each in filter(None, chain.from_iterable(rows)):
            if not self.guest.config.is_private(each["path"]):
                places.setdefault((each["path"], each["line"]), each)
        return list(places.values())[:PLACES]


def is_sure(found: Data) -> bool:
    """Return whether the result of a search needs no model."""
    return found["confidence"] == "high" or (
        found["confidence"] == "medium" and not found["missing"]
    )


def one_line(text: str) -> str:
    """Return a text of the model on one line, safe to show; "" if it is too long."""
    return " ".join(clean(text).split()) if len(text) <= SENTENCE_CHARS else ""


def is_supported(sentence: str, places: Sequence[Data]) -> bool:
    """Return whether a sentence passes the checks of a sentence, and names no line or name but those of the places."""
    lines = {(each["path"], each["line"]) for each in places}
    text = "\n".join(f"{each['path']} {each['symbol']} {each['text']}" for each in places)
    return not problem_with(sentence, KnownNames(text)) and lines.issuperset(
        cited_lines(sentence)
    )


def list_names(paths: Iterable[str], texts: Mapping[str, str]) -> str:
    """Format the names that the first of some files define."""
    lines = []
    for path in islice((path for path in paths if path in texts), NAMED_FILES):
        names = islice(
            dict.fromkeys(each.qualname for each in find_definitions(path, texts[path])),
            NAMES,
        )
        lines.append(
            printable(f"{path[-PATH_CHARS:]}: {', '.join(names)}")[
                : NAMES_CHARS // NAMED_FILES
            ]
        )
    return "\n".join(lines)


def outline_files(paths: Iterable[str]) -> str:
    """Format the names of files by folder: as many of each folder as fit, those of tests last."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path.rpartition("/")[2])
    ordered = sorted(
        folders, key=lambda each: (is_test_or_example(f"{each}/x"), each.count("/"), each)
    )
    for most in NAMES_OF_FOLDER:
        lines = (format_folder(each, folders[each], most) for each in ordered)
        if len(kept := fit_lines(lines, OUTLINE_CHARS)) == len(ordered):
            return "\n".join(kept)
    return "\n".join((*kept, f"and {len(ordered) - len(kept)} more folders"))


def format_folder(folder: str, names: list[str], most: int) -> str:
    """Format some names of the files of a folder, and how many more there are."""
    shown = ", ".join(name[:PATH_CHARS] for name in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return printable(f"{folder[-PATH_CHARS:] or '.'}: {shown}{more}")


def fit_lines(lines: Iterable[str], chars: int) -> list[str]:
    """Return the first of some lines, as many as fit."""
    kept = []
    for line in lines:
        chars -= len(line) + 1
        if chars < 0:
            break
        kept.append(line)
    return kept
