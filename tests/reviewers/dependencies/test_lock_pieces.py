"""A lock file in pieces says what the parser says of the whole, however it is written."""

import json
import random
import tomllib
from typing import Any

import pytest
import yaml
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.dependencies.trees import reviewed

from cli_guard.reviewers.dependencies.pieces import (
    LockCut,
    LockPiece,
    UnreadableLock,
    cut_json,
    cut_toml,
    parse_json,
    parse_toml,
)
from cli_guard.reviewers.dependencies.yaml_pieces import cut_yaml, parse_yaml

NAMES = st.sampled_from(
    [
        "a",
        "@b/c",
        "packages",
        "x.y",
        "it's",
        'q"t',
        "e\\f",
        "é",
        "a: b",
        "#c",
        "[[package]]",
        "k ",
    ]
)
TEXTS = st.sampled_from(
    [
        "1.0.0",
        "",
        "yes",
        "sha512-a/b+c==",
        "a # b",
        "it's",
        '"q"',
        "x: y",
        "[package]",
        "{",
        "]",
        "é\\n",
        "&a",
        "- b",
        "https://a.example/b#c",
    ]
)
FACTS = st.dictionaries(NAMES, st.one_of(TEXTS, st.lists(TEXTS, max_size=2)), max_size=3)
ENTRIES = st.dictionaries(NAMES, FACTS, max_size=4)
WRITERS = st.integers(0, 2**32).map(random.Random)


def values_of(cut: LockCut) -> dict[tuple[str, str], Any]:
    return {(each.group, each.key): value_of(each) for each in cut.pieces}


def value_of(piece: LockPiece) -> Any:
    if piece.form == "json":
        return parse_json(piece.text)
    return parse_yaml(piece.text)


def written_json(value: object, writer: random.Random) -> str:
    """Return a value as JSON in an odd form: other blanks, escaped letters, one line or many."""
    blank = writer.choice(["", " ", "\n", "\r\n  ", "\t"])
    if isinstance(value, dict):
        pairs = (
            f"{written_json(key, writer)}{blank}:{blank}{written_json(each, writer)}"
            for key, each in value.items()
        )
        return f"{{{blank}{f'{blank},'.join(pairs)}{blank}}}"
    if isinstance(value, list):
        items = (written_json(each, writer) for each in value)
        return f"[{blank}{f',{blank}'.join(items)}{blank}]"
    text = json.dumps(value, ensure_ascii=writer.random() < 0.5)
    if isinstance(value, str) and "a" in text and writer.random() < 0.3:
        return text.replace("a", "\\u0061")
    return text


@settings(deadline=None)
@given(ENTRIES, ENTRIES, WRITERS)
def test_json_in_pieces_is_the_whole(one: Any, other: Any, writer: random.Random) -> None:
    whole = {"packages": one, "version": [1, {"packages": 2}], "dependencies": other}
    text = writer.choice(["", "\ufeff"]) + written_json(whole, writer)
    cut = cut_json(text, (("packages",), ("dependencies",)))
    parsed = json.loads(text.removeprefix("\ufeff"))
    assert values_of(cut) == {
        (group, key): value
        for group in ("packages", "dependencies")
        for key, value in parsed[group].items()
    }
    assert cut.head == {"version": parsed["version"]}


