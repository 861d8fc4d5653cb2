"""bash is the oracle: the same standard output and exit code for every chain, but for the differences named here."""

import re
from pathlib import Path

from examples import table
from sampling import choose_rows
from shell_chains import CHAINS, FILES, STDIN, chains
from shell_worlds import Oracle, world

from cli_guard.assistant import sandbox as shell

# What is known to differ, and why it stays. A chain that is right again must be removed.
KNOWN: dict[str, str] = (
    {
        "echo err 2>&1 >&2 | wc -l": "two redirections that swap the streams of a builtin in a pipe",
        'f() { read q; echo "f:$q"; }; f; f': "each call of a function reads the input from where it began",
        "awk 'bad {'; echo $?": "the exit code of a bad program: 1 as gawk has it, mawk says 2",
        "cut -c1 utf8.txt": "characters are cut, where coreutils 9.1 cuts bytes",
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
        "diff -r one two": "diff compares no folders",
        "diff missing sorted1 2>/dev/null; echo $?": "diff exits with 1 for a file that is missing",
        "diff -i fruits.txt fruits.txt && echo same": "diff has neither -i nor -w",
        "diff -w sorted1 sorted2 | head -2": "diff has neither -i nor -w",
        "ls src docs": "folders are listed in the order of the words",
        "ls nope src 2>/dev/null": "the title of a folder is written for what is there",
    }
    | dict.fromkeys(("ls -a", "ls --all | head -3"), "there are no . and .. in a folder")
    | dict.fromkeys(
        (
            "ls -r",
            "ls -p",
            "ls -1p | grep -v /",
            "ls -S *.txt | head -1",
            "ls -rS *.txt | head -2",
            "ls -lS src | awk 'NR>1{print $NF}'",
            "ls -v <<< x | head -2",
        ),
        "ls has neither -r nor -p, -S and -v",
    )
    | dict.fromkeys(
        (
            "ls -l fruits.txt | awk '{print $5}'",
            "ls -la | head -1 | cut -d' ' -f1",
            "ls -la src | tail -n +4 | awk '{print $NF}'",
            "ls -lh app.log | awk '{print $5}'",
        ),
        "ls -l has fewer columns, and no total",
    )
    | dict.fromkeys(
        (text for _, text in chains() if re.search(r"(^|\| )bc\b", text)),
        "there is no bc: a hint names awk",
    )
)


def kinds_of(chain: tuple[str, str]) -> list[object]:
    """What a chain is about; its programs, options and signs; what is known to differ."""
    subject, text = chain
    return [subject, *re.findall(r"[a-z]{2,}|-\w|[^\w\s]+", text), KNOWN.get(text)]


CHOSEN = choose_rows(chains(), kinds_of, lambda chain: chain[1])


@table("subject", CHAINS)
def test_the_same_as_bash(subject: str, tmp_path: Path) -> None:
    here = world(FILES)
    differing = {}
    asked = [text for each, text in CHOSEN if each == subject]
    bash = Oracle(tmp_path)
    for text in asked:
        expected = bash.answer(text)
        ran = shell.run(text, here, stdin=STDIN)
        if expected is not None and expected != (ran.exit_code, ran.stdout):
            differing[text] = (expected, (ran.exit_code, ran.stdout, ran.stderr))
    unknown = {text: both for text, both in differing.items() if text not in KNOWN}
    assert not unknown
    assert not [text for text in asked if text in KNOWN and text not in differing], (
        "right again: remove it from KNOWN"
    )


def test_the_list_of_differences_is_short_and_of_chains() -> None:
    every = [text for _, text in chains()]
    assert len(every) == len(set(every)) > 1_000
    assert set(KNOWN) <= set(every)
    assert len(KNOWN) < len(every) * 0.04


@table("text", [t for t in CHAINS["syntax"].strip().splitlines() if "|" in t or "&" in t])
def test_nothing_runs_before_an_error_of_syntax(text: str) -> None:
    ran = shell.run(f"echo began > made; {text}", world(FILES))
    assert (ran.exit_code, ran.stdout, ran.changes) == (2, b"", {})
    assert re.match(rb"bash: line \d+: ", ran.stderr)
