"""Placeholders in examples: deterministic, varied, and nothing else is touched."""

import base64
import re

from examples import table

from cli_guard.rules.catalog import load_all
from cli_guard.rules.examples import (
    PLACEHOLDER,
    base62_crc32,
    expand,
    show_example,
    split_path,
)


@table(
    ("text", "form"),
    [
        ("<<hex:32>>", r"[0-9a-f]{32}"),
        ("<<HEX:8>>", r"[0-9A-F]{8}"),
        ("AKIA<<base32:16>>", r"AKIA[A-Z2-7]{16}"),
        ("<<alnum:36>>", r"[A-Za-z0-9]{36}"),
        ("<<digits:10>>", r"\d{10}"),
        ("<<base64:40>>", r"[A-Za-z0-9+/]{40}"),
        ("<<base64url:43>>", r"[\w-]{43}"),
        ("<<uuid:4>>", r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"),
        ("<<pem:X KEY>>", r"-----BEGIN X KEY-----\n(?:[\w+/]{64}\n){4}-----END X KEY-----"),
        (
            "<<pem1:X KEY>>",
            r"-----BEGIN X KEY-----\\n(?:[\w+/]{64}\\n){4}-----END X KEY-----",
        ),
        ("<<lower:3>>-<<upper:3>>", r"[a-z]{3}-[A-Z]{3}"),
    ],
)
def test_placeholder_expands_to_its_form(text: str, form: str) -> None:
    variants = [expand(text, seed) for seed in range(5)]
    assert all(re.fullmatch(form, variant) for variant in variants)
    assert len(set(variants)) == 5
    assert variants == [expand(text, seed) for seed in range(5)]


@table(
    "text",
    ["cout << x << y;", "cat <<EOF > a\nx\nEOF", "a >> b", "<<unknown:3>>", "plain {x}"],
)
def test_what_is_no_placeholder_stays(text: str) -> None:
    assert expand(text) == text


def test_base64_of_a_placeholder_is_encoded_after_it_is_filled() -> None:
    decoded = base64.b64decode(expand("<<b64:user:<<alnum:12>>>>")).decode()
    assert re.fullmatch(r"user:[A-Za-z0-9]{12}", decoded)


def test_checksum_is_that_of_an_expired_published_token() -> None:
    assert base62_crc32("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ") == "0mLq17"
    drawn = expand("<<crc62:30>>")
    assert base62_crc32(drawn[:30]) == drawn[30:]


@table(
    ("text", "typed"),
    [("<<seq:30>>", "abcdefghijklmnopqrstuvwxyz0123"), ("<<count:12>>", "123456789012")],
)
def test_run_of_characters_is_the_same_for_every_seed(text: str, typed: str) -> None:
    assert {expand(text, seed) for seed in range(3)} == {typed}


def test_two_placeholders_of_one_text_differ() -> None:
    first, second = expand("<<hex:20>> <<hex:20>>").split()
    assert first != second and not PLACEHOLDER.search(first)


@table(
    ("example", "path", "text"),
    [
        ("<<path:a/.env>>\nX=1", "a/.env", "X=1"),
        ("path: x", None, "path: x"),
        ("a\n<<path:b>>\n", None, "a\n<<path:b>>\n"),
    ],
)
def test_path_is_the_first_line_or_none(example: str, path: str | None, text: str) -> None:
    assert split_path(example) == (path, text)


@table(
    ("example", "shown"),
    [
        ("<<path:a/.env>>\nKEY=<<hex:32>>", "in a/.env:\nKEY=****"),
        ('x: "<<b64:<<alnum:10>>>>"', 'x: "****"'),
        ("<<pem:X KEY>>", "-----BEGIN X KEY----- ****"),
        ("cat <<END\n1 >> 2\nEND", "cat <<END\n1 >> 2\nEND"),
    ],
)
def test_a_reader_sees_no_placeholder(example: str, shown: str) -> None:
    assert show_example(example) == shown


def test_no_example_of_a_rule_shows_a_placeholder() -> None:
    shown = [
        show_example(each)
        for rule in load_all().values()
        for each in (*rule.fires, *rule.silent)
    ]
    assert len(shown) > 1000
    assert [each for each in shown if re.search(r"<<(?:path|change|\w+:\d)", each)] == []
