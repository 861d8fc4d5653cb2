"""The real bash, which runs scripts without harm and says what they ran and which files they opened for writing.

    with RealBash() as bash:
        bash.run([Run("echo $(cat a.txt)", Answer.TEXT)])    # [Ran([("cat", "a.txt"), ("echo", "-x")], [], False)]

A script runs in user, mount, network and process namespaces (`unshare`) over a root that holds bash and its libraries
alone: `PATH` names a folder that does not exist, and `command_not_found_handle` records the words of each command.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Any

DRIVER = Path(__file__).with_name("driver.py")
RECORDS = "/oracle.hidden/ran/$BASHPID"

NAMES = ("a.txt", "b.py", "with space.md", "README.md", "sub/c.txt", "sub/d.py")
# Names that a program takes for an option, or bash for an expression.
HOSTILE_NAMES = (
    "--pre=sh",
    "-e1etouch X",
    "--checkpoint-action=exec=sh a.sh",
    "--output=X",
    "-x",
    "a[$(git commit --no-verify -qm x)]",
    *NAMES,
)
PLAIN = "/work/plain"
HOSTILE = "/work/hostile"
TREES = {PLAIN: NAMES, HOSTILE: HOSTILE_NAMES}


class Answer(IntEnum):
    """How each command that is not found answers, the seed of a run.

    With `SUCCESS` all built-ins are bash's own. With the others, those that print or test are recorded before they run,
    and `exec`, `kill` and `ulimit` with words are recorded alone.
    """

    SUCCESS = 0
    FAILURE = 1
    TEXT = 2


# What a program whose output is read by other commands might print.
TEXTS = (
    "a.txt",
    "-x",
    "--output=X",
    "a b",
    "*",
    "a[$(git commit --no-verify -qm x)]",
    "$(git commit --no-verify -qm x)",
    "x; git commit --no-verify -qm x",
    "1",
    "x=1",
)
# Programs that always print a number or one harmless word, and those that print names of files.
NUMBERS = "wc date nproc whoami uname id hostname seq sha256sum md5sum".split()
LISTS = "ls find fd basename dirname".split()
STUBS = ("git", "cat", "ls", "grep", "rm", "bash", "sh", "env", "head", "sort", "echo")

RECORD = f"""{{ builtin printf '%s\\0' "$#" "$@"; }} >>{RECORDS}"""
RECORD_PATH = """builtin printf '%s\\0' "$(($# + 1))" "$0" "$@" >>/oracle.hidden/ran/$$; builtin exit 0"""
# The words that xargs reads end the command that it runs; cat prints what it reads.
XARGS = (
    "builtin shift; builtin mapfile -t oracle_lines; "
    'command_not_found_handle "$@" ${oracle_lines[@]+"${oracle_lines[@]}"}'
)
CAT = 'builtin mapfile oracle_lines; builtin printf %s ${oracle_lines[@]+"${oracle_lines[@]}"}'
CAT_FILE = f'if builtin [ -r "$2" ]; then {{ {CAT}; }} <"$2"; fi'
NOTE = "oracle_note"
# Built-ins that are recorded and not run, and those that are recorded before they run.
REPLACED = ("kill", "ulimit", "suspend")
RECORDED = "echo printf test [ true false : pwd cd type read mapfile let".split()


def quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def write_rc(answer: Answer, text: str, names: Sequence[str]) -> str:
    """Return what bash reads before the script.

    A script may define functions, change IFS or close descriptors: the handler calls `builtin`, quotes its words and
    opens the file of its records by name.
    """
    text = quote(text) if answer is Answer.TEXT else ""
    listed = " ".join(quote(name) for name in names if "/" not in name) if text else ""
    numbers, lists = ("|".join(f"{name}:*" for name in group) for group in (NUMBERS, LISTS))
    tree = "|".join(f"cat:{quote(name)}" for name in NAMES)
    handler = [
        RECORD,
        "case $1:${2-} in",
        f"cat:) {CAT};;",
        f"{numbers}|git:rev-*|git:describe|git:merge-base) builtin printf '3\\n';;",
    ]
    if text:
        handler.append(f"{tree}) builtin printf '%s\\n' {text};;")
        handler.append(
            f"{lists}|rg:-l|grep:-l|git:ls-files|git:grep) builtin printf '%s\\n' {listed};;"
        )
    handler.append(f"cat:[!-]*) {CAT_FILE};;")
    if text:
        handler.append(f"xargs:[!-]*) {XARGS};;")
        handler.append(f"*) builtin printf '%s\\n' {text};;")
    handler += ["esac", f"builtin return {int(answer is Answer.FAILURE)}"]
    lines = ["unset BASH_ENV", "ulimit -t 1"]
    lines.append("command_not_found_handle() {\n" + "\n".join(handler) + "\n}")
    if answer is not Answer.SUCCESS:
        lines.append(f"{NOTE}() {{ {RECORD}; }}")
        lines += [
            f'{name}() {{ {NOTE} {name} "$@"; builtin {name} "$@"; }}' for name in RECORDED
        ]
        lines += [f'{name}() {{ {NOTE} {name} "$@"; }}' for name in REPLACED]
        lines.append(f'exec() {{ if (($#)); then {NOTE} exec "$@"; builtin exit; fi; }}')
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Run:
    """One run of a script; `text` is what programs print with `Answer.TEXT`."""

    script: str
    answer: Answer = Answer.SUCCESS
    text: str = TEXTS[0]
    folder: str = PLAIN


@dataclass(frozen=True)
class Ran:
    """What one run did: the words of each command, the files opened for writing, whether the time was up."""

    commands: list[tuple[str, ...]]
    wrote: list[str]
    killed: bool


def runs_of(script: str, number: int) -> list[Run]:
    """Return the three runs of a script; its number picks the tree and the text."""
    folder = HOSTILE if number % 2 else PLAIN
    text = TEXTS[number // 2 % len(TEXTS)]
    return [Run(script, answer, text, folder) for answer in Answer]


class NoNamespace(Exception):
    """No namespace can be had here; the text says why."""


def find_libraries(program: str) -> list[str]:
    listed = subprocess.run(
        ["ldd", program], capture_output=True, text=True, check=True
    ).stdout
    return re.findall(r"(/\S+) \(0x", listed)


class RealBash:
    """A process in namespaces of its own that runs scripts. Raises NoNamespace."""

    def __init__(self) -> None:
        # Seconds of processor time that the runs so far took.
        self.cpu = 0.0
        shell = shutil.which("bash")
        missing = [each for each in ("unshare", "ldd") if not shutil.which(each)]
        if shell is None or missing or sys.platform != "linux":
            raise NoNamespace("needs Linux with bash, unshare and ldd")
        self.root = tempfile.mkdtemp(prefix="oracle-")
        Path(self.root).chmod(0o777)
        files = {
            f"{tree}/{name}": f"{name}\n" for tree, names in TREES.items() for name in names
        }
        programs = {os.path.realpath(shell): "/oracle.hidden/bash"}
        programs |= {each: each for each in find_libraries(shell)}
        setup = {
            "files": files,
            "programs": programs,
            "stubs": STUBS,
            "record_path": RECORD_PATH,
        }
        try:
            self.start(setup)
        except BaseException:
            self.close()
            raise

    def start(self, setup: Mapping[str, object]) -> None:
        command = [
            *"unshare --user --map-root-user --mount --net --pid --fork --kill-child --".split()
        ]
        self.process = subprocess.Popen(
            [*command, sys.executable, "-I", "-S", str(DRIVER), self.root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self.has_proc: bool = self.ask(setup)["proc"]
        except (BrokenPipeError, json.JSONDecodeError):
            assert self.process.stderr
            problem = self.process.stderr.read().strip().splitlines()
            raise NoNamespace(f"no namespace can be had here: {problem[-1:]}") from None

    def send(self, request: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, request: object) -> Any:
        self.send(request)
        return self.receive()

    def run(self, runs: Sequence[Run]) -> list[Ran]:
        """Run scripts one after the other, each in the tree as it was at first."""
        jobs = [
            {
                "script": each.script,
                "rc": write_rc(each.answer, each.text, TREES[each.folder]),
                "stdin": f"{each.text}\n" if each.answer is Answer.TEXT else "",
                "folder": each.folder,
                "env": {"LC_ALL": "C.UTF-8"},
            }
            for each in runs
        ]
        answer = self.ask(jobs)
        self.cpu = answer["cpu"]
        return [
            Ran([tuple(words) for words in each["ran"]], each["wrote"], each["killed"])
            for each in answer["ran"]
        ]

    def close(self) -> None:
        if hasattr(self, "process"):
            self.process.kill()
            self.process.communicate()
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self) -> "RealBash":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
