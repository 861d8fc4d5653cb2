"""Runs the tests of the hooks twice, without a server and by one, and compares what every program said, byte for byte.

    python tests/cold_and_warm.py [PYTEST_ARGUMENT...]

`make warm` does it. It takes some minutes, so it is no part of `make test`, where `server/test_same.py` compares three
dozen runs. Exits with 1 where something differs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
TESTS = ("git", "install", "test_bad_input.py", "test_ways_past.py")
# They make up their own input, another one each time.
LEFT_OUT = (
    "git/test_checkout.py::test_any_tree_comes_back_as_it_is",
    "git/test_properties.py",
    "git/test_snapshot.py::test_git_applies_the_patch",
)
# One moment for all commits, or their ids would differ.
WHEN = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-01T12:00:00+00:00")
# What differs between any two runs: folders, times, processes, and the hashes that are made of them.
VARIES = (
    (re.compile(r"popen-gw\d+/(\w*?)\d+\b"), "worker/\\1"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "id"),
    (re.compile(r"/tmp/(tmp|cg-)[\w-]+"), "/tmp/some"),
    (re.compile(r'"(load|review)": [0-9.]+'), '"\\1": 0'),
    (re.compile(r"(?m)^time: .*$"), "time:"),
    (re.compile(r'"(at|previous|expires)": "[^"]*"'), '"\\1": ""'),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.+:Z]*"), "then"),
    # What is said of the way itself: a variable that a test shows, and what `git add` starts.
    (re.compile(r"(CLI_GUARD_SERVER\W{1,4})\w+"), "\\1way"),
    (re.compile(r"(?m)^.*`git add` starts a process that reviews ahead.*\n"), ""),
    # Megabytes: a client is smaller.
    (re.compile(r"\A\d+\n\Z"), "number"),
    (re.compile(r"(?m)^(\[[\w/. -]+) [0-9a-f]{7,}\]"), "\\1 id]"),
)

# How the name of what pytest does before a test ends.
SETUP = " (setup)"
# What a program was given, and what it answered.
Said = tuple[str, ...]


def transcript(folder: Path, server: str, arguments: list[str]) -> dict[str, list[Said]]:
    """Runs the tests: what every program said in each. Raises SystemExit if one fails."""
    said = folder / f"said-{server}"
    said.mkdir()
    env = {
        **os.environ,
        **WHEN,
        "CLI_GUARD_SERVER": server,
        "CLI_GUARD_TRANSCRIPT": str(said),
        "XDG_RUNTIME_DIR": str(folder),
    }
    tests = [str(HERE / each) for each in TESTS]
    left_out = (f"--deselect=tests/{each}" for each in LEFT_OUT)
    given = ("-q", "-n", "3", f"--basetemp={folder}/tests", *left_out)
    command = (sys.executable, "-m", "pytest", *given, *tests, *arguments)
    if subprocess.run(command, env=env, cwd=HERE.parent, check=False).returncode:
        raise SystemExit(f"the tests fail with CLI_GUARD_SERVER={server}")
    found: dict[str, list[Said]] = defaultdict(list)
    for file in said.iterdir():
        for line in file.read_text("utf-8").splitlines():
            test, *words = json.loads(line)
            found[test].append(tuple(plain(each) for each in words))
    return found


def plain(text: str) -> str:
    """A text without what differs anyway."""
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text


def differs(test: str, one: dict[str, list[Said]], other: dict[str, list[Said]]) -> bool:
    """Whether a test had another answer; a fixture that is made once is set up in whichever test comes first."""
    if not test.endswith(SETUP):
        return one[test] != other[test]
    return any(
        set(found[test])
        - {said for name in others if name.endswith(SETUP) for said in others[name]}
        for found, others in ((one, other), (other, one))
    )


def main() -> int:
    """Compares, and prints what differs."""
    with tempfile.TemporaryDirectory(prefix="cg-") as name:
        cold, warm = (
            transcript(Path(name), server, sys.argv[1:]) for server in ("0", "require")
        )
    both = sorted(cold.keys() & warm.keys())
    runs = sum(len(warm[test]) for test in both)
    differing = [test for test in both if differs(test, cold, warm)]
    for test in differing:
        print(test)
        for one, other in zip(cold[test], warm[test], strict=False):
            if one != other:
                print(f"  cold: {one}\n  warm: {other}")
    alone = len(cold.keys() ^ warm.keys())
    print(
        f"{len(both)} tests with {runs} runs of programs: {len(differing)} differ; {alone} tests are for one way alone"
    )
    return int(bool(differing) or not both)


if __name__ == "__main__":
    sys.exit(main())
