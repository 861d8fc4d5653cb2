"""Measure the time of a `git commit` with each hook, as ratios within one run, and how it grows with the change.

    python benchmarks/hooks.py [--runs N] [--quick] [--install]

Each row is a whole `git commit` with the named hook, or with pre-commit and commit-msg ("two"). Every
file has 50 lines, so that 10 files are 500.
Every case runs once in each round, in turn; medians are printed. Before each run the commit is undone and cli-guard's
cache of the files is deleted, so that every review is a first one. Other programs are found on PATH; with --install
those of Python are put in a temporary folder. Before they are measured, they must refuse a key.

For each number of files: the median in ms, against no hook at all (x git), and against an empty Python hook (x py).
`power` is the exponent of the whole commit over all sizes (least squares); `at end` that of what the hook adds,
between the two largest: 0 is the same for any change, 1 is linear.
"""

import argparse
import compileall
import math
import os
import random
import shutil
import statistics
import string
import subprocess
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from review import GUARD, PYTHON, git, make_staged

SIZES = (1, 10, 100, 1_000)
PUSHED_TAGS = (1, 200, 1_000)
LINES = 50
BARE = "no hook"
EMPTY = "an empty Python hook"
EMPTIES = "two empty Python hooks"
GITLEAKS = "gitleaks"
IMPORT = "a hook that imports langgraph.graph"
COLD = "cli-guard, two hooks, no server yet"
PREPARED = "cli-guard, two hooks, prepared"
WARM = "cli-guard, warm"
WARMS = "cli-guard, warm, two hooks"
# From `git add` with no server to the commit.
PREPARE_SECONDS = 4.0
STAGED = "git diff --cached --name-only --diff-filter=ACM -z | xargs -0"
# The programs, and the packages that bring them.
PACKAGES = {
    "pre-commit": "pre-commit",
    "detect-secrets-hook": "detect-secrets",
    "kingfisher": "kingfisher-bin",
}
PRE_COMMIT = f"""repos:
  - repo: local
    hooks:
      - {{id: trivial, name: trivial, language: system, entry: {PYTHON} -I -c pass}}
"""


@dataclass(frozen=True)
class Tool:
    """The hooks of a commit: a text for pre-commit (`twice`: and commit-msg), or a command that installs them."""

    name: str
    hook: str = ""
    twice: bool = False
    install: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    without: str = ""  # an installed hook to remove
    finds: bool = False  # must refuse a key
    pause: float = 0.0
    stops: bool = False  # the server is stopped before each commit
    adds: bool = False  # and everything is staged again after that


@dataclass
class Case:
    """A tool in its own repository, and the time of each commit."""

    tool: Tool
    path: Path
    env: dict[str, str]
    start: str
    milliseconds: list[float] = field(default_factory=list)

    def commit(self) -> tuple[int, float, str]:
        """Undo the last run and commit again; return the exit code, the milliseconds and the output."""
        git(self.path, "reset", "--soft", self.start)
        for kept in (self.path / ".git" / "cli-guard").glob("examined.sqlite*"):
            kept.unlink()
        if self.tool.stops:
            subprocess.run(
                (GUARD, "server", "stop"), env=self.env, check=False, capture_output=True
            )
        if self.tool.adds:
            git(self.path, "reset", "--quiet")
            subprocess.run(("git", "add", "-A"), cwd=self.path, env=self.env, check=True)
        # The warm server prepares its next child while it is idle, as it would between two commits.
        time.sleep(self.tool.pause)
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            started = time.perf_counter()
            process = subprocess.Popen(
                ("git", "commit", "-qm", "Add files"),
                cwd=self.path,
                env=self.env,
                stdout=said,
                stderr=said,
            )
            code = process.wait()
            spent = time.perf_counter() - started
            said.seek(0)
            return code, spent * 1000, said.read()

    def measure(self) -> None:
        """Measure one more commit. Raises SystemExit if it was refused."""
        code, spent, said = self.commit()
        if code:
            raise SystemExit(
                f"{self.tool.name}, {self.path}: git commit ended with {code}\n{said[-2000:]}"
            )
        self.milliseconds.append(spent)

    @property
    def median(self) -> float:
        """Return the median in milliseconds, without the first round, which warms caches."""
        return statistics.median(self.milliseconds[1:])


