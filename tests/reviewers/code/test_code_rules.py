"""Every rule of the code reviewer is complete: rules/test_rule_examples.py runs its examples."""

from ast_grep_py import SgRoot
from examples import table

from cli_guard.code.taint.needs import has_needed
from cli_guard.model import Severity
from cli_guard.reviewers.code.tree_rules import list_needs, shorten_classes
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule
from cli_guard.words import words_in


@table("rule", catalog.load("code", examples=True), ids=lambda rule: rule.id)
def test_rule_is_complete(rule: Rule) -> None:
    assert rule.id.startswith("code-")
    assert rule.why and rule.remedy and rule.title
    whole_file = "document" not in rule.extra and "pattern" not in rule.extra
    assert whole_file or (rule.fires and rule.silent and rule.extra["keywords"])
    assert rule.extra.get("in_tests", "lower") in ("lower", "same", "off", "only")


def test_only_a_whole_conflict_is_critical() -> None:
    critical = [
        rule.id
        for rule in catalog.load("code", examples=True)
        if rule.severity is Severity.CRITICAL
    ]
    assert critical == ["code-conflict-marker"]


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in catalog.load("code", examples=True)]
    assert len(ids) == len(set(ids))


@table(
    "regex, text, is_match",
    [
        (r"^\w+$", "größe", True),
        (r"^\w+$", "пароль", True),
        (r"(?i)^\w+_KEY$", "my_key", True),
        (r"(?i)^[\w.-]+$", "A.b-c", True),
        (r"^[\w.-]+$", "a b", False),
        (r"^[^\w]+$", "--", True),
        (r"^[^\w]+$", "-a-", False),
        (r"^\W+$", "--", True),
        (r"^\W+$", "é", False),
        # A backslash and a letter, and a class inside another, are none of it.
        (r"^[\\w]+$", r"w\w", True),
        (r"^[\\w]+$", "a", False),
        (r"^[a-c[\w]]+$", "é", True),
        (r"^\[\w\]$", "[a]", True),
    ],
)
def test_letters_of_all_alphabets_match_as_written(
    regex: str, text: str, is_match: bool
) -> None:
    node = SgRoot(f'r"{text}"', "python").root().find(kind="string_content")
    assert node is not None
    assert node.matches(regex=regex) is is_match
    assert node.matches(regex=shorten_classes(regex)) is is_match


CALLED = {"has": {"field": "function", "regex": "^(log|logger)\\.(info|warn)$"}}
SECRET = {"any": [{"regex": "(?i)^api_?key$"}, {"matches": "secret"}]}
SECRETS = {"secret": {"kind": "identifier", "regex": "password"}}


@table(
    "rule, text, fits",
    [
        (CALLED, "logger.info(x)", True),
        (CALLED, "log(x); x.debug", False),
        (CALLED, "LOGGER.INFO(x)", True),
        (SECRET, "ApiKey", True),
        (SECRET, "old_password", True),
        (SECRET, "pass_word", False),
        ({"all": [CALLED, SECRET]}, "log.warn(password)", True),
        ({"all": [CALLED, SECRET]}, "log.warn(word)", False),
        ({"not": SECRET, "inside": CALLED}, "log.warn(word)", True),
        ({"inside": {"stopBy": SECRET, **CALLED}}, "log.warn(word)", True),
        ({"any": [SECRET, {"kind": "call"}]}, "anything", True),
    ],
)
def test_a_rule_needs_the_words_of_its_expressions(
    rule: dict[str, object], text: str, fits: bool
) -> None:
    assert has_needed(list_needs(rule, SECRETS), words_in(text).casefold()) is fits
