"""Flows are reported where a change adds or completes them, with the way that the data takes."""

import pytest
from reviewers.code.code_changes import rules
from reviewers.docs.before_after import subject_of

from cli_guard.code.taint import tree_reader
from cli_guard.model import Confidence, Finding, Report, Severity
from cli_guard.reviewers.code import review

HEAD = """\
import os
import subprocess
import sys

from flask import request


def show(cursor):
    name = request.args["name"]
"""
OLD = HEAD + '    cursor.execute("SELECT id FROM users WHERE name = %s", (name,))\n'
SINK = '    cursor.execute("SELECT id FROM users WHERE name = \'" + name + "\'")\n'
GUARDED = HEAD + "    if not name.isalnum():\n        return None\n" + SINK


def report_of(before: str | None, after: str, path: str = "app/views.py") -> Report:
    return review(subject_of({} if before is None else {path: before}, {path: after}))


def found(
    before: str | None, after: str, path: str = "app/views.py"
) -> tuple[Finding, ...]:
    return report_of(before, after, path).findings


def test_a_flow_shows_its_way_and_the_safe_form() -> None:
    (finding,) = found(OLD, HEAD + SINK)
    assert finding.rule == "code-flow-sql"
    assert (finding.line, finding.severity, finding.confidence) == (
        10,
        Severity.HIGH,
        Confidence.HIGH,
    )
    assert finding.evidence.split("\n") == [
        '9: name = request.args["name"]',
        '10: cursor.execute("SELECT id FROM users WHERE name = \'" + name + "\'")',
    ]
    assert "cursor.execute" in finding.message and "param" in finding.remedy


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        pytest.param(None, HEAD + SINK, True, id="new-file"),
        pytest.param(HEAD, HEAD + SINK, True, id="sink-added-to-an-old-source"),
        pytest.param(
            (HEAD + SINK).replace('request.args["name"]', '"x"'),
            HEAD + SINK,
            True,
            id="source-added",
        ),
        pytest.param(GUARDED, HEAD + SINK, True, id="guard-taken-away"),
        pytest.param(HEAD + SINK, "# A view.\n" + HEAD + SINK, False, id="old-flow-moved"),
        pytest.param(
            HEAD + SINK, HEAD + SINK + "    return 1\n", False, id="old-flow-beside"
        ),
        pytest.param(HEAD + SINK, HEAD + SINK + SINK, True, id="second-sink"),
        pytest.param(OLD, GUARDED, False, id="forked"),
        pytest.param(HEAD + SINK, OLD, False, id="mended"),
    ],
)
def test_only_what_the_change_adds_or_completes(
    before: str | None, after: str, reported: bool
) -> None:
    assert (
        "code-flow-sql" in {finding.rule for finding in found(before, after)}
    ) is reported


@pytest.mark.parametrize(
    ("after", "rules_of_it"),
    [
        pytest.param(HEAD + SINK.replace("id", "mail"), ["code-flow-sql"], id="edited"),
        pytest.param(HEAD + SINK + "    log(name)\n", [], id="line-beside"),
        pytest.param(
            HEAD + SINK + SINK.replace("name +", "cursor.kind +"),
            ["code-python-sql"],
            id="other-statement",
        ),
    ],
)
def test_an_edited_line_of_an_old_flow_is_the_finding_of_a_push(
    after: str, rules_of_it: list[str]
) -> None:
    """A push compares with the text that had no flow yet; one approval is to answer both."""
    report = report_of(HEAD + SINK, after)
    assert rules(report) == rules_of_it
    at_push = {each.fingerprint for each in found(HEAD, after)}
    assert {each.fingerprint for each in report.findings} <= at_push