def install_tools(folder: Path) -> None:
    """Install the other programs that are Python packages; gitleaks is measured if it is on PATH."""
    venv.create(folder, with_pip=True)
    pip = (str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check")
    for package in PACKAGES.values():
        subprocess.run((*pip, package), check=False, capture_output=True)
    # The script of the package is a Python that starts the program.
    for program in folder.glob("lib/python*/site-packages/kingfisher/bin/kingfisher"):
        program.chmod(0o755)
        (folder / "bin" / "kingfisher").unlink()
        (folder / "bin" / "kingfisher").symlink_to(program)


def list_tools(path: str, sockets: str) -> Iterator[Tool | str]:
    """Yield the tools to measure, no hook and an empty Python hook first; of a missing tool only its name."""
    yield Tool(BARE)
    yield Tool("an empty shell hook", "exit 0")
    yield Tool(EMPTY, f"exec {PYTHON} -I -c pass")
    yield Tool(EMPTIES, f"exec {PYTHON} -I -c pass", twice=True)
    found = {name: shutil.which(name, path=path) for name in (*PACKAGES, GITLEAKS)}
    yield from (name for name, program in found.items() if program is None)
    if program := found["pre-commit"]:
        yield Tool("pre-commit, a Python hook", install=(program, "install"))
    if program := found["detect-secrets-hook"]:
        yield Tool("detect-secrets-hook", f"{STAGED} {program}", finds=True)
    if program := found["kingfisher"]:
        scan = f"exec {program} scan . --staged --no-validate --no-update-check --quiet"
        yield Tool("kingfisher", scan, finds=True)
    if program := found[GITLEAKS]:
        # Since 8.19 there is `git`, and `protect` is deprecated.
        known = (
            subprocess.run(
                (program, "git", "--help"), check=False, capture_output=True
            ).returncode
            == 0
        )
        scan = "git --pre-commit --staged" if known else "protect --staged"
        yield Tool(GITLEAKS, f"exec {program} {scan} --no-banner --redact", finds=True)
    ours = (GUARD, "install")
    yield Tool(IMPORT, f"exec {PYTHON} -I -c 'import langgraph.graph'")
    yield Tool(
        "cli-guard, cold, two hooks",
        install=ours,
        env={"CLI_GUARD_SERVER": "0"},
        finds=True,
    )
    # Servers of their own, which the measurements of the warm one do not see.
    own = {"XDG_RUNTIME_DIR": f"{sockets}/own"}
    yield Tool(
        COLD, install=ours, env=own, without="post-index-change", finds=True, stops=True
    )
    yield Tool(
        PREPARED,
        install=ours,
        env=own,
        finds=True,
        stops=True,
        adds=True,
        pause=PREPARE_SECONDS,
    )
    served = {"CLI_GUARD_SERVER": "require", "XDG_RUNTIME_DIR": sockets}
    yield Tool(WARM, install=ours, env=served, without="commit-msg", finds=True, pause=0.5)
    yield Tool(WARMS, install=ours, env=served, finds=True, pause=0.5)


def prepare_case(tool: Tool, template: Path, path: Path, env: dict[str, str]) -> Case:
    """Copy a repository and install the hooks of a tool in it."""
    shutil.copytree(template, path, symlinks=True)
    for name in ("pre-commit", "commit-msg")[: bool(tool.hook) + tool.twice]:
        hook = path / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{tool.hook}\n")
        hook.chmod(0o755)
    if tool.install:
        (path / ".pre-commit-config.yaml").write_text(PRE_COMMIT)
        subprocess.run(tool.install, cwd=path, env=env, check=True, capture_output=True)
    if tool.without:
        (path / ".git" / "hooks" / tool.without).unlink()
    head = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=path, check=True, capture_output=True, text=True
    )
    return Case(tool, path, env | tool.env, head.stdout.strip())


def refuses(case: Case) -> bool:
    """Return whether a commit that adds a key is stopped: a hook that finds nothing would only look fast."""
    rng = random.Random(5)
    key = "AKIA" + "".join(rng.choices(string.ascii_uppercase + "234567", k=16))
    secret = "".join(rng.choices(string.ascii_letters + string.digits, k=40))
    (case.path / "keys.py").write_text(
        f'aws_access_key_id = "{key}"\naws_secret_access_key = "{secret}"\n'
    )
    git(case.path, "add", "keys.py")
    return case.commit()[0] != 0


