"""Measure how many sloppy sessions of a chat end with the right files, and what was sent to the model for them.

    python -m benchmarks.sessions [--only TASK] [--show] [--check]

A task of fixtures/sessions/*.toml has two recordings of a model: one good, one sloppy. Each is played by a scripted
server on loopback to the real chat over a real repository; the person approves everything and wants the covering tests.
Right are the files that the good recording leaves, with an answer that `says` what the task names. Printed: for each
kind of slip, and for all, how many ended right, and the bytes of all requests. `--show` prints what the chat showed and
what the model was told; `--check` whether `test` fails before the good recording, and passes after it.

    [files]                     the first commit, path = text
    [[task]]
    id, kind, slip              its name, what is asked for, and what the sloppy model does wrong
    ask                         what the person says, or a list of it
    between                     what the person writes before the last of these
    test                        a file in tests/ that fails, and passes at the end
    good, sloppy                answers of the model, in order

An answer has one of `say`, `run`, `command`, `edit` = [path, old, new], `create` = [path, text], or `call` = [tool,
arguments] (a text is sent as it is). One with `needs` is given only if all of these texts are in what the model has
been told since its last answer, whole words; one with `next` is the first to the next `ask`. After the last it is done.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - see sys.path below
ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "fixtures" / "sessions"
sys.path.append(str(ROOT / "tests"))

from chat_desk import Desk, write_one_certificate
from openai_server import Answer, Request, call, say, serve
from repositories import isolated_environment

DONE = "Done."
CACHES = ("__pycache__", ".pytest_cache")


@dataclass(frozen=True)
class Task:
    """One task, and its recordings."""

    id: str
    kind: str
    slip: str
    asks: Sequence[str]
    files: Mapping[str, str]
    recordings: Mapping[str, Sequence[Mapping[str, Any]]]
    between: Mapping[str, str] = field(default_factory=dict)
    says: Sequence[str] = ()
    test: str = ""


@dataclass
class Played:
    """The end of a session: the files, the model's last words, the bytes that were sent, and what was shown."""

    files: dict[str, str]
    answer: str
    sent: int
    shown: str
    requests: list[Request]

    def is_like(self, good: "Played", task: Task) -> bool:
        """Return whether it has the files of the good session, and says what is asked."""
        return self.files == good.files and all(each in self.answer for each in task.says)


class Recording:
    """A model that gives recorded answers; `turn` counts what the person has said."""

    def __init__(self, answers: Sequence[Mapping[str, Any]]) -> None:
        self.left = list(answers)

    def begin_turn(self) -> None:
        """Drop the answers that the turn before did not need."""
        while self.left and not self.left[0].get("next"):
            self.left.pop(0)
        self.left[0] = {**self.left[0], "next": False}

    def __call__(self, request: Request) -> Answer:
        told = find_told(request)
        while self.left and not self.left[0].get("next"):
            answer = self.left.pop(0)
            if all(has_words(told, each) for each in answer.get("needs", ())):
                return make_answer(answer)
        return say(DONE)


def find_told(request: Request) -> str:
    """Return what the model has been told since its last answer."""
    told: list[str] = []
    for message in request.messages:
        if message["role"] == "assistant":
            told.clear()
        told.append(str(message.get("content")))
    return "\n".join(told)


def has_words(text: str, words: str) -> bool:
    """Return whether a text has words that are no part of longer ones."""
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text))


def make_answer(answer: Mapping[str, Any]) -> Answer:
    """Return a recorded answer as the server gives it. Raises KeyError for one of no known form."""
    if "say" in answer:
        return say(answer["say"])
    if "run" in answer:
        return call(("run", {"command": answer["run"]}))
    if "command" in answer:
        return call(("run_command", {"command": answer["command"]}))
    if "edit" in answer:
        return call(
            ("edit_file", dict(zip(("path", "old", "new"), answer["edit"], strict=True)))
        )
    if "create" in answer:
        return call(
            ("create_file", dict(zip(("path", "text"), answer["create"], strict=True)))
        )
    name, arguments = answer["call"]
    return call((name, arguments))


