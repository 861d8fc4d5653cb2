"""Questions over small repositories: the right place first, what was found there, and none where there is nothing."""

from examples import examples, near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import cpu_seconds

from cli_guard.assistant.retrieval import SearchResult, find

SHOP = {
    "shop/database.py": (
        'import os\n\nDATABASE_URL = os.environ.get("DATABASE_URL", "sqlite:///shop.db")\nPOOL_SIZE = 5\n'
    ),
    "shop/retry.py": (
        "DEFAULT_ATTEMPTS = 3\n\n\n"
        "def retry_delay(attempt, base=0.5, limit=30):\n"
        '    """Seconds to wait before the next attempt."""\n'
        "    return min(limit, base * 2**attempt)\n"
    ),
    "shop/client.py": (
        "from shop.retry import retry_delay\n\n\nclass Client:\n    def fetch(self, url, timeout=10):\n"
        "        sleep(retry_delay(1))\n        return self.follow_redirects(url)\n\n"
        "    def follow_redirects(self, url):\n        return url\n"
    ),
    "shop/cli.py": (
        "import argparse\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n    return parser.parse_args()\n"
    ),
    "tests/test_retry.py": "def test_retry_delay():\n    assert retry_delay(1) == 1\n",
    "tests/test_database.py": "def test_database_url():\n    assert DATABASE_URL\n",
    "docs/database.md": "# Database configuration\n\nThe database is configured by DATABASE_URL.\n",
    "CHANGELOG.md": "# Changes\n\n- The retry delay is computed with a limit.\n- Redirects are followed.\n",
}


@table(
    ("question", "path", "line"),
    [
        ("Where is database configuration defined?", "shop/database.py", 3),
        ("Where is the retry delay computed?", "shop/retry.py", 4),
        ("which function computes how long to wait before a retry", "shop/retry.py", 4),
        ("Where are redirects followed?", "shop/client.py", 9),
        ("Which file parses the command line?", "shop/cli.py", None),
        ("Where is `follow_redirects` defined?", "shop/client.py", 9),
        (
            "Where is the retry delay tested? Which tests cover it?",
            "tests/test_retry.py",
            1,
        ),
        ("Where is the database configuration documented?", "docs/database.md", 1),
        ("what does the changelog say about redirects", "CHANGELOG.md", None),
    ],
)
def test_the_right_place_is_first(question: str, path: str, line: int | None) -> None:
    found = find(question, SHOP)
    assert found.confidence != "none"
    assert found.places[0].path == path
    assert line is None or found.places[0].line == line
    assert SHOP[path].split("\n")[found.places[0].line - 1].strip() == found.places[0].text


@table(
    "question",
    [
        "Where is the kafka consumer?",
        "Where are GraphQL queries parsed?",
        "How are invoices rendered as documents?",
        "Where is the Redis cache?",
        "Where is `compute_tax` defined?",
        "?",
        "",
        "where is it and what does it do",
    ],
)
def test_what_is_not_there_is_not_guessed(question: str) -> None:
    found = find(question, SHOP)
    assert (found.confidence, found.places, found.facts) == ("none", (), ())


ASKED_BY_KIND = {
    "shop/errors.py": "class StockMissing(Exception):\n    pass\n\n\nclass PriceError(Exception):\n    pass\n",
    "shop/stock.py": (
        "def check_stock_missing(items):\n    # raise when the stock is missing\n    for stock in items:\n"
        "        if missing(stock):\n            raise StockMissing(stock)\n"
    ),
    "shop/colors.py": "import os\n\nplain = os.environ.get('NO_COLOR')\n",
    "shop/draw.py": "class Draw:\n    def color(self, colors):\n        return colors\n",
    "shop/clock.py": "class TimeStamper:\n    def __call__(self, event):\n        return event\n",
}


@table(
    ("question", "path"),
    [
        ("Which exception is raised when the stock is missing?", "shop/errors.py"),
        ("Where is it checked that stock is missing?", "shop/stock.py"),
        ("Which environment variable turns colors off?", "shop/colors.py"),
        ("Which class adds a timestamp?", "shop/clock.py"),
    ],
)
def test_what_kind_of_thing_is_asked_for_decides(question: str, path: str) -> None:
    assert find(question, ASKED_BY_KIND).places[0].path == path


