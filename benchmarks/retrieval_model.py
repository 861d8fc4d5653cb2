"""Asks the questions of fixtures/questions with and without a language model; see benchmarks/retrieval.py --model.

Two doubles show what does not depend on the model: `double:oracle` knows the answers of the fixture and cites the right
files; `double:useless` cites files by chance.
"""

import datetime
import os
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli_guard.assistant import propose
from cli_guard.assistant.local import LocalAssistant
from cli_guard.graph.context import Context
from cli_guard.llm.answers import cited_lines
from cli_guard.llm.gateway import Gateway, Reply
from cli_guard.llm.guest import Guest
from cli_guard.llm.ledger import Ledger
from cli_guard.llm.routing import Route
from cli_guard.policy.language_model import ModelSection

if TYPE_CHECKING:
    from benchmarks.retrieval import Answered, Asked

TESTS = Path(__file__).parent.parent / "tests"


@dataclass(frozen=True)
class Helped:
    """A question with a model's help: `chosen` are the files that it cites, `replies` what it answered.

    `keeps`: the answer begins with the whole answer without a model.
    """

    without: "Answered"
    chosen: tuple[str, ...]
    replies: tuple[Reply, ...]
    failure: str
    keeps: bool

    def right(self, among: int) -> bool:
        """Return whether a right file is among the first ones, those of the model before the others."""
        asked = self.without.asked
        if not asked.paths:
            return self.without.right(among) and not self.chosen
        own = self.without.files if self.without.found.confidence != "none" else []
        return bool(set(asked.paths) & set([*dict.fromkeys((*self.chosen, *own))][:among]))


@dataclass
class Double:
    """A scripted model of one of two kinds, "oracle" or "useless", for the question that is set."""

    kind: str
    say: Callable[..., Any]
    asked: "Asked | None" = None
    texts: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, request: Any) -> Any:
        """Answer a request with places."""
        assert self.asked is not None
        paths = [path for path in self.asked.paths if path in self.texts]
        if self.kind == "useless":
            paths = random.Random(request.text).sample(sorted(self.texts), 3)
        return self.say(" ".join(f"See {path}:1." for path in paths) or "Nothing.")


@contextmanager
def open_model(
    name: str, base_url: str | None
) -> Iterator[tuple[ModelSection, Double | None]]:
    """Open the model of a name, with its double if it is one."""
    kind = name.removeprefix("double:")
    if kind == name:
        yield ModelSection(medium=(name,), base_url=base_url), None
        return
    if kind not in ("oracle", "useless"):
        raise SystemExit(f"--model {name}: there are double:oracle and double:useless")
    sys.path.insert(0, str(TESTS))
    from openai_server import say, serve

    double = Double(kind, say)
    with serve(double) as server:
        yield ModelSection(medium=("openai:double",), base_url=server.base_url), double


def ask_all(
    answered: "list[Answered]",
    texts_of_package: Callable[[str], Mapping[str, str]],
    name: str,
    base_url: str | None,
) -> Iterator[Helped]:
    """Ask each question with the model, through the whole graph."""
    with (
        open_model(name, base_url) as (config, double),
        tempfile.TemporaryDirectory() as folder,
    ):
        env = {**os.environ, "XDG_STATE_HOME": folder}
        if double:
            env["OPENAI_API_KEY"] = "none"
        for each in answered:
            texts = texts_of_package(each.asked.package)
            if double:
                double.asked = each.asked
                double.texts = texts
            now = datetime.datetime.now(datetime.UTC)
            guest = Guest(Gateway(config, env, Ledger(config, env, now)), Route("medium"))
            context = Context(assistant=LocalAssistant())
            plain = propose(each.asked.question, texts, context=context).text
            text = propose(each.asked.question, texts, context=guest.equip(context)).text
            said = text.removeprefix(plain).partition("The model says: ")[2]
            files = tuple(dict.fromkeys(path for path, _ in cited_lines(said)))
            yield Helped(
                each, files, tuple(guest.replies), guest.failure, text.startswith(plain)
            )


def print_help(name: str, helped: list[Helped]) -> None:
    """Print the figures with and without the model, and what it has cost."""
    known = [each for each in helped if each.without.asked.paths]
    absent = [each for each in helped if not each.without.asked.paths]
    print(f"\n{name:34}" + "".join(f"{head:>14}" for head in ("first", "of three", "none")))
    rows: tuple[tuple[str, Callable[[Helped, int], bool]], ...] = (
        ("without", lambda each, among: each.without.right(among)),
        ("with", lambda each, among: each.right(among)),
    )
    for row, is_right in rows:
        cells = [(known, 1), (known, 3), (absent, 1)]
        shown = [
            f"{sum(is_right(each, among) for each in some)}/{len(some)}"
            for some, among in cells
        ]
        print(f"{row:34}" + "".join(f"{cell:>14}" for cell in shown))
    asked = [each for each in helped if each.replies or each.failure]
    replies = [reply for each in helped for reply in each.replies]
    prices = [reply.usd for reply in replies]
    money = (
        "price unknown" if None in prices else f"${sum(price or 0 for price in prices):.4f}"
    )
    read = sum(r.usage.input for r in replies)
    written = sum(r.usage.output for r in replies)
    print(
        f"the model was asked in {len(asked)} of {len(helped)} questions, {len(replies)} answers: ",
        end="",
    )
    print(f"{read:,} tokens read, {written:,} written, {money}")
    print(
        f"the answer without the model stands first in {sum(each.keeps for each in helped)} of {len(helped)}"
    )
    for failure in sorted(
        {re.sub(r" \(.*|\d+", "", each.failure) for each in helped if each.failure}
    ):
        count = sum(failure == re.sub(r" \(.*|\d+", "", each.failure) for each in helped)
        print(f"  not used, {count} times: {failure}")
