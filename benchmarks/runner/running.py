"""Run one task in its own scratch world, from its set-up to the check of its end state."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.runner.answering import Answer, Answered, answer
from benchmarks.runner.checking import check_answer, check_file, check_files, check_says
from benchmarks.runner.model import Failure, Outcome, Result, Step, Task
from benchmarks.runner.person import act
from benchmarks.runner.scratch import Scratch, below, hash_files, texts
from cli_guard.errors import CliGuardError
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

LONGEST = 200
# The one folder of a repository that cli-guard writes to while it runs.
STATE_FOLDER = "cli-guard"


@dataclass(frozen=True)
class Scene:
    """The files of a scratch world at one moment (path -> hash): the work tree, Git's own folder, all others."""

    worktree: Mapping[str, str]
    git: Mapping[str, str]
    outside: Mapping[str, str]

    @classmethod
    def of(cls, scratch: Scratch) -> "Scene":
        """Return the scene as it is now."""
        return cls(
            hash_files(scratch.root, without=(".git",)),
            hash_files(scratch.root / ".git", without=(STATE_FOLDER,)),
            hash_files(scratch.folder, without=("repository",)),
        )


def run_task(
    task: Task, folder: Path, outer: Mapping[str, str], act_on: Answer = answer
) -> Result:
    """Run a task in a new folder; `act_on` answers it, by default our own assistant.

    A wrong answer, or a set-up that cannot be made, raises nothing: it is a failure in the result.
    """
    try:
        scratch = Scratch.create(folder, task.setup, outer, git=task.world == "repository")
    except (CliGuardError, OSError) as error:
        return clean_result(
            Result(
                task.id,
                task.type,
                "",
                "failed",
                (Failure("repository", "a set-up", str(error)),),
            ),
            folder,
        )
    before = Scene.of(scratch)
    answered = act_on(task, scratch)
    failures = [*check_answer(task.expected, answered.outcome)]
    # The answer itself must change nothing, even if an approval follows.
    failures += check_scene(
        before, Scene.of(scratch), {} if task.after else task.expected.files
    )
    last = answered
    for step in task.after:
        if step.do in ("write", "stage"):
            scratch.do(step)
            before = Scene.of(scratch)
            continue
        last, found = do_step(step, task, answered, last, scratch, act_on)
        failures += found
    after = Scene.of(scratch)
    failures += check_end(task, before, after, last.outcome, scratch)
    outcome = answered.outcome
    result = Result(
        task.id,
        outcome.task_type or task.type,
        outcome.status,
        "failed" if failures else "passed",
        tuple(dict.fromkeys(failures)),
    )
    return clean_result(result, scratch.folder)


def do_step(
    step: Step,
    task: Task,
    answered: Answered,
    last: Answered,
    scratch: Scratch,
    act_on: Answer,
) -> tuple[Answered, list[Failure]]:
    """Do a step of a person, and check its outcome."""
    done = (
        act_on(task, scratch)
        if step.do == "again"
        else Answered(act(step, answered, scratch))
    )
    failures = []
    if done.outcome.status != step.status:
        got = f"{done.outcome.status}: {done.outcome.text}"
        failures.append(Failure(f"after {step.do}", step.status, got))
    failures += check_says(step.says, done.outcome.text)
    kept = done.outcome.files if done.outcome.files is not None else last.outcome.files
    return Answered(replace(done.outcome, files=kept), answered.pause), failures


def check_scene(
    before: Scene, after: Scene, expected: Mapping[str, object]
) -> Iterator[Failure]:
    """Yield each change that should not have happened: only the `expected` paths of the work tree may change."""
    for name, place in (
        ("worktree", "the work tree"),
        ("git", "Git's folder"),
        ("outside", "outside"),
    ):
        old = getattr(before, name)
        new = getattr(after, name)
        for path in sorted({*old, *new}):
            if old.get(path) == new.get(path) or (
                name == "worktree" and leads_to(path, expected)
            ):
                continue
            word = (
                "changed"
                if path in old and path in new
                else "made"
                if path in new
                else "removed"
            )
            yield Failure(f"end state, {place}", "unchanged", f"{path} was {word}")


def leads_to(path: str, expected: Mapping[str, object]) -> bool:
    """Return whether a path is expected to change, or is a folder of one that is."""
    return any(each == path or each.startswith(f"{path}/") for each in expected)


def check_end(
    task: Task, before: Scene, after: Scene, last: Outcome, scratch: Scratch
) -> Iterator[Failure]:
    """Check the end state: the files are as expected, and nothing else has changed."""
    files = task.expected.files
    yield from check_scene(before, after, files)
    if task.world == "memory":
        start = texts(task.setup.files)
        yield from check_files(
            files, start, last.files if last.files is not None else start
        )
        return
    for path, wanted in files.items():
        yield from check_file(path, wanted, content_of(scratch, path))


def content_of(scratch: Scratch, path: str) -> bytes | None:
    """Return the bytes of a file of the work tree, None if it is not a plain file or is behind a link."""
    try:
        full = below(scratch.root, path)
    except CliGuardError:
        return None
    return full.read_bytes() if full.is_file() and not full.is_symlink() else None


def clean_result(result: Result, folder: Path) -> Result:
    """Remove from a result secrets, control characters and paths that differ from run to run."""

    def clean(text: str) -> str:
        for name in (str(folder.resolve()), str(folder)):
            text = text.replace(name, "SCRATCH")
        return clip(printable(redact(text)), LONGEST)

    failures = tuple(
        Failure(clean(f.what), clean(f.expected), clean(f.got)) for f in result.failures
    )
    return replace(result, failures=failures)
