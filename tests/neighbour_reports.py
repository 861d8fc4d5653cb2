"""Public bug reports of neighbouring tools, each rebuilt as a small repository and run: see fixtures/neighbours.

The inputs are facts of those reports, named by `report`. A case says what the answer must hold (`expect`) and what it
must not (`never`), both searched for in all that was printed, in which the last line is `code N`.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "fixtures/neighbours"
# Well-known hosts of registries stand in the cases by a name.
HOSTS = {
    "npm": ("registry", "npm" + "js.org"),
    "yarn": ("registry", "yarn" + "pkg.com"),
    "files": ("files", "python" + "hosted.org"),
    "index": ("py" + "pi", "org"),
}
START = (
    "git init -q -b main r && cd r && git commit -q --allow-empty -m 'Start the project'\n"
)
# `r SEED ALPHABET LENGTH` prints a value that is the same in each run: no secret stands in a case.
VALUE = """
import random, string, sys
seed, alphabet, length = sys.argv[1:]
letters = {
    "a": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "u": string.ascii_uppercase + "234567",
    "b": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_lowercase + string.digits,
}[alphabet]
chosen = random.Random(seed)
print("".join(chosen.choice(letters) for _ in range(int(length))), end="")
"""
DRAW = 'r() { "$PYTHON" -ISc "$VALUE" "$@"; }\n'


@dataclass(frozen=True)
class Case:
    """One report: what a shell runs in an empty folder, and what must be said."""

    id: str
    kind: str
    script: str
    expect: str
    never: str
    wrong: str

    @classmethod
    def read(cls, table: Mapping[str, str]) -> "Case":
        """Make the script of a table: a `command` to judge, files to `review`, or a `script` of its own."""
        start = "" if "bare" in table else START
        script = table.get("script", "")
        if "command" in table:
            profile = table.get("profile")
            options = f"--profile {profile} -" if profile else "-"
            text = f"cat > ../cmd <<'CGEND'\n{table['command']}\nCGEND\n"
            before = table.get("before", "")
            script = f'{before}{text}"$CG" check-command {options} < ../cmd; echo "code $?"'
        elif "review" in table:
            script = f'{table["review"]}git add -A; "$CG" review; echo "code $?"'
        return cls(
            table["id"],
            table["kind"],
            DRAW + start + script,
            table.get("expect", ""),
            table.get("never", ""),
            table.get("wrong", ""),
        )


def read_cases() -> list[Case]:
    """Read all of them, in the order of their kinds."""
    tables = [
        table
        for path in sorted(FOLDER.glob("*.toml"))
        for table in tomllib.loads(path.read_text())["case"]
    ]
    return sorted(map(Case.read, tables), key=lambda case: case.kind)


def some_of_each_kind(cases: list[Case]) -> Iterator[Case]:
    """Give those that a run of some seconds holds: of each kind the first of each answer that is expected."""
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


def said_by(case: Case, folder: Path, env: Mapping[str, str], program: Path) -> str:
    """Run the shell over a case and give all that it printed."""
    script = re.sub(r"<<host:(\w+)>>", lambda found: ".".join(HOSTS[found[1]]), case.script)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        # `:` would tell a hook that nobody edits the message.
        env={
            **env,
            "CG": str(program),
            "GIT_EDITOR": "true",
            "PYTHON": sys.executable,
            "VALUE": VALUE,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


def check(case: Case, said: str) -> None:
    """Compare what was said with what the case demands."""
    assert re.search(case.expect, said, re.S | re.M), said[-3000:]
    if case.never:
        assert not re.search(case.never, said, re.S | re.M), said[-3000:]
