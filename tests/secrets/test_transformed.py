"""Keys that a program turns into themselves: escapes, hex, character codes, backwards, turned by 13 letters."""

import binascii
import codecs
import gzip
import random
import zlib
from base64 import a85encode, b32encode, b64encode, b85encode, encodebytes
from collections.abc import Callable

import pytest
from repositories import key

from cli_guard.secrets import scan

KEY = key()


def in_base64(text: str) -> str:
    return b64encode(text.encode()).decode()


FORMS = {
    "base64": in_base64(KEY),
    "twice in base64": f'k = "{in_base64(in_base64(KEY))}"',
    "base64 over lines": encodebytes(
        f"The key that you asked for yesterday is this one: {KEY}\n".encode()
    ).decode(),
    "base64 in two literals": f'k = "{in_base64(KEY)[:20]}" + "{in_base64(KEY)[20:]}"',
    "base64 of UTF-16": f"powershell -enc {b64encode(KEY.encode('utf-16le')).decode()}",
    "base64 of hex": in_base64(KEY.encode().hex()),
    "hex of base64": in_base64(KEY).encode().hex(),
    "zlib in base64": b64encode(zlib.compress(f'k = "{KEY}"\n'.encode())).decode(),
    "base32": f'k = "{b32encode(KEY.encode()).decode()}"',
    "base32 without padding": f"k: {b32encode(KEY.encode()).decode().rstrip('=')}",
    "base32 in small letters": f"k: {b32encode(KEY.encode()).decode().lower()}",
    "base85": f"k = base64.b85decode('{b85encode(KEY.encode()).decode()}')",
    "ascii85": f'k = base64.a85decode(b"""{a85encode(KEY.encode()).decode()}""")',
    "ascii85 between its marks": f"k = {a85encode(KEY.encode(), adobe=True).decode()}  # ascii85",
    "uuencode": f"begin 644 k\n{binascii.b2a_uu(KEY.encode()).decode()}`\nend",
    "U": 'k = "' + "".join(f"\\U{ord(c):08x}" for c in KEY) + '"',
    "chr": "k = " + " + ".join(f"chr({ord(c)})" for c in KEY),
    "list of chr": 'k = "".join([' + ", ".join(f"chr({ord(c)})" for c in KEY) + "])",
    "soft hyphen": f"<p>{KEY[:6]}&shy;{KEY[6:]}</p>",
    "zero-width space": f"<p>{KEY[:6]}&#8203;{KEY[6:]}</p>",
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
        # Numbers with many blanks between them: one such file took 44 seconds.
        "1,  65,   \t 66,  \n" * 5_000,
        "begin 644 k\n" * 5_000,
        "base85 " + '"' * 60_000,
    ],
    ids=range(11),
)
def test_it_is_silent_otherwise(text: str) -> None:
    assert scan(f"{text}\n", "a.py").hits == ()


@pytest.mark.parametrize("encode", [b64encode, b32encode, b85encode, encodebytes])
def test_noise_is_no_key(encode: Callable[[bytes], bytes]) -> None:
    drawn = random.Random(1)
    noise = (encode(drawn.randbytes(60)).decode() for _ in range(1_000))
    assert (
        scan("base85\n" + "\n".join(f'k = "{each}"' for each in noise), "a.py").hits == ()
    )


def test_what_is_packed_again_and_again_ends() -> None:
    text = "a " * 20_000
    for _ in range(3):
        text = f"{b64encode(gzip.compress(text.encode(), mtime=0)).decode()} " * 50
    assert scan(text, "a.py", steps=20_000).stopped_at is not None
