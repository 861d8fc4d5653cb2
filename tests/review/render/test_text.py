import dataclasses
import itertools

import review_samples as samples
from examples import table

from cli_guard.errors import ExitCode
from cli_guard.model import Decision, Disposition, JudgedFinding
from cli_guard.review.render.review import Review
from cli_guard.review.render.text import render
from cli_guard.review.render.words import skipped_line, where


def closing(review: Review) -> str:
    return render(review).rstrip("\n").split("\n\n")[-1]


def test_a_commit_message_that_is_fine_gets_no_answer() -> None:
    quiet = dataclasses.replace(samples.CLEAN_BUT_SKIPPED, event="commit-msg")
    assert render(quiet) == ""
    assert render(dataclasses.replace(quiet, notes=("approved by A",))) != ""


@table(
    ("decision", "code"),
    [
        (Decision.ALLOW, ExitCode.OK),
        (Decision.DENY, ExitCode.DENIED),
        (Decision.REVIEW, ExitCode.NEEDS_REVIEW),
    ],
)
def test_exit_code(decision: Decision, code: ExitCode) -> None:
    assert Review("review", "ok", decision, ()).exit_code is code


@table(
    ("event", "then"),
    [("pre-commit", "then commit again"), ("pre-push", "then push again")],
)
def test_a_review_says_how_to_go_on(event: str, then: str) -> None:
    review = dataclasses.replace(samples.NEEDS_REVIEW, event=event)
    assert closing(review).split("\n  ")[1:] == ["cli-guard approve 7f3a9c21", then]


def test_evidence_of_several_lines_keeps_its_shape_and_is_bounded() -> None:
    failed = dataclasses.replace(samples.KEY, path="", line=None, rule="push-check-failed")
    several = dataclasses.replace(
        failed, evidence="def f():\n    x\x1b\n\n" + "more\n" * 50
    )
    shown = render(
        Review(
            "pre-push", "failed", Decision.DENY, (JudgedFinding(several, Disposition.DENY),)
        )
    )
    assert shown.startswith("must fix: 1\n\ncheck  ")
    assert "    | def f():\n    |     x\\x1b\n    |\n    | more\n" in shown
    assert shown.count("    |") == 30
    one = dataclasses.replace(failed, evidence="   indented")
    assert "    | indented\n" in render(
        Review("pre-push", "failed", Decision.DENY, (JudgedFinding(one, Disposition.DENY),))
    )


@table(
    ("evidence", "lines"),
    [
        ("x = 1", ["x = 1"]),
        (
            f"run({'a, ' * 24}danger)",
            [f"run({'a, ' * 23}".rstrip(), "    a, danger)"],
        ),
        ("x" * 400, ["x" * 74, "    " + "x" * 70, "    ..."]),
        ("1: a\n\n2: b", ["1: a", "", "2: b"]),
    ],
)
def test_a_long_line_of_code_is_wrapped(evidence: str, lines: list[str]) -> None:
    found = dataclasses.replace(samples.KEY, evidence=evidence)
    judged = JudgedFinding(found, Disposition.DENY)
    shown = render(Review("pre-commit", "failed", Decision.DENY, (judged,)))
    code = [line[6:] for line in shown.split("\n") if line.startswith("    |")]
    assert code == lines


def test_a_denied_key_names_its_answer() -> None:
    review = Review(
        "pre-commit",
        "failed",
        Decision.DENY,
        (JudgedFinding(samples.KEY, Disposition.DENY),),
        files=1,
        reviewed=1,
    )
    assert closing(review) == (
        "must fix: 1 finding stops this; fix it, or ignore it for an approved reason:\n"
        '  cli-guard ignore secret-aws-access-key src/payments/settings.py:12 --reason "..."'
    )


def test_a_denied_message_says_how_to_change_it() -> None:
    message = JudgedFinding(samples.MESSAGE, Disposition.DENY)
    review = Review("commit-msg", "failed", Decision.DENY, (message,))
    assert closing(review).split("\n  ") == [
        "must fix: write another message and commit with the same options; yours is kept:",
        "git commit -eF .git/COMMIT_EDITMSG",
    ]


def test_a_failed_check_is_never_ignored_by_its_rule() -> None:
    failed = dataclasses.replace(samples.KEY, path="", line=None, rule="push-check-failed")
    review = Review(
        "pre-push", "failed", Decision.DENY, (JudgedFinding(failed, Disposition.DENY),)
    )
    assert closing(review) == (
        "must fix: 1 finding stops this; fix it, or push once without the checks:\n"
        "  SKIP=cli-guard-pre-push git push"
    )


def test_many_denied_findings_are_three_lines() -> None:
    keys = [dataclasses.replace(samples.KEY, line=line) for line in (1, 1, 2, 3, 4)]
    judged = tuple(JudgedFinding(each, Disposition.DENY) for each in keys)
    lines = closing(Review("pre-commit", "failed", Decision.DENY, judged)).split("\n  ")
    command = "cli-guard ignore secret-aws-access-key src/payments/settings.py"
    assert lines[1:] == [
        f'{command}:1 --reason "..."',
        f'{command}:2 --reason "..."',
        "cli-guard ignore   # lists 2 more",
    ]


