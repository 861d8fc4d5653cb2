"""Runs one task in a scratch world of its own, from its set-up to the check of what it left behind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.runner.answering import Answer, Answered, answer
from benchmarks.runner.checking import check_answer, check_file, check_files, said
from benchmarks.runner.model import Failure, Outcome, Result, Step, Task
from benchmarks.runner.person import act
from benchmarks.runner.scratch import Scratch, below, prints, texts
from cli_guard.errors import CliGuardError
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

LONGEST = 200
# The one folder of a repository that cli-guard writes to while it runs.
STATE_FOLDER = "cli-guard"


@dataclass(frozen=True)
class Scene:
    """What lies in a scratch world at one moment (path -> hash): the work tree, Git's own folder, all else."""

    worktree: Mapping[str, str]
    git: Mapping[str, str]
    outside: Mapping[str, str]

    @classmethod
    def of(cls, scratch: Scratch) -> "Scene":
        """The scene as it is now."""
        return cls(
            prints(scratch.root, without=(".git",)),
            prints(scratch.root / ".git", without=(STATE_FOLDER,)),
            prints(scratch.folder, without=("repository",)),
        )


def run_task(task: Task, folder: Path, outer: Mapping[str, str], act_on: Answer = answer) -> Result:
    """Runs a task in a new folder. `act_on` is what does the task, our own assistant unless another is given.

    Raises nothing for a wrong answer: that is a failure in the result. A set-up that does not hold is one too.
    """
    try:
        scratch = Scratch.create(folder, task.setup, outer, git=task.world == "repository")
    except (CliGuardError, OSError) as error:
        return shown(
            Result(task.id, task.kind, "", "failed", (Failure("repository", "a set-up", str(error)),)), folder
        )
    before = Scene.of(scratch)
    answered = act_on(task, scratch)
    failures = [*check_answer(task.expected, answered.outcome)]
    # An answer alone changes nothing, whatever is approved later.
    failures += check_scene(before, Scene.of(scratch), {} if task.after else task.expected.files)
    last = answered
    for step in task.after:
        if step.do in ("write", "stage"):
            scratch.do(step)
            before = Scene.of(scratch)
            continue
        last, found = stepped(step, task, answered, last, scratch, act_on)
        failures += found
    after = Scene.of(scratch)
    failures += check_end(task, before, after, last.outcome, scratch)
    outcome = answered.outcome
    result = Result(
        task.id,
        outcome.task_type or task.kind,
        outcome.status,
        "failed" if failures else "passed",
        tuple(dict.fromkeys(failures)),
    )
    return shown(result, scratch.folder)


def stepped(
    step: Step, task: Task, answered: Answered, last: Answered, scratch: Scratch, act_on: Answer
) -> tuple[Answered, list[Failure]]:
    """Does what a person does, and checks what came of it."""
    done = act_on(task, scratch) if step.do == "again" else Answered(act(step, answered, scratch))
    failures = []
    if done.outcome.status != step.status:
        got = f"{done.outcome.status}: {done.outcome.text}"
        failures.append(Failure(f"after {step.do}", step.status, got))
    failures += said(step.says, done.outcome.text)
    kept = done.outcome.files if done.outcome.files is not None else last.outcome.files
    return Answered(replace(done.outcome, files=kept), answered.pause), failures


def check_scene(before: Scene, after: Scene, expected: Mapping[str, object]) -> Iterator[Failure]:
    """What changed and should not have; only the `expected` paths of the work tree may."""
    for name, place in (("worktree", "the work tree"), ("git", "Git's folder"), ("outside", "outside")):
        old, new = getattr(before, name), getattr(after, name)
        for path in sorted({*old, *new}):
            if old.get(path) == new.get(path) or (name == "worktree" and leads_to(path, expected)):
                continue
            word = "changed" if path in old and path in new else "made" if path in new else "removed"
            yield Failure(f"end state, {place}", "unchanged", f"{path} was {word}")


def leads_to(path: str, expected: Mapping[str, object]) -> bool:
    """Is a path one of those expected to change, or a folder that one of them brings along?"""
    return any(each == path or each.startswith(f"{path}/") for each in expected)


def check_end(task: Task, before: Scene, after: Scene, last: Outcome, scratch: Scratch) -> Iterator[Failure]:
    """The end state: the files as expected, and nothing else changed."""
    files = task.expected.files
    yield from check_scene(before, after, files)
    if task.world == "memory":
        start = texts(task.setup.files)
        yield from check_files(files, start, last.files if last.files is not None else start)
        return
    for path, wanted in files.items():
        yield from check_file(path, wanted, content_of(scratch, path))


def content_of(scratch: Scratch, path: str) -> bytes | None:
    """The bytes of a file of the work tree, None for what is no plain file there, a link that leads away included."""
    try:
        full = below(scratch.root, path)
    except CliGuardError:
        return None
    return full.read_bytes() if full.is_file() and not full.is_symlink() else None


def shown(result: Result, folder: Path) -> Result:
    """The result as it may be shown: no secret, no control character, no path that differs from run to run."""

    def clean(text: str) -> str:
        for name in (str(folder.resolve()), str(folder)):
            text = text.replace(name, "SCRATCH")
        return clip(printable(redact(text)), LONGEST)

    failures = tuple(Failure(clean(f.what), clean(f.expected), clean(f.got)) for f in result.failures)
    return replace(result, failures=failures)
