"""bash is the oracle: the same standard output and exit code for every chain, but for the differences named here."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from shell_chains import CHAINS, FILES, STDIN, chains
from shell_worlds import world

from cli_guard.assistant import sandbox as shell

# What is known to differ, and why it stays. A chain that is mended must go from here: the test says so.
KNOWN: dict[str, str] = {
    "echo err 2>&1 >&2 | wc -l": "two redirections that swap the streams of a builtin in a pipe",
    'f() { read q; echo "f:$q"; }; f; f': "each call of a function reads the input from where it began",
    "awk 'bad {'; echo $?": "the exit code of a bad program: 1 as gawk has it, mawk says 2",
    "cut -c1 utf8.txt": "characters are cut, where coreutils 9.1 cuts bytes",
    "find . -size +1k | sort": "a folder has no size here",
    "find . -size -1k | sort | head -3": "a folder has no size here",
    "echo a | xargs false; echo $?": "xargs hands on the exit code, where GNU says 123",
    "diff -y sorted1 sorted2 | wc -l": "two columns are not written",
    "column -t docs/notes.md": "empty lines stay, and nothing is padded behind the last column",
    "fmt -w 10 docs/notes.md": "lines are filled without weighing how even they are",
    "file -b data.json": "-b is not known, and the kinds are fewer",
    "file utf8.txt | grep -c UTF-8": "the kinds are fewer",
    "awk -f /dev/stdin sorted1 <<< '{print \"x\" $0}'": "a program of awk cannot come from standard input",
    "printf '%.2f\\n' 2.345 1": "numbers are doubles, where bash has long doubles",
    "split -n l/2 sorted1 h_ && cat h_aa": "pieces by number of lines are not cut",
    "cmp sorted1 sorted2; echo $?": "diffutils before 3.9 says char where it now says byte",
    "gzip -k sorted1 && zcat sorted1.gz | head -1": "there is no zcat: a hint names gzip -dc",
} | dict.fromkeys(
    (text for _, text in chains() if re.search(r"(^|\| )bc\b", text)), "there is no bc: a hint names awk"
)
REFUSED = re.compile(
    r"syntax error|unexpected (EOF|argument|token)|conditional binary operator expected", re.MULTILINE
)
ABSENT = re.compile(r"line \d+: (\S+): command not found")
PLAYED = frozenset(("nosuchcommand", "nosuchcmd"))


class Oracle:
    """Real bash in a folder that holds FILES, laid out anew after a chain that changed something in it."""

    def __init__(self, folder: Path) -> None:
        self._repo, self._script = folder / "repo", folder / "chain.sh"
        self._as_laid_out: dict[str, tuple[int, ...]] = {}

    def answer(self, text: str) -> tuple[int, bytes] | None:
        """Exit code and standard output; None where this machine lacks a program that the chain needs."""
        if not self._as_laid_out or self._seen() != self._as_laid_out:
            self._lay_out()
        self._script.write_text(text + "\n")
        env = {"PATH": os.environ["PATH"], "HOME": str(self._repo), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        command = ("bash", str(self._script))
        done = subprocess.run(
            command, cwd=self._repo, env=env, input=STDIN, capture_output=True, timeout=60, check=False
        )
        said = done.stderr.decode("utf-8", "replace")
        if set(ABSENT.findall(said)) - PLAYED:
            return None
        if REFUSED.search(said) and text in CHAINS["syntax"]:
            return 2, b""  # bash goes on behind some errors of syntax; a tool that says no is to say so
        return done.returncode, done.stdout

    def _lay_out(self) -> None:
        shutil.rmtree(self._repo, ignore_errors=True)
        for name, raw in FILES.items():
            path = self._repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        self._as_laid_out = self._seen()

    def _seen(self) -> dict[str, tuple[int, ...]]:
        """Mode, size and times of all that lies there, by path."""
        found = {}
        for top, folders, files in os.walk(self._repo):
            for name in (".", *folders, *files):
                about = os.lstat(os.path.join(top, name))
                found[os.path.join(top, name)] = (
                    about.st_mode,
                    about.st_size,
                    about.st_mtime_ns,
                    about.st_ctime_ns,
                )
        return found


@pytest.mark.parametrize("subject", CHAINS)
def test_the_same_as_bash(subject: str, tmp_path: Path) -> None:
    here = world(FILES)
    differing = {}
    asked = [text for each, text in chains() if each == subject]
    bash = Oracle(tmp_path)
    for text in asked:
        expected = bash.answer(text)
        ran = shell.run(text, here, stdin=STDIN)
        if expected is not None and expected != (ran.exit_code, ran.stdout):
            differing[text] = (expected, (ran.exit_code, ran.stdout, ran.stderr))
    unknown = {text: both for text, both in differing.items() if text not in KNOWN}
    assert not unknown
    assert not [text for text in asked if text in KNOWN and text not in differing], (
        "mended: take it off the list"
    )


def test_the_list_of_differences_is_short_and_of_chains() -> None:
    every = [text for _, text in chains()]
    assert len(every) == len(set(every)) > 1_000
    assert set(KNOWN) <= set(every)
    assert len(KNOWN) < len(every) * 0.03


@pytest.mark.parametrize("text", [t for t in CHAINS["syntax"].strip().splitlines() if "|" in t or "&" in t])
def test_nothing_runs_before_an_error_of_syntax(text: str) -> None:
    ran = shell.run(f"echo began > made; {text}", world(FILES))
    assert (ran.exit_code, ran.stdout, ran.changes) == (2, b"", {})
    assert re.match(rb"bash: line \d+: ", ran.stderr)