def test_a_scan_names_the_entries_with_their_paths() -> None:
    """`ignore` knows the findings of the last review alone."""
    judged = (JudgedFinding(samples.KEY, Disposition.DENY),)
    assert closing(Review("scan", "failed", Decision.DENY, judged)).split("\n  ") == [
        "must fix: 1 finding here; fix it, or explain it in cli-guard.toml:",
        "[[ignore]]",
        'rule = "secret-aws-access-key"',
        'path = "src/payments/settings.py"',
        f'fingerprint = "{samples.KEY.fingerprint}"',
        'reason = "..."',
    ]


def test_a_denial_without_a_finding_gives_the_reason_of_the_gate() -> None:
    blocked = ({"tool": "git_commit", "reason": "write tools are off in review-only mode"},)
    review = Review("review", "failed", Decision.DENY, (), blocked_actions=blocked)
    assert closing(review) == "denied: write tools are off in review-only mode"


@table("advice", [0, 1, 5])
def test_advice_is_bounded_and_the_rest_counted(advice: int) -> None:
    shown = render(samples.RICH, advice=advice)
    assert f"and {7 - advice} more: cli-guard last -v" in shown
    assert shown.count("refactor-complex") == max(0, advice - 3)
    assert "more: cli-guard" not in render(samples.RICH, advice=advice, verbose=True)


def test_no_line_is_wider_than_80_columns_unless_a_word_is() -> None:
    lines = render(samples.RICH).split("\n")
    # A command is typed or pasted in one piece.
    whole = ("web/", "  cli-guard ignore ")
    wide = [line for line in lines if len(line) > 80 and not line.startswith(whole)]
    assert wide == []


def test_a_path_is_never_broken() -> None:
    path = "a/very/long/" + "path/" * 30 + "name.py"
    review = dataclasses.replace(samples.CLEAN, notes=(f"the report is in {path}",))
    assert path in render(review)


def test_skipped_names_are_bounded_and_the_rest_counted() -> None:
    assert skipped_line(samples.CLEAN_BUT_SKIPPED, 2) == (
        "not reviewed: assets/logo.png (binary), data/big.bin (over 5 MB), and 7 more"
    )


def test_where() -> None:
    assert where(samples.MESSAGE) == "commit message"
    assert where(dataclasses.replace(samples.MESSAGE, line=3)) == "commit message:3"
    assert (
        where(dataclasses.replace(samples.MESSAGE, commit="1" * 40))
        == "commit message in 1111111111"
    )
    assert (
        where(dataclasses.replace(samples.KEY, path="", line=None, rule="push-force"))
        == "push"
    )


def test_the_order_of_the_findings_does_not_matter() -> None:
    findings = samples.NEEDS_REVIEW.findings
    shown = {
        render(dataclasses.replace(samples.NEEDS_REVIEW, findings=order))
        for order in itertools.permutations(findings)
    }
    assert len(shown) == 1


def test_the_same_advice_on_several_lines_of_a_file_is_given_once() -> None:
    def advice(
        line: int, path: str = "run.sh", said: str = "eval runs it"
    ) -> JudgedFinding:
        found = dataclasses.replace(
            samples.KEY, path=path, line=line, rule="code-sh-eval", message=said
        )
        return JudgedFinding(found, Disposition.ADVISE)

    found = (advice(3), advice(5), advice(9), advice(7, said="Other."), advice(2, "b.sh"))
    shown = render(Review("staged", "ok", Decision.ALLOW, found))
    assert "eval runs it; 2 more lines in this file (cli-guard review -v)." in shown
    assert "run.sh:3" in shown
    assert "run.sh:5" not in shown
    assert "run.sh:7" in shown
    assert "b.sh:2" in shown


def test_private_keys_of_a_folder_are_one_line_and_others_are_not() -> None:
    def key(path: str, rule: str = "secret-private-key") -> JudgedFinding:
        found = dataclasses.replace(
            samples.KEY, path=path, line=1, rule=rule, message="Private key."
        )
        return JudgedFinding(found, Disposition.DENY)

    paths = ("certs/a.pem", "certs/b.pem", "certs/c.key", "certs/old/a.pem")
    keys = (*map(key, paths), key("certs/d.txt", "secret-password"))
    review = Review("staged", "failed", Decision.DENY, keys)
    shown = render(review)
    assert "Private key; 2 more private keys in this folder (cli-guard review -v)." in shown
    assert shown.startswith("must fix: 5\n")
    listed = shown.partition("\n\nmust fix: 5 findings")[0]
    assert [path for path in paths if path in listed] == [paths[0], paths[3]]
    assert "certs/d.txt" in listed
    assert all(path in render(review, verbose=True) for path in paths)