def test_types_that_only_declare_come_behind_what_defines_them() -> None:
    texts = {
        "lib/link.js": "export function parseLink(header) {\n  return header;\n}\n",
        "lib/link.d.ts": "export declare function parseLink(header: string): string;\n",
    }
    assert find("Where is the link header parsed?", texts).places[0].path == "lib/link.js"
    alone = {"lib/link.d.ts": texts["lib/link.d.ts"]}
    assert find("Where is the link header parsed?", alone).places[0].path == "lib/link.d.ts"


@table(
    ("more", "first"),
    [
        ({}, "dist/retry.js"),
        (
            {"src/delay.js": "export function retryDelay(n) {\n  return n;\n}\n"},
            "src/delay.js",
        ),
    ],
)
def test_what_was_built_counts_where_there_is_no_source(
    more: dict[str, str], first: str
) -> None:
    texts = {
        "dist/retry.js": "export function retryDelay(n) {\n  return n;\n}\n",
        "docs/retry.md": "The retry delay.\n",
    }
    assert find("Where is the retry delay?", texts | more).places[0].path == first


@table(
    ("question", "confidence"),
    [
        ("Where is the rabbit url?", "none"),
        ("Where is the upload size?", "none"),
        ("Where is the kafka url?", "high"),
        ("Where is the kafka url of the broker?", "low"),
    ],
)
def test_a_word_that_stands_nowhere_is_no_answer(question: str, confidence: str) -> None:
    texts = {
        "shop/queues.py": "KAFKA_URL = 'kafka://'\nDATABASE_URL = 'sqlite://'\nFILE_SIZE = 3\n"
    }
    assert find(question, texts).confidence == confidence


LOGIN = "def login(user):\n    return user.name\n"


@table(
    ("path", "question", "confidence"),
    [
        ("shop/auth.py", "Where is the auth login?", "high"),
        ("shop/auth.py", "Where is the OAuth login?", "medium"),
        ("shop/auth.py", "Where is the auth login of level 3?", "low"),
        ("examples/auth.py", "Where is the auth login?", "low"),
        ("shop/auth.py", "What does user.surname hold?", "none"),
        ("shop/auth.py", "What does user.name hold?", "low"),
    ],
)
def test_an_answer_is_sure_if_every_word_is_there_in_what_people_wrote_to_run(
    path: str, question: str, confidence: str
) -> None:
    texts = {path: LOGIN, "shop/other.py": "x = 1\n", "shop/names.py": "y = 2\n"}
    texts |= {f"shop/more{n}.py": f"z = {n}\n" for n in range(4)}
    assert find(question, texts).confidence == confidence


ASKED_BY_TEXT = {
    "shop/errors.py": "class StockMissing(Exception):\n    pass\n",
    "shop/stock.py": (
        "def check_items(items):\n    for item in items:\n        if not item:\n"
        "            raise StockMissing(\n                f'Item {item!r} is not '\n"
        "                f'available in store {store}.'\n            )\n"
        "\n\ndef recheck_items(items):\n    return check_items(items)\n"
    ),
    "shop/options.py": (
        "def add_options(parser):\n    parser.add_argument('--no-parcels', action='store_false')\n"
    ),
    "shop/packing.py": (
        "def run_all():\n    parcels = pack()\n    return parcels\n\n\n"
        "def pack():\n    return []\n\n\ndef run():\n    return pack()\n"
    ),
    "tests/test_stock.py": "def test_items_are_checked():\n    assert check_items(['a'])\n",
}