@settings(deadline=None)
@given(ENTRIES, WRITERS)
def test_yaml_in_pieces_is_the_whole(entries: Any, writer: random.Random) -> None:
    whole = {"settings": {"a": "b"}, "packages": entries, "last": "x"}
    text = yaml.safe_dump(
        whole,
        default_flow_style=writer.choice([None, True, False]),
        default_style=writer.choice([None, '"', "'", "|", ">"]),
        width=writer.choice([20, 10_000]),
        indent=writer.choice([2, 4]),
        sort_keys=False,
        explicit_start=writer.random() < 0.3,
        allow_unicode=writer.random() < 0.5,
    )
    if writer.random() < 0.2:
        text = f"packages: {json.dumps(entries)}\nlast: x\n"
    text = text.replace("\n", writer.choice(["\n", "\r\n", "\n\n", "\n# it's {\n"]))
    text = writer.choice(["", "\ufeff"]) + text
    try:
        parsed = yaml.load(text.removeprefix("\ufeff"), Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return
    found = values_of(cut_yaml(text, (("packages",),)))
    assert found == {("packages", key): value for key, value in parsed["packages"].items()}


HEADS = ("[[package]]", '[[ "package" ]]', "[[\t'package']] # [[x", " [[package]]")
# What may be taken for the head of a table, in lists, strings and comments.
DECOYS = (
    "[package.more]\nx = [[1], [\n[2]]]",
    "[[package.list]]\ny = '['",
    '[package.text]\nz = "[[package]]" # [',
    '[package.long]\nz = """\n[[package]]\n"""',
    "[package.long]\nz = '''\n[[package]]'''",
)


def written_toml(entries: list[dict[str, Any]], writer: random.Random) -> str:
    """Return packages as TOML in an odd form."""
    lines = ["version = 1", "odd = [", "[1],", "]", 'note = "[[package]]" # [[', ""]
    for each in entries:
        lines.append(writer.choice(HEADS))
        for key, value in each.items():
            blank = writer.choice(["", " ", "\t"])
            text = json.dumps(value)
            if isinstance(value, list):
                items = (f"{json.dumps(item)},{blank}# [\n" for item in value)
                text = "[\n" + "".join(items) + "]"
            lines.append(f"{blank}{json.dumps(key)}{blank}={blank}{text}")
        if writer.random() < 0.4:
            lines.append(writer.choice(DECOYS))
    if entries and writer.random() < 0.3:
        lines += ["[metadata]", "x = 1", "[package.late]", "y = 2"]
    return "\n".join(lines).replace("\n", writer.choice(["\n", "\r\n"]))


@settings(deadline=None)
@given(st.lists(FACTS, max_size=4), WRITERS)
def test_toml_in_pieces_is_the_whole(entries: list[Any], writer: random.Random) -> None:
    text = written_toml(entries, writer)
    try:
        parsed = tomllib.loads(text)
    except ValueError:
        return
    found = [
        parse_json(each.text)
        if each.form == "json"
        else parse_toml(each.text)["package"][0]
        for each in cut_toml(text, ("package",)).pieces
    ]
    assert found == parsed.get("package", [])


BOMB = "".join(f"  a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(9))
UNREADABLE = [
    ("json", '{"packages": {"a": {}, "a": {}}}'),
    ("json", '{"packages": {}, "packages": {}}'),
    ("json", '{"packages": {}, "p\\u0061ckages": {}}'),
    ("json", '{"packages": {}} {}'),
    ("json", '{"packages": 1}'),
    ("json", '{"packages": {"a": {}'),
    ("json", '{"packages": {"a": ' + "[" * 100_000),
    ("json", "[]"),
    ("yaml", "packages: [a]\n"),
    ("yaml", "packages:\n- a\n"),
    ("yaml", "- a\n"),
    ("yaml", "packages:\n  a: {}\n  'a': {}\n"),
    ("yaml", 'packages:\n  a: {}\n  "\\x61": {}\n'),
    ("yaml", "packages:\n  a: {b: 1, b: 2\n"),
    ("yaml", "packages:\n  a: {b: 1, b: 2}\n"),
    ("yaml", "packages:\n  a: &a {b: *a}\n"),
    ("yaml", "packages:\n  a: &a {b: 1}\n  c: {<<: *a, b: 1, b: 2}\n"),
    ("yaml", f"packages:\n  a0: &a0 [b]\n{BOMB}"),
    ("yaml", "packages:\n  a: \u2028\n"),
    ("yaml", "packages:\n  a: " + "[" * 400 + "]" * 400),
    ("toml", "[[package]]\nx = \n["),
    ("toml", "[[package]\n"),
]


@table(("form", "text"), UNREADABLE)
def test_what_no_parser_takes_in_one_way_is_not_read(form: str, text: str) -> None:
    cut = {
        "json": lambda: cut_json(text, (("packages",),)),
        "yaml": lambda: cut_yaml(text, (("packages",),)),
        "toml": lambda: cut_toml(text, ("package",)),
    }[form]
    with pytest.raises(UnreadableLock):
        for each in cut().pieces:
            parse_toml(each.text) if each.form == "toml" else value_of(each)


def test_several_documents_are_read() -> None:
    text = "packages:\n  b:\n    w: 2\n---\npackages:\n  c: {v: 3}\n"
    assert values_of(cut_yaml(text, (("packages",),))) == {
        ("packages", "b"): {"w": "2"},
        ("packages", "c"): {"v": "3"},
    }


def test_aliases_are_written_out() -> None:
    text = "x: &x {v: 1, w: 2}\npackages:\n  a: &a {v: 3, <<: *x}\n  b: [*a, *x]\n"
    assert values_of(cut_yaml(text, (("packages",),))) == {
        ("packages", "a"): {"v": "3", "w": "2"},
        ("packages", "b"): [{"v": "3", "w": "2"}, {"v": "1", "w": "2"}],
    }


VERIFICATION = "gradle/verification-metadata.xml"
LAYOUTS = [
    ("package-lock.json", '{"lockfileVersion": 9, "modules": []}', True),
    ("package-lock.json", '{"lockfileVersion": 3, "modules": [{"a": 1}]}', True),
    ("package-lock.json", '{"lockfileVersion": 3, "packages": [{"a": 1}]}', True),
    (
        "package-lock.json",
        '{"lockfileVersion": 3, "packages": {"node_modules/a": 1}}',
        True,
    ),
    ("package-lock.json", '{"lockfileVersion": 1, "name": "a"}', False),
    ("package-lock.json", "", False),
    ("pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n  a@1.0.0: x\n", True),
    ("pnpm-lock.yaml", "lockfileVersion: '8.0'\n", True),
    ("pnpm-lock.yaml", "lockfileVersion: '9.0'\nsettings:\n  a: true\n", False),
    ("bun.lock", '{"lockfileVersion": 1, "packages": {"a": "b"}}', True),
    ("Cargo.lock", "version = 5\n", True),
    ("Cargo.lock", "version = 4\n", False),
    ("tests/data/package-lock.json", "{", False),
    ("mix.lock", '%{\n  "a": {:hex, :a, "1.0.0"},\n}\n', False),
    (
        "mix.lock",
        '%{\n  "a": {:git, "https://a.example/b#c", "ff", [depth: 1, tag: "v1"]},\n}\n',
        False,
    ),
    ("mix.lock", '%{"a": {:hex, :a, System.cmd("id", [])}}\n', True),
    ("mix.lock", '%{"a": {:hex, :a, "#{b()}"}}\n', True),
    ("mix.lock", '%{"a": {:hex, :a, "1"}, "a": {:hex, :a, "2"}}\n', True),
    ("mix.lock", '%{"a": {:hex, :a, "1"}} |> b\n', True),
    ("mix.lock", '%{"a": ' + "[" * 100_000, True),
    (VERIFICATION, "<verification-metadata/>", False),
    (VERIFICATION, "<metadata/>", True),
    (VERIFICATION, "<verification-metadata>", True),
    (
        VERIFICATION,
        '<!DOCTYPE a [<!ENTITY b "c">]><verification-metadata>&b;</verification-metadata>',
        True,
    ),
    (VERIFICATION, "<verification-metadata>" + "<a>" * 100_000, True),
    ("tests/gradle/verification-metadata.xml", "<", False),
    ("uv.lock", 'version = 1\n\n[[unit]]\nname = "a"\nversion = "1"\n', True),
    ("uv.lock", 'version = 1\n\n[[package]]\nname = "a"\nversion = "1"\n', False),
]


@table(("path", "text", "asks"), LAYOUTS)
def test_an_unknown_layout_asks(path: str, text: str, asks: bool) -> None:
    skipped = reviewed({}, {path: text}).skipped
    assert any(each.asks for each in skipped) is asks


BINARY = [
    ({"bun.lockb": "b"}, True),
    ({"bun.lockb": "b", "package.json": "{ }"}, False),
    ({"a/bun.lockb": "b", "package.json": "{ }"}, True),
    ({"examples/bun.lockb": "b"}, False),
    ({"docs/bun.lockb.md": "b"}, False),
]


@table(("after", "asks"), BINARY)
def test_a_binary_lock_asks_where_no_manifest_changes(
    after: dict[str, str], asks: bool
) -> None:
    report = reviewed(dict.fromkeys(after, "{}"), after)
    assert any(each.asks for each in report.skipped) is asks


def test_packages_that_move_to_another_host_are_one_finding() -> None:
    entry = (
        '[[package]]\nname = "{0}"\nversion = "1.0"\nsource = {{ registry = "https://{1}/" }}\n'
        'wheels = [{{ url = "https://files.{1}/{0}-1.0-py3-none-any.whl", hash = "sha256:{0}" }}]\n'
    )
    old, new = (
        "version = 1\n" + "".join(entry.format(name, host) for name in "abcde")
        for host in ("a.example", "b.example")
    )
    messages = [
        each.message for each in reviewed({"uv.lock": old}, {"uv.lock": new}).findings
    ]
    assert messages == [
        "5 packages come from b.example, not from a.example, files.a.example, which uv.lock did"
        " not use before: a, b, c, ...",
        "5 packages come from files.b.example, not from a.example, files.a.example, which"
        " uv.lock did not use before: a, b, c, ...",
    ]
