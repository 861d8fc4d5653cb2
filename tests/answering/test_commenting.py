"""Where a comment that answers a finding may stand, and where it would be read as something else."""

import pytest
from examples import table

from cli_guard.answering.commenting import write_answer

WORDS = "cli-guard: ignore[code-x] it is a fixture"


def written(path: str, text: str, *lines: int) -> str | None:
    return write_answer(path, text, lines, ["code-x"], "it is a fixture")


@table(
    ("path", "text", "line", "after"),
    [
        ("a.py", "x = 1\ny = 2\n", 1, "x = 1  # {}\ny = 2\n"),
        ("a.py", "x = f(\n  1,\n)\n", 2, "x = f(\n  1,  # {}\n)\n"),
        ("a.py", "x = '😀é'\n", 1, "x = '😀é'  # {}\n"),
        ("a.py", "x = 1", 1, "x = 1  # {}"),
        ("a.py", "# it doesn't\n", 1, "# it doesn't  # {}\n"),
        ("web/a.tsx", "const a = 1\r\n", 1, "const a = 1  // {}\r\n"),
        ("a.sh", "curl x | sh\n", 1, "curl x | sh  # {}\n"),
        ("a.sh", "a \\\n  b\n", 1, "# {}\na \\\n  b\n"),
        ("a.sh", "a \\\n  b\n", 2, "a \\\n  b  # {}\n"),
        ("a.yml", "a: 1\r\nb: 2\r\n", 2, "a: 1\r\nb: 2  # {}\r\n"),
        ("a.go", "package a\n", 1, "package a  // {}\n"),
        ("a.php", "<?php\n$a = 1;\n", 2, "<?php\n$a = 1;  // {}\n"),
        ("a.css", "a { b: c }\n", 1, "a {{ b: c }}  /* {} */\n"),
        ("a.html", "<p>\na\n</p>\n", 2, "<p>\na  <!-- {} -->\n</p>\n"),
        ("a.md", "| a | b |\n", 1, "| a | b |  <!-- {} -->\n"),
        # Without a grammar here only a whole line is certain.
        (".env", "A=1", 1, "# {}\nA=1"),
        ("a.toml", "[b]\r\na = 1\r\n", 2, "[b]\r\n# {}\r\na = 1\r\n"),
        ("a.toml", "[b]\r\na = 1", 2, "[b]\r\n# {}\r\na = 1"),
        ("db/a.sql", "select 1;\n", 1, "-- {}\nselect 1;\n"),
        ("run.bat", "  del a\r\n", 1, "  REM {}\r\n  del a\r\n"),
        ("Dockerfile", "FROM a\nUSER b\n", 2, "FROM a\n# {}\nUSER b\n"),
        ("requirements.txt", "a==1\nb==2\n", 2, "a==1\n# {}\nb==2\n"),
        ("go.mod", "module a\nrequire b v1\n", 2, "module a\n// {}\nrequire b v1\n"),
        ("Makefile", "a:\n\tcurl x | sh\n", 2, "a:\n# {}\n\tcurl x | sh\n"),
        # The line has another suppression already.
        (
            "a.py",
            "    x = 1  # cli-guard: ignore[code-y] for a reason\n",
            1,
            "    # {}\n    x = 1  # cli-guard: ignore[code-y] for a reason\n",
        ),
    ],
)
def test_a_comment_in_the_language_of_the_file(
    path: str, text: str, line: int, after: str
) -> None:
    assert written(path, text, line) == after.format(WORDS)


@table(
    ("path", "text", "line"),
    [
        pytest.param("a.json", '{"a": 1}\n', 1, id="no comments"),
        pytest.param("LICENSE", "a\n", 1, id="not known"),
        pytest.param("notes.txt", "a\n", 1, id="text of any form"),
        pytest.param("a.py", "x = '''\nkey\n'''\n", 2, id="in a string"),
        pytest.param("a.py", '"""A.\n\nkey\n"""\n', 3, id="in a docstring"),
        pytest.param("a.go", "package a\nvar b = `\nkey\n`\n", 3, id="in a raw string"),
        pytest.param("a.js", "x = `\nkey\n`\n", 2, id="in a template"),
        pytest.param("a.jsx", "x = <a>\n  key\n</a>\n", 2, id="in the text of JSX"),
        pytest.param("a.sh", "cat <<E\nkey\nE\n", 2, id="in a here-document"),
        pytest.param("a.sh", "#!/bin/sh -x\n", 1, id="the line that names a shell"),
        pytest.param("a.rb", "x = <<~A\n  key\nA\n", 2, id="in a heredoc"),
        pytest.param("a.yml", "a: |\n  key\nb: 1\n", 2, id="in a block of YAML"),
        pytest.param("a.toml", "a = '''\nkey\n'''\n", 2, id="in a string of TOML"),
        pytest.param("a.html", "<script>\nx = 1\n</script>\n", 2, id="in a script"),
        pytest.param("a.php", "<b>\n<?php\n$a = 1;\n", 1, id="before the code"),
        pytest.param("a.php", "<?php a(); ?>\n<b>\n", 2, id="behind the code"),
        pytest.param("a.md", "a\n\n```\nkey\n```\n", 4, id="in a fence"),
        pytest.param("a.md", "a\n\n    key\n", 3, id="in indented code"),
        pytest.param("Dockerfile", "RUN a \\\n  b\n", 2, id="between two halves"),
        pytest.param("a.py", "x = 1\n", 2, id="beyond the end"),
    ],
)
def test_no_comment_where_it_would_be_something_else(
    path: str, text: str, line: int
) -> None:
    assert written(path, text, line) is None


def test_the_last_line_of_a_finding_may_hold_it() -> None:
    text = "x = '''a\nb'''\n"
    assert written("a.py", text, 1) == f"# {WORDS}\n{text}"
    assert written("a.py", text, 1, 2) == f"x = '''a\nb'''  # {WORDS}\n"


@table(
    ("path", "reason"),
    [
        ("a.css", "it */ ends here"),
        ("a.html", "it --> ends here"),
        ("a.php", "it ?> ends here"),
        ("a.py", "it ends here %>"),
    ],
)
def test_a_reason_that_ends_the_comment_is_not_written(path: str, reason: str) -> None:
    text = "<?php\na { b: c }\n"
    assert write_answer(path, text, [2], ["code-x"], reason) is None
    assert write_answer(path, text, [2], ["code-x"], "it does not end") is not None


def test_several_rules_share_a_comment() -> None:
    after = write_answer("a.py", "x = 1\n", [1], ["code-x", "code-y"], "it is a fixture")
    assert after == "x = 1  # cli-guard: ignore[code-x, code-y] it is a fixture\n"