@table(
    ("question", "path", "line"),
    [
        ("who says 'Item 7 is not available in store Berlin.'", "shop/stock.py", 5),
        (
            "Item 'x' is not available in store 5! where does this come from",
            "shop/stock.py",
            5,
        ),
        (
            "where is this raised\nshop.StockMissing: Item 3 is not available in store 5.\n"
            'File "/srv/app/other.py", line 3',
            "shop/stock.py",
            5,
        ),
        ("when is StockMissing raised", "shop/stock.py", 4),
        ("what calls check_items?", "shop/stock.py", 11),
        ("where is StockMissing defined", "shop/errors.py", 1),
        ("Where is run defined?", "shop/packing.py", 10),
        ("how do I switch off the parcels", "shop/options.py", None),
        ("is there a test that items are checked", "tests/test_stock.py", 1),
    ],
)
def test_exact_text_raising_lines_callers_and_names_are_found(
    question: str, path: str, line: int | None
) -> None:
    best = find(question, ASKED_BY_TEXT).places[0]
    assert (best.path, best.line if line else None) == (path, line)


def test_what_else_is_asked_of_a_message_is_shown_and_surely_only_if_it_is_there() -> None:
    texts = {
        "shop/wire.py": "def read_banner(wire):\n    timeout = wire.banner_timeout\n"
        "    if not wire.read(timeout):\n        raise ValueError('no banner was received')\n"
    }
    found = find("where is the timeout of this set\nno banner was received", texts)
    assert [fact.line for fact in found.facts] == [4, 2, 3]
    assert found.confidence == "high"
    other = find("where is the encoding of this set\nno banner was received", texts)
    assert (other.places[0].line, other.confidence) == (4, "medium")


def test_the_statement_of_a_message_is_quoted_whole() -> None:
    (fact,) = find(
        "who says 'Item 7 is not available in store Berlin.'", ASKED_BY_TEXT
    ).facts
    assert (fact.kind, fact.line) == ("statement", 4)
    assert fact.value.startswith("raise StockMissing( f'Item {item!r} is not ' f'available")


def test_a_message_of_other_words_is_not_found() -> None:
    assert find("who says 'the parcel was lost at sea'", ASKED_BY_TEXT).confidence == "none"


LANGUAGES = {
    "lang/language.py": "class Language:\n    '''A language and its grammar.'''\n"
    "    def implement(self, grammar):\n        return grammar\n\n    def files(self): ...\n",
    "lang/grammar.py": "def load_grammar(path):\n    '''Load the grammar files of a language.'''\n",
    "web/server.py": "class Server:\n    def start(self): ...\n\ndef run_server(port): ...\n",
    "web/app.py": "from web.server import Server\nServer().start()\n",
}


@examples(
    "question",
    ["where is the language server implemented", "where is the language server for files"],
)
def test_half_of_a_name_is_no_answer(question: str) -> None:
    assert find(question, LANGUAGES).confidence == "none"


@near_misses(
    "question",
    [
        "where are languages implemented for the server",
        "which option has the language server for files",
    ],
)
def test_words_that_are_no_name_may_stand_apart(question: str) -> None:
    assert find(question, LANGUAGES).confidence == "low"


def test_what_is_lacking_is_named() -> None:
    found = find("is there kerberos support for items", ASKED_BY_TEXT)
    assert (found.confidence, found.absent) == ("none", ("kerberos",))
    assert found.nearest
    assert found.kinds == (("source", 4), ("test", 1))


def test_none_says_what_was_looked_for_and_in_how_many_files() -> None:
    found = find("Where is the kafka consumer?", SHOP)
    assert found.terms == ("kafka", "consumer")
    assert found.looked_at == len(SHOP)


def facts(question: str) -> set[tuple[str, str, str]]:
    return {(fact.kind, fact.name, fact.value) for fact in find(question, SHOP).facts}


def test_facts_name_the_variable_and_its_default() -> None:
    found = facts("Where is database configuration defined?")
    assert ("environment variable", "DATABASE_URL", '"sqlite:///shop.db"') in found


def test_facts_name_the_function_and_the_defaults_of_its_parameters() -> None:
    found = facts("Where is the retry delay computed?")
    assert (
        "function",
        "retry_delay",
        "def retry_delay(attempt, base=0.5, limit=30):",
    ) in found
    assert {
        ("default", "retry_delay.base", "0.5"),
        ("default", "retry_delay.limit", "30"),
    } <= found