def read_tasks(folder: Path = FOLDER) -> Iterator[Task]:
    """Yield the tasks of a folder, by the names of its files."""
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text())
        for each in data["task"]:
            asks = each.pop("ask")
            recordings = {name: each.pop(name) for name in ("good", "sloppy")}
            yield Task(
                asks=[asks] if isinstance(asks, str) else asks,
                files=data["files"],
                recordings=recordings,
                **each,
            )


def play(task: Task, name: str, folder: Path) -> Played:
    """Play a recording in an empty folder."""
    model = Recording(task.recordings[name])
    with serve(model) as server:
        desk = Desk(folder, server.base_url, task.files)
        desk.typist.ask = lambda question: "t" if "[t]est" in question else "y"
        shown = desk.turn(task.asks[0])
        for ask in task.asks[1:]:
            model.begin_turn()
            for path, text in task.between.items():
                (desk.repo.path / path).write_text(text)
            shown += desk.turn(ask)
        answer = desk.chat.loop.answer
        desk.chat.stack.close()
    sent = sum(int(each.headers["content-length"]) for each in server.requests)
    return Played(read_files(desk.repo.path), answer, sent, shown, server.requests)


def read_files(top: Path) -> dict[str, str]:
    """Return the files of a work tree without caches, path -> text."""
    return {
        path.relative_to(top).as_posix(): path.read_text()
        for path in sorted(top.rglob("*"))
        if path.is_file() and not {".git", *CACHES} & set(path.relative_to(top).parts)
    }


def find_faults(task: Task, good: Played) -> Iterator[str]:
    """Yield what is wrong with the good recording of a task."""
    if (good.files == dict(task.files)) != (task.kind == "question"):
        yield "the good recording has the wrong effect on files"
    if not good.is_like(good, task):
        yield f"the good recording does not say {task.says}"


def find_test_faults(task: Task, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the test of a task whose good recording was played in `folder`."""
    if not passes_test(folder / "repo", task.test):
        yield f"{task.test} fails at the end"
    subprocess.run(["git", "stash", "-q"], cwd=folder / "repo", check=True)
    if passes_test(folder / "repo", task.test):
        yield f"{task.test} passes before"


def passes_test(top: Path, test: str) -> bool:
    """Return whether a test of a repository passes."""
    command = [sys.executable, "-m", "pytest", "-q", f"tests/{test}"]
    env = isolated_environment(top.parent / "home")
    return not subprocess.run(
        command, cwd=top, env=env, capture_output=True, check=False
    ).returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    rows: dict[str, list[tuple[int, int, int]]] = {}
    with tempfile.TemporaryDirectory() as made:
        os.environ["SSL_CERT_FILE"] = write_one_certificate(Path(made))
        for task in read_tasks():
            if arguments.only not in task.id:
                continue
            good = play(task, "good", Path(made) / task.id / "good")
            sloppy = play(task, "sloppy", Path(made) / task.id / "sloppy")
            faults = [*find_faults(task, good)]
            if arguments.check and task.test:
                faults += find_test_faults(task, Path(made) / task.id / "good")
            is_right = not faults and sloppy.is_like(good, task)
            row = (int(is_right), good.sent, sloppy.sent)
            rows.setdefault(task.slip, []).append(row)
            rows.setdefault("", []).append(row)
            if not is_right or arguments.show:
                print(
                    f"{task.id}: {'; '.join(faults) or ('right' if is_right else 'wrong')}",
                    flush=True,
                )
            if arguments.show:
                print_session(sloppy)
    for slip, found in sorted(rows.items(), reverse=True):
        right, good_bytes, sloppy_bytes = map(sum, zip(*found, strict=True))
        print(
            f"{slip or 'all':<10} {right:>2} of {len(found):<2} right,"
            f" {good_bytes:,} bytes good, {sloppy_bytes:,} sloppy"
        )
    return 0


def print_session(played: Played) -> None:
    """Print what the chat showed, and the messages of the last request without the first."""
    print(played.shown)
    for message in played.requests[-1].messages[1:]:
        calls = [each["function"] for each in message.get("tool_calls") or ()]
        print(f"  {message['role']}: {message.get('content') or calls}")


if __name__ == "__main__":
    sys.exit(main())
