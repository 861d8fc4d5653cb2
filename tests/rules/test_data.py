"""Compiled rules say what their sources say, and a changed source is never passed over."""

import json
import os
from pathlib import Path

import pytest

from cli_guard.rules import data
from cli_guard.rules.catalog import load, load_all, rules_in

RULE = """[[rule]]
id = "message-sample"
title = "{title}"
severity = "low"
why = "because"
remedy = "do"
fires = ["one", "two"]
silent = ["three", "four"]
[[rule.change]]
path = "a"
fires = true

[[rule.change]]
path = "b"
fires = true
"""


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one rule file; nothing that was read before is remembered."""
    folder = tmp_path / "cli_guard" / "rules"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (folder / "message.toml").write_text(RULE.format(title="first"))
    use(monkeypatch, folder)
    return folder


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(data, "FOLDER", folder)
    monkeypatch.setattr(data, "COMPILED", folder / "compiled")
    monkeypatch.setattr(data, "CACHE", folder / "__pycache__")
    forget()


def forget() -> None:
    for cached in (data.read, data.paths, data._read_unit):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def _forget_at_the_end():
    yield
    forget()


def test_rules_keep_the_first_of_their_examples(copied: Path) -> None:
    (rule,) = rules_in("message.toml")
    assert (rule.fires, rule.silent) == (("one",), ("three",))
    assert [each["path"] for each in rule.extra["change"]] == ["a"]
    (whole,) = rules_in("message.toml", examples=True)
    assert (whole.fires, whole.silent) == (("one", "two"), ("three", "four"))
    assert len(whole.extra["change"]) == 2


@pytest.mark.parametrize("what", ["text", "time", "a second file", "the cache"])
def test_a_source_that_changed_is_compiled_again(copied: Path, what: str) -> None:
    (copied / "secrets").mkdir()
    source = copied / "secrets" / "a.toml"
    source.write_text(RULE.format(title="first"))
    assert [rule.title for rule in rules_in("secrets/a.toml")] == ["first"]
    compiled = copied / "__pycache__" / "secrets.json"
    before = compiled.read_bytes()
    if what == "text":
        source.write_text(RULE.format(title="another"))
    elif what == "time":
        about = source.stat()
        source.write_text(RULE.format(title="FIRST"))
        os.utime(source, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    elif what == "a second file":
        (copied / "secrets" / "b.toml").write_text(RULE.format(title="b"))
    else:
        compiled.write_bytes(b"{}")
    forget()
    title = {"text": "another", "time": "FIRST"}.get(what, "first")
    assert [rule.title for rule in rules_in("secrets/a.toml")] == [title]
    assert len(data.names("secrets")) == 1 + (what == "a second file")
    assert compiled.read_bytes() != (b"{}" if what == "the cache" else before)


def test_what_did_not_change_is_not_parsed_again(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = data.names("message"), data.read("message.toml")
    forget()
    monkeypatch.delattr(data, "parse")
    assert (data.names("message"), data.read("message.toml")) == first


def test_nothing_is_written_but_in_a_checkout(copied: Path) -> None:
    (copied.parents[1] / ".git").rmdir()
    assert len(data.read("message.toml")["rule"]) == 1
    assert not (copied / "__pycache__").exists()


def test_an_installation_has_what_a_checkout_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = data.paths()
    rules = load_all.__wrapped__()
    tables = {path: data.read(path) for path in paths}
    compiled = tmp_path / "rules" / "compiled"
    compiled.mkdir(parents=True)
    data.compile_all(compiled)
    use(monkeypatch, tmp_path / "rules")
    assert data.paths() == paths
    assert {path: data.read(path) for path in paths} == tables
    assert data.names("flow/python") == ("sinks.toml", "web.toml")
    assert data.names("flow/nothing") == ()
    load.cache_clear()
    assert load_all.__wrapped__() == rules


def test_a_broken_file_of_an_installation_is_an_error(copied: Path) -> None:
    """Without its rules a review would find nothing, and say so."""
    compiled = copied / "compiled"
    compiled.mkdir()
    data.compile_all(compiled)
    for broken in (b"", b"{}\n", b"null\n", b"not JSON"):
        (compiled / "message.toml.json").write_bytes(broken)
        forget()
        with pytest.raises(ValueError):
            data.read("message.toml")
    assert data.names("secrets") == ()


def test_sources_are_plain_data() -> None:
    """What JSON cannot say, a date for example, would be refused by the build."""
    for path in data.paths():
        plain = json.loads(json.dumps(data.read(path)))
        assert plain == data.read(path), path
