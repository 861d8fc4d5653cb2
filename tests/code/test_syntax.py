"""The seam to the grammars holds where a grammar itself would bring the process down."""

import subprocess
import sys

from repositories import Repo

from cli_guard.code.syntax import Trees, without_long_comments
from cli_guard.commands import judge

MANY = """
from cli_guard.code.syntax import Trees
text = '{n{\\U000d107e\\U000d9587 a`x_` ${\\U000fffff} \\u2705 <<\\U00084c65'
for _ in range(5_000):
    Trees().root('bash', text).kind()
"""


def test_characters_beyond_latin_1_do_not_crash_the_parser() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MANY], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


CONDITIONAL = """
    if (events & OUT) {
        if (a == p) {
            len = sizeof(int);
            if (!get(c->sock, FAILED, (char *)&err, &len)) {
                if (err == 0) {
                    set(c, NEW);
#if defined(A) && \\
    defined(B)
"""


def test_conditions_of_a_preprocessor_do_not_hide_what_is_between_them() -> None:
    trees = Trees()
    assert not trees.is_broken("c", CONDITIONAL)
    calls = trees.root("c", CONDITIONAL).find_all(kind="call_expression")
    assert [each.text() for each in calls][-1] == "set(c, NEW)"
    assert calls[-1].range().start.line == CONDITIONAL[: CONDITIONAL.index("set")].count(
        "\n"
    )


def test_words_keep_the_characters_that_they_were_given() -> None:
    (effect,) = judge("rm '日本 \U0001f600ü'").effects
    assert effect.target == "日本 \U0001f600ü"
    assert (effect.span.start, effect.span.end) == (3, 10)


def test_yaml_of_many_levels_is_named_and_does_not_end_the_process(
    committed: Repo,
) -> None:
    levels = "".join(" " * n + f"k{n}:\n" for n in range(300))
    for number, text in enumerate((levels, "- " * 400 + "x\n", "? " * 400 + "x\n")):
        committed.write(
            f".github/workflows/deep{number}.yml", f"on: pull_request_target\njobs:\n{text}"
        )
    committed.git("add", "-A")
    done = committed.guard("review", "--format", "json")
    assert done.code in (0, 3), done.err
    assert done.out.count("levels of indentation") >= 3
    few = "".join(" " * n + f"k{n}:\n" for n in range(60))
    assert Trees().root("yaml", few).kind() == "stream"


def test_a_hundred_thousand_comments_in_python_take_no_minutes() -> None:
    text = "def f():\n    x()\n" + "# ü\n\n    # x\n" * 40_000 + "    last()  # y\n"
    last = Trees().root("python", text).find(pattern="last()")
    assert last is not None and last.range().start.line == text.count("\n") - 1
    assert text[last.range().start.index :].startswith("last()")
    few = "# a\n" * 150 + "x = 1\n" + "# b\n" * 150
    assert without_long_comments(few) == few
    assert without_long_comments(f"x\n{few}{few}").count("#") == 300
