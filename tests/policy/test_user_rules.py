"""A repository's own rules as files: what is read, what is refused with which line, and what a change weakens."""

import re
from pathlib import Path

import pytest
from examples import table
from watching import cpu_seconds

from cli_guard.errors import ConfigError
from cli_guard.model import Confidence, Severity
from cli_guard.policy.user_rules import (
    MOST_CHARS,
    MOST_FILES,
    MOST_RULES,
    check_bounded,
    cut_all,
    is_rule_file,
    read_rules,
    weaker_user_rules,
)
from cli_guard.reviewers.code.tree_rules import check_user_rules

PATH = ".cli-guard/rules/ours.yml"
RULE = """\
id: user-no-debug-sql
language: Python
message: $CALL prints SQL
metadata:
  severity: high
  why: Logs are read by people who must not see customers.
  remedy: Use log.sql().
rule:
  pattern: print_sql($$$)
"""
OTHER = RULE.replace("no-debug-sql", "other")


def problem(text: str, path: str = PATH) -> str:
    with pytest.raises(ConfigError) as found:
        check_user_rules(read_rules({path: text}))
    assert "\n" not in str(found.value)
    return str(found.value)


def test_a_rule_has_our_form_and_its_place() -> None:
    users = read_rules(
        {PATH: f"# ours\n{RULE}---\n{OTHER}", ".cli-guard/rules/empty.yml": "# none\n"}
    )
    check_user_rules(users)
    assert users.places == {"user-no-debug-sql": f"{PATH}:2", "user-other": f"{PATH}:11"}
    rule, _ = users.rules_for("python")
    assert (rule.severity, rule.confidence, rule.title) == (
        Severity.HIGH,
        Confidence.MEDIUM,
        "$CALL prints SQL",
    )
    assert not users.rules_for("go") and users.digest != read_rules({PATH: RULE}).digest
    assert not read_rules({}).digest


