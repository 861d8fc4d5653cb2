"""What the code reviewer reports of an edit, what it leaves alone, and what it says it did not look at."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from examples import near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import key
from reviewers.code.code_changes import Texts, edited, new_file, reviewed, rules
from reviewers.docs.before_after import subject_of

from cli_guard.code.taint import tree_reader
from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import ChangeSet, FileChange, Kind, Severity, Status
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.code import review
from cli_guard.reviewers.code.remarks import line_topics
from cli_guard.reviewers.review_input import Limits, ReviewInput

SHELL_CALL = """\
import subprocess

def pack(name):
    subprocess.run(
        f"tar cf {name}.tar {name}",
        check=True,
        shell=True,
    )
    return name
"""
CALLBACK = """\
const { exec } = require("child_process");
exec(`tar xf ${name}`, (error) => {
  log(error);
  done();
});
"""


@table(
    ("text", "path", "line", "reported"),
    [
        pytest.param(SHELL_CALL, "pack.py", 4, True, id="call-line"),
        pytest.param(SHELL_CALL, "pack.py", 7, True, id="shell-true-added-to-an-old-call"),
        pytest.param(SHELL_CALL, "pack.py", 6, True, id="another-argument-of-the-call"),
        pytest.param(SHELL_CALL, "pack.py", 3, False, id="line-above"),
        pytest.param(SHELL_CALL, "pack.py", 9, False, id="line-below"),
        pytest.param(CALLBACK, "pack.js", 2, True, id="command-line"),
        pytest.param(CALLBACK, "pack.js", 3, False, id="body-of-the-callback"),
        pytest.param(CALLBACK, "pack.js", 5, False, id="end-of-the-callback"),
    ],
)
def test_finding_needs_an_added_line(
    text: str, path: str, line: int, reported: bool
) -> None:
    report = reviewed(edited(path, text, line), texts={path: text})
    assert bool(report.findings) is reported


APP_TOKEN = """\
on: push
jobs:
  a:
    steps:
      - uses: actions/create-github-app-token@{0}
