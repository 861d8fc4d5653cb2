"""Measure what a long session still knows: a scripted one of 200 turns, compacted before each call of the model.

    python -m benchmarks.compaction [--turns N] [--seed N]
    python -m benchmarks.compaction --kept

For each window and each summariser: the share of the facts that the person stated, and of the artefacts, that are word
for word in what is sent at the end; the largest prompt with its answer as a share of the window; the calls parted from
their results; how often a summary was asked for; milliseconds for one call of `compact`. `--kept`: the share of the
facts in four sessions of fixtures/sessions, which people wrote who had not seen how facts are found.
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli_guard.llm.compaction import compact
from cli_guard.llm.prompts import Message, estimate_tokens, fence, system, user
from cli_guard.llm.session import Artefact, newest

KEPT = Path(__file__).parent.parent / "fixtures" / "sessions" / "kept.jsonl"
WINDOWS = ((8_192, 1_024), (8_192, 4_000), (32_768, 4_000), (128_000, 4_000))
# What people say in passing; half of it has neither a number nor a path.
FACTS = (
    "The staging port is {n}",
    "Never touch {d}/legacy",
    "{p} owns the billing module",
    "Our database is called {w}db",
    "we deploy from the {w} branch",
    "Retries are capped at {n} for {w}",
    "{p} has to sign off anything in {d}/",
    "the {w} service speaks gRPC, not REST",
    "Always run the {w} tests before a push",
    "The {w} API key rotates every {n} days",
    "Do not add dependencies to {d}",
    "Customers of {w} pay in Swiss francs",
    "The {w} job starts at {h}:15 UTC",
    "our style guide forbids lambdas in {d}",
    "Ticket {t}-{n} tracks the {w} outage",
    "{w} is deprecated since the summer",
    "Use tabs in {d}/Makefile",
    "The nightly build of {w} takes {n} minutes",
    "{p} prefers small commits",
    "the {w} cache must stay below {n} MB",
)
ASKED = (
    "Where is {w} used?",
    "Fix the failing test in {d}/{w}.py",
    "Explain {d}/{w}.py",
    "Add a retry to {w}()",
)
WORDS = [
    a + b
    for a in ("am", "bel", "cor", "dan", "el", "fir", "gar", "hol")
    for b in ("ber", "ton", "vale", "wick", "mere")
]
PEOPLE = [
    f"{a} {b}"
    for a in ("Ines", "Jon", "Mara", "Otto", "Priya")
    for b in ("Falk", "Lund", "Reyes", "Sato")
]


@dataclass
class Script:
    """A session: its messages turn by turn, with what was planted and what is owned."""

    turns: int = 200
    seed: int = 19
    facts: list[str] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def fill(self, text: str) -> str:
        """Return a template with words, names and numbers."""
        pick = self.random.choice
        number = self.random.randint
        folder = f"{pick(('src', 'lib', 'app', 'ops'))}/{pick(WORDS)}"
        values = {
            "w": pick(WORDS),
            "p": pick(PEOPLE),
            "d": folder,
            "t": pick(("OPS", "PAY")),
        }
        return text.format(**values, n=number(11, 9_999), h=number(10, 23))

    def steps(self) -> Iterator[list[Message]]:
        """Yield the messages that come before each call of the model."""
        for turn in range(self.turns):
            yield [user(self.say(turn))]
            for step in range(self.random.choice((0, 0, 1, 1, 2))):
                yield self.call_tools(turn, step)

    def say(self, turn: int) -> str:
        """Return what the person says: a request, at every third turn with a fact before or behind it."""
        request = self.fill(self.random.choice(ASKED))
        if turn == 0:
            self.artefacts.append(Artefact("task", request, turn))
        if turn % 12 == 5:
            self.artefacts.append(
                Artefact(
                    "decision", self.fill("Keep {w} as it is and change {d} only"), turn
                )
            )
        if turn % 3:
            return request
        fact = self.fill(FACTS[turn // 3 % len(FACTS)])
        self.facts.append(fact)
        shapes = (
            f"{fact}. {request}",
            f"{request} By the way: {fact}.",
            f"- {request}\n- {fact}",
            f"{fact}!",
        )
        log = (
            "\n\nThis is the log:\n```\n" + "error at line 12 of main.c\n" * 40 + "```"
            if turn % 9 == 0
            else ""
        )
        return self.random.choice(shapes) + log

    def call_tools(self, turn: int, step: int) -> list[Message]:
        """Return an assistant's message with one to three calls, and their results: from nothing to 200,000 letters."""
        calls = []
        results = []
        for number in range(self.random.randint(1, 3)):
            name = self.random.choice(("read_file", "run_command", "edit_file"))
            id = f"call_{turn}_{step}_{number}"
            arguments, text = self.act(name, turn)
            function = {"name": name, "arguments": json.dumps(arguments)}
            calls.append({"id": id, "type": "function", "function": function})
            results.append(
                {"role": "tool", "tool_call_id": id, "content": fence(text, name)}
            )
        return [
            {
                "role": "assistant",
                "content": self.fill("I look at {d}."),
                "tool_calls": calls,
            },
            *results,
        ]

    def act(self, name: str, turn: int) -> tuple[dict[str, Any], str]:
        """Return the arguments and the result of a call, and note what it leaves behind."""
        path = f"src/{self.random.choice(WORDS[:10])}.py"
        size = self.random.choice(
            (0, 100, 100, 1_000, 1_000, 8_000, 200_000 if turn % 25 == 0 else 300)
        )
        text = "".join(f"value_{n} = compute({n})\n" for n in range(size // 20))
        if name == "run_command":
            command = f"pytest -q tests/test_{self.random.choice(WORDS[:15])}.py"
            self.artefacts.append(
                Artefact(
                    "command", command, turn, exit_code=self.random.choice((0, 0, 0, 1))
                )
            )
            return {"command": command}, text
        if name == "edit_file":
            old = self.fill("retry({n})")
            new = self.fill("retry({n}, {w})")
            patch = (
                f"--- a/{path}\n+++ b/{path}\n@@ -{turn + 1} +{turn + 1} @@\n-{old}\n+{new}"
            )
            self.artefacts.append(Artefact("patch", patch, turn, about=path))
            self.artefacts.append(Artefact("file", path, turn))
            self.artefacts.append(
                Artefact("approval", f"edit_file {path}, by {PEOPLE[0]}", turn)
            )
            return {"path": path, "patch": patch}, "applied"
        return {"path": path}, text


def keep_first_sentences(prompt: list[Message]) -> str:
    """The summariser that does its work: the first sentence of each line, as far as there is room."""
    lines = str(prompt[1]["content"]).splitlines()[1:-1]
    return "\n".join(line.split(". ")[0][:120] for line in lines)[:3_000]


def say_ok(prompt: list[Message]) -> str:
    """The lazy summariser."""
    return "ok"


def fail(prompt: list[Message]) -> str:
    """The summariser whose server is down."""
    raise ConnectionError("the server hung up")


SUMMARISERS: tuple[Callable[[list[Message]], str], ...] = (
    keep_first_sentences,
    say_ok,
    fail,
)


@dataclass
class Measured:
    """What became of a session."""

    facts: float = 0.0
    artefacts: float = 0.0
    fullest: float = 0.0
    parted: int = 0
    summaries: int = 0
    slowest_ms: float = 0.0
    mean_ms: float = 0.0
    lost: list[str] = field(default_factory=list)


def play(
    script: Script, window: int, answer: int, summarise: Callable[[list[Message]], str]
) -> Measured:
    """Go through a session as a chat does, and look at each prompt."""
    measured, times = Measured(), []

    def count_calls(prompt: list[Message]) -> str:
        measured.summaries += 1
        measured.fullest = max(
            measured.fullest, (estimate_tokens(prompt) + answer) / window
        )
        return summarise(prompt)

    messages: list[Message] = [system("Help with the repository.")]
    for fresh in script.steps():
        began = time.perf_counter()
        messages = compact(
            [*messages, *fresh], script.artefacts, window, answer, count_calls
        )
        times.append((time.perf_counter() - began) * 1_000)
        measured.fullest = max(
            measured.fullest, (estimate_tokens(messages) + answer) / window
        )
        measured.parted += parted_calls(messages)
        messages = [
            *messages,
            {"role": "assistant", "content": script.fill("It is in {d}/{w}.py, line {n}.")},
        ]
    sent = "\n".join(str(each["content"]) for each in messages)
    owned = newest(script.artefacts)
    measured.lost = [each for each in script.facts if each not in sent]
    lost = [str(each) for each in owned if str(each) not in sent]
    measured.facts = 1 - len(measured.lost) / len(script.facts)
    measured.artefacts = 1 - len(lost) / len(owned)
    measured.lost += lost
    measured.slowest_ms = max(times)
    measured.mean_ms = sum(times) / len(times)
    return measured


def parted_calls(messages: list[Message]) -> int:
    """Return how many calls have no result right after them, and results no call."""
    wrong = 0
    waiting = set[str]()
    for each in [*messages, {"role": "end"}]:
        if each["role"] == "tool":
            wrong += each["tool_call_id"] not in waiting
            waiting.discard(each["tool_call_id"])
            continue
        wrong += len(waiting)
        waiting = {call["id"] for call in each.get("tool_calls") or ()}
    return wrong


def play_kept(session: dict[str, Any], window: int, answer: int) -> list[str]:
    """Go through a session of the fixture, without a summariser; return the facts that are not there at its end.

    Of results and answers the fixture has only the lengths.
    """
    messages: list[Message] = [system("Help with the repository.")]
    for number, turn in enumerate(session["turns"]):
        messages.append(user(turn["person"]))
        for step, size in enumerate(turn["results"]):
            messages = compact(messages, [], window, answer, fail)
            call = {"id": f"call_{number}_{step}", "type": "function"}
            function = {"name": "run", "arguments": "{}"}
            messages.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{**call, "function": function}],
                }
            )
            content = fence("value = compute()\n" * (size // 18), "run")
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": content}
            )
        messages = compact(messages, [], window, answer, fail)
        messages.append({"role": "assistant", "content": "Done. " * (turn["answer"] // 6)})
    sent = "\n".join(str(each["content"]) for each in messages).casefold()
    return [
        fact["needle"] for fact in session["facts"] if fact["needle"].casefold() not in sent
    ]


def main() -> None:
    """Print a line for each window and summariser."""
    parser = argparse.ArgumentParser(description="What a long session still knows.")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--lost", action="store_true", help="print what is missing")
    parser.add_argument(
        "--kept", action="store_true", help="play the sessions of fixtures/sessions"
    )
    options = parser.parse_args()
    if options.kept:
        sessions = [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()]
        for window, answer in WINDOWS[:3]:
            lost = [
                each for session in sessions for each in play_kept(session, window, answer)
            ]
            known = 1 - len(lost) / sum(len(session["facts"]) for session in sessions)
            print(
                f"window {window:,}, answer {answer:,}: {known:.1%} of the facts; lost: {', '.join(lost)}"
            )
        return
    print(
        "window  answer  summariser            facts  artefacts  fullest  parted  summaries  mean ms  slowest"
    )
    for window, answer in WINDOWS:
        for summarise in SUMMARISERS:
            got = play(Script(options.turns, options.seed), window, answer, summarise)
            print(
                f"{window:6}  {answer:6}  {summarise.__name__:20}  {got.facts:5.1%}  {got.artefacts:9.1%}"
                f"  {got.fullest:7.1%}  {got.parted:6}  {got.summaries:9}  {got.mean_ms:7.1f}  {got.slowest_ms:7.1f}"
            )
            if options.lost:
                print("\n".join(got.lost))


if __name__ == "__main__":
    main()
