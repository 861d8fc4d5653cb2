"""What bash refuses is refused before anything runs, and nothing else is: the parser of bash itself is asked."""

import random
import re
import subprocess

import pytest
from shell_chains import CHAINS, chains

from cli_guard.assistant.sandbox.checking import syntax_error

SAID = re.compile(r"syntax error|unexpected (EOF|argument|token)|conditional binary operator expected")
PIECES = (
    "&& || | ; ;; & ( ) { } if then fi do done while case esac in ' \" ` $( ${ } $(( )) [[ ]] < > <<E ! function f"
    " = x=( # \\ else elif <( *"
).split()


def refused_by_bash(text: str) -> bool:
    """Does `bash -n` find an error? Behind some it goes on and exits 0, so its words count too."""
    done = subprocess.run(["bash", "-n"], input=f"{text}\n".encode(), capture_output=True, check=False)
    return done.returncode == 2 or bool(SAID.search(done.stderr.decode("utf-8", "replace")))


@pytest.mark.parametrize("subject", [name for name in CHAINS if name != "syntax"])
def test_no_good_text_is_refused(subject: str) -> None:
    assert [text for each, text in chains() if each == subject and syntax_error(text)] == []


def mutated(seed: int) -> list[str]:
    """Chains with a piece put in, taken out or put behind, the same for each seed."""
    chance = random.Random(seed)
    texts = [text for _, text in chains()]
    found = []
    for _ in range(150):
        text = chance.choice(texts)
        for _ in range(chance.choice((1, 1, 2))):
            at = chance.randrange(len(text) + 1)
            if chance.random() < 0.5:
                text = f"{text[:at]} {chance.choice(PIECES)} {text[at:]}"
            elif chance.random() < 0.5:
                text = text[:at] + text[at + chance.randrange(1, 4) :]
            else:
                other = chance.choice(texts)
                text = text[:at] + other[chance.randrange(len(other) + 1) :]
        found.append(text)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_broken_text_is_judged_as_bash_judges_it(seed: int) -> None:
    different = [text for text in mutated(seed) if refused_by_bash(text) != bool(syntax_error(text))]
    # What stands in an expression is read only when it is computed: `bash -n` looks no further than we should.
    assert len(different) <= 2, different


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo a &&", "line 1: syntax error: unexpected end of file"),
        ("echo 'a", "line 1: unexpected EOF while looking for matching `''"),
        ("a | | b", "line 1: syntax error near unexpected token `|'"),
        ("echo a\nfi", "line 2: syntax error near unexpected token `fi'"),
        ("if true; then echo", "line 1: syntax error: unexpected end of file"),
        (";;", "line 1: syntax error near unexpected token `;;'"),
        ("echo >", "line 1: syntax error near unexpected token `newline'"),
    ],
)
def test_the_words_say_where(text: str, words: str) -> None:
    assert syntax_error(text) == words
