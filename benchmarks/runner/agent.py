"""Do tasks by another program: `--agent CMD` reads a task on standard input and answers in JSON.

It runs in the task's work tree, in the clean environment of the task, without a shell. It is given one JSON object:
`id`, `kind`, `instruction`, `given`, and, for a task in memory, `files` (path -> text). It answers with one: `status`
("ok", "needs_review" or "failed"), `answer` (text), and if they matter `decision`, `findings` (each with `path` and
`line`) and `files` (path -> text at the end, in memory). What only our own graph could say is not compared.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from benchmarks.runner.answering import Answered
from benchmarks.runner.model import Expected, Finding, Outcome, Task
from benchmarks.runner.scratch import Scratch, texts
from cli_guard.errors import CliGuardError

KEYS = {"status": str, "answer": str, "decision": str, "findings": list, "files": dict}
# Steps after the answer that only what cli-guard has stored can serve.
OWN_STEPS = frozenset(("approve", "reject", "undo"))
MOST_BYTES = 4_000_000


def comparable(task: Task) -> Task:
    """Return the task without what is expected of our own graph alone: its tools, nodes and rules."""
    findings = tuple(
        replace(each, rule=None, decision=None)
        for each in task.expected.findings
        if each.path
    )
    wanted = task.expected
    expected = Expected(
        status=wanted.status,
        task_type=wanted.task_type,
        decision=wanted.decision,
        findings=findings,
        says=wanted.says,
        never_says=wanted.never_says,
        files=wanted.files,
    )
    return replace(task, expected=expected)


def why_not(task: Task) -> str:
    """Return why another program cannot do a task, "" if it can."""
    own = [step.do for step in task.after if step.do in OWN_STEPS]
    return f"{own[0]} is a command of cli-guard" if own else ""


def ask_agent(command: Sequence[str], task: Task, scratch: Scratch) -> Answered:
    """Have a program do a task. What is wrong with its answer is a failed outcome, in one line."""
    asked: dict[str, object] = {
        "id": task.id,
        "kind": task.kind,
        "instruction": task.instruction,
        "given": {key: value for key, value in asdict(task.given).items() if value},
    }
    if task.world == "memory":
        asked["files"] = texts(task.setup.files)
    try:
        done = subprocess.run(
            command,
            input=json.dumps(asked).encode(),
            cwd=scratch.root,
            env=scratch.env,
            capture_output=True,
            check=False,
        )
        # How a request is classified is our own matter.
        return Answered(
            replace(outcome_from(done.stdout, done.returncode), task_type=task.type)
        )
    except (OSError, CliGuardError) as error:
        return Answered(Outcome("failed", f"the agent gave no answer: {error}"))


def outcome_from(raw: bytes, code: int) -> Outcome:
    """Read the answer of a program. Raises CliGuardError."""
    if len(raw) > MOST_BYTES:
        raise CliGuardError(f"more than {MOST_BYTES:,} bytes of output")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        raise CliGuardError(f"its output is no JSON (exit code {code})") from None
    if not isinstance(data, dict) or "status" not in data:
        raise CliGuardError(f"its JSON must be an object with status (exit code {code})")
    for key, value in data.items():
        if key not in KEYS or not isinstance(value, KEYS[key]):
            raise CliGuardError(
                f"{key!r} is not as described: one of {', '.join(KEYS)}, with its type"
            )
    files = data.get("files")
    return Outcome(
        data["status"],
        data.get("answer", ""),
        decision=data.get("decision", ""),
        findings=tuple(map(finding_from, data.get("findings", ()))),
        files=None if files is None else {path: str(text) for path, text in files.items()},
    )


def finding_from(data: Any) -> Finding:
    """Read one finding. Raises CliGuardError."""
    if not isinstance(data, Mapping) or not isinstance(data.get("path"), str):
        raise CliGuardError("each of findings must be an object with path and line")
    line = data.get("line")
    return Finding(None, data["path"], line if isinstance(line, int) else None)