def test_facts_name_the_constant_and_its_value() -> None:
    assert ("constant", "DEFAULT_ATTEMPTS", "3") in facts(
        "What is the default number of attempts?"
    )


def test_only_what_is_allowed_is_looked_at() -> None:
    found = find(
        "Where is the retry delay computed?", SHOP, allowed=["shop/client.py", "no/such.py"]
    )
    assert found.looked_at == 1
    assert {place.path for place in found.places} == {"shop/client.py"}


def test_each_file_has_its_best_place_before_any_has_a_second() -> None:
    places = find("Where is the retry delay computed?", SHOP, limit=20).places
    files = list(dict.fromkeys(place.path for place in places))
    assert [place.path for place in places[: len(files)]] == files
    assert len(find("Where is the retry delay computed?", SHOP, limit=2).places) == 2


def test_no_secret_is_shown() -> None:
    key = "ghp_" + "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"
    texts = {
        "deploy.py": f'import os\n\nDEPLOY_TOKEN = os.environ.get("DEPLOY_TOKEN", "{key}")\n'
    }
    found = find("Where is the deploy token defined?", texts)
    assert found.places[0].line == 3
    assert key not in repr(found)
    assert any(fact.name == "DEPLOY_TOKEN" for fact in found.facts)


def test_the_same_question_has_the_same_answer_whatever_the_order_of_files() -> None:
    turned = dict(reversed(SHOP.items()))
    for question in (
        "Where is the retry delay computed?",
        "Where is database configuration defined?",
    ):
        assert find(question, SHOP) == find(question, turned)


HOSTILE = {
    "one line": "retry delay " * 90_000,
    "open brackets": "(" * 100_000 + "retry_delay",
    "nested calls": "retry_delay(" * 5_000,
    "nested classes": "".join(f"{' ' * n}class retry{n}:\n" for n in range(400)),
    "many names": "\n".join(f"def retry_delay_{n}(a=1): pass" for n in range(20_000)),
    "control characters": "\x00\x1b[31mretry\x07 delay\r\n\x85\u2028def retry_delay(): pass",
    "lone surrogates": "def retry_delay(): return '\udcff'",
    "huge name": "def retry_" + "a" * 300_000 + "(): pass",
    "letters that change their length": "İ" * 5_000 + " retry_delay ",
    "open string": 'x = "' + "retry delay\n" * 20_000,
}


@table("ending", ["py", "js", "c", "rs", "md", "json", "yaml", "sh", "toml"])
def test_hostile_files_are_answered_in_time(ending: str) -> None:
    texts = {f"{name}.{ending}": text for name, text in HOSTILE.items()}
    with cpu_seconds(8):
        found = find("Where is the retry delay computed?", texts)
    assert found.looked_at == len(texts)
    assert all(len(place.text) <= 160 for place in found.places)


PIECES = st.sampled_from(
    [
        "def retry(delay=1):",
        "class Retry",
        "retry_delay",
        " ",
        "\n",
        "(",
        ")",
        "{",
        '"""',
        "'",
        "#",
        "\t",
        "İ",
        "\udc80",
        "=",
        "os.environ['RETRY']",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    question=st.text(max_size=60) | st.just("Where is the retry delay computed?"),
    texts=st.dictionaries(
        st.sampled_from(["a.py", "b.js", "c.md", "d.toml", "e.java", "tests/f.py", "g"]),
        st.lists(PIECES, max_size=40).map("".join),
        max_size=5,
    ),
)
def test_places_stand_where_they_say(question: str, texts: dict[str, str]) -> None:
    found = find(question, texts)
    assert isinstance(found, SearchResult)
    assert (found.confidence == "none") == (not found.places)
    scores = [place.score for place in found.places]
    files = dict.fromkeys(place.path for place in found.places)
    assert scores[: len(files)] == sorted(scores[: len(files)], reverse=True)
    for place in found.places:
        lines = texts[place.path].split("\n")
        assert place.line >= 1
        assert place.line <= len(lines)
        assert place.text == lines[place.line - 1].strip()[:160]
    for fact in found.facts:
        assert 1 <= fact.line <= texts[fact.path].count("\n") + 1
