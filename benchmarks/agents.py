"""Measure how long a coding agent waits for the judge, as ratios to a bare Python start within one run.

    python benchmarks/agents.py [--runs N]

Whole processes, in turn: the hook of each agent for some commands, and check-command, by the warm server and without.
The reference of a cold run is a process that imports what a hook has loaded, and does nothing: no graph is among it.
"""

import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from review import GUARD, PYTHON, git, make_staged
from server import measure_rounds

from cli_guard.agents.registry import AGENTS

COMMANDS = ("ls", "git status", "pytest -q")
COMMIT = "git commit -m 'Add files'"
LOADED = """
import os, sys
from pathlib import Path
from cli_guard.__main__ import main
code = main(["hook", "claude-code"], sys.stdin, sys.stderr, sys.stderr, Path.cwd(), dict(os.environ))
print(code, *sorted(name for name in sys.modules if name.split(".")[0] in ("ast_grep_py", "cli_guard", "click")))
"""
WARM = 7.0
COLD = 1.1


@dataclass
class Case:
    """One command, its standard input, and its times in milliseconds."""

    name: str
    command: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    stdin: bytes = b""
    budget: tuple[str, float] | None = None
    times: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.times[1:])

    def measure(self) -> None:
        """Run it once. Raises RuntimeError if it fails: a fast error is no answer."""
        started = time.perf_counter()
        done = subprocess.run(
            self.command, cwd=self.cwd, env=self.env, input=self.stdin, capture_output=True
        )
        self.times.append((time.perf_counter() - started) * 1000)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"{self.name}: {done.stderr.decode()}")


def claude_code(command: str, cwd: Path) -> bytes:
    """Return what Claude Code sends before it runs a command."""
    data = {
        "session_id": "a",
        "transcript_path": "/dev/null",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "cwd": str(cwd),
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    return json.dumps(data).encode()


def sample_of(name: str, cwd: Path) -> bytes | None:
    """Return what an agent sends before it runs `ls`, None for lefthook, which passes on what others send."""
    protocol = getattr(AGENTS[name].load(), "PROTOCOL", None)
    return json.dumps(protocol.request("ls", str(cwd))).encode() if protocol else None


def import_all(stdin: bytes, cwd: Path, env: dict[str, str]) -> str:
    """Return a script that imports what the hook has loaded when it has answered. Raises RuntimeError."""
    done = subprocess.run(
        (PYTHON, "-c", LOADED), cwd=cwd, env=env, input=stdin, capture_output=True
    )
    code, *names = done.stdout.decode().split()
    if code != "0" or not names:
        raise RuntimeError(done.stderr.decode())
    return f"import {', '.join(names)}"


def cases(folder: Path, env: dict[str, str]) -> list[Case]:
    """Prepare the cases: first the two references, then what is compared with them."""
    repository = make_staged(folder, "clean", 10, 500)
    staged = make_staged(folder, "staged", 10, 500)
    git(repository, "reset", "-q", "--hard")
    warm = env
    cold = env | {"CLI_GUARD_SERVER": "0"}
    # What is asked about is searched for secrets before it is shown, which loads most.
    imports = import_all(claude_code(COMMANDS[-1], repository), repository, cold)
    found = [
        Case("python -c pass", (PYTHON, "-c", "pass"), repository, cold),
        Case("python, imports of a judgement", (PYTHON, "-c", imports), repository, cold),
    ]
    for how, where, budget in (
        ("warm", warm, ("pass", WARM)),
        ("cold", cold, ("imports", COLD)),
    ):
        for command in COMMANDS:
            stdin = claude_code(command, repository)
            hook = (GUARD, "hook", "claude-code")
            found.append(
                Case(
                    f"claude-code, {command}, {how}", hook, repository, where, stdin, budget
                )
            )
        for name in AGENTS:
            sample = sample_of(name, repository)
            if sample is not None and name != "claude-code":
                hook = (GUARD, "hook", name)
                found.append(
                    Case(f"{name}, ls, {how}", hook, repository, where, sample, budget)
                )
        judge = (GUARD, "check-command", "ls")
        found.append(
            Case(f"check-command, ls, {how}", judge, repository, where, b"", budget)
        )
    hook = (GUARD, "hook", "claude-code")
    stdin = claude_code(COMMIT, staged)
    found.append(Case("claude-code, a commit of 10 files, warm", hook, staged, warm, stdin))
    return found


def main() -> None:
    """Measure and print the table."""
    measured = measure_rounds(__doc__, cases)
    bare, imports = (case.median for case in measured[:2])
    print(f"{'':42}{'median':>9}{'x pass':>9}{'x imports':>11}  budget")
    for case in measured:
        shown = f"{case.median:9.1f}{case.median / bare:9.1f}{case.median / imports:11.2f}"
        verdict = ""
        if case.budget:
            name, most = case.budget
            ratio = case.median / (bare if name == "pass" else imports)
            verdict = f"<= {most} x {name}: {'kept' if ratio <= most else 'MISSED'}"
        print(f"{case.name:42}{shown}  {verdict}")


if __name__ == "__main__":
    sys.exit(main())
