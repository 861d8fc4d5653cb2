"""Recompute the checksum that a provider builds into its keys, without asking the provider.

A checksum that holds proves the key: nobody writes one by hand. One that does not costs confidence only, since other
makers of the same form (GitHub Enterprise Server, older npm) may compute it differently.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.model import Confidence

if TYPE_CHECKING:
    from cli_guard.secrets.candidates import CandidateJudgement

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
POLYMOD = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def weigh(scheme: str, value: str, judgement: "CandidateJudgement") -> "CandidateJudgement":
    """Mark a key as proven, or take confidence from it; without a scheme, or for another form, change nothing."""
    holds = SCHEMES[scheme](value) if scheme else None
    if holds is None or judgement.confidence is Confidence.LOW:
        return judgement
    return replace(
        judgement,
        proven=holds,
        confidence=judgement.confidence if holds else Confidence.MEDIUM,
    )


def base62_crc(value: str) -> bool | None:
    """Check a token of GitHub or npm: 30 characters and their CRC-32 in six base-62 digits."""
    from cli_guard.rules.examples import base62_crc32

    body = value.partition("_")[2]
    return base62_crc32(body[:30]) == body[30:] if len(body) == 36 else None


def hex_crc(value: str) -> bool | None:
    """Check a token of Grafana: the CRC-32 of all before the last underscore, its lowest byte first.

    Source: https://github.com/grafana/grafana/blob/main/pkg/components/satokengen/tokengen.go
    """
    body, _, checksum = value.rpartition("_")
    return (
        zlib.crc32(body.encode()).to_bytes(4, "little").hex() == checksum
        if value[:5] == "glsa_"
        else None
    )


def base36_crc(value: str) -> bool | None:
    """Check a routable token of GitLab: the CRC-32 of all before it, in seven base-36 digits.

    Source: https://github.com/gitlabhq/gitlabhq/blob/master/lib/authn/token_field/generator/routable_token.rb
    """
    if len(value.rpartition(".")[2]) != 9 or "." not in value:
        return None
    return zlib.crc32(value[:-7].encode()) == int(value[-7:], 36)


def bech32(value: str) -> bool:
    """Recompute the checksum of age and Nostr keys (BIP 173)."""
    prefix, _, data = value.lower().rpartition("1")
    letters = [ord(letter) for letter in prefix]
    residue = 1
    for number in (
        *(n >> 5 for n in letters),
        0,
        *(n & 31 for n in letters),
        *map(BECH32.index, data),
    ):
        top = residue >> 25
        residue = (residue & 0x1FFFFFF) << 5 ^ number
        for bit, term in enumerate(POLYMOD):
            residue ^= term if top >> bit & 1 else 0
    return residue == 1


def base58check(value: str) -> bool:
    """Recompute the checksum of Bitcoin keys: the first four bytes of a double SHA-256."""
    import hashlib  # it loads OpenSSL

    number = 0
    for letter in value:
        number = number * 58 + BASE58.index(letter)
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


SCHEMES: Mapping[str, Callable[[str], bool | None]] = {
    scheme.__name__: scheme
    for scheme in (base62_crc, hex_crc, base36_crc, bech32, base58check)
}
