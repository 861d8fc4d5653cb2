"""Keys in pieces: joined literals, continued lines, characters that nobody sees, letters that look like others."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import Repo, key

from cli_guard.rules.examples import expand
from cli_guard.secrets import scan
from cli_guard.secrets.joined import SIGNS_OF_CONTROLS
from cli_guard.secrets.redact import redact

AWS = key()
TOKEN = expand("ghp_<<crc62:30>>", 1)
BLOCK = expand("<<pem:RSA PRIVATE KEY>>")
KEYS = {"secret-aws-access-key": AWS, "secret-github-token": TOKEN}
UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\ufe0f\u202e\u2066\u061c\u3164\u2063\x85\u0301\ufffd"
# `{0}`, `{1}` and `{2}` are the thirds of the key.
FORMS = {
    "continued in a shell": "K={0}\\\n{1}{2}",
    "continued in YAML": 'k: "{0}\\\n    {1}\\\n    \\{2}"',
    "continued with CRLF": 'k = "{0}\\\r\n{1}{2}"\r',
    "continued in a batch file": "set K={0}^\n{1}{2}",
    "quoted-printable line": "The key is {0}=\n{1}{2}.",
    "f-strings": 'k = f"{0}" f"{1}" f"{2}"',
    "two kinds of quotes": "k = '{0}' \"{1}{2}\"",
    "literals in an f-string": "k = f\"{{'{0}'}}{{'{1}'}}{{'{2}'}}\"",
    "half in an f-string": "k = f\"{0}{{'{1}'}}{2}\"",
    "template": 'k = `{0}${{"{1}"}}{2}`',
    "Ruby": "k = \"{0}#{{'{1}'}}{2}\"",
    "in parentheses": 'k = ("{0}") + ("{1}") + ("{2}")',
    "Lua": 'k = "{0}" .. "{1}" .. "{2}"',
    "SQL": "SELECT '{0}' || '{1}' || '{2}'",
    "Elixir": 'k = "{0}" <> "{1}" <> "{2}"',
    "Haskell": 'k = "{0}" ++ "{1}" ++ "{2}"',
    "concat": 'k = "{0}".concat("{1}").concat("{2}")',
    "comment between": 'k = ("{0}"  # one\n     "{1}{2}")',
    "comment of C": 'k = "{0}" /* x */ "{1}{2}";',
    "join": 'k = "".join(["{0}", "{1}", "{2}"])',
    "join of a tuple over lines": 'k = "".join((\n    "{0}",\n    "{1}",\n    "{2}",\n))',
    "join of JavaScript": 'k = ["{0}", "{1}", "{2}"].join("")',
    "join of Terraform": 'k = join("", ["{0}", "{1}", "{2}"])',
    "join of CloudFormation": 'k: !Join ["", ["{0}", "{1}", "{2}"]]',
    "implode": '$k = implode("", ["{0}", "{1}", "{2}"]);',
    "CONCAT": "SELECT CONCAT('{0}', '{1}', '{2}')",
    "format": 'k = "{{}}{{}}{{}}".format("{0}", "{1}", "{2}")',
    "percent": 'k = "%s%s%s" % ("{0}", "{1}", "{2}")',
    "Sprintf": 'k := fmt.Sprintf("%s%s%s", "{0}", "{1}", "{2}")',
    "colour": "k = {0}\x1b[31m{1}\x1b[0m{2}",
}


def fullwidth(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) for char in text)


def look_alike(text: str) -> str:
    return text.translate(str.maketrans("AKIMHTPCXeopcx", "АКІМНТРСХеорсх"))


WHOLE = {
    "fullwidth": fullwidth,
    "fullwidth in a sentence": lambda text: f"密钥是{fullwidth(text)}，请保密",
    "fullwidth prefix": lambda text: fullwidth(text[:4]) + text[4:],
    "look-alikes": lambda text: look_alike(text[:2]) + look_alike(text[2:]),
    "quoted-printable": lambda text: "".join(f"={ord(char):02X}" for char in text),
    "octets of quoted-printable": lambda text: f"{text[:3]}={ord(text[3]):02X}{text[4:]}",
    "unseen everywhere": "\u200b".join,
    "NUL everywhere": "\0".join,
}


def rules_in(text: str, path: str = "a.py") -> list[str]:
    return [hit.rule for hit in scan(f"a = 1\n{text}\nb = 2\n", path).hits]


@pytest.mark.parametrize("rule", list(KEYS))
@pytest.mark.parametrize("form", list(FORMS))
def test_a_key_in_three_pieces_is_found_and_masked(form: str, rule: str) -> None:
    secret = KEYS[rule]
    pieces = (secret[:6], secret[6:12], secret[12:])
    text = FORMS[form].format(*pieces)
    assert rules_in(text) == [rule]
    (hit,) = scan(f"a = 1\n\n{text}\n", "a.py").hits
    assert text.count("\n") + 3 >= f"a = 1\n\n{text}\n".count("\n", 0, hit.start) + 1 >= 3
    assert not [piece for piece in pieces if piece in redact(text)]


@pytest.mark.parametrize("rule", list(KEYS))
@pytest.mark.parametrize("form", list(WHOLE))
def test_a_key_in_other_characters_is_found_and_masked(form: str, rule: str) -> None:
    text = f'k = "{WHOLE[form](KEYS[rule])}"'
    assert rules_in(text) == [rule]
    assert WHOLE[form](KEYS[rule])[-8:] not in redact(text)


@settings(max_examples=60, deadline=None)
@given(
    rule=st.sampled_from(sorted(KEYS)),
    at=st.integers(1, 19),
    joint=st.sampled_from(
        [*UNSEEN, *SIGNS_OF_CONTROLS, "\\\n", '" "', '" + "', "''", '${""}']
    ),
)
def test_a_key_is_found_wherever_it_is_cut(rule: str, at: int, joint: str) -> None:
    secret = KEYS[rule]
    assert rules_in(f'k = "{secret[:at]}{joint}{secret[at:]}"') == [rule]


@pytest.mark.parametrize("at", [2, 12, 30, 60, 200])
@pytest.mark.parametrize("joint", ["\u200b", "\\\n", "\x1b[0m"])
def test_a_private_key_is_found_wherever_it_is_cut(at: int, joint: str) -> None:
    assert "secret-private-key" in rules_in(f'k = """{BLOCK[:at]}{joint}{BLOCK[at:]}"""')


@pytest.mark.parametrize(
    "text",
    [
        # Prefixes in a list, and what is joined with a separator, make no key.
        'PREFIXES = ["AKIA", "ASIA", "AGPA", "AIDA", "AROA"]',
        'text = ", ".join(["AKIA", "Q3XV7ZB2NLKTW4FY"])',
        'call("AKIA", "Q3XV7ZB2NLKTW4FY")',
        '{"AKIA": "Q3XV7ZB2NLKTW4FY"}',
        # A blank, a dash and an apostrophe are seen.
        "AKIA Q3XV7ZB2NLKTW4FY",
        "AKIA\u2014Q3XV7ZB2NLKTW4FY",
        "AKIA\u2019Q3XV7ZB2NLKTW4FY",
        "AKIA…Q3XV7ZB2NLKTW4FY",
        'k = "AKIA" + "IOSFODNN7EXAMPLE"',
        f'k = "{fullwidth("AKIAIOSFODNN7EXAMPLE")}"',
        f'k = "{fullwidth("ABCDEFGHIJKLMNOPQRST")}"',
        "Всякий раз, когда я пишу АКІА, текст остаётся длинным.",
        "cc -o a \\\n  a.c \\\n  b.c",
        "NAME=\nOTHER=\n",
    ],
    ids=range(14),
)
def test_it_is_silent_otherwise(text: str) -> None:
    assert rules_in(text) == []


@pytest.mark.parametrize(
    "piece",
    [
        '"a"+',
        '["a",',
        '"a"#' + "x" * 79,
        "a\\\n",
        "=41",
        "a\x1b",
        "a\u200b",
        "ａ",
        '{"a"}',
        '"' + " " * 59,
        "\\_a",
    ],
)
def test_work_grows_with_the_text(piece: str) -> None:
    text = "join %s%s" + piece * (100_000 // len(piece))
    assert scan(text, "a.py", steps=len(text) // 2).stopped_at is None


def test_a_commit_with_a_key_in_pieces_is_denied(forked: Repo) -> None:
    forked.write("run.sh", f"#!/bin/sh\nexport K={TOKEN[:9]}\\\n{TOKEN[9:]}\n")
    forked.git("add", "-A")
    done = forked.try_git("commit", "-m", "Add the script")
    assert done.code != 0
    assert "run.sh:2" in done.all and "secret-github-token" in done.all
    assert TOKEN[9:] not in done.all
