"""Rules over syntax trees: ast-grep's rule objects, read from `rules/code/<topic>.yml` and `<topic>-*.yml`.

Beyond ast-grep's own `language`, `message`, `fix`, `rule` and `constraints`, a document's `metadata` has

    keywords    the rule is tried on a text that holds one of them; keeps the common case free
    when        a regular expression of linear time: nor is it tried on a text without a match of it
    unless      the rule is not tried on a text that holds one of them
    paths       a regular expression: the rule is tried only where it matches the path
    assigned    a regular expression with a group: if the rule binds `$GIVEN`, a match is dropped if the group is that
                name somewhere in the file
    passed_to   a regular expression with one group: if the rule binds `$QUERY`, a match is dropped unless the
                group is that name somewhere in the file
    in_tests    "lower" (one step less), "same", "off", "only"; the default is "lower" without advice in tests
    focus       a regular expression: report each line of the node that it matches, not the node
    else_at     a regular expression: if no such line was added, report the first added line that this matches
    once        a regular expression: report the first match in a file, and none in which it finds a text that it
                also found in the file before the change

A rule may bind `$TO`: the last node that is part of the offence. A line after it, such as the body of a
callback, does not bring the finding up again. Rule objects in `rules/code/utils/<topic>.yml` can be used
with `matches` by every rule of that topic.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from cli_guard.code.languages import GRAMMARS
from cli_guard.code.taint.needs import Needs, either, has_needed, needs_of
from cli_guard.errors import ConfigError
from cli_guard.lazy import dataclass
from cli_guard.policy.user_rules import UserRules, cut_all
from cli_guard.reviewers.code.remarks import applies
from cli_guard.rules import catalog, data
from cli_guard.rules.catalog import Rule, read_table
from cli_guard.words import WordSet, words_in

if TYPE_CHECKING:
    from ast_grep_py import Config

PATTERNS = ("when", "paths", "assigned", "passed_to", "focus", "else_at", "once")
RELATIONS = ("has", "inside", "precedes", "follows")
WORD = re.compile(r"[A-Za-z_]\w+")
# ast-grep compiles a rule anew for each file, and `\w` of all alphabets takes longer than all else in it. All that is
# not ASCII counts as a letter instead: a name in any alphabet is still one. The case of letters is no matter in it.
LETTERS = r"0-9A-Za-z_\x80-\x{10FFFF}"
ESCAPE = re.compile(r"\\.")
ESCAPE_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\\[])*\]")


@dataclass(frozen=True)
class TreeRule:
    """A rule with the data for its findings; `written` is ast-grep's rule object as it stands in its file.

    `fills_text`: it is about what is put into a text, in which a number does no harm.
    """

    rule: Rule
    written: "Config"
    keywords: tuple[str, ...]
    unless: tuple[str, ...]
    message: str
    fix: str | None
    patterns: Mapping[str, re.Pattern[str]]
    fills_text: bool = False
    is_ours: bool = True

    @cached_property
    def config(self) -> "Config":
        """The rule object that is searched with."""
        made: Config = with_short_classes(self.written) if self.is_ours else self.written
        return made

    @cached_property
    def needs(self) -> Needs:
        """The words, in lower case, that a text has if the rule matches in it."""
        return list_needs(self.written["rule"], self.written["utils"])

    def wants(self, path: str, text: str) -> bool:
        """Return whether the text may match at all."""
        return any(map(text.__contains__, self.keywords)) and self.fits(path, text)

    def fits(self, path: str, text: str) -> bool:
        """Return whether the text may match if it holds one of the keywords."""
        return (
            applies(self.rule, path)
            and self._finds("paths", path)
            and not any(word in text for word in self.unless)
            and self._finds("when", text)
            and (not self.is_ours or has_needed(self.needs, words_in(text).casefold()))
        )

    def _finds(self, name: str, text: str) -> bool:
        return name not in self.patterns or bool(self.patterns[name].search(text))


@cache
def rules_of(topic: str) -> tuple[TreeRule, ...]:
    """Return the rules of one topic, read at its first file: a change to a README reads none."""
    utils = _utils(topic)
    files = [
        f"code/{name}"
        for name in sorted(data.names("code"), key=lambda name: name.removesuffix(".yml"))
        if name == f"{topic}.yml"
        or (name.startswith(f"{topic}-") and name.endswith(".yml"))
    ]
    return tuple(_compile(rule, utils) for file in files for rule in catalog.rules_in(file))


def list_needs(part: Mapping[str, Any], utils: Mapping[str, Any]) -> Needs:
    """Return the words that a text has if a rule object matches in it: those of all its regular expressions."""
    found: Needs = ()
    for key, value in part.items():
        if key == "regex":
            found += needs_of(value, is_whole=False, is_folded=True)
        elif key in RELATIONS:
            found += list_needs(value, utils)
        elif key == "all":
            found += tuple(need for each in value for need in list_needs(each, utils))
        elif key == "any":
            found += either(list_needs(each, utils) for each in value)
        elif key == "matches":
            found += list_needs(utils[value], utils)
    return found


def with_short_classes(part: Any) -> Any:
    """Return a rule object whose regular expressions are faster to compile, see LETTERS."""
    if isinstance(part, list):
        return [with_short_classes(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: shorten_classes(value) if key == "regex" else with_short_classes(value)
        for key, value in part.items()
    }


def shorten_classes(regex: str) -> str:
    """Return a regular expression with short classes; one with a class inside another stays as it is."""
    is_nested = "[" in ESCAPE_OR_CLASS.sub("", regex)
    return regex if is_nested else ESCAPE_OR_CLASS.sub(_shorten_class, regex)


def _shorten_class(match: re.Match[str]) -> str:
    written = match[0]
    if written == r"\w":
        return f"(?-i:[{LETTERS}])"
    if written == r"\W":
        return f"(?-i:[^{LETTERS}])"
    short = ESCAPE.sub(lambda each: LETTERS if each[0] == r"\w" else each[0], written)
    return written if short == written or written[0] != "[" else f"(?-i:{short})"


@cache
def keywords_of(topic: str) -> WordSet:
    """Return the keywords of the rules of one topic, which a text is searched for in one pass."""
    return WordSet(word for rule in rules_of(topic) for word in rule.keywords)


def rules_for(topic: str, path: str, text: str) -> list[TreeRule]:
    """Return the rules of one topic that may match the text of a file."""
    held = frozenset(keywords_of(topic).found_in(text, words_in(text)))
    if not held:
        return []
    return [
        rule
        for rule in rules_of(topic)
        if not held.isdisjoint(rule.keywords) and rule.fits(path, text)
    ]


@cache
def words_of(topic: str) -> frozenset[str]:
    """Return the words that the rules of a topic compare code with."""
    texts = (text for rule in rules_of(topic) for text in _patterns_in(rule.written))
    return frozenset(word for text in texts for word in WORD.findall(text))


def _patterns_in(part: object) -> Iterator[str]:
    """Yield the patterns and regular expressions of a rule object."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in ("regex", "pattern") and isinstance(value, str):
                yield value
            else:
                yield from _patterns_in(value)
    elif isinstance(part, list):
        for value in part:
            yield from _patterns_in(value)


