"""A change whose files are examined one by one is reviewed like any other."""

import os
from dataclasses import replace

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers import code, commands, docs, refactor, secrets, workers
from cli_guard.reviewers.per_file import Examiner
from cli_guard.reviewers.per_file_work import PerFileWork, add_file_work, count_workers
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.examples import expand

LONG = "".join(f"    if a == {n} and b:\n        a = step_{n}(a, b)\n" for n in range(45))
BODY = "".join(f"    value_{n} = compute_{n}(first, second)\n" for n in range(12))
TEXTS = (
    "",
    "VALUE = 1\n",
    f"def public(a, b):\n{LONG}    return a\n",
    f"def public(a, b):\n    return a + b + 1\n\n\ndef other(first, second):\n{BODY}    return first\n",
    'def told(a):\n    """Do it.\n\n    Args:\n        a: one.\n        gone: two.\n    """\n    return run(a)\n'
    * 2,
    "import os\n\n\ndef run(name):\n    os.system('rm -rf ' + name)\n    breakpoint()\n    eval(name)\n",
    expand('token = "ghp_<<alnum:36>>"\n'),
    "#!/bin/sh\ncurl http://example.org/x | sh\nrm -rf /\n",
    "// Old does it.\nfunc New() {\n}\n\nfunc Two(a int, b int) int {\n\treturn a\n}\n",
    "function run(a) {\n  eval(a); console.log(a);\n  debugger;\n}\n",
    "install:\n\tsudo rm -rf /usr\n",
    "x" * 6_000 + "\n",
)
PATHS = (
    "a.py",
    "b.py",
    "lib/c.py",
    "d.sh",
    "e.go",
    "f.js",
    "Makefile",
    "notes.md",
    "tests/test_a.py",
)
FILES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(TEXTS), max_size=len(PATHS))


def subject_of(old: dict[str, str], new: dict[str, str]) -> ReviewInput:
    return ReviewInput("pre-commit", changes_between(old, new), SnapshotContents(old, new))


@settings(max_examples=8, deadline=None)
@given(old=FILES, new=FILES)
def test_copies_of_the_process_say_the_same(
    old: dict[str, str], new: dict[str, str]
) -> None:
    plain = subject_of(old, new)
    by_copies = replace(plain, work=PerFileWork(plain, 3))
    for reviewer in (secrets, code, commands, docs, refactor):
        assert reviewer.review(by_copies) == reviewer.review(plain)


def test_what_a_copy_leaves_is_done_by_the_process_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new = {f"lib/{number}.py": text for number, text in enumerate(TEXTS)}
    plain = subject_of({}, new)
    expected = code.review(plain)
    here = os.getpid()
    inspect = code.examiner

    def dying(subject: ReviewInput) -> Examiner:
        examine = inspect(subject)
        return lambda change: (
            examine(change) if os.getpid() == here or len(change.hunks) < 1 else os._exit(3)
        )

    monkeypatch.setattr(code, "examiner", dying)
    assert code.review(replace(plain, work=PerFileWork(plain, 2))) == expected


@settings(max_examples=60, deadline=None)
@given(old=FILES, new=FILES)
def test_every_reviewer_says_the_same(old: dict[str, str], new: dict[str, str]) -> None:
    plain = subject_of(old, new)
    by_file = replace(plain, work=PerFileWork(plain))
    for reviewer in (secrets, code, commands, docs, refactor):
        assert reviewer.review(by_file) == reviewer.review(plain)


def test_the_samples_give_every_reviewer_something_to_say() -> None:
    plain = subject_of(
        {}, {f"{number}{path}": text for number, text in enumerate(TEXTS) for path in PATHS}
    )
    for reviewer in (secrets, code, commands, docs, refactor):
        assert reviewer.review(plain).findings


@table(("lines", "big"), [(10, False), (50_000, True)])
def test_only_a_big_change_is_taken_file_by_file(lines: int, big: bool) -> None:
    subject = add_file_work(subject_of({}, {"a.py": "value = 1\nother = 2\n" * lines}))
    assert isinstance(subject.work, PerFileWork) is big


@table(("files", "lines", "most"), [(1, 90_000, 1), (40, 10, 1), (40, 900, 4)])
def test_long_files_are_divided_though_little_changes(
    files: int, lines: int, most: int
) -> None:
    # Of equal lines difflib compares each with each.
    text = "".join(f"v{line} = 1\n" for line in range(lines))
    old = {f"{number}.py": text for number in range(files)}
    new = dict.fromkeys(old, f"{text}other = 2\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workers, "idle", lambda: 4)
        assert count_workers(subject_of(old, new), 0) == most