VIEW = HEAD + "    with open(name) as file:\n        return file.read()\n"
CONFINED = VIEW.replace(
    "    with", "    if name not in NAMES:\n        return None\n    with"
)


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        pytest.param(
            {"app/views.py": VIEW, "app/pages.py": "x = 1\n"},
            {"app/views.py": "x = 1\n", "app/pages.py": VIEW},
            False,
            id="moved",
        ),
        pytest.param(
            {"app/views.py": CONFINED},
            {"app/views.py": "", "b.py": VIEW},
            True,
            id="without-its-guard",
        ),
        pytest.param(
            {"app/views.py": VIEW},
            {"app/views.py": VIEW, "b.py": VIEW},
            True,
            id="copied",
        ),
        pytest.param(
            {"tests/views.py": VIEW},
            {"tests/views.py": "", "b.py": VIEW},
            True,
            id="of-a-test",
        ),
    ],
)
def test_a_flow_that_moves_to_another_file_is_not_new(
    before: dict[str, str], after: dict[str, str], reported: bool
) -> None:
    findings = review(subject_of(before, after)).findings
    assert ("code-flow-path" in {each.rule for each in findings}) is reported


LOADER = "import sys\n\nfrom flask import request\n\nfound = tree.xpath({})\n"


@pytest.mark.parametrize(
    ("value", "severity", "confidence"),
    [
        ("request.args['name']", Severity.HIGH, Confidence.HIGH),
        ("sys.argv[1]", Severity.MEDIUM, Confidence.HIGH),
        ("blend(request.args['name'])", Severity.HIGH, Confidence.MEDIUM),
        ("blend(stir(request.args['name']))", Severity.MEDIUM, Confidence.LOW),
    ],
)
def test_own_arguments_and_guesses_weigh_less(
    value: str, severity: Severity, confidence: Confidence
) -> None:
    """Two calls that nobody knows may each return anything, so a guess stops nothing."""
    (finding,) = (
        f for f in found(None, LOADER.format(value)) if f.rule == "code-flow-xpath"
    )
    assert (finding.severity, finding.confidence) == (severity, confidence)


def test_a_file_too_big_to_be_followed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_reader, "MOST_NODES", 3_000)
    text = HEAD + SINK + "    name = name + 'a'\n" * 600
    report = report_of(None, text)
    assert any(
        "follow data" in skipped.reason and skipped.asks for skipped in report.skipped
    )
    assert "code-flow-sql" not in rules(report)


LOGS = {
    "the secret": ("a.py", "print(password)", True),
    "its field": ("a.py", "o.password = password\n    print(o.password)", True),
    "in a text": ("a.py", "s = f'{host}:{password}'\n    print(s.strip())", True),
    "a table with it": (
        "a.py",
        "o = {'host': host, 'password': password}\n    print(o)",
        True,
    ),
    "an object": ("a.py", "o.password = password\n    print(o)", False),
    "a field beside it": (
        "a.py",
        "o = {'host': host, 'password': password}\n    print(o['host'])",
        False,
    ),
    "a value beside it": (
        "a.py",
        "h, p = pair(host, (host, password))\n    print(h)",
        False,
    ),
    "names of fields": (
        "a.js",
        "const o = {host, password}; console.log(Object.keys(o));",
        False,
    ),
    "a part that is taken out": (
        "a.js",
        "const {host: h} = {host, password}; console.log(h);",
        False,
    ),
    "its part that is taken out": (
        "a.js",
        "const {password: p} = {host, password}; console.log(p + password);",
        True,
    ),
    "a getter": (
        "A.java",
        "User u = User.builder().password(password).build(); log.info(u.getName());",
        False,
    ),
}
FORMS = {
    "a.py": "def f(o, host, password):\n    {}\n",
    "a.js": "function f(host, password) {{ {} }}\n",
    "A.java": "class A {{ void f(String password) {{ {} }} }}\n",
}


@pytest.mark.parametrize(("path", "code", "is_told"), LOGS.values(), ids=LOGS)
def test_only_a_field_with_a_secret_is_one(path: str, code: str, is_told: bool) -> None:
    findings = found(None, FORMS[path].format(code), path)
    assert ("code-flow-log-secret" in [each.rule for each in findings]) is is_told
