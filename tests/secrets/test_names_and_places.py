"""What the name of a value and the path of a file say about a secret: each kind with what only sounds like it."""

from examples import examples, near_misses, table

from cli_guard.secrets import places
from cli_guard.secrets.filenames import has_no_value, is_risky
from cli_guard.secrets.names import SecretKind, kind_of, words_of

NAMES = {
    SecretKind.PASSWORD: "password dbPassword DB_PASS passphrase pass_word user.passwd Passwort",
    SecretKind.SECRET: "api_key apiKey2 secret client_secret SECRET_KEY_BASE private_key",
    SecretKind.TOKEN: "access_token accessToken bot_token_2",
}


@examples(
    ("name", "kind"), [(name, kind) for kind, row in NAMES.items() for name in row.split()]
)
def test_a_name_says_what_its_value_is(name: str, kind: SecretKind) -> None:
    assert kind_of(name) is kind


@near_misses(
    "name",
    "passwordHash password_field keyboard primary_key csrf_token token_type next_token secretName public_key "
    "num_tokens max_tokens user monkey compass".split(),
)
def test_a_name_that_only_sounds_like_one(name: str) -> None:
    assert kind_of(name) is None


@table(
    ("name", "words"),
    [
        ("dbPassword_2", "db password 2"),
        ("HTTPServerKey", "http server key"),
        ("SECRET_KEY_BASE", "secret key base"),
        ("kebab-case-name", "kebab case name"),
        ("__x__", "x"),
        ("", ""),
    ],
)
def test_the_words_of_a_name_in_any_style(name: str, words: str) -> None:
    assert words_of(name) == words.split()


@examples(
    "path",
    ".env .env.production id_rsa app.p12 deploy/secrets.yml credentials.json x.tfstate .netrc ID_RSA".split(),
)
def test_a_file_that_usually_holds_credentials(path: str) -> None:
    assert is_risky(path)


@near_misses(
    "path",
    ".env.example id_rsa.pub README.md src/key.py docs/.env.md cert.pem ca.crt envrc .envrc id_rsa_notes.md".split(),
)
def test_a_file_that_only_sounds_like_one(path: str) -> None:
    assert not is_risky(path)


@near_misses(
    "line",
    [
        "",
        "  ",
        "# TOKEN=1",
        "A=",
        'A=""',
        "export A=",
        "export TOKEN=${X}",
        "A=op://vault/entry",
        "A='{{ x }}'",
    ],
)
def test_a_line_of_settings_without_a_value(line: str) -> None:
    assert has_no_value(line)


@examples("line", ["A=1", "export A=1", "no assignment", "A B=", "x = y"])
def test_a_line_of_settings_with_a_value(line: str) -> None:
    assert not has_no_value(line)


@table(
    ("path", "kind"),
    [
        ("src/app.py", "code"),
        ("tests/a.go", "code"),
        ("package-lock.json", "lock"),
        ("go.sum", "lock"),
        ("a.min.js", "lock"),
        ("Cargo.lock", "lock"),
        ("Dockerfile.dev", "settings"),
        ("a.yml", "settings"),
        ("a.toml", "settings"),
        (".ENV.local", "settings"),
        ("notes.txt", "prose"),
        ("a.md", "prose"),
        ("noending", "prose"),
        ("", "prose"),
    ],
)
def test_what_kind_of_text_a_file_holds(path: str, kind: str) -> None:
    assert places.kind_of(path) == kind


@examples(
    "path",
    "docs/a.py tests/a.py a.md examples/x.go src/i18n/de.json benchmarks/a.js .env.example".split(),
)
def test_where_made_up_credentials_are_usual(path: str) -> None:
    assert places.is_test_or_document(path)


@near_misses("path", "src/app.py a.toml contest/a.py src/attestation.go Dockerfile".split())
def test_where_they_are_not(path: str) -> None:
    assert not places.is_test_or_document(path)
