"""Checksums that providers build into their keys, against values that they print themselves."""

import zlib

import pytest
from examples import near_misses, table

from cli_guard.model import Confidence
from cli_guard.rules.examples import expand
from cli_guard.secrets import scan
from cli_guard.secrets.checksums import SCHEMES

GRAFANA = expand("glsa_<<alnum:32>>")
GITLAB = expand("glpat-<<base64url:50>>.01.1e")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    return digits.rjust(7, "0")


# BIP 173, NIP 19, the age specification's test kit, BIP 32, Bitcoin's wiki.
HOLD = [
  ("base62_crc", expand("ghp_<<crc62:30>>")),
  ("hex_crc", f"{GRAFANA}_{zlib.crc32(GRAFANA.encode()).to_bytes(4, 'little').hex()}"),
  ("base36_crc", GITLAB + base36(zlib.crc32(GITLAB.encode()))),
  ("bech32", "A12UEL5L"),
  ("bech32", "AGE-SECRET-KEY-" "1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"),
  ("bech32", "ns|ec1vl029mgpspedva04g|90vltkh6fvh240zqtv9k0t|9af8935ke9laqsnlfe5".replace("|", "")),
  ("base58check", "5KYZdUEo39z3FPrtu|X2QbbwGnNP5zTd7yyr2|SC1j299sBCnWjss".replace("|", "")),
  ("base58check", "xprv|9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD|2nW2nRk4stbPy6cq3jPPqjiChkVvvN|KmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi".replace("|", "")),  # noqa: E501
]  # fmt: skip


@table(("scheme", "value"), HOLD)
def test_the_checksum_of_a_real_key_holds(scheme: str, value: str) -> None:
    assert SCHEMES[scheme](value) is True


@near_misses(("scheme", "value"), HOLD)
def test_a_changed_character_breaks_it(scheme: str, value: str) -> None:
    place = len(value) // 2
    other = next(
        char for char in "Q3q7" if char not in (value[place], value[place].swapcase())
    )
    if value.isupper() or value.isalpha():
        other = other.upper()
    changed = (
        value[:place] + (other if value.isupper() else other.lower()) + value[place + 1 :]
    )
    assert SCHEMES[scheme](changed) is False


@near_misses(
    ("scheme", "value"),
    [
        ("base62_crc", expand("ghp_<<alnum:76>>")),
        ("base36_crc", expand("glpat-<<alnum:20>>")),
        ("hex_crc", "glc_x"),
    ],
)
def test_a_form_without_a_checksum_proves_nothing(scheme: str, value: str) -> None:
    assert SCHEMES[scheme](value) is None


@pytest.mark.parametrize(
    ("token", "proven", "confidence"),
    [
        ("ghp_<<crc62:30>>", True, Confidence.HIGH),
        ("ghp_<<alnum:36>>", False, Confidence.MEDIUM),
    ],
)
def test_a_checksum_that_fails_costs_confidence_alone(
    token: str, proven: bool, confidence: str
) -> None:
    (hit,) = scan(expand(f"t = {token}")).hits
    assert (hit.severity, hit.proven, hit.confidence) == ("critical", proven, confidence)
