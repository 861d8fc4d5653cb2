"""The seam to the bash grammar holds where the grammar itself would bring the process down."""

import subprocess
import sys

from cli_guard.policy.commands import judge

MANY = """
from cli_guard.syntax import Trees
text = '{n{\\U000d107e\\U000d9587 a`x_` ${\\U000fffff} \\u2705 <<\\U00084c65'
for _ in range(5_000):
    Trees().root('bash', text).kind()
"""


def test_characters_beyond_latin_1_do_not_crash_the_parser() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_words_keep_the_characters_that_they_were_given() -> None:
    (effect,) = judge("rm '日本 \U0001f600ü'").effects
    assert effect.target == "日本 \U0001f600ü"
    assert (effect.span.start, effect.span.end) == (3, 10)
