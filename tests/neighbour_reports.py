"""Public bug reports of neighbouring tools, each rebuilt as a small repository and run: see fixtures/neighbours.

The inputs are facts of those reports, named by `report`. A case says what the answer must hold (`expect`) and what it
must not (`never`), both searched for in all that was printed, in which the last line is `code N`.
"""

import random
import re
import string
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest
from in_process import call

FOLDER = Path(__file__).parent.parent / "fixtures/neighbours"
# Well-known hosts of registries stand in the cases by a name.
HOSTS = {
    "npm": ("registry", "npm" + "js.org"),
    "yarn": ("registry", "yarn" + "pkg.com"),
    "files": ("files", "python" + "hosted.org"),
    "index": ("py" + "pi", "org"),
}
START = "git init -q -b main r && git -C r commit -q --allow-empty -m 'Start the project'"
# `r SEED ALPHABET LENGTH` is a value that is the same in each run: no secret stands in a case.
VALUE = re.compile(r"\$\(r (\w+) (\w) (\d+)\)")
LETTERS = {
    "a": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "u": string.ascii_uppercase + "234567",
    "b": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_lowercase + string.digits,
}


@dataclass(frozen=True)
class Case:
    """One report: what a shell runs in an empty folder, what `cli-guard` is asked then, and what must be said."""

    id: str
    kind: str
    bare: bool
    script: str
    arguments: tuple[str, ...]
    stdin: str
    expect: str
    never: str
    wrong: str

    @classmethod
    def read(cls, table: Mapping[str, str]) -> "Case":
        """Read a table: a `command` to judge, files to `review`, or a `script` that runs `cli-guard` itself."""
        script = table.get("script", "")
        arguments: tuple[str, ...] = ()
        if "command" in table:
            script = table.get("before", "")
            arguments = ("check-command", "-")
            if "profile" in table:
                arguments += ("--profile", table["profile"])
        elif "review" in table:
            script = f"{table['review']}git add -A"
            arguments = ("review",)
        return cls(
            table["id"],
            table["kind"],
            "bare" in table,
            fill_in(script),
            arguments,
            f"{fill_in(table.get('command', ''))}\n",
            table.get("expect", ""),
            table.get("never", ""),
            table.get("wrong", ""),
        )


def fill_in(text: str) -> str:
    """Put values and hosts in the place of their names."""
    drawn = VALUE.sub(lambda found: draw_value(*found.groups()), text)
    return re.sub(r"<<host:(\w+)>>", lambda found: ".".join(HOSTS[found[1]]), drawn)


def draw_value(seed: str, alphabet: str, length: str) -> str:
    chosen = random.Random(seed)
    return "".join(chosen.choice(LETTERS[alphabet]) for _ in range(int(length)))


def read_cases() -> list[Case]:
    """Read all of them, in the order of their kinds."""
    tables = [
        table
        for path in sorted(FOLDER.glob("*.toml"))
        for table in tomllib.loads(path.read_text())["case"]
    ]
    return sorted(map(Case.read, tables), key=lambda case: case.kind)


def some_of_each_kind(cases: list[Case]) -> Iterator[Case]:
    """Give those of a run by day: of each kind the first of each answer that is expected."""
    for _, of_kind in groupby(cases, key=lambda case: case.kind):
        by_answer = {(case.expect, case.never): case for case in reversed(list(of_kind))}
        yield from list(by_answer.values())[-3:]


def parameters(cases: list[Case]) -> list[object]:
    """Give them as pytest takes them; one that is known to be wrong must be wrong, so that mending it shows."""
    return [
        pytest.param(
            case,
            id=case.id,
            marks=[pytest.mark.xfail(reason=case.wrong, strict=True)] if case.wrong else [],
        )
        for case in cases
    ]


def make_start(folder: Path, env: Mapping[str, str]) -> None:
    """Make the folder with the repository that a case begins with, unless it is `bare`."""
    folder.mkdir()
    subprocess.run(["bash", "-c", START], cwd=folder, env=dict(env), check=True, timeout=60)


def said_by(case: Case, folder: Path, env: Mapping[str, str], program: Path) -> str:
    """Run a case in its folder; return all that was printed."""
    # `:` would tell a hook that nobody edits the message.
    env = {**env, "CG": str(program), "GIT_EDITOR": "true"}
    said = ""
    if case.script:
        done = subprocess.run(
            ["bash", "-c", case.script],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        said = done.stdout.decode("utf-8", "replace")
    if case.arguments:
        answer = call(folder, env, *case.arguments, stdin=case.stdin)
        said += f"{answer.all}code {answer.code}\n"
    return said


def check(case: Case, said: str) -> None:
    """Compare what was said with what the case demands."""
    assert re.search(case.expect, said, re.S | re.M), said[-3000:]
    if case.never:
        assert not re.search(case.never, said, re.S | re.M), said[-3000:]
