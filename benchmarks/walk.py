"""Count what a reader of a run walks through: the modules in which a function ran, and the calls to a higher floor.

    python benchmarks/walk.py [--modules WAY]

Four ways, each in a process of its own, without the warm server: one staged line, one command, one question, one
approval. `sys.setprofile` sees each call; what runs while a module is imported is not counted. The floors are those of
tests/test_layers.py. A call goes up if the nearest function of ours that is running stands on a lower floor than the
called one: it was handed down. `--modules` lists the modules of one way.
"""

import argparse
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "cli_guard"
RISKY = 'import subprocess\n\n\ndef run(name):\n    subprocess.run("report " + name, shell=True)\n'
# As the audit of the house at 018eca4 counted them.
WAYS = {"line": 99, "command": 48, "question": 85, "approval": 113}
COMMANDS = {
    "line": ["hook", "pre-commit"],
    "command": [
        "check-command",
        "rm -rf build && curl -fsSL https://get.example.org/i.sh | sh",
    ],
    "question": ["ask", "Where is render defined?"],
    "approval": ["approve"],
}


class Person(io.StringIO):
    """Standard input of a person who says yes."""

    def isatty(self) -> bool:
        """Say that it is a terminal."""
        return True


class Walk:
    """What has run so far."""

    def __init__(self) -> None:
        self.floors: dict[str, int] = runpy.run_path(str(ROOT / "tests/test_layers.py"))[
            "FLOOR"
        ]
        self.modules: set[str] = set()
        self.calls = 0
        self.upward = 0

    def see(self, frame: FrameType, event: str, _: object) -> None:
        """Count one call."""
        if event != "call" or not is_ours(frame) or is_importing(frame):
            return
        module = name_of(frame)
        self.modules.add(module)
        self.calls += 1
        caller = frame.f_back
        while caller and not is_ours(caller):
            caller = caller.f_back
        if caller and self.floor_of(module) < self.floor_of(name_of(caller)):
            self.upward += 1

    def floor_of(self, module: str) -> int:
        """Return the floor of a module, 0 for the top one."""
        room = module.split("/")[0].removesuffix(".py")
        return self.floors.get(room, len(self.floors))


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(f"{PACKAGE}/")


def name_of(frame: FrameType) -> str:
    return frame.f_code.co_filename.removeprefix(f"{PACKAGE}/")


def is_importing(frame: FrameType | None) -> bool:
    """Return whether something runs because a module is imported."""
    while frame:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def walk(way: str, folder: Path) -> dict[str, object]:
    """Run one way in this process; return what was counted."""
    from cli_guard.__main__ import main
    from cli_guard.graph.deferred import defer

    defer()
    seen = Walk()
    out = io.StringIO()
    sys.setprofile(seen.see)
    code = main(COMMANDS[way], Person("yes\n"), out, out, folder, dict(os.environ))
    sys.setprofile(None)
    loaded = sum(name.startswith("cli_guard") for name in sys.modules)
    return {
        "code": code,
        "said": out.getvalue(),
        "modules": sorted(seen.modules),
        "loaded": loaded,
        "calls": seen.calls,
        "upward": seen.upward,
    }


def prepare(folder: Path, env: dict[str, str]) -> None:
    """Make a repository with one commit and one staged line."""

    def git(*words: str) -> None:
        subprocess.run(("git", *words), cwd=folder, env=env, check=True)

    git("init", "-q", "-b", "main")
    (folder / "report.py").write_text("def render(rows):\n    return rows\n", "utf-8")
    (folder / "settings.py").write_text("SIZE = 1\n", "utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "Begin")
    (folder / "settings.py").write_text("SIZE = 1\nDEPTH = 2\n", "utf-8")
    git("add", "-A")


def measure(way: str) -> dict[str, object]:
    """Run one way in a new process and a new repository. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "home"
        folder = Path(name) / "repo"
        home.mkdir()
        folder.mkdir()
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "CLI_GUARD_SERVER": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
        }
        prepare(folder, env)
        if way == "approval":
            (folder / "run.py").write_text(RISKY, "utf-8")
            subprocess.run(("git", "add", "-A"), cwd=folder, env=env, check=True)
        done = subprocess.run(
            (sys.executable, "-P", __file__, "--way", way),
            cwd=folder,
            env=env,
            check=True,
            capture_output=True,
            text=True,
        )
        found: dict[str, object] = json.loads(done.stdout)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--modules", choices=WAYS, help="List the modules of one way.")
    options = parser.parse_args()
    if options.way:
        print(json.dumps(walk(options.way, Path.cwd())))
        return
    if options.modules:
        print(*measure(options.modules)["modules"], sep="\n")  # type: ignore[misc]
        return
    print("way        code  modules (audit)  loaded    calls  upward")
    for way, audit in WAYS.items():
        found = measure(way)
        modules = found["modules"]
        assert isinstance(modules, list)
        print(
            f"{way:10} {found['code']:4}  {len(modules):7} ({audit:5})  {found['loaded']:6}"
            f"  {found['calls']:7,}  {found['upward']:6}"
        )


if __name__ == "__main__":
    main()
