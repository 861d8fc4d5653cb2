"""Forms of one word have one stem, and each is found by a substring of it; other words keep their own."""

from examples import table

from cli_guard.assistant.stems import needles_of, parts_of, stem

FORMS = [
    "redirect redirects redirected redirecting redirection redirections",
    "config configuration configurations configure configured conf cfg",
    "authentication authenticate authenticated authorize authorized auth",
    "create creates created creating creation creator",
    "filter filters filtered filtering",
    "measure measured measures measuring",
    "stop stopped stopping stops",
    "log logs logged logging logger",
    "parse parsed parses parser parsers parsing",
    "query queries querying queried",
    "alias aliases aliased",
    "class classes",
    "database databases db",
    "notify notification notifications notified",
    "write writes writing written wrote writer",
    "dependency dependencies depends deps",
]


@table("forms", FORMS, ids=lambda forms: forms.split()[0])
def test_forms_of_a_word_share_a_stem_and_its_needles(forms: str) -> None:
    first, *others = forms.split()
    for form in (first, *others):
        assert stem(form) == stem(first), form
        assert any(needle in form for needle in needles_of(stem(first))), form


@table(
    ("one", "other"),
    [
        ("state", "statement"),
        ("status", "state"),
        ("option", "operation"),
        ("pass", "password"),
        ("user", "use"),
        ("port", "part"),
    ],
)
def test_other_words_keep_their_stem(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@table(
    ("text", "parts"),
    [
        ("maxRetries", ["max", "retries"]),
        ("MAX_RETRIES", ["max", "retries"]),
        ("HTTPProxy2", ["http", "proxy", "2"]),
    ],
)
def test_identifiers_are_split(text: str, parts: list[str]) -> None:
    assert parts_of(text) == parts
