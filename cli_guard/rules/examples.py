"""Examples in rule files are written with placeholders, so that the repository contains no real-looking key.

A placeholder is `<<kind:argument>>`; `expand(text, seed)` puts pseudo-random text of high entropy in its
place, the same for the same seed, so that two seeds are two variants of one example:

    <<hex:32>>  <<HEX:32>>        hexadecimal digits, lower or upper case
    <<alnum:36>>                  A-Z a-z 0-9
    <<lower:8>>  <<upper:8>>      letters of one case
    <<lownum:16>>  <<upnum:16>>   letters of one case and digits
    <<base32:16>>  <<bech32:58>>  A-Z 2-7; the 32 of bech32 in upper case
    <<digits:10>>  <<base58:51>>
    <<base64:40>>  <<base64url:43>>
    <<uuid:4>>                    a version 4 UUID
    <<crc62:30>>                  30 of A-Z a-z 0-9 and their CRC-32 in six base-62 digits, as GitHub tokens end
    <<pem:RSA PRIVATE KEY>>       a PEM block of that label, four lines of body
    <<pem1:RSA PRIVATE KEY>>      the same on one line, its line ends written as backslash n
    <<body:4>>                    four lines of 64 base64 characters
    <<seq:36>>  <<count:12>>      a run along the alphabet and on to the digits; counting from 1
    <<b64:text>>  <<b64url:text>> the text in base64, placeholders in it expanded first

Anything else, also an unknown kind, stays as it is: `cout << x`, a here-document and `1 >> 2` are no placeholders.
An example that needs a path has it as a first line `<<path:deploy/.env>>`; see `split_path`.
"""

import base64
import hashlib
import re
import string
import zlib
from collections.abc import Callable

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "alnum": BASE62,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "lownum": string.ascii_lowercase + string.digits,
    "upnum": string.ascii_uppercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "bech32low": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "digits": string.digits,
    "base64": BASE62 + "+/",
    "base64url": BASE62 + "-_",
}
KINDS = (
    *ALPHABETS,
    "uuid",
    "crc62",
    "pem",
    "pem1",
    "body",
    "seq",
    "count",
    "b64",
    "b64url",
)
PLACEHOLDER = re.compile(rf"<<({'|'.join(KINDS)}):((?:(?!<<|>>)[\s\S])*)>>")
PATH = re.compile(r"<<path:([^>\n]+)>>\n")
BODY_WIDTH = 64


def expand(text: str, seed: int = 0) -> str:
    """Fill in every placeholder of an example; `seed` selects the variant."""
    count = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _fill(match[1], match[2], f"{seed}/{count}")

    while PLACEHOLDER.search(text):
        text = PLACEHOLDER.sub(fill, text)
    return text


def split_path(example: str) -> tuple[str | None, str]:
    """Return the path in the first line of an example, None if it names none, and the text after it."""
    match = PATH.match(example)
    return (match[1], example[match.end() :]) if match else (None, example)


def show_example(example: str) -> str:
    """Return an example for a reader: the path as a heading, `****` for each placeholder."""
    path, text = split_path(example)
    while PLACEHOLDER.search(text):
        text = PLACEHOLDER.sub(_mask, text)
    text = text.replace("<<change>>", "with this change:")
    return f"in {path}:\n{text}" if path else text


def _mask(match: re.Match[str]) -> str:
    kind, argument = match.groups()
    if kind in ("pem", "pem1"):
        return f"-----BEGIN {argument}----- ****"
    return "****"


def base62_crc32(text: str) -> str:
    """Return the CRC-32 of ASCII text in six base-62 digits, 0-9 A-Z a-z.

    Source: https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
    """
    number = zlib.crc32(text.encode("ascii"))
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits.rjust(6, "0")


def _fill(kind: str, argument: str, seed: str) -> str:
    if kind in ALPHABETS:
        return _draw(ALPHABETS[kind], int(argument), seed)
    return BUILDERS[kind](argument, seed)


def _draw(alphabet: str, length: int, seed: str) -> str:
    """Draw characters without a run or a missing class, so that no filter takes them for a placeholder."""
    for attempt in range(1000):
        stream = hashlib.shake_256(f"{seed}/{attempt}/{alphabet}/{length}".encode()).digest(
            length * 2
        )
        pairs = zip(stream[::2], stream[1::2], strict=True)
        drawn = "".join(alphabet[(high * 256 + low) % len(alphabet)] for high, low in pairs)
        if _looks_random(drawn, alphabet):
            return drawn
    raise ValueError(f"cannot draw {length} characters of {alphabet!r}")


def _looks_random(drawn: str, alphabet: str) -> bool:
    if re.search(r"(.)\1\1", drawn) or (not drawn.isalnum() and not drawn[:1].isalnum()):
        return False
    if not drawn[-1:].isalnum():
        return False
    if len(drawn) < 4:
        return True
    classes = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    expected = [chars for chars in classes if set(chars) & set(alphabet)]
    enough = min(len(drawn), len(alphabet)) * (0.5 if len(drawn) < 40 else 0.35)
    return all(set(chars) & set(drawn) for chars in expected) and len(set(drawn)) >= min(
        enough, 20
    )


def _uuid(_version: str, seed: str) -> str:
    digits = _draw(ALPHABETS["hex"], 32, seed)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _crc62(length: str, seed: str) -> str:
    drawn = _draw(BASE62, int(length), seed)
    return drawn + base62_crc32(drawn)


def _body(lines: str, seed: str) -> str:
    return "\n".join(
        _draw(ALPHABETS["base64"], BODY_WIDTH, f"{seed}/{n}") for n in range(int(lines))
    )


def _pem(label: str, seed: str) -> str:
    return f"-----BEGIN {label}-----\n{_body('4', seed)}\n-----END {label}-----"


def _run(along: str, length: str) -> str:
    return (along * (int(length) // len(along) + 1))[: int(length)]


BUILDERS: dict[str, Callable[[str, str], str]] = {
    "uuid": _uuid,
    "crc62": _crc62,
    "body": _body,
    "pem": _pem,
    "pem1": lambda label, seed: _pem(label, seed).replace("\n", "\\n"),
    "seq": lambda length, _seed: _run(string.ascii_lowercase + string.digits, length),
    "count": lambda length, _seed: _run("1234567890", length),
    "b64": lambda text, _seed: base64.b64encode(text.encode()).decode(),
    "b64url": lambda text, _seed: (
        base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    ),
}
