"""What a file says of itself: its docstring, the comment above its code, its heading and first sentence."""

from examples import table

from cli_guard.assistant.explaining_files import (
    SENTENCE,
    clip,
    first_sentence,
    read_purpose,
)


@table(
    ("path", "text", "purpose"),
    [
        ("a.py", '"""Send mail.\n\nMore.\n"""\nimport os\n', "Send mail."),
        (
            "a.py",
            '#!/usr/bin/env python\n\n"""Send\nmail."""\n"""Not this."""\n',
            "Send mail.",
        ),
        ("a.py", "# Reads mail.\n\nimport os\n# Not this.\n", "Reads mail."),
        ("a.py", "x = 1\n# Not this.\n", ""),
        ("a.js", "/**\n * Draws a page.\n */\nfoo();\n", "Draws a page."),
        ("a.js", '"use strict";\n// Draws a page.\nfoo();\n', "Draws a page."),
        ("a.go", "// Package a sends mail.\npackage a\n", "Package a sends mail."),
        (
            "a.md",
            "# Title\n\nThis is what it does. And more.\n",
            "Title. This is what it does.",
        ),
        ("a.md", "Only one line of text here.\n", "Only one line of text here."),
        ("a.py", "", ""),
    ],
)
def test_what_a_file_says_of_itself(path: str, text: str, purpose: str) -> None:
    assert read_purpose(path, text) == purpose


def test_a_long_sentence_is_cut_between_words() -> None:
    text = "word " * 100
    assert len(first_sentence(text)) <= SENTENCE
    assert first_sentence(text).endswith("word ...")
    assert clip("short", 5) == "short"
