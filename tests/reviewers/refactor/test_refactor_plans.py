"""Plans for long functions as libraries have them, labelled with what a reader would write, and carried out."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.refactor.grown import carried_out

from cli_guard.code.languages import language_for
from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.model import split_lines
from cli_guard.reviewers.refactor.plan import plan

FOLDER = Path(__file__).parents[3] / "fixtures" / "refactor"


def plans(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((FOLDER / name).read_text("utf-8"))["plan"]


PYTHON = plans("python.toml")


def longest(language: str, text: str) -> Symbol:
    functions = (s for s in symbols_of(Trees(), language, text) if s.is_function)
    return max(functions, key=lambda s: s.end_line - s.line)


def steps_in(said: str) -> list[str]:
    """The sentences of a plan without their numbers, the last (about tests) left out."""
    return [line.partition(" ")[2] for line in said.split("\n")[:-1]]


def answers(text: str, calls: list[str]) -> list[str]:
    names: dict[str, object] = {}
    exec(compile(text, "sample", "exec"), names)
    return [repr(eval(call, names)) for call in calls]


@pytest.mark.parametrize("label", PYTHON, ids=lambda label: label["name"])
def test_python(label: dict[str, Any]) -> None:
    text = label["text"].removeprefix("\n")
    symbol = longest("python", text)
    said = plan("python", symbol, split_lines(text)) or ""
    assert bool(said) != label.get("silent", False), said
    assert not [part for part in label.get("says", ()) if part not in said], said
    assert not [part for part in label.get("never", ()) if part in said], said
    after = carried_out(text, symbol, steps_in(said))
    calls = label.get("calls", [])
    assert answers(after, calls) == answers(text, calls)


COMPILERS = {
    "go": ("gofmt", "-e", "-l"),
    "javascript": ("node", "--check"),
    "java": ("javac", "-proc:none", "-d", "."),
    "rust": ("rustc", "--edition", "2021", "--crate-type", "lib", "--emit", "metadata"),
    "typescript": (
        "tsc",
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "--pretty",
        "false",
    ),
}


def compiled(language: str, path: str, text: str, folder: Path) -> str:
    """What the compiler of a language has against a text, where it is installed; else what the grammar has."""
    root = Trees().root(language, text)
    broken = [node.text() for node in root.find_all(kind="ERROR")]
    command = COMPILERS[language]
    # rustup without a toolchain has a rustc, too; gofmt knows no --version, and ends with 2
    probe = [command[0], "--version"]
    installed = (
        shutil.which(command[0])
        and subprocess.run(probe, capture_output=True, check=False).returncode != 1
    )
    if broken or not installed:
        return "\n".join(broken)
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    run = subprocess.run(
        [*command, str(file)], cwd=folder, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr if run.returncode else ""


@pytest.mark.parametrize("label", plans("languages.toml"), ids=lambda label: label["name"])
def test_other_languages(label: dict[str, Any], tmp_path: Path) -> None:
    text = label["text"].removeprefix("\n")
    path = label["path"]
    language = language_for(path)
    assert language
    symbol = longest(language, text)
    said = plan(language, symbol, split_lines(text)) or ""
    assert bool(said) != label.get("silent", False), said
    assert not [part for part in label.get("says", ()) if part not in said], said
    assert not [part for part in label.get("never", ()) if part in said], said
    if "In their place" in said:
        assert compiled(language, path, text, tmp_path) == ""
        assert (
            compiled(language, path, carried_out(text, symbol, steps_in(said)), tmp_path)
            == ""
        )


PIECES = st.sampled_from(
    "a += 1;|b = a;|if (a) {|}|for (const c of b) {|for (int c : b) {|for c in b {|for _, c := range b {|return a;"
    "|break;|let d: number = 0;|int d = 0;|d := 0|let mut d: usize = 0;|d += a;|// collect rows||x => a,"
    "|func() { a++ }()|switch (a) {|case 1:|try {|this.a(b)|\ufffd".split("|")
)


@pytest.mark.parametrize(
    "language", ["javascript", "typescript", "tsx", "go", "java", "rust"]
)
@given(pieces=st.lists(PIECES, min_size=6, max_size=40))
@settings(max_examples=40, deadline=None)
def test_any_text_gives_a_plan_within_its_lines_or_none(
    language: str, pieces: list[str]
) -> None:
    heads = {
        "go": "func f(a int, b []int) int {",
        "java": "class A { int f(int a, int[] b) {",
    }
    heads |= {
        "rust": "fn f(a: usize, b: &[usize]) -> usize {",
        "javascript": "function f(a, b) {",
    }
    text = "\n".join(
        [heads.get(language, "function f(a: number, b: number[]): number {"), *pieces, "}}"]
    )
    for symbol in symbols_of(Trees(), language, text):
        said = plan(language, symbol, split_lines(text)) if symbol.is_function else None
        for first, last in re.findall(r"Move lines (\d+) to (\d+)", said or ""):
            assert symbol.line < int(first) <= int(last) <= symbol.end_line
