"""Measure the time of a run by the warm server, as ratios within one run.

    python benchmarks/server.py [--runs N]

Everything runs once in each round, in turn. `wall` is the median from outside, `least` the best round, which a busy
machine disturbs least, `cpu` the time of the process itself: of a client, not of the server's child that does the work.
"""

import argparse
import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import psutil
from review import GUARD, PYTHON, git, make_staged

RUN = "from cli_guard.__main__ import run; run()"
EMPTY_HOOK = f"#!/bin/sh\nexec {PYTHON} -E -P -c pass\n"


@dataclass
class Case:
    """One command, what is done before it (not measured), and its times."""

    name: str
    command: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    budget: str = ""
    before: Callable[[], object] = lambda: None
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Run it once."""
        self.before()
        started = time.perf_counter()
        process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, _, usage = os.wait4(process.pid, 0)
        self.wall.append((time.perf_counter() - started) * 1000)
        self.cpu.append((usage.ru_utime + usage.ru_stime) * 1000)


class Measured(Protocol):
    """A case of this benchmark or of another one."""

    env: dict[str, str]

    def measure(self) -> None: ...


AnyCase = TypeVar("AnyCase", bound=Measured)


def commit_case(
    folder: Path, name: str, env: dict[str, str], hooks: dict[str, str] | None
) -> Case:
    """Prepare a `git commit` of 10 files in a repository with these hooks; None for ours."""
    path = make_staged(folder, name, 10, 500)
    if hooks is None:
        subprocess.run(
            (GUARD, "install"), cwd=path, env=env, check=True, capture_output=True
        )
    for hook, text in (hooks or {}).items():
        file = path / ".git" / "hooks" / hook
        file.write_text(text)
        file.chmod(0o755)
    start = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=path, check=True, capture_output=True, text=True
    )
    command = (
        "git",
        "-c",
        "user.name=Bench",
        "-c",
        "user.email=b@example.org",
        "commit",
        "-qm",
        "Add files",
    )
    return Case(
        f"git commit, {name}",
        command,
        path,
        env,
        before=lambda: git(path, "reset", "--soft", start.stdout.strip()),
    )


def cases(folder: Path, env: dict[str, str]) -> list[Case]:
    """Prepare the cases: first the reference time, then what is compared with it."""
    cold = env | {"CLI_GUARD_SERVER": "0"}
    small = make_staged(folder, "small", 10, 500)
    hook = ("hook", "pre-commit")
    return [
        Case("python -c pass", (PYTHON, "-E", "-P", "-c", "pass"), folder, env),
        Case(
            "the client (a rule explained)",
            (PYTHON, "-E", "-P", "-c", RUN, "explain", "x"),
            folder,
            env,
        ),
        Case(
            "native hook, 10 files, warm",
            (PYTHON, "-E", "-P", "-c", RUN, *hook),
            small,
            env,
            "<= 60 ms",
        ),
        Case("console script, 10 files, warm", (GUARD, *hook), small, env, "<= 60 ms"),
        Case("console script, 10 files, cold", (GUARD, *hook), small, cold),
        commit_case(folder, "no hook", env, {}),
        commit_case(folder, "an empty Python hook", env, {"pre-commit": EMPTY_HOOK}),
        commit_case(
            folder, "two of them", env, {"pre-commit": EMPTY_HOOK, "commit-msg": EMPTY_HOOK}
        ),
        commit_case(folder, "both of ours, warm", env, None),
        commit_case(folder, "both of ours, cold", cold, None),
    ]


def measure_rounds(
    description: str | None, prepare: Callable[[Path, dict[str, str]], list[AnyCase]]
) -> list[AnyCase]:
    """Run the cases in turn, --runs times and once to warm up, with a server of their own; return them."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("PYTHON") and k not in ("SKIP", "CI")
    }
    compileall.compile_dir(str(Path(__file__).parent.parent / "cli_guard"), quiet=2)
    sockets = tempfile.mkdtemp(prefix="cg-")
    env = kept | {
        "XDG_RUNTIME_DIR": sockets,
        "CLI_GUARD_SERVER": "require",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    try:
        with tempfile.TemporaryDirectory() as folder:
            measured = prepare(Path(folder), env)
            for _ in range(runs + 1):
                for case in measured:
                    case.measure()
                    # The server prepares its next child while it is idle, as it would between two commits.
                    time.sleep(0.5 if case.env["CLI_GUARD_SERVER"] == "require" else 0)
            return measured
    finally:
        subprocess.run(
            (GUARD, "server", "stop"), env=env, check=False, stdout=subprocess.DEVNULL
        )
        shutil.rmtree(sockets)


RESTING = """
import sys
from cli_guard.server import __main__, serving
serving.RESTS = ((600.0, 0), (1.0, 1))
sys.exit(__main__.main(sys.argv[1:]))
"""


def measure_memory() -> float:
    """Return the MB (PSS, Linux alone) of a server and of the spare that it keeps half a minute after a judgement."""
    with tempfile.TemporaryDirectory(prefix="cg-") as sockets:
        inside = Path(sockets) / "cli-guard"
        inside.mkdir(mode=0o700)
        kept = {k: v for k, v in os.environ.items() if k in ("HOME", "PATH")}
        server = psutil.Popen((PYTHON, "-E", "-P", "-c", RESTING, inside), env=kept)
        env = kept | {"XDG_RUNTIME_DIR": sockets, "CLI_GUARD_SERVER": "require"}
        try:
            for _ in range(5):
                subprocess.run((GUARD, "check-command", "ls"), env=env, capture_output=True)
                time.sleep(3)
            processes = (server, *server.children())
            return sum(each.memory_full_info().pss for each in processes) / 1e6
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    """Measure and print the table."""
    measured = measure_rounds(__doc__, cases)
    bare = min(measured[0].wall)
    print(f"{'':36}{'wall':>8}{'least':>8}{'x pass':>8}{'cpu':>8}{'+ pass':>8}  budget")
    for case in measured:
        wall, cpu = (statistics.median(each[1:]) for each in (case.wall, case.cpu))
        least = min(case.wall[1:])
        more = cpu - statistics.median(measured[0].cpu[1:])
        print(
            f"{case.name:36}{wall:8.1f}{least:8.1f}{least / bare:8.1f}{cpu:8.1f}{more:8.1f}  {case.budget}"
        )
    empty, ours = (min(each.wall[1:]) for each in (measured[7], measured[8]))
    print(f"\nthe server, with a spare at rest: {measure_memory():.0f} MB PSS (budget 80)")
    print(
        f"\na commit with our two hooks, warm, against two empty Python hooks: {ours / empty:.1f} x (budget 3)"
    )


if __name__ == "__main__":
    sys.exit(main())
