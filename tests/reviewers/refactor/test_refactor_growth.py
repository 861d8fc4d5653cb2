"""Functions over a limit: only those that the change brings there, wherever they were before."""

import pytest
from examples import near_misses, table
from reviewers.docs.before_after import subject_of
from reviewers.refactor.grown import found

from cli_guard.model import Skipped
from cli_guard.reviewers.refactor import growth, review
from cli_guard.reviewers.review_input import Limits


def branches(count: int, name: str = "f", extra: str = "", *, apart: bool = True) -> str:
    """A function with `count` branches, so `count + 1` paths, of which eight can be moved as one block."""
    lines = [f"    if a == {n}:\n        b += {n}\n" for n in range(count)]
    if apart and count > 7:
        inner = "".join(lines[:7]).replace("    ", "        ").replace(" " * 16, " " * 12)
        lines[:8] = ["    for a in b:\n", inner]
    return f"def {name}(a, b):\n{''.join(lines)}{extra}    return b\n"


@table(
    ("before", "after", "messages"),
    [
        pytest.param(
            "",
            branches(17),
            ["`f` is added with 18 independent paths (limit 15)."],
            id="added far over",
        ),
        pytest.param("", branches(16), [], id="added a little over"),
        pytest.param(
            branches(10),
            branches(15),
            ["`f` grows from 11 to 16 independent paths (limit 15)."],
            id="grown by a third, over the limit",
        ),
        pytest.param(branches(8), branches(14), [], id="grown up to the limit"),
        pytest.param(branches(14), branches(15), [], id="over the limit by one"),
        pytest.param(
            branches(14),
            branches(17),
            ["`f` grows from 15 to 18 independent paths (limit 15)."],
            id="over the limit by a fifth",
        ),
        pytest.param(branches(15), branches(18), [], id="over before, little worse"),
        pytest.param(
            branches(15),
            branches(21),
            ["`f` grows from 16 to 22 independent paths (limit 15)."],
            id="over before, grown by a third",
        ),
        pytest.param(branches(20), branches(18), [], id="better"),
        pytest.param(branches(20), branches(20, extra="    b += 1\n"), [], id="touched"),
        pytest.param(branches(20), branches(20, "g"), [], id="renamed"),
        pytest.param(branches(20, "g"), branches(16), [], id="renamed and shortened"),
        pytest.param(
            "x = 1\n" + branches(20), "x = 2\n" + branches(20), [], id="not touched"
        ),
    ],
)
def test_only_what_the_change_brings_about(
    before: str, after: str, messages: list[str]
) -> None:
    assert [f.message for f in found("shop/a.py", after, before)] == messages


def test_methods_of_one_name_are_kept_apart() -> None:
    def classes(first: int, second: int) -> str:
        both = (
            f"class {n}:\n"
            + "".join(
                f"    {x}\n" for x in branches(c).replace("(a,", "(self, a,").splitlines()
            )
            for n, c in (("A", first), ("B", second))
        )
        return "\n\n".join(both)

    findings = found("a.py", classes(20, 15), classes(20, 3))
    assert [f.message.split(" ")[0] for f in findings] == ["`B.f`"]


def test_moved_function_is_silent() -> None:
    before = {"a.py": branches(20) + "x = 1\n", "b.py": "y = 1\n"}
    after = {"a.py": "x = 1\n", "b.py": "y = 1\n" + branches(20)}
    assert review(subject_of(before, after)).findings == ()


def test_moved_method_of_another_type_is_silent() -> None:
    inner = "".join(
        f"      if (s.a == {n}) {{\n        s.send(a);\n      }}\n" for n in range(90)
    )
    body = f"    for (;;) {{\n{inner}    }}\n" + "    s.done(a);\n" * 16
    text = f"package x\n\nfunc (s *S) handle(a int) {{\n{body}}}\n"
    moved = text.replace("s *S", "h *Handler").replace("s.", "h.")
    assert review(subject_of({}, {"b.go": moved})).findings
    assert review(subject_of({"a.go": text}, {"a.go": "", "b.go": moved})).findings == ()


@table(
    ("path", "text"),
    [
        ("a.js", "class A {{\n  f(a) {{\n{body}  }}\n}}\n"),
        ("a.ts", "export const f = async (a: X<Y>): Promise<number> => {{\n{body}}};\n"),
        ("a.tsx", "export function F(a: X) {{\n{body}  return <b/>;\n}}\n"),
        ("a.go", "package x\n\nfunc (s *S) f(a int) {{\n{body}}}\n"),
        ("A.java", "class A {{\n  @Deprecated\n  int f(int a) {{\n{body}  }}\n}}\n"),
    ],
    ids=["js", "ts", "tsx", "go", "java"],
)
def test_other_languages_are_measured(path: str, text: str) -> None:
    inner = "".join(
        f"      if (a == {n}) {{\n        send(a);\n      }}\n" for n in range(90)
    )
    findings = found(
        path,
        text.format(
            body=f"    // send rows\n    for (;;) {{\n{inner}    }}\n"
            + "    done(a);\n" * 16
        ),
    )
    assert [f.rule for f in findings] == ["refactor-complex"]


@near_misses("path", ["tests/test_a.py", "vendor/a.py", "a_pb2.py", "notes.md"])
def test_places_that_are_left_alone(path: str) -> None:
    assert found(path, branches(30)) == []


def test_what_is_not_read_is_said() -> None:
    class Nothing:
        def new(self, change: object) -> None:
            return None

        old = new

    subject = subject_of(
        {}, {"a.py": branches(30), "b.py": branches(3)}, Limits(file_chars=200)
    )
    assert review(subject).skipped == (
        Skipped("a.py", "refactor: longer than 200 characters"),
    )
    bare = type(subject)(subject.event, subject.changes, Nothing())
    assert {s.reason for s in review(bare).skipped} == {
        "refactor: whole text not available"
    }


def test_what_follows_many_functions_over_a_limit_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(growth, "MOST_COMPARED", 2)
    text = "\n\n".join(branches(60, name=f"f{number}") for number in range(3))
    report = review(subject_of({}, {"a.py": text}))
    assert [each.rule for each in report.findings].count("refactor-complex") == 2
    reason = "refactor: only the first 2 functions over a limit are compared"
    assert report.skipped == (Skipped("a.py", reason),)


@table(
    ("count", "apart", "reported"),
    [(17, False, False), (43, False, False), (44, False, True), (17, True, True)],
)
def test_without_a_plan_only_what_is_far_over(
    count: int, apart: bool, reported: bool
) -> None:
    findings = found("a.py", branches(count, apart=apart))
    assert bool(findings) == reported
    assert not reported or bool(findings[0].suggestion) == apart