@table(
    ("old", "new", "told"),
    [
        ("id: user-no-debug-sql", "id: no-debug-sql", ":1: 'id': String should match pattern '^user-"),
        ("id: user-no-debug-sql\n", "", ":1: 'id' is missing"),
        ("severity: high", "severty: high", ":1: unknown key 'metadata.severty'; did you mean 'severity'?"),
        ("severity: high", "severity: grave", ":1: 'metadata.severity': must be 'critical', 'high'"),
        ("rule:", "rules:", ":1: unknown key 'rules'; did you mean 'rule'?"),
        ("  remedy: Use log.sql().\n", "", ":1: 'metadata.remedy' is missing"),
        ("language: Python", "language: Cobol", ":1: no language 'Cobol': choose of bash, c, "),
        ("  pattern: print_sql($$$)", "  kind: nothing", "is not one of ast-grep: `rule` is not configured correctly"),
        ("  pattern: print_sql($$$)", "  patern: x", "is not one of ast-grep: unknown field `patern`"),
        ("  pattern: print_sql($$$)", "  regex: '(?=x)'", "is not one of ast-grep: "),
        ("  pattern: print_sql($$$)", "  matches: literal", "Rule `literal` is not defined"),
        ("  pattern: print_sql($$$)", "  pattern: [", ":10: not valid YAML: "),
        ("  pattern: print_sql($$$)", "  - a", ":1: 'rule': must be a table of keys and values"),
        ("  severity: high", "  severity: high\n  when: (a+)+b", "unknown key 'metadata.when'"),
        ("  severity: high", "  severity: high\n  paths: (a+)+b", ":1: 'metadata.paths': repeats a group"),
        ("  severity: high", "  severity: high\n  paths: '['", ":1: 'metadata.paths': is no regular expression"),
        ("  why: Logs", "  why: &x Logs\n  title: *x\n  source: Logs", ":7: aliases are not supported"),
        ("  pattern: print_sql($$$)", "  pattern: !!python/name:os.system ''", "could not determine a constructor"),
        ("  pattern: print_sql($$$)", f"  any: {'[' * 30}{']' * 30}", ":9: nested deeper than 20"),
        ("  pattern: print_sql($$$)", f"  any: [{'{kind: a}, ' * 200}]", "more than 300 parts"),
        (
            "  pattern: print_sql($$$)",
            "  {kind: a, has: {stopBy: end, has: {stopBy: end, inside: {stopBy: end, kind: b}}}}",
            "more than 2 stopBy inside each other",
        ),
        (RULE, "- a\n- b\n", ":1: a rule is a table with id"),
        (RULE, "text\n", ":1: a rule is a table with id"),
        (RULE, "a: 2020-99-99\n", ":1: not valid YAML: month must be"),
        (RULE, "\0", ":1: not valid YAML: unacceptable character"),
        (RULE, f"{RULE}---\n{RULE}", f":10: user-no-debug-sql is in {PATH}:1 too"),
        (RULE, "x" * (MOST_CHARS + 1), f"more than {MOST_CHARS:,} characters"),
        (RULE, "---\n".join(RULE.replace("sql", f"sql-{n}") for n in range(MOST_RULES + 1)), "more than 200 rules"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_one_line_with_its_place(old: str, new: str, told: str) -> None:
    assert RULE.count(old) == 1
    found = problem(RULE.replace(old, new))
    assert found.startswith(PATH) and told in found


def test_the_number_of_files_is_bounded() -> None:
    with pytest.raises(
        ConfigError, match=f"{MOST_FILES + 1} files, of at most {MOST_FILES}"
    ):
        read_rules({f".cli-guard/rules/{n}.yml": "" for n in range(MOST_FILES + 1)})


def test_hostile_files_are_refused_at_once() -> None:
    with cpu_seconds(5):
        bomb = "a: &a [x,x,x,x,x,x,x,x]\n" + "".join(
            f"{b}: &{b} [*{a},*{a},*{a}]\n"
            for a, b in zip("abcdefg", "bcdefgh", strict=False)
        )
        for text in (
            bomb,
            "[" * 90_000,
            "{a: " * 20_000,
            "- " * 40_000,
            RULE + "  regex: a{999}{999}{999}\n",
        ):
            problem(text)


TABLE = """\
language = "python"
[[source]]
reads = 'bus\\.message\\.(body|headers)'
what = "a message of the bus"
[[sink]]
kind = "command"
call = '(.*\\.)?run_on_host'
arguments = [0, "command"]
remedy = "Use hosts.run(list)."
[[sanitizer]]
call = 'hosts\\.quote'
kinds = ["command"]
[[guard]]
condition = 'hosts\\.is_known\\({x}\\)'
kinds = ["command"]
[[step]]
call = 'bus\\.unpack'
"""
FLOWS = ".cli-guard/rules/bus.toml"


def test_a_flow_table_has_our_form() -> None:
    users = read_rules({FLOWS: TABLE})
    assert [each.section for each in users.flows] == [
        "source",
        "sink",
        "sanitizer",
        "guard",
        "step",
    ]
    assert {each.language for each in users.flows} == {"python"} and users.digest
    assert [each.only_loosens for each in users.flows] == [False, False, True, True, False]


@table(
    ("old", "new", "told"),
    [
        ('language = "python"\n', "", "language is None: it must be one of bash, c"),
        (
            'language = "python"',
            'language = "cobol"',
            "language is 'cobol': it must be one of",
        ),
        ("[[source]]", "[[sources]]", "unknown table 'sources': write [[source]]"),
        ("[[source]]", "[source]", "unknown table 'source': write [[source]]"),
        ("reads = ", "read = ", "the [[source]] number 1: names nothing to match"),
        (
            'what = "a',
            'wat = "a',
            "the [[source]] number 1: unknown key 'wat'; did you mean 'what'?",
        ),
        (
            'kind = "command"',
            'kind = "comand"',
            "the [[sink]] number 1: unknown kind 'comand'",
        ),
        ('kind = "command"\n', "", "the [[sink]] number 1: unknown kind ''"),
        ("call = '(.*", "call = '(.*a)*(.*", "the [[sink]] number 1: repeats a group"),
        (
            "call = 'hosts",
            "call = '(hosts",
            "the [[sanitizer]] number 1: is no regular expression",
        ),
        ("{x}", "x", "the [[guard]] number 1: 'condition' must hold {x} once"),
        ("[0, ", "0 #", "the [[sink]] number 1: 'arguments' must be a list"),
        ("[[step]]", "[[step", "not valid TOML: "),
    ],
)
def test_a_broken_flow_table_is_one_line(old: str, new: str, told: str) -> None:
    assert old in TABLE
    found = problem(TABLE.replace(old, new, 1), FLOWS)
    assert found.startswith(f"{FLOWS}: ") and told in found


@table(
    ("old", "new", "told"),
    [
        (TABLE, 'language = "go"\n', "the source"),
        ("(body|headers)", "body", "the source"),
        ("arguments = [0,", "arguments = [", "the sink"),
        ('language = "python"', 'language = "ruby"', "was removed or changed"),
        ("call = 'hosts", "call = '.*hosts", "a new sanitizer"),
        ("call = 'bus", "drops = true\ncall = 'bus", "was removed or changed"),
        ("a message of the bus", "a message", ""),
        ("Use hosts.run(list).", "Leave it out.", ""),
        ("[[sanitizer]]", "[[source]]\nreads = 'bus.more'\n[[sanitizer]]", ""),
    ],
)
def test_what_weakens_a_flow_table(old: str, new: str, told: str) -> None:
    found = list(
        weaker_user_rules(
            read_rules({FLOWS: TABLE}), read_rules({FLOWS: TABLE.replace(old, new)})
        )
    )
    assert bool(found) == bool(told) and told in "".join(found)


@table(
    ("pattern", "bounded"),
    [
        ("", True),
        (r"^src/.*\.py$", True),
        (r"(^|/)api/[^/]+\.(ts|js)$", True),
        (r"[a-z)*]+", True),
        (r"(?:a|b)?c", True),
        (r"\)*", True),
        ("(a+)+", False),
        ("(?:a|aa)*b", False),
        ("(a){2,}", False),
        (r"(a)\1", False),
        ("(?P<x>a)(?P=x)", False),
        ("(?=a)", False),
        ("(?<!a)b", False),
        (".*a.*b.*", False),
        ("a{1,50}b{1,50}c{1,50}", False),
        ("(", False),
    ],
)
def test_only_regular_expressions_that_take_little_time(
    pattern: str, bounded: bool
) -> None:
    if bounded:
        assert check_bounded(pattern) == pattern
        return
    with pytest.raises(ValueError, match=r"too long|is no regular expression"):
        check_bounded(pattern)


@table(
    ("path", "read"),
    [
        (".cli-guard/rules/a.yml", True),
        (".cli-guard/rules/a.yaml", True),
        (".cli-guard/rules/README.md", False),
        (".cli-guard/rules/more/a.yml", False),
        ("docs/.cli-guard/rules/a.yml", False),
        (".cli-guard/signers", False),
    ],
)
def test_rules_are_read_from_one_folder(path: str, read: bool) -> None:
    assert is_rule_file(path) is read


@table(
    ("old", "new", "told"),
    [
        (RULE, "", "the rule user-no-debug-sql was removed"),
        (
            "id: user-no-debug-sql",
            "id: user-renamed",
            "the rule user-no-debug-sql was removed",
        ),
        (
            "severity: high",
            "severity: low",
            "the rule user-no-debug-sql changes from high to low",
        ),
        (
            "print_sql($$$)",
            "print_sql($A)",
            "the rule user-no-debug-sql may find something else",
        ),
        (
            "language: Python",
            "language: Go",
            "the rule user-no-debug-sql may find something else",
        ),
        ("severity: high", "severity: high\n  confidence: low", "may find something else"),
        ("severity: high", "severity: high\n  paths: ^src/", "may find something else"),
        ("severity: high", "severity: high\n  in_tests: 'off'", "may find something else"),
        ("severity: high", "severity: high\n  unless: [x]", "may find something else"),
        ("rule:", "constraints: {A: {regex: x}}\nrule:", "may find something else"),
        # What explains it, or makes it graver, or another rule beside it.
        ("severity: high", "severity: critical", ""),
        ("Use log.sql().", "Leave it out.", ""),
        ("$CALL prints SQL", "this prints SQL", ""),
        ("severity: high", "severity: high\n  fires: [x]", ""),
        ("rule:", "fix: log.sql()\nrule:", ""),
        (RULE, f"{OTHER}---\n{RULE}", ""),
    ],
)
def test_what_weakens_a_rule(old: str, new: str, told: str) -> None:
    before = read_rules({PATH: RULE})
    after = read_rules({PATH: RULE.replace(old, new)})
    found = list(weaker_user_rules(before, after))
    assert len(found) == bool(told) and told in "".join(found)


def test_the_rules_of_the_page_are_read() -> None:
    page = (Path(__file__).parents[2] / "docs" / "code.md").read_text("utf-8")
    blocks = re.findall(r"^```(yaml|toml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    users = read_rules({f".cli-guard/rules/page.{kind}": text for kind, text in blocks})
    check_user_rules(users)
    assert set(users.documents) == {"user-no-sleep"} and len(users.flows) == 5
    document = users.documents["user-no-sleep"]
    shown = set(
        re.findall(
            r"^  (\w+):",
            dict(blocks)["yaml"].partition("metadata:")[2].partition("rule:")[0],
            re.M,
        )
    )
    assert shown == set(type(document.metadata).model_fields) - {"fires", "silent"}


def test_a_hostile_pattern_sees_little_of_a_long_text() -> None:
    patterns = cut_all({"paths": re.compile(check_bounded(".*a.*b"))})
    with cpu_seconds(5):
        assert patterns["paths"].search("a" * 1_000_000) is None
        assert patterns["paths"].fullmatch("a" * 1_000_000) is None
        assert patterns["paths"].search("xayb" + "c" * 1_000_000) and patterns[
            "paths"
        ].fullmatch("ab")
