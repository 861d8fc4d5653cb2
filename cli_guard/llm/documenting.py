"""Words for documentation: the skeleton comes from the code, a model writes its sentences, and a tool checks them."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from pydantic import RootModel

from cli_guard.assistant.documenting.source import DocSource, read_source
from cli_guard.assistant.documenting.wording import WORD_DOCUMENTATION
from cli_guard.assistant.replies import result_of
from cli_guard.assistant.sentences import list_dropped
from cli_guard.code.syntax import Trees
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.state import Data, State
from cli_guard.graph.tools.tool import Tool
from cli_guard.lazy import dataclass
from cli_guard.llm.answers import clean, parse_answer
from cli_guard.llm.prompts import fence, system, user
from cli_guard.llm.providers import ModelError
from cli_guard.model import Action
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

# Of one definition, and how many go into one prompt.
CODE_LINES = 60
LINE_CHARS = 160
DEFINITIONS = 8
TASK = """Write the sentences of documentation skeletons. Each definition has its code and its skeleton.
Answer with JSON alone: {definition: {"summary": sentence, "params": {name: sentence}, "returns": sentence,
"raises": {name: sentence}}}. The keys of the outer object are the names of the definitions as they are given.
Fill only the places that the skeleton marks with TODO. Leave out what the code does not show.
A sentence is plain text on one line: at most 80 characters for a summary, 200 for the others, without a type. Say what
the code does, when an error is raised, what a value means. Put names of code in backticks; name only what you see."""


class Sentences(RootModel[dict[str, dict[str, str | dict[str, str | None] | None]]]):
    """The sentences by definition."""


@dataclass
class WrittenDocumentation:
    """The use of a model for documentation: sentences between the skeleton and its patch."""

    guest: "Guest"
    notes: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    trees: Trees = field(default_factory=Trees)
    _asked: bool = False
    _last: bool = True

    def tools(self, context: Context) -> Mapping[str, Tool]:
        """Return the tool that fills skeletons."""
        return {WORD_DOCUMENTATION.name: WORD_DOCUMENTATION}

    def plan(self, state: State, context: Context) -> Planned:
        """Plan the skeleton, then the same with sentences, then what the request wants done with it."""
        if result_of(state, "propose_documentation").get("proposals") and not self._asked:
            self._asked = True
            if sentences := self.write(state):
                calls = (
                    each
                    for each in state["plan"]
                    if each["tool"] == "propose_documentation"
                )
                wording = {
                    "request": next(calls)["arguments"]["request"],
                    "sentences": sentences,
                }
                action = Action(
                    WORD_DOCUMENTATION.name,
                    wording,
                    purpose="fill the skeletons with sentences",
                )
                return Planned((action,), last=self._last)
        planned = self.guest.base(state, context)
        self._last = planned.last
        proposes = any(each.tool == "propose_documentation" for each in planned.actions)
        return replace(planned, last=False) if proposes else planned

    def write(self, state: State) -> list[Data]:
        """Ask for the sentences, some definitions at a time. Raises ModelError if there is no first answer."""
        made = result_of(state, "propose_documentation")["proposals"]
        shown = [each for each in made if not self.guest.config.is_private(each["path"])]
        if len(shown) < len(made):
            self.notes.append(
                f"Not sent to the model: {len(made) - len(shown)}, in private files."
            )
        sentences: list[Data] = []
        for at in range(0, len(shown), DEFINITIONS):
            try:
                sentences += self.ask(shown[at : at + DEFINITIONS])
            except ModelError as error:
                if not at:
                    raise
                self.notes.append(
                    f"Without sentences: {len(shown) - at} of {len(shown)}: {error}."
                )
                break
        return sentences

    def ask(self, proposals: Sequence[Data]) -> list[Data]:
        """Return the sentences for some proposals as arguments of the tool. Raises ModelError."""
        symbols = [each["symbol"] or "module" for each in proposals]
        # Where several files have a definition of the same name, its path is part of the name.
        names = [
            name if symbols.count(name) == 1 else f"{each['path']}:{name}"
            for name, each in zip(symbols, proposals, strict=True)
        ]
        parts = [
            f"Definition: {fence(name, 'name')}\n{fence(self.code_of(each), each['path'], each['path'])}\n"
            f"Its skeleton:\n{fence(each['text'], 'skeleton', each['path'])}"
            for name, each in zip(names, proposals, strict=True)
        ]
        reply = self.guest.ask(
            [system(TASK), user(*parts)], purpose="document", schema=Sentences
        )
        answer = parse_answer(reply.text, Sentences).root
        found = []
        for name, each in zip(names, proposals, strict=True):
            for kind, value in answer.pop(name, {}).items():
                for about, text in (
                    value if isinstance(value, dict) else {"": value}
                ).items():
                    place = {
                        "path": each["path"],
                        "symbol": each["symbol"],
                        "kind": kind,
                        "name": about.strip("*`"),
                    }
                    words = place | {"text": (text or "").strip()}
                    if any(clean(said) != said for said in words.values()):
                        # Not even into the log.
                        self.dropped.append("a control character or a secret")
                    elif words["text"]:
                        found.append(words)
        self.dropped += ["of no definition that was asked about"] * len(answer)
        return found

    def code_of(self, proposal: Data) -> str:
        """Return the code of the definition that a proposal documents, of a module its beginning, up to a bound."""
        # A long line and a long definition are cut, and half a secret would not be known as one.
        text = redact(self.guest.texts[proposal["path"]], proposal["path"])
        source = read_source(proposal["path"], text, self.trees)
        lines = source.lines if isinstance(source, DocSource) else []
        spans = (
            each
            for each in getattr(source, "symbols", ())
            if each.qualname == proposal["symbol"]
        )
        if symbol := next(spans, None):
            lines = lines[symbol.top - 1 : symbol.end_line]
        more = [f"... {len(lines) - CODE_LINES} more lines"] if lines[CODE_LINES:] else []
        return "\n".join([*(line[:LINE_CHARS] for line in lines[:CODE_LINES]), *more])

    def reply(self, state: State, answer: str) -> str:
        """Add what was not taken, and what was not sent."""
        dropped = [
            *self.dropped,
            *result_of(state, WORD_DOCUMENTATION.name).get("dropped", ()),
        ]
        return "\n".join(filter(None, (answer, *self.notes, list_dropped(dropped))))
