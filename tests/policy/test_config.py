"""The configuration: what it accepts, and what it says of what it does not."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.commands.model import Pattern
from cli_guard.errors import ConfigError
from cli_guard.model import Decision
from cli_guard.policy.config import (
    Config,
    json_schema,
    parse_config,
    read_config,
    read_user_config,
)
from cli_guard.rules.catalog import load_all

SCHEMA = Path(__file__).parents[2] / "docs" / "cli-guard.schema.json"
EXAMPLE = """
[decisions]
critical = "deny"
high = "review"
[rules]
"docs-*" = "off"
[[ignore]]
rule = "secret-*"
path = "fixtures/**"
reason = "fake keys of the test-suite"
expires = 2027-06-30
[limits]
files = 2000
[git]
protected_branches = ["main", "release/*"]
[message]
style = "conventional"
[commands]
review = ["git push *"]
[[commands.deny]]
pattern = "terraform destroy *"
reason = "only the pipeline does that"
match = ["terraform -chdir=prod destroy -auto-approve", "sudo terraform destroy"]
not_match = ["terraform plan -destroy", "echo terraform destroy"]
"""


def read(files: Mapping[str, str | bytes]) -> Any:
    raw = {
        name: text.encode() if isinstance(text, str) else text
        for name, text in files.items()
    }
    return read_config(raw.get, " at HEAD")


def test_reads_either_file() -> None:
    own = read({"cli-guard.toml": EXAMPLE})
    shared = read({"pyproject.toml": re.sub(r"(?m)^(\[+)", r"\1tool.cli-guard.", EXAMPLE)})
    assert own[0] == shared[0]
    assert own[0].limits.files == 2000
    assert (own[1], shared[1]) == ("cli-guard.toml at HEAD", "pyproject.toml at HEAD")


@table(
    "files",
    [
        {},
        {"pyproject.toml": '[project]\nname = "x"\n'},
        {"pyproject.toml": "not TOML at all"},
        {"pyproject.toml": b"\xff"},
        {"pyproject.toml": '[project]\ndependencies = ["cli-guard"]\n'},
        {"pyproject.toml": 'tool = "cli-guard"\n'},
    ],
    ids=[
        "no file",
        "no table",
        "broken but not ours",
        "not text",
        "only named",
        "tool is no table",
    ],
)
def test_needs_no_file(files: dict[str, str | bytes]) -> None:
    assert read(files) is None


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert read({"cli-guard.toml": "\ufeff[limits]\nfiles = 7\n"})[0].limits.files == 7


@table(
    ("text", "says"),
    [
        ("[desicions]\nhigh = 'deny'", "'desicions'; did you mean 'decisions'?"),
        ("[limits]\nfile = 3", "'limits.file'; did you mean 'files'?"),
        ("[git]\nprotected = []", "'git.protected'; did you mean 'protected_branches'?"),
        ("[message]\nstile = 'plain'", "'message.stile'; did you mean 'style'?"),
        ("[[ignore]]\nrul = 'docs-*'\nreason = 'because'", "did you mean 'rule'?"),
        ("zzz = 1", "unknown key 'zzz'"),
        ("[decisions]\ncritcal = 'deny'", "'critical'"),
        (
            "[decisions]\nhigh = 'block'",
            "'deny', 'review', 'advise' or 'off' (got 'block')",
        ),
        ("[rules]\n'docs-*' = 'no'", "'rules.docs-*'"),
        (
            "[rules]\n'secret-asw-key' = 'off'",
            "there is no rule 'secret-asw-key'; did you mean 'secret-",
        ),
        ("[rules]\n'nothing-*' = 'off'", "there is no rule 'nothing-*'"),
        ("[[ignore]]\nrule = 'doc-*'\nreason = 'because'", "there is no rule 'doc-*'"),
        ("[[ignore]]\nrule = 'docs-*'", "'ignore.0.reason' is missing"),
        ("[[ignore]]\nreason = 'because'", "'ignore.0.rule' is missing"),
        ("[[ignore]]\nrule = 'docs-*'\nreason = ''", "'ignore.0.reason'"),
        (
            "[[ignore]]\nrule = 'docs-*'\nreason = 'because'\nexpires = 'soon'",
            "'ignore.0.expires'",
        ),
        ("[limits]\nfiles = 'many'", "'limits.files'"),
        ("[limits]\nfiles = 0", "'limits.files'"),
        ("[limits]\nrounds = 0", "'limits.rounds'"),
        (
            "[limits]\ntotal_chars = 1_000_000_000_000_000_000_000_000",
            "'limits.total_chars'",
        ),
        ("[limits]\nseconds = inf", "'limits.seconds'"),
        ("[limits]\nseconds = nan", "'limits.seconds'"),
        ("limits = 3", "'limits': must be a table of keys and values"),
        ("ignore = 'docs-*'", "'ignore': must be a list (got 'docs-*')"),
        ("[checks]\nt = 'make'", "'checks.t': must be a table of keys and values"),
        (
            "[rules]\ncode-workflow-write-on-pull-request = 'off'",
            "the rule 'code-workflow-write-on-pull-request' is now called"
            " 'code-workflow-write-in-every-job'",
        ),
        ("[rules]\n'code-js-regex-*' = 'off'", "is now called 'code-regex-exponential'"),
        ("[git]\nprotected_branches = 'main'", "'git.protected_branches'"),
        ("[message]\nstyle = 'angular'", "'plain' or 'conventional'"),
        ("[commands]\ndenied = []", "'commands.denied'; did you mean 'deny'?"),
        ("[[commands.deny]]\npatern = 'rm *'", "did you mean 'pattern'?"),
        ("[[commands.deny]]\nreason = 'because'", "'commands.deny.0.pattern' is missing"),
        ("[commands]\ndeny = 'rm *'", "'commands.deny'"),
        ("[commands]\ndeny = [3]", "'commands.deny.0'"),
        ("[commands]\ndeny = ['']", "'commands.deny.0.pattern'"),
        (
            "[commands]\ndeny = ['curl * | sh']",
            "'curl * | sh' is more than the plain words of one command",
        ),
        (
            "[commands]\nreview = ['* --force']",
            "'* --force' does not begin with the name of a program",
        ),
        (
            "[commands]\nallow = ['make *']",
            "'commands.allow' belongs in the user's own file",
        ),
        (
            "[[commands.deny]]\npattern = 'rm *'\nmatch = ['echo rm x']",
            "the pattern 'rm *' does not match its example 'echo rm x'",
        ),
        (
            "[[commands.review]]\npattern = 'rm *'\nnot_match = ['ls; rm x']",
            "the pattern 'rm *' matches its example 'ls; rm x'",
        ),
        ("[limits\nfiles = 3", "line 1"),
        ("files = 1\n\nfiles = 2\n", "line 3"),
        ("a = " + "[" * 5_000, "cli-guard.toml"),
        ("a = " + "9" * 5_000, "cli-guard.toml"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read({"cli-guard.toml": text})
    line = str(raised.value)
    assert says in line
    assert line.startswith("cli-guard.toml at HEAD: ")
    assert "\n" not in line
    assert len(line) < 400


@table(
    ("files", "says"),
    [
        ({"cli-guard.toml": b"a = '\xff'"}, "not UTF-8 at byte 5"),
        ({"cli-guard.toml": "", "pyproject.toml": "[tool.cli-guard]\n"}, "exist"),
        ({"pyproject.toml": "[tool]\ncli-guard = 3\n"}, "must be a table"),
        ({"pyproject.toml": "[tool.cli-guard]\nlimit = 3\n"}, "did you mean 'limits'?"),
        ({"pyproject.toml": "[tool.cli-guard\n"}, "not valid TOML"),
        (
            {"pyproject.toml": "[tool.cli-guard.commands]\nallow = ['make']\n"},
            "belongs in the user's own file",
        ),
    ],
    ids=[
        "not UTF-8",
        "both files",
        "no table",
        "pyproject key",
        "pyproject broken",
        "pyproject allows",
    ],
)
def test_a_mistake_in_the_files(files: dict[str, str | bytes], says: str) -> None:
    with pytest.raises(ConfigError, match="at HEAD") as raised:
        read(files)
    assert says in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
TABLES = st.dictionaries(
    st.sampled_from(
        ["decisions", "rules", "ignore", "limits", "git", "message", "commands", "other"]
    ),
    JSON,
    max_size=4,
)


@settings(deadline=None)
@given(TABLES)
def test_any_data_gives_a_configuration_or_one_line(data: dict[str, Any]) -> None:
    try:
        assert isinstance(parse_config(data, "x"), Config)
    except ConfigError as error:
        assert "\n" not in str(error)


def user(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "cli-guard" / "config.toml"
    file.parent.mkdir()
    file.write_text(text)
    return read_user_config({"XDG_CONFIG_HOME": str(tmp_path)})


@table(
    "text",
    [
        "[[ignore]]\nrule = 'docs-*'\nreason = 'because'",
        "[limits]\nfiles = 3",
        "[rules]\n'docs-*' = 'off'",
        "[decisions]\nhigh = 'off'",
    ],
)
def test_a_user_file_may_not_loosen(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="tighten") as raised:
        user(tmp_path, text)
    assert str(tmp_path) in str(raised.value)


def test_a_user_file_that_tightens(tmp_path: Path) -> None:
    config = user(tmp_path, "[decisions]\nhigh = 'deny'\n[rules]\n'docs-*' = 'review'\n")
    assert config.decisions["high"] == "deny"


def test_a_user_file_holds_all_three_lists_of_commands(tmp_path: Path) -> None:
    text = "[commands]\nallow = ['make *']\nreview = ['b']\n[[commands.deny]]\npattern = 'c'\nreason = 'because'\n"
    assert user(tmp_path, text).commands.patterns == (
        Pattern("c", Decision.DENY, "because"),
        Pattern("b", Decision.REVIEW),
        Pattern("make *", Decision.ALLOW),
    )


@table(
    ("text", "says"),
    [
        ("[commands]\nallow = ['* x']", "does not begin with the name of a program"),
        (
            "[commands]\nallow = ['kube* x']",
            "'kube* x' allows programs that it does not name",
        ),
        (
            "[[commands.allow]]\npattern = 'make *'\nmatch = ['make $x']",
            "does not match its example 'make $x'",
        ),
    ],
)
def test_a_mistake_in_what_a_user_allows_allows_nothing(
    tmp_path: Path, text: str, says: str
) -> None:
    config = user(tmp_path, text)
    assert config and config.commands.patterns == ()
    assert [says in problem for problem in config.commands.problems.values()] == [True]


def test_a_mistake_in_what_a_user_denies_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ends inside quotes"):
        user(tmp_path, "[commands]\ndeny = ['make \"x']")


@table("env", [{}, {"HOME": "/nowhere"}, {"XDG_CONFIG_HOME": "/dev/null"}], ids=repr)
def test_no_user_file(env: dict[str, str]) -> None:
    assert read_user_config(env) is None


def test_the_schema_for_editors_is_up_to_date() -> None:
    assert json.loads(SCHEMA.read_text()) == json_schema()


def test_the_schema_accepts_the_example_and_nothing_unknown() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    example = json.loads(json.dumps(tomllib.loads(EXAMPLE), default=str))
    assert list(check.iter_errors(example)) == []
    mistakes: tuple[dict[str, Any], ...] = (
        {"desicions": {}},
        {"limits": {"file": 1}},
        {"ignore": [{"rule": "docs-*", "reason": "because", "paht": "x"}]},
        {"decisions": {"high": "block"}},
        {"message": {"style": "angular"}},
        {"commands": {"deny": [{"patern": "rm *"}]}},
        {"commands": {"deny": [3]}},
    )
    for wrong in mistakes:
        assert list(check.iter_errors(wrong)), wrong


def test_the_example_loads() -> None:
    config = parse_config(tomllib.loads(EXAMPLE), "x")
    assert config.ignore[0].expires is not None
    assert "docs-*" in config.rules


def test_every_rule_can_be_named() -> None:
    assert parse_config({"rules": dict.fromkeys(load_all(), "review")}, "x").rules
