"""What a value is by its looks: a password, a key, a template, a hash, a word, and near misses of each."""

from examples import examples, near_misses, table

from cli_guard.rules.examples import expand
from cli_guard.secrets import scan
from cli_guard.secrets.values import (
    Strength,
    entropy,
    is_hashed,
    is_random,
    is_spoken,
    is_template,
    is_typed_key,
    is_uuid,
    key_strength,
    password_strength,
)

STRENGTHS = {
    Strength.STRONG: "hunter2-prod-9f3k Tr0ub4dor&3 S3cure!Pass xk9Qp2Lm7Zt4 p@ssw0rd Zx4!abcdefghi",
    Strength.LIKELY: "hunter2 qwerty123",
    Strength.WEAK: "letmein deadbeef",
    Strength.NONE: "password changeme ${DB_PASS} oauth2_token sha256 abc 123456 /etc/passwd your-password aaaaaaaa "
    "vW8# <password> ENC[abc] config.value --smtp-server-port= 1f1f5-1f1fc.svg icons/1password.svg",
}


@table(
    ("value", "strength"),
    [(value, strength) for strength, row in STRENGTHS.items() for value in row.split()],
)
def test_how_much_a_value_looks_like_a_password(value: str, strength: Strength) -> None:
    assert password_strength(value) is strength


@table(
    ("value", "strength"),
    [
        (expand("<<hex:40>>"), Strength.STRONG),
        (expand("<<alnum:36>>"), Strength.STRONG),
        (expand("<<uuid:4>>"), Strength.LIKELY),
        ("abcdef1234567890abcdef", Strength.LIKELY),
        ("xk9Qp2Lm7Zt4", Strength.LIKELY),
        ("get_user_by_name_and_id", Strength.NONE),
        ("0000000000000000000000", Strength.NONE),
        ("my-service-name-production-eu", Strength.NONE),
        ("AbCdEfGhIjKlMnOpQrStUv", Strength.NONE),
        ("hunter2", Strength.NONE),
        ("", Strength.NONE),
    ],
)
def test_how_much_a_value_looks_like_a_key(value: str, strength: Strength) -> None:
    assert key_strength(value) is strength


@examples("value", ["rk_live_deinGeheimerSchluessel12", "sk-la-tua-chiave-segreta"])
def test_words_of_any_language_are_spoken(value: str) -> None:
    assert is_spoken(value)


@near_misses("seed", range(20))
def test_letters_at_random_are_not_spoken(seed: int) -> None:
    assert not is_spoken(expand("sk_live_<<alnum:24>>", seed))


@examples("seed", range(20))
def test_what_is_drawn_at_random_looks_so(seed: int) -> None:
    assert is_random(expand("<<hex:40>>", seed))
    assert is_random(expand("<<alnum:40>>", seed))
    assert is_uuid(expand("<<uuid:4>>", seed))


@near_misses(
    "value",
    "short1 get_user_by_name_and_id aaaaaaaaaaaaaaaaaaaaaaaa my-service-name-production-eu two§signs§here§1234 "
    "ThisIsALongNameOfAClassThatIsNoKey the.package.of.a.module.with.dots".split(),
)
def test_words_do_not_look_random(value: str) -> None:
    assert not is_random(value)


@examples("value", ["abcdef1234567890abcdef", "a1b2c3d4e5f6g7h8"])
def test_a_key_that_was_typed_for_want_of_one(value: str) -> None:
    assert is_typed_key(value)


@near_misses("value", ["abcdef123456", "abcdefghijklmnopqrst", "my-example-1234567890", ""])
def test_what_was_typed_and_is_no_key(value: str) -> None:
    assert not is_typed_key(value)


@examples(
    "value",
    [
        "${DB_PASS}",
        "<password>",
        "ENC[abc]",
        "{{ password }}",
        "$(cat file)",
        "%(password)s",
    ],
)
def test_a_value_that_is_filled_in_elsewhere(value: str) -> None:
    assert is_template(value)


@near_misses("value", ["hunter2", "a{b", "50%", "pa$$word", "x<y"])
def test_signs_alone_make_no_template(value: str) -> None:
    assert not is_template(value)


@examples(
    "value",
    ["$2b$12$abcdefghijklmnopqrstuu", "$argon2id$v=19$m=65536", "$6$rounds=5000$abcdefgh"],
)
def test_a_hash_is_not_the_password(value: str) -> None:
    assert is_hashed(value)


@near_misses("value", ["$2", "argon2", "sha256", "b$12$x"])
def test_the_name_of_a_hash_is_none(value: str) -> None:
    assert not is_hashed(value)


@table(
    ("text", "bits"),
    [("", 0.0), ("aaaa", 0.0), ("ab", 1.0), ("abcd", 2.0), ("aabbccdd", 2.0)],
)
def test_disorder_in_bits_a_character(text: str, bits: float) -> None:
    assert abs(entropy(text) - bits) < 1e-9


@near_misses(
    "value",
    (
        "sk-or-v1-VOTRE_CLE",
        "sk-or-v1-COLE_SUA_CHAVE_AQUI",
        "sk-or-v1-TWOJ_KLUCZ_TUTAJ",
        "sk-or-v1-ВАШ_КЛЮЧ",
        "sk-or-v1-votre-cle-ici",
        "xoxb-DEIN-SLACK-TOKEN-HIER",
    ),
)
def test_words_of_any_language_behind_a_prefix_are_no_key(value: str) -> None:
    assert not scan(f'SERVICE_API_KEY = "{value}"', "app/config.py").hits