def cases(
    folder: Path, env: dict[str, str], sizes: tuple[int, ...], path: str
) -> dict[str, list[Case]]:
    """Prepare a case of each size for each tool; print and skip a tool that is missing or finds nothing."""
    templates = {
        size: make_staged(folder, f"t{size}", size, size * LINES) for size in sizes
    }
    small = make_staged(folder, "key", 1, LINES)
    for template in (small, *templates.values()):
        for name, value in (
            ("user.name", "Bench"),
            ("user.email", "bench@example.org"),
            ("gc.auto", "0"),
        ):
            git(template, "config", name, value)
    measured = {}
    for number, tool in enumerate(list_tools(path, env["XDG_RUNTIME_DIR"])):
        if isinstance(tool, str):
            print(f"not here, so not measured: {tool}")
            continue
        if tool.finds and not refuses(
            prepare_case(tool, small, folder / f"key{number}", env)
        ):
            print(f"lets a key through, so not measured: {tool.name}")
            continue
        measured[tool.name] = [
            prepare_case(tool, template, folder / f"{size}-{number}", env)
            for size, template in templates.items()
        ]
    return measured


def slope(points: list[tuple[float, float]]) -> float:
    """Return the exponent of y over x: the slope of the line of least squares through their logarithms."""
    return statistics.linear_regression(
        *zip(*((math.log(x), math.log(y)) for x, y in points), strict=True)
    ).slope


def table(measured: dict[str, list[Case]], sizes: tuple[int, ...]) -> None:
    """Print the medians, the ratios and the exponents."""
    bare, empty = ([case.median for case in measured[name]] for name in (BARE, EMPTY))
    print(
        f"{'git commit, files:':26}"
        + "".join(f"{f'{size:,}':>9}{'x git':>7}{'x py':>6}" for size in sizes),
        end="",
    )
    print(f"{'power':>8}{'at end':>8}")
    for name, row in measured.items():
        each = [case.median for case in row]
        print(f"{name:26}", end="")
        for ms, plain, python in zip(each, bare, empty, strict=True):
            print(f"{ms:9.0f}{ms / plain:7.1f}{ms / python:6.1f}", end="")
        own = [ms - plain for ms, plain in zip(each, bare, strict=True)][-2:]
        # Less than a millisecond is the noise of two medians.
        end = (
            f"{slope(list(zip(sizes[-2:], own, strict=True))):.2f}" if min(own) > 1 else "-"
        )
        print(f"{slope(list(zip(sizes, each, strict=True))):8.2f}{end:>8}")
    ten = sizes.index(10)
    for ours, theirs in ((WARM, EMPTY), (WARMS, EMPTIES)):
        ratio = at(measured, ours, ten) / at(measured, theirs, ten)
        print(f"with 10 files: {ours}: {ratio:.2f} x {theirs} (budget 3)")
    for ours, theirs, budget in ((COLD, IMPORT, 1.2), (PREPARED, WARMS, 2)):
        ratio = at(measured, ours, ten) / at(measured, theirs, ten)
        print(f"with 10 files: {ours}: {ratio:.2f} x {theirs} (budget {budget})")
    for number, size in enumerate(sizes if GITLEAKS in measured else ()):
        own, other = (
            at(measured, name, number) - bare[number] for name in (WARM, GITLEAKS)
        )
        budget = "1.0" if size <= 10 else "2.0"
        print(
            f"with {size:,} files: {WARM}, adds {own:.0f} ms, {own / other:.2f} x gitleaks (budget {budget})"
        )


