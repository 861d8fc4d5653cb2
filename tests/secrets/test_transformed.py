"""Keys that a program turns into themselves: escapes, hex, character codes, backwards, turned by 13 letters."""

import codecs
import gzip
from base64 import b64encode

import pytest
from repositories import key

from cli_guard.secrets import scan

KEY = key()
FORMS = {
    "hex": f'k = bytes.fromhex("{KEY.encode().hex()}")',
    "hex number": f"k = 0x{KEY.encode().hex()}",
    "x": 'k = "' + "".join(f"\\x{ord(c):02x}" for c in KEY) + '"',
    "first x": f'k = "\\x41{KEY[1:]}"',
    "u": 'k = "' + "".join(f"\\u{ord(c):04x}" for c in KEY) + '"',
    "u braces": 'k = "' + "".join(f"\\u{{{ord(c):x}}}" for c in KEY) + '"',
    "octal": "k = '" + "".join(f"\\{ord(c):03o}" for c in KEY) + "'",
    "percent": 'u = "https://x/?k=' + "".join(f"%{ord(c):02X}" for c in KEY) + '"',
    "codes": 'k = "".join(map(chr, [' + ", ".join(str(ord(c)) for c in KEY) + "]))",
    "hex codes": "k = {" + ",".join(hex(ord(c)) for c in KEY) + "}",
    "backwards": f'k = "{KEY[::-1]}"[::-1]',
    "shell backwards": f"k=$(echo '{KEY[::-1]}' | rev)",
    "gzip in base64": b64encode(gzip.compress(f'k = "{KEY}"\n'.encode(), mtime=0)).decode(),
    "entities": "<p>" + "".join(f"&#{ord(c)};" for c in KEY) + "</p>",
    "hex entities": "<p>" + "".join(f"&#x{ord(c):x};" for c in KEY) + "</p>",
    "on two lines": f'k = ("{KEY[:6]}"\n    "{KEY[6:]}"\n)',
    "added on two lines": f'k = "{KEY[:6]}" +\n    "{KEY[6:]}";',
    "continued": f'k = "{KEY[:6]}" \\\n    "{KEY[6:]}"',
    "shell quotes": f"k=\"{KEY[:6]}\"'{KEY[6:]}'",
    "template": f'k = `{KEY[:6]}${{""}}{KEY[6:]}`',
    "rot13": f'k = codecs.decode("{codecs.encode(KEY, "rot13")}", "rot13")',
}


@pytest.mark.parametrize("form", list(FORMS))
def test_it_is_found(form: str) -> None:
    text = f"a = 1\n{FORMS[form]}\nb = 2\n"
    (hit,) = scan(text, "a.py").hits
    assert hit.rule == "secret-aws-access-key"
    assert text.count("\n", 0, hit.start) == 1


@pytest.mark.parametrize(
    "text",
    [
        'k = "' + "".join(f"\\x{ord(c):02x}" for c in "AKIAIOSFODNN7EXAMPLE") + '"',
        'digest = "' + "5a3f" * 10 + '"',
        f'k = "{"abcdefgh" * 3}"[::-1]',
        "codes = [65, 75, 73, 65, 66, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76]",
        "url = '/a%20b%2Fc%3Dd%26e'",
        "\\" * 60_000,
        "%41" * 60_000,
        "65, " * 60_000,
    ],
    ids=range(8),
)
def test_it_is_silent_otherwise(text: str) -> None:
    assert scan(f"{text}\n", "a.py").hits == ()
