"""Judge a day's work of a coding agent in trusted work trees: fixtures/commands/day, in the three profiles.

    python benchmarks/agent_day.py [--half known|held-out] [--list] [--agents] [--packages FOLDER]

Twelve small projects are built as real repositories, each with its commit, its remote and the hooks of cli-guard.
Printed are, for each profile, how many verdicts are right; the two words that vendors publish: the share of harmless
commands that are blocked (denied; and denied or asked), and of overeager ones that are let through in a trusted tree
with uncommitted work; and how often a recorded day of 150 steps asks. Work on the rules looks at the known half alone.

--agents sends the recorded day through the readers of four agents instead, each step in the agent's own form and
answered in it, in a tree that is trusted for real: how many steps each agent runs because it hears of an allow, by its
own rules, or not; and whether all four come to the same verdicts.

--packages judges the scripts of every package.json below a folder instead (`npm install --ignore-scripts` fills one),
as an agent would type them in a trusted tree.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli_guard.agents.dialects import respond
from cli_guard.agents.registry import AGENTS as REGISTRY
from cli_guard.agents.registry import ToolDenied
from cli_guard.approvals.seals import PolicySeals
from cli_guard.commands import judge
from cli_guard.commands.model import Profile, Verdict
from cli_guard.execution.context import command_context
from cli_guard.git.repository import GitRepository
from cli_guard.model import Decision, Presence
from cli_guard.runtime import Invocation
from cli_guard.state.trees import Tree, TrustedTrees

FOLDER = Path(__file__).parent.parent / "fixtures" / "commands" / "day"
GUARD = str(Path(sys.executable).parent / "cli-guard")
HALVES = ("known", "held-out")
VERDICTS = ("allow", "review", "deny")
# Files that get another line where work must be lost to count, and new ones.
CHANGED = (
    "src",
    "tests",
    "packages",
    "README",
    "Makefile",
    "pyproject",
    "package.json",
    "scripts",
)
NEW = ("src/new_module.py", "notes.txt", "tests/test_new.py")


@dataclass(frozen=True)
class Judged:
    """A labelled command with the verdict in one profile."""

    row: dict[str, Any]
    wanted: str
    answer: Verdict

    @property
    def right(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.answer.verdict.value == self.wanted


class Worlds:
    """The projects, built on first use below a folder."""

    def __init__(self, folder: Path) -> None:
        lines = (FOLDER / "worlds.jsonl").read_text("utf-8").splitlines()
        self._worlds = {world["stack"]: world for world in map(json.loads, lines)}
        self._folder = folder
        home = folder / "home"
        home.mkdir()
        names = {
            "HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "CLI_GUARD_SERVER": "0",
        }
        who = {
            f"GIT_{who}_{what}": "a@b"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        self.env = {"PATH": os.environ["PATH"], **names, **who}

    def add(self, world: dict[str, Any]) -> None:
        self._worlds[world["stack"]] = world

    def root(self, stack: str, *, changed: bool = False) -> Path:
        """Build the repository of a stack, with work that is not committed if `changed`; return its folder."""
        root = self._folder / (f"{stack}-changed" if changed else stack)
        if root.exists():
            return root
        world = self._worlds[stack]
        root.mkdir()
        self._git(root, "init", "-q", "-b", "main")
        for name, text in world["files"].items():
            write(root / name, text)
        for name in world["executable"]:
            if not (root / name).exists():
                write(root / name, "#!/bin/sh\n")
            (root / name).chmod(0o755)
        for name, url in world.get("remotes", {}).items():
            self._git(root, "remote", "add", name, url)
        self._git(root, "add", "-A")
        self._git(root, "commit", "-qm", "Begin")
        self._git(root, "branch", "feature")
        subprocess.run(
            (GUARD, "install"), cwd=root, env=self.env, check=True, capture_output=True
        )
        if changed:
            for name in self._git(root, "ls-files").splitlines():
                if name.startswith(CHANGED):
                    write(root / name, (root / name).read_text("utf-8") + "\n")
            for name in NEW:
                write(root / name, "x = 1\n")
        return root

    def _git(self, root: Path, *words: str) -> str:
        done = subprocess.run(
            ("git", *words), cwd=root, env=self.env, check=True, capture_output=True
        )
        return done.stdout.decode()

    def judge(self, command: str, root: Path, profile: Profile) -> Verdict:
        return judge(command, command_context(root, self.env, profile=profile))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def rows(name: str) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines())


def judge_day(
    worlds: Worlds, half: str, profile: Profile, wanted: str = ""
) -> list[Judged]:
    """Judge the commands of a day in one profile: all, or those that want one verdict."""
    found = []
    for row in rows(half):
        if row[profile] != (wanted or row[profile]):
            continue
        root = worlds.root(row["class"].partition("/")[0])
        found.append(Judged(row, row[profile], worlds.judge(row["command"], root, profile)))
    return found


def judge_overeager(worlds: Worlds, half: str) -> list[Judged]:
    """Judge what must not pass in a trusted work tree."""
    found = []
    for row in rows(f"overeager-{half}"):
        root = worlds.root(row["stack"], changed=True)
        found.append(
            Judged(
                row, row["workspace"], worlds.judge(row["command"], root, Profile.WORKSPACE)
            )
        )
    return found


def judge_redteam(worlds: Worlds) -> list[Judged]:
    """Judge what a red team that had read the code once got through, or nearly."""
    root = worlds.root("python", changed=True)
    return [
        Judged(row, "review", worlds.judge(row["command"], root, Profile.WORKSPACE))
        for row in rows("redteam")
    ]


def judge_recorded(worlds: Worlds) -> list[Judged]:
    """Judge the steps of the recorded day; what they would have written is not there."""
    day = json.loads((FOLDER / "recorded.json").read_text("utf-8"))
    worlds.add(day)
    root = worlds.root(day["stack"])
    return [
        Judged(
            step, step["workspace"], worlds.judge(step["command"], root, Profile.WORKSPACE)
        )
        for step in day["steps"]
    ]


# What an agent takes an answer for: "deny" of what a person must decide is a question that nobody could be asked.
AGENTS = ("claude-code", "gemini", "copilot", "codex")
UNASKED = "A person must decide"


def print_agents(*, wrong: bool) -> None:
    """Print what four agents are answered about the recorded day."""
    with tempfile.TemporaryDirectory(prefix="day-") as folder:
        worlds = Worlds(Path(folder))
        day = json.loads((FOLDER / "recorded.json").read_text("utf-8"))
        worlds.add(day)
        root = worlds.root(day["stack"])
        commands = [step["command"] for step in day["steps"]]
        trust_tree(root, worlds.env)
        heard = {
            agent: [hear(agent, command, root, worlds.env) for command in commands]
            for agent in AGENTS
        }
    verdicts = set()
    for agent, words in heard.items():
        counts = Counter(words)
        print(f"{agent:22}" + ", ".join(f"{word} {n}" for word, n in counts.most_common()))
        verdicts.add(tuple(word in ("ask", "deny") for word in words))
    same = "the same" if len(verdicts) == 1 else "DIFFERENT"
    print(f"verdicts               {same} in {len(AGENTS)} agents, {len(commands)} steps")
    if wrong:
        asked = zip(commands, heard[AGENTS[0]], strict=True)
        print(
            *(
                f"  {word}  {command!r}"
                for command, word in asked
                if word not in ("allow", "silence")
            ),
            sep="\n",
        )


def trust_tree(root: Path, env: dict[str, str]) -> None:
    """Keep what a person answers to `cli-guard trust --agents`."""
    invocation = Invocation(root, env, datetime.datetime.now(datetime.UTC))
    repository = GitRepository.discover(root, env)
    seals = PolicySeals(repository, env, Presence.TTY)
    tree = Tree("", profile="workspace", agents=True)
    TrustedTrees(env).keep(tree, repository, invocation, seals)


def hear(agent: str, command: str, root: Path, env: dict[str, str]) -> str:
    """Return what an agent hears of a command: allow, silence, ask or deny."""
    request = REGISTRY[agent].load().protocol.request(command, str(root))
    invocation = Invocation(root, env, datetime.datetime.now(datetime.UTC))
    try:
        said = respond(agent, json.dumps(request).encode(), invocation)
    except ToolDenied as error:
        return "ask" if UNASKED in str(error) else "deny"
    if UNASKED in said:
        return "ask"
    return next(
        (word for word in ("allow", "ask", "deny") if f'"{word}"' in said), "silence"
    )


def print_wrong(judged: list[Judged]) -> None:
    """Print each wrong verdict, the worst first: what should not have been allowed."""
    for each in sorted(
        judged, key=lambda each: (each.answer.verdict is not Decision.ALLOW, each.wanted)
    ):
        if not each.right:
            print(f"  {each.wanted} -> {each.answer.verdict}  {each.row['command']!r}")
            print(f"      {each.answer.reason}")


def print_matrix(profile: Profile, judged: list[Judged]) -> None:
    """Print for each label the number of verdicts of each kind."""
    counts = Counter((each.wanted, each.answer.verdict.value) for each in judged)
    for wanted in VERDICTS:
        cells = "".join(f"{counts[wanted, given]:12}" for given in VERDICTS)
        if any(counts[wanted, given] for given in VERDICTS):
            print(f"{profile + ': ' + wanted:22}{cells}")


def print_half(worlds: Worlds, half: str, *, wrong: bool) -> None:
    """Print the figures of one half."""
    print(
        f"{half + ' half':22}" + "".join(f"{'is ' + verdict:>12}" for verdict in VERDICTS)
    )
    judged = {profile: judge_day(worlds, half, profile) for profile in Profile}
    for profile, found in judged.items():
        print_matrix(profile, found)
        if wrong and profile is not Profile.STRICT:
            print_wrong(found)
    harmless = [each for each in judged[Profile.WORKSPACE] if each.wanted == "allow"]
    passed = sum(each.right for each in harmless) / len(harmless)
    denied = sum(each.answer.verdict is Decision.DENY for each in harmless) / len(harmless)
    overeager = judge_overeager(worlds, half)
    through = sum(each.answer.verdict is Decision.ALLOW for each in overeager)
    print(
        f"harmless blocked       {denied:.1%} denied, {1 - passed:.1%} denied or asked; {passed:.1%} pass"
    )
    print(
        f"overeager let through  {through / len(overeager):.1%} ({through} of {len(overeager)})"
    )
    if wrong:
        print_wrong(overeager)


def print_day(halves: tuple[str, ...] = HALVES, *, wrong: bool = False) -> None:
    """Print the figures of some halves, and of the recorded day."""
    with tempfile.TemporaryDirectory(prefix="day-") as folder:
        worlds = Worlds(Path(folder))
        for half in halves:
            print_half(worlds, half, wrong=wrong)
        recorded = judge_recorded(worlds)
        asked = [each for each in recorded if each.answer.verdict is not Decision.ALLOW]
        print(f"recorded day           asks {len(asked)} times in {len(recorded)} steps")
        if wrong:
            print_wrong(recorded)


def print_packages(folder: Path) -> None:
    """Print how many of the distinct scripts of installed packages get which verdict, by profile."""
    scripts = set()
    for path in folder.rglob("package.json"):
        with suppress(ValueError, OSError):
            found = json.loads(path.read_text("utf-8"))
            named = found.get("scripts") if isinstance(found, dict) else None
            scripts |= {
                each
                for each in (named or {}).values()
                if isinstance(each, str) and each.strip()
            }
    print(f"{len(scripts):,} scripts")
    with tempfile.TemporaryDirectory(prefix="day-") as scratch:
        worlds = Worlds(Path(scratch))
        root = worlds.root("javascript-node")
        for profile in Profile:
            counts = Counter(
                str(worlds.judge(each, root, profile).verdict) for each in scripts
            )
            shares = ", ".join(
                f"{word} {counts[word] / len(scripts):.1%}" for word in VERDICTS
            )
            print(f"{profile:12}{shares}")


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument(
        "--list", action="store_true", help="also print each wrong verdict with its reason"
    )
    parser.add_argument(
        "--packages",
        type=Path,
        metavar="FOLDER",
        help="judge the scripts of these packages",
    )
    parser.add_argument(
        "--agents", action="store_true", help="the recorded day in four agents"
    )
    chosen = parser.parse_args()
    if chosen.agents:
        print_agents(wrong=chosen.list)
        return
    if chosen.packages:
        print_packages(chosen.packages)
        return
    print_day((chosen.half,) if chosen.half else HALVES, wrong=chosen.list)


if __name__ == "__main__":
    main()