@lru_cache(maxsize=20)
def user_rules_of(users: UserRules, language: str) -> tuple[TreeRule, ...]:
    """Return the repository's own rules for a language."""
    rules = (_compile(rule, {}) for rule in users.rules_for(language))
    return tuple(
        replace(rule, patterns=cut_all(rule.patterns), is_ours=False) for rule in rules
    )


def check_user_rules(users: UserRules) -> None:
    """Check that ast-grep accepts the rules. Raises ConfigError with the place of the first that it does not."""
    if not users.documents:
        return
    from ast_grep_py import SgRoot

    for name, document in users.documents.items():
        language = document.language.lower()
        place = users.places[name]
        if language not in GRAMMARS:
            raise ConfigError(
                f"{place}: no language {document.language!r}: choose of {', '.join(sorted(GRAMMARS))}"
            )
        (rule,) = (each for each in user_rules_of(users, language) if each.rule.id == name)
        try:
            SgRoot("", language).root().find(rule.config)
        except Exception as error:  # what the library raises depends on the mistake
            causes = re.findall(
                r"(?m)^ +\d+: (.+)", str(error).partition("Stack backtrace")[0]
            )
            told = "; ".join(causes) or str(error).partition("\n")[0]
            raise ConfigError(
                f"{place}: the rule {name} is not one of ast-grep: {told[:300]}"
            ) from None


@cache
def _text_rules() -> tuple[str, ...]:
    return tuple(read_table("code/effects.toml")["texts"]["rules"].split())


def _utils(topic: str) -> Mapping[str, Any]:
    if f"{topic}.yml" not in data.names("code/utils"):
        return {}
    documents = data.read(f"code/utils/{topic}.yml")
    return {document["id"]: document["rule"] for document in documents}


def _compile(rule: Rule, utils: Mapping[str, Any]) -> TreeRule:
    document = rule.extra["document"]
    # ast-grep compiles all utils that it is given for every search. Utils use no others.
    used = {
        name: body
        for name, body in utils.items()
        if f"'matches': '{name}'" in str(document["rule"])
    }
    config: Config = {"rule": document["rule"], "utils": used}
    if "constraints" in document:
        config["constraints"] = document["constraints"]
    return TreeRule(
        rule=rule,
        written=config,
        keywords=tuple(rule.extra["keywords"]),
        unless=tuple(rule.extra.get("unless", ())),
        message=document["message"].strip(),
        fix=document.get("fix"),
        patterns={
            name: re.compile(rule.extra[name]) for name in PATTERNS if name in rule.extra
        },
        fills_text=any(fnmatchcase(rule.id, f"code-{each}") for each in _text_rules()),
    )
