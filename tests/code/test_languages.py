"""In which language a file is written: by its ending, or by the interpreter of its first line."""

from examples import near_misses, table

from cli_guard.code.languages import ENDINGS, REVIEWED, language_for, language_of, suffix_of


@table(
    ("path", "first_line", "language"),
    [
        ("a.py", "", "python"),
        ("a.PYI", "", "python"),
        ("a.b.py", "", "python"),
        ("a.js", "", "javascript"),
        ("a.jsx", "", "javascript"),
        ("a.ts", "", "typescript"),
        ("a.tsx", "", "tsx"),
        ("a.go", "", "go"),
        ("A.java", "", "java"),
        ("a.yml", "", "yaml"),
        ("run", "#!/usr/bin/env python3", "python"),
        ("run", "#!/usr/bin/python3.11", "python"),
        ("run", "#!/bin/bash -e", "bash"),
        ("run", "#! /usr/bin/env -S node --x", "javascript"),
        ("run.py", "#!/bin/bash", "python"),
    ],
)
def test_what_reviewers_read(path: str, first_line: str, language: str) -> None:
    assert language_of(path, first_line) == language
    assert language_for(path, f"{first_line}\nmore\n") == language


@table(
    ("path", "language"),
    [("a.rs", "rust"), ("a.rb", "ruby"), ("a.lua", "lua"), ("a.c", "c")],
)
def test_other_languages_have_a_grammar_and_no_reviewer(path: str, language: str) -> None:
    assert language_of(path) is None
    assert language_for(path) == language


@near_misses(
    ("path", "first_line"),
    [
        ("run", "#!/bin/unknown"),
        ("run", "python3"),
        ("run", "# !/bin/sh"),
        ("a.txt", "#!/bin/sh"),
        ("Makefile", ""),
        (".bashrc", ""),
        ("py", ""),
        ("a.", ""),
    ],
)
def test_what_has_no_language(path: str, first_line: str) -> None:
    assert language_of(path, first_line) is None
    assert language_for(path, first_line) is None


@table(
    ("path", "suffix"),
    [
        ("a.py", ".py"),
        ("d.x/a", ""),
        ("A.PY", ".py"),
        (".bashrc", ""),
        ("a.tar.gz", ".gz"),
        ("", ""),
    ],
)
def test_the_ending_of_a_path(path: str, suffix: str) -> None:
    assert suffix_of(path) == suffix


def test_every_language_that_is_reviewed_has_a_grammar() -> None:
    assert set(REVIEWED.items()) <= set(ENDINGS.items())
    assert all(ending.startswith(".") and ending == ending.lower() for ending in ENDINGS)