"""


@table(("before", "reported"), [("actions/checkout@v4", True), ("", False)])
def test_another_version_of_what_a_line_uses_is_no_news(
    before: str, reported: bool
) -> None:
    path = ".github/workflows/a.yml"
    old = APP_TOKEN.format("v1")
    if before:
        old = old.replace("actions/create-github-app-token@v1", before)
    found = review(subject_of({path: old}, {path: APP_TOKEN.format("v2")}))
    assert ("code-workflow-app-token" in rules(found)) == reported


PATTERN = "const PAIR = /([\\s\\S]*?)\\s+(?:in|of)\\s+([\\s\\S]*)/;\n"


@table(("moved", "reported"), [(PATTERN, False), ("const PAIR = /x/;\n", True)])
def test_advice_on_a_line_that_moved_is_no_news(moved: str, reported: bool) -> None:
    use = "export const read = (text) => PAIR.exec(text);\n"
    found = review(subject_of({"a.js": moved + use}, {"a.js": use, "b.js": PATTERN + use}))
    assert ("code-regex-polynomial" in rules(found)) == reported


@table(
    ("old", "reported"),
    [("$USER", False), ("${USER}", True), ("$HOME", True)],
)
def test_quotes_around_a_variable_are_no_news(old: str, reported: bool) -> None:
    before, after = (f"#!/bin/sh\nH=$(eval echo ~{each})\n" for each in (old, '"$USER"'))
    found = review(subject_of({"a.sh": before}, {"a.sh": after}))
    assert ("code-sh-eval" in rules(found)) == reported


@table(("before", "reported"), [("\u202d", False), ("x", True)])
def test_what_the_build_before_had_is_no_news(before: str, reported: bool) -> None:
    def built(sign: str, name: str) -> str:
        return f"const {name} = `{sign}`;" + "f();" * 2_000 + "\n"

    found = review(
        subject_of({"app.js": built(before, "a")}, {"app.js": built("\u202d", "b")})
    )
    assert ("code-bidi" in rules(found)) == reported


def test_a_word_elsewhere_in_the_file_puts_nothing_into_effect() -> None:
    line = "await R.exec(`DELETE FROM groups WHERE name = '${name}'`);\n"
    after = line + "// Ask by query.\n"
    assert "code-js-sql" in rules(review(subject_of({}, {"a.js": after})))
    assert "code-js-sql" not in rules(review(subject_of({"a.js": line}, {"a.js": after})))


@table(
    ("gone", "reported"),
    [('"(\\\\$\\\\d+)+$"', False), ('"(\\\\d+)+$"', True)],
)
def test_a_pattern_that_moved_to_another_language_is_no_news(
    gone: str, reported: bool
) -> None:
    java = f"class A {{\n  static final Pattern P = Pattern.compile({gone});\n}}\n"
    kotlin = 'object A {\n  val P = Pattern.compile("(\\\\$\\\\d+)+$")\n  fun f(s: String) = P.matcher(s)\n}\n'
    found = review(subject_of({"src/A.java": java}, {"src/A.java": "", "src/A.kt": kotlin}))
    assert any(each.startswith("code-regex") for each in rules(found)) == reported


def test_a_line_that_several_files_gave_away_is_no_news_in_one_of_them() -> None:
    line = "<p>{{ comment.body|raw }}</p>\n"
    rest = "".join(f"<p>{number}</p>\n" for number in range(9))
    old = {f"{name}.twig": line + rest for name in "ab"}
    new = dict.fromkeys(old, rest) | {"a.twig": rest + line * 2}
    assert "code-template-html" in rules(review(subject_of({}, {"a.twig": line})))
    assert "code-template-html" not in rules(review(subject_of(old, new)))


def test_finding_says_where_and_what() -> None:
    (finding,) = reviewed(new_file("pack.py", SHELL_CALL)).findings
    assert (finding.path, finding.line, finding.end_line) == ("pack.py", 4, 8)
    assert finding.evidence == "subprocess.run("
    assert finding.severity is Severity.HIGH


def test_fingerprint_stays_when_code_above_moves() -> None:
    (before,) = reviewed(new_file("pack.py", SHELL_CALL)).findings
    (after,) = reviewed(new_file("pack.py", "# a comment\n\n" + SHELL_CALL)).findings
    assert after.fingerprint == before.fingerprint
    assert after.line == (before.line or 0) + 2


def test_suggestion_is_the_replacement() -> None:
    (finding,) = reviewed(
        new_file("a.py", "import yaml\nx = yaml.load(open(path).read())\n")
    ).findings
    assert finding.suggestion and finding.suggestion.endswith(
        "+x = yaml.safe_load(open(path).read())"
    )


KEY = key()


@table(
    ("before", "shown"),
    [
        ("", "subprocess.run("),
        ("x = 1; ", "x = 1; subprocess.run("),
        (f"x = {'1 + ' * 60}1; ", "... + 1 + 1"),
        # Its head is cut off: what is left of it is no key any more.
        (f"x = {'1 + ' * 60}1; k = '{KEY}'; y = 'aaaaaaaa'; ", "..."),
    ],
)
def test_a_long_line_is_cut_around_the_place(before: str, shown: str) -> None:
    call = 'subprocess.run("ls " + name, shell=True)'
    line = f"    {before}{call}; z = {'1 + ' * 60}1"
    report = reviewed(new_file("a.py", f"import subprocess\ndef f(name):\n{line}\n"))
    [finding] = [each for each in report.findings if each.rule == "code-python-shell"]
    assert finding.evidence.startswith(shown) and finding.evidence.endswith("...")
    assert call in finding.evidence and len(finding.evidence) <= 126
    assert KEY[4:10] not in finding.evidence and KEY[-4:] not in finding.evidence


def test_evidence_is_short() -> None:
    (finding,) = reviewed(new_file("a.py", f"x = eval(text)  # {'long ' * 100}\n")).findings
    assert len(finding.evidence) == 120


@table("path", ["docs/pack.py", "examples/pack.py"])
def test_severity_is_one_step_lower_in_examples(path: str) -> None:
    (finding,) = reviewed(new_file(path, SHELL_CALL)).findings
    assert finding.severity is Severity.MEDIUM


@table("path", ["tests/pack.py", "src/test_pack.py", "pkg/fixtures/pack.py"])
def test_what_would_be_advice_in_tests_is_not_told(path: str) -> None:
    assert not reviewed(new_file(path, SHELL_CALL)).findings


def test_rule_about_workflows_keeps_its_severity_and_its_line() -> None:
    steps = "      - run: |\n          set -e\n          echo ${{ github.head_ref }}"
    text = f"permissions: {{}}\njobs:\n  a:\n    steps:\n{steps}"
    path = ".github/workflows/test_it.yml"
    (finding,) = reviewed(new_file(path, text)).findings
    assert (finding.rule, finding.line, finding.severity) == (
        "code-workflow-injection",
        7,
        Severity.HIGH,
    )
    assert not reviewed(edited(path, text, 6), texts={path: text}).findings


def test_script_without_an_ending_is_read_by_its_first_line() -> None:
    assert rules(
        reviewed(new_file("bin/run", '#!/usr/bin/env bash\neval "$command"\n'))
    ) == ["code-sh-eval"]
    assert rules(reviewed(new_file("bin/run", '#!/bin/cat\neval "$command"\n'))) == []


def test_broken_text_is_read_as_far_as_it_parses() -> None:
    report = reviewed(new_file("a.py", "def f(:\n    x = eval(text)\n  ]]\n"))
    assert rules(report) == ["code-python-eval"]


def test_many_findings_of_a_rule_are_cut_and_counted() -> None:
    report = reviewed(new_file("a.py", "x = eval(text)\n" * 60))
    assert len(report.findings) == 50
    assert [s.reason for s in report.skipped] == [
        "code: 10 more findings of code-python-eval"
    ]


def test_what_is_not_reviewed_is_named() -> None:
    report = reviewed(new_file("a.py", "x = eval(" + "(" * 300 + "1" + ")" * 301 + "\n"))
    assert report.findings == ()
    assert [(s.path, s.reason, s.asks) for s in report.skipped] == [
        ("a.py", "code: brackets nest deeper than 200", True)
    ]


@table(
    "path",
    ["lib/a.min.js", "vendor/a/a.js", "node_modules/a/a.js", "dist/a.js", "a.bundle.js"],
)
@table("text", ["eval(text);\n", "eval(text);" * 600 + "\n"], ids=["short", "long"])
def test_a_copy_or_a_build_is_judged_by_its_code(path: str, text: str) -> None:
    assert rules(reviewed(new_file(path, text))) == ["code-js-eval"]


@table(
    "header",
    [
        "# @generated",
        "# Code generated by protoc. DO NOT EDIT.",
        "# automatically generated",
        "# " + "z" * 4_000,
    ],
    ids=["mark", "go", "words", "long"],
)
@table("path", ["a.py", "dist/a.py", "build/a.py", "a_pb2.py", "generated.py"])
def test_no_header_or_name_of_output_switches_the_rules_off(path: str, header: str) -> None:
    report = reviewed(new_file(path, f"{header}\nx = eval(text)\n"))
    assert (rules(report), report.skipped) == (["code-python-eval"], ())


PADDING = "a" * 5_000


@table(
    ("path", "code"),
    [
        ("a.js", '/*{}*/ require("child_process").exec("r " + process.argv[2])'),
        (
            "a.ts",
            '/*{}*/ import {{exec}} from "child_process"; exec("r " + process.argv[2])',
        ),
        ("a.tsx", "/*{}*/ eval(location.hash.slice(1))"),
        ("a.php", "<?php /*{}*/ system($_GET['c']);"),
        (
            "a.cs",
            '/*{}*/ class A {{ void F(string n) {{ Process.Start("cmd", "/c r " + n); }} }}',
        ),
        ("a.kt", '/*{}*/ fun f(n: String) {{ Runtime.getRuntime().exec("r " + n) }}'),
        (
            "a.rs",
            '/*{}*/ fn f(n: &str) {{ Command::new("sh").arg("-c").arg(format!("r {{}}", n)); }}',
        ),
        ("a.c", "/*{}*/ int main(int c, char **v) {{ char b[9]; gets(b); system(v[1]); }}"),
        ("a.rb", '# {}\nsystem("r #{{params[:x]}}")'),
        ("a.sql", "/*{}*/ DELETE FROM t;"),
        ("a.tf", '/*{}*/ resource "aws_s3_bucket" "a" {{ acl = "public-read" }}'),
        ("a.py", "# {}\nx = eval(text)"),
        ("vendor/a.min.js", "/*{}*/ eval(location.hash.slice(1))"),
        (
            "a.vue",
            "<p v-html='x'/><script lang=ts>/*{}*/ eval(location.hash.slice(1))</script>",
        ),
        ("a.html", "<!--{}--><SCRIPT>eval(location.hash.slice(1))</SCRIPT>"),
    ],
)
@table("padding", ["", PADDING], ids=["plain", "padded"])
def test_a_padded_line_is_judged_as_a_plain_one(path: str, code: str, padding: str) -> None:
    report = reviewed(new_file(path, code.format(padding) + "\n"))
    assert report.findings and report.skipped == ()


@near_misses(
    "page",
    [
        "<!-- <script>eval(location.hash.slice(1))</script> --><p>a</p>",
        "<script type='text/x-template'>eval(location.hash.slice(1))</script>",
        "<pre>eval(location.hash.slice(1))</pre><script>let a = 1</script>",
    ],
)
def test_what_is_no_script_of_a_page_is_not_judged(page: str) -> None:
    assert reviewed(new_file("a.html", page + "\n")).findings == ()


POD = """{
  "apiVersion": "v1",
  "kind": "Pod",
  "spec": {
    "containers": [
      {
        "name": "app",
        "securityContext": {"privileged": %s}
      }
    ]
  }
}
"""


@table(
    ("path", "text", "expected"),
    [
        ("pod.json", POD % "true", [("code-kubernetes-privileged", 8)]),
        ("pod.json", POD % "false", []),
        ("other.json", (POD % "true").replace("apiVersion", "version"), []),
        ("pod.js", f"pod = {POD % 'true'}", []),
    ],
)
def test_a_manifest_in_json_is_judged_as_one_in_yaml(
    path: str, text: str, expected: list[tuple[str, int]]
) -> None:
    found = reviewed(new_file(path, text)).findings
    assert [(each.rule, each.line) for each in found] == expected


@table("sign", ["z", "("])
def test_a_long_line_is_parsed_unless_it_nests_too_deep(sign: str) -> None:
    report = reviewed(new_file("a.py", f"# {sign * 1_000_000}\nx = eval(text)\n"))
    assert len(report.findings) == (sign == "z")
    left_out = [("code: brackets nest deeper than 200", True)] if sign == "(" else []
    assert [(s.reason, s.asks) for s in report.skipped] == left_out


def test_file_over_the_limit_is_named() -> None:
    report = reviewed(
        new_file("a.py", "x = eval(text)\n" * 10), limits=Limits(file_chars=100)
    )
    assert [s.reason for s in report.skipped] == ["code: over 100 characters"]


def test_edit_without_the_whole_text_is_named() -> None:
    report = reviewed(edited("a.py", "x = eval(text)\n", 1))
    assert [(s.path, s.reason) for s in report.skipped] == [
        ("a.py", "code: whole text not available")
    ]


DEEP = "x = " + "(" * 300 + "1" + ")" * 300 + "\n"
BROKEN = "def f(:\nelse:\n  y = [\n"
TEMPLATE = "x = [{% for a in b %}\n  1,\n{% endfor %}]\n{%- endif %}\n" * 2
BIG = "".join(f"x{n} = input()\n" for n in range(600)) + "y = eval(x1)\n"


@table(
    ("before", "after", "asks"),
    [
        ("a = 1\n", DEEP + "b = eval(a)\n", [True]),
        (DEEP + "a = 1\n", DEEP + "b = eval(a)\n", [False]),
        ("a = 1\n", BIG, [True]),
        (BIG, BIG + "b = 1\n", [False]),
        ("a = 1\n", f"b = eval(a)\n{BROKEN}", [True]),
        (BROKEN, f"b = eval(a)\n{BROKEN}", [False]),
        ("a = 1\n", f"b = eval(a)\n{TEMPLATE}", [False]),
        ("a = 1\n", f"a = 1\n{BROKEN}", []),
    ],
)
def test_what_was_too_much_before_asks_nobody(
    before: str, after: str, asks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_reader, "MOST_NODES", 3_000)
    assert [
        each.asks for each in review(subject_of({"a.py": before}, {"a.py": after})).skipped
    ] == asks


@table(
    ("old", "new", "asks"),
    [
        ("build/app.7e80961f.js", "build/app.6f6a5de2.js", False),
        ("build/app-7e80961f.min.js", "build/app-6f6a5de2.min.js", False),
        ("js/4.1.1/app.min.js", "js/5.0.0a1/app.min.js", False),
        ("build/app.7e80961f.js", "other/app.6f6a5de2.js", True),
        ("build/app.7e80961f.js", "build/views.7e80961f.js", True),
    ],
)
def test_a_bundle_with_another_hash_in_its_name_was_too_much_before(
    old: str, new: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_reader, "MOST_NODES", 3_000)
    before = "x = process.argv[2]; " * 600 + "eval(x);\n"
    after = "number(process.argv[2]).then(y); " * 900 + "eval(y);\n"
    changes = changes_between({old: before}, {new: after})
    contents = SnapshotContents({old: before}, {new: after})
    subject = ReviewInput("pre-commit", changes, contents)
    assert [each.asks for each in review(subject).skipped] == [asks]


@table(("calls", "asks"), [(2_000, []), (6_000, [True])])
def test_many_matches_in_one_long_line_are_cut_by_their_number(
    calls: int, asks: list[bool]
) -> None:
    report = reviewed(new_file("a.py", "eval(data);" * calls + "#" + "x" * 28_000 + "\n"))
    assert [each.rule for each in report.findings] == ["code-python-eval"]
    assert [each.asks for each in report.skipped] == asks


def test_deleted_file_is_no_concern() -> None:
    change = FileChange("a.py", Status.DELETED, new_mode="000000", size=9_000_000)
    assert reviewed(change).findings == ()


def test_findings_are_in_order_of_path_line_and_rule() -> None:
    text = "x = eval(a)\nbreakpoint()\ny = eval(b)\n"
    found = reviewed(new_file("b.py", text), new_file("a.py", text)).findings
    assert [(f.path, f.line) for f in found] == [
        (p, n) for p in ("a.py", "b.py") for n in (1, 2, 3)
    ]


# As many bytes a level as 20,000 levels have of the usual 8 MB; the time to parse grows faster than the levels.
DEEP = 5_000
STACK_BYTES = 2 << 20


@table(
    ("name", "text"),
    [
        pytest.param(
            "a.py",
            'cur.execute("select a from b" + ' + '"c" + x +\n' * DEEP + "1)\n",
            id="python-sum",
        ),
        pytest.param(
            "a.js",
            'db.query("select a from b" + ' + '"c" + x +\n' * DEEP + "1)\n",
            id="js-sum",
        ),
        pytest.param(
            "a.go",
            'var _ = db.Query("select a from b" + ' + '"c" + x +\n' * DEEP + "1)\n",
            id="go-sum",
        ),
        pytest.param(
            "a.js", "token = " + "a ? b :\n" * DEEP + "Math.random()\n", id="js-choice"
        ),
    ],
)
def test_deep_tree_does_not_exhaust_the_stack(name: str, text: str) -> None:
    before = threading.stack_size(STACK_BYTES)
    try:
        with ThreadPoolExecutor(1) as pool:
            report = pool.submit(reviewed, new_file(name, text)).result()
    finally:
        threading.stack_size(before)
    assert len(report.findings) <= 1


PATHS = (
    "a.py",
    "a.tsx",
    "a.go",
    "A.java",
    "a.sh",
    ".github/workflows/a.yml",
    "Dockerfile",
    "a.sql",
    "a.md",
)
PIECES = (
    *(
        "eval(x)",
        'eval "$x"',
        "<<<<<<< a",
        "=======",
        ">>>>>>> b",
        "FROM a",
        "USER root",
        "DELETE FROM t",
        ";",
    ),
    *(
        "$$",
        "/*",
        "*/",
        "{",
        ")",
        "run: |",
        "  echo ${{ github.head_ref }}",
        "\\",
        "\ud800",
        "\x00",
        "\r",
        "",
        "```",
    ),
    *("'", "--"),
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(PATHS),
    st.lists(st.sampled_from(PIECES), max_size=12),
    st.sets(st.integers(1, 12)),
)
def test_every_finding_touches_an_added_line(
    path: str, lines: list[str], added: set[int]
) -> None:
    text = "".join(f"{line}\n" for line in lines)
    change = edited(path, text, *sorted(n for n in added if n <= len(lines)))
    subject = ReviewInput("test", ChangeSet((change,)), Texts({path: text}))
    report = review(subject)
    assert report == review(subject)
    for finding in report.findings:
        assert finding.line is not None and 1 <= finding.line <= len(lines)
        assert change.touches(finding.line, finding.end_line)


@table(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("src/a_test.go", True),
        ("src/a.spec.ts", True),
        ("src/contest/a.py", False),
        ("src/latest.py", False),
        ("attest/a.py", False),
    ],
)
def test_is_test_or_example(path: str, expected: bool) -> None:
    assert is_test_or_example(path) is expected


def test_readme_asks_for_no_rules() -> None:
    assert line_topics("README.md") == ()
    assert (
        line_topics("deploy/api.Dockerfile") == line_topics("Dockerfile.dev") == ("docker",)
    )
    assert line_topics("db/1.sql") == ("source", "sql")


def test_symlink_and_binary_are_not_parsed() -> None:
    assert reviewed(new_file("a.py", "x = eval(text)\n", kind=Kind.BINARY)).findings == ()


WORKFLOW = ".github/workflows/ci.yml"
PINNED = "acme/deploy@8e5e7e5ab8b370d6c329ec480221332ada57f0ab"


@table(
    ("before", "after", "lines"),
    [
        pytest.param((), ("acme/deploy@v1", "acme/test@v1"), [5], id="once a file"),
        pytest.param(("acme/deploy@v1",), ("acme/deploy@v2",), [], id="another tag"),
        pytest.param(
            ("acme/deploy@v1",),
            ("acme/deploy@v1", "acme/test@v1"),
            [6],
            id="another action",
        ),
        pytest.param((PINNED,), ("acme/deploy@v2",), [5], id="no longer pinned"),
    ],
)
def test_an_action_that_is_not_pinned(
    before: tuple[str, ...], after: tuple[str, ...], lines: list[int]
) -> None:
    old, new = (
        "on: push\njobs:\n  a:\n    steps:\n"
        + "".join(f"      - uses: {action}\n" for action in actions)
        for actions in (before, after)
    )
    found = review(subject_of({WORKFLOW: old}, {WORKFLOW: new})).findings
    assert [each.line for each in found if each.rule == "code-workflow-unpinned"] == lines


def test_what_a_bundle_held_before_is_not_told() -> None:
    start = "let a = 1;" * 2_000
    old = f"{start}new Function(e);\n"
    assert (
        rules(review(subject_of({"a.js": old}, {"a.js": f"{start}b();new Function(n);\n"})))
        == []
    )
    for new in ("new Function(e);new Function(n);", "new Function(atob(text));"):
        found = review(subject_of({"a.js": old}, {"a.js": f"{start}{new}\n"}))
        assert rules(found) == ["code-js-eval"]
    # Lines as people write them are compared one by one.
    found = review(subject_of({"a.js": "eval(e);\n"}, {"a.js": "let a;\neval(n);\n"}))
    assert rules(found) == ["code-js-eval"]


@table(
    ("old", "new", "line"),
    [
        (None, 'import os\n\ndef run(x:\n    os.system("ls " + x)\n', 3),
        (None, 'import os\nx = = 1\nos.system("ls " + x)\n', 2),
        (None, 'import os\nos.system("ls " + x)\n', 0),
        # Read as Python 2 or a newer Python by the grammar alone.
        (None, 'import os\nprint "x"\nos.system("ls " + x)\n', 0),
        ("x = = 1\n", 'x = = 1\nimport os\nos.system("ls " + x)\n', 0),
    ],
)
def test_python_that_does_not_parse_is_said_once(
    old: str | None, new: str, line: int
) -> None:
    before = {"a.py": old} if old else {}
    changes = changes_between(before, {"a.py": new})
    contents = SnapshotContents(before, {"a.py": new})
    report = review(ReviewInput("test", changes, contents))
    said = [f"code: line {line} is no valid Python, so what follows it may be misread"]
    assert [each.reason for each in report.skipped] == (said if line else [])
    assert not any(each.asks for each in report.skipped)