def measure_pushes(folder: Path, env: dict[str, str], runs: int) -> None:
    """Print what the hook takes for tags on commits that the remote has, as ratios to one tag; no server."""
    path = folder / "pushes"
    alone = env | {"CLI_GUARD_SERVER": "0"}
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@example.org> {1_700_000_000 + number} +0000\ndata 4\nStep\n"
        f"M 100644 inline step.py\ndata {len(f'{number}')}\n{number}\n"
        for number in range(max(PUSHED_TAGS))
    )
    subprocess.run(("git", "init", "-q", "-b", "main", str(path)), env=env, check=True)
    subprocess.run(
        ("git", "fast-import", "--quiet"),
        cwd=path,
        env=env,
        input=stream,
        text=True,
        check=True,
    )
    listed = subprocess.run(
        ("git", "rev-list", "main"), cwd=path, check=True, capture_output=True, text=True
    )
    tip, *others = listed.stdout.split()
    zero = "0" * len(tip)
    known = f"(delete) {zero} refs/heads/known {tip}\n"  # so the remote has said that it has them all
    times: dict[int, list[float]] = {size: [] for size in PUSHED_TAGS}
    for _ in range(runs + 1):
        for size, spent in times.items():
            tags = (
                f"refs/tags/{oid} {oid} refs/tags/{oid} {zero}\n"
                for oid in (tip, *others)[:size]
            )
            lines = known + "".join(tags)
            started = time.perf_counter()
            subprocess.run(
                (GUARD, "hook", "pre-push", "origin"),
                cwd=path,
                env=alone,
                input=lines,
                text=True,
                check=True,
            )
            spent.append((time.perf_counter() - started) * 1000)
    medians = {size: statistics.median(spent[1:]) for size, spent in times.items()}
    for size, ms in medians.items():
        print(f"push of {size:,} tags: {ms:.0f} ms, {ms / medians[1]:.2f} x one (budget 2)")


def at(measured: dict[str, list[Case]], name: str, number: int) -> float:
    """Return the median of a tool at one of the sizes."""
    return measured[name][number].median


def environment(home: Path, sockets: str) -> dict[str, str]:
    """Return this environment without settings of Python, Git and cli-guard, and with empty caches."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PYTHON", "GIT_", "CLI_GUARD", "GITLEAKS"))
    }
    kept = {k: v for k, v in kept.items() if k not in ("SKIP", "CI")}
    folders = {f"XDG_{kind}_HOME": str(home) for kind in ("CACHE", "CONFIG", "STATE")}
    own = {
        "XDG_RUNTIME_DIR": sockets,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return (
        kept
        | folders
        | own
        | {"KF_RULE_CACHE_DIR": str(home), "PRE_COMMIT_HOME": str(home)}
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, help="rounds after the first (7; 3 with --quick)"
    )
    parser.add_argument("--quick", action="store_true", help="no more than 100 files")
    parser.add_argument(
        "--install",
        action="store_true",
        help="put the other programs in a temporary folder",
    )
    given = parser.parse_args()
    sizes = SIZES[:-1] if given.quick else SIZES
    runs = given.runs or (3 if given.quick else 7)
    table(measure_tools(sizes, runs, install=given.install, pushes=True), sizes)


def measure_tools(
    sizes: tuple[int, ...], runs: int, *, install: bool = False, pushes: bool = False
) -> dict[str, list[Case]]:
    """Run every tool at every size, in turn; return the cases of each tool."""
    compileall.compile_dir(str(Path(__file__).parent.parent / "cli_guard"), quiet=2)
    sockets = tempfile.mkdtemp(prefix="cg-")  # the path of a socket must be short
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = environment(folder / "home", sockets)
        path = os.pathsep.join(
            (str(folder / "tools" / "bin"), str(Path(PYTHON).parent), env.get("PATH", ""))
        )
        try:
            if install:
                install_tools(folder / "tools")
            Path(sockets, "own").mkdir(mode=0o700)
            subprocess.run(
                (GUARD, "server", "start"), env=env, check=True, stdout=subprocess.DEVNULL
            )
            measured = cases(folder, env, sizes, path)
            for _ in range(runs + 1):
                for case in (case for row in measured.values() for case in row):
                    case.measure()
            if pushes:
                measure_pushes(folder, env, runs)
        finally:
            for each in (env, env | {"XDG_RUNTIME_DIR": f"{sockets}/own"}):
                subprocess.run(
                    (GUARD, "server", "stop"),
                    env=each,
                    check=False,
                    stdout=subprocess.DEVNULL,
                )
            shutil.rmtree(sockets, ignore_errors=True)
    return measured


if __name__ == "__main__":
    main()
