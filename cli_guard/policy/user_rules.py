"""A repository's own rules in `.cli-guard/rules/`: ast-grep documents (`*.yml`) and flow tables (`*.toml`) like ours.

Whoever can change the repository can change them, so they are hostile input: their number, size, depth and search are
bounded, and so are their regular expressions. ast-grep's own take linear time.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    field_validator,
)

from cli_guard.errors import ConfigError
from cli_guard.lazy import frozen
from cli_guard.model import Confidence, Severity
from cli_guard.policy.config import parse_toml
from cli_guard.policy.globs import nearest
from cli_guard.policy.schema import Section, describe
from cli_guard.rules.catalog import Rule, flow_languages, read_table, rule_of

FOLDER = ".cli-guard/rules"
ENDINGS = (".yml", ".yaml", ".toml")
MOST_FILES = 50
MOST_RULES = 200
MOST_CHARS = 100_000
DEEPEST = 20
MOST_PARTS = 300
SEEN_CHARS = 300
# A search through all that is below or around a node, inside another one.
MOST_SEARCHES = 2
# The fields of a flow table, as in rules/flow/, and those that hold a regular expression.
FLOW_FIELDS = {
    "source": "reads call handlers parameters unless when what local",
    "sink": "kind call assign arguments receiver when unless remedy",
    "sanitizer": "call kinds when unless",
    "guard": "condition kinds holds",
    "step": "call drops when unless",
}
FLOW_PROSE = ("what", "remedy", "reference", "fires", "silent")
FLOW_TYPES = {
    "local": bool,
    "receiver": bool,
    "holds": bool,
    "drops": bool,
    "kinds": list,
    "arguments": list,
}
FLOW_TYPES |= dict.fromkeys(("fires", "silent"), list)
FLOW_REGEXES = "reads call assign handlers parameters when unless condition".split()
ESCAPED = re.compile(r"\\.")
CLASS = re.compile(r"\[\^?\]?[^\]]*\]")


def check_bounded(pattern: str) -> str:
    """Return a regular expression that takes little time on a short text. Raises ValueError for another.

    No group is repeated, so repetitions do not nest, and two of them take at most the square of the length.
    """
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    plain = CLASS.sub("c", ESCAPED.sub("e", pattern))
    if re.search(r"\)[*+{]|\(\?(?:P=|<?[=!]|\()", plain) or re.search(r"\\[1-9]", pattern):
        raise ValueError(
            "repeats a group, looks around or refers back: write it without, it could take too long"
        )
    if len(re.findall(r"[*+{]", plain)) > 2:
        raise ValueError(
            "repeats more than twice: write it without, it could take too long"
        )
    return pattern


class Cut:
    """A bounded regular expression that sees only the start of a text: its time grows faster than what it sees."""

    def __init__(self, made: re.Pattern[str]) -> None:
        self._made = made
        self.pattern = made.pattern

    def search(self, text: str) -> re.Match[str] | None:
        return self._made.search(text[:SEEN_CHARS])

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._made.fullmatch(text) if len(text) <= SEEN_CHARS else None


def cut_all(patterns: Mapping[str, re.Pattern[str]]) -> Mapping[str, re.Pattern[str]]:
    """Return regular expressions that see only the start of a text."""
    return cast(
        "Mapping[str, re.Pattern[str]]",
        {name: Cut(made) for name, made in patterns.items()},
    )


Text = Annotated[str, Field(max_length=2_000)]
Texts = Annotated[tuple[Text, ...], Field(max_length=50)]
Filled = Annotated[str, Field(min_length=1, max_length=2_000)]


class Metadata(Section):
    """What `metadata` of a rule may have; the defaults are those of a rule that is tried on every text."""

    severity: Severity
    why: Filled
    remedy: Filled
    title: Text = ""
    confidence: Confidence = Confidence.MEDIUM
    source: Text = ""
    keywords: Texts = Field(default=("",), min_length=1)
    unless: Texts = ()
    paths: Annotated[str, AfterValidator(check_bounded)] = Field(default="", max_length=300)
    in_tests: Literal["lower", "same", "off", "only"] = "lower"
    fires: Texts = ()
    silent: Texts = ()


class RuleDocument(Section):
    """One rule. `language` is ast-grep's name in any case, such as TypeScript."""

    id: str = Field(max_length=80, pattern="^user-[a-z0-9]+(-[a-z0-9]+)*$")
    language: Filled
    message: Filled
    rule: dict[str, Any]
    metadata: Metadata
    constraints: dict[str, Any] = Field(default_factory=dict)
    fix: Text = ""

    @field_validator("rule", "constraints")
    @classmethod
    def check_size(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Refuse a rule that searches too much. Raises ValueError."""
        if sum(parts_of(value, 0)) > MOST_PARTS:
            raise ValueError(f"has more than {MOST_PARTS} parts: divide it")
        return value

    @property
    def found_by(self) -> dict[str, Any]:
        """Return what decides about what is found, without the texts that explain it and the severity."""
        prose = {"severity", "why", "remedy", "title", "source", "fires", "silent"}
        return self.model_dump(exclude={"message": True, "fix": True, "metadata": prose})

    def as_rule(self) -> Rule:
        """Return the rule in the form of ours."""
        document = self.model_dump(include={"language", "message", "rule"})
        document |= {
            key: each for key in ("constraints", "fix") if (each := getattr(self, key))
        }
        metadata = self.metadata.model_dump()
        return rule_of(
            {
                **metadata,
                "title": metadata["title"] or self.message,
                "id": self.id,
                "document": document,
            }
        )


def parts_of(node: Any, searches: int) -> Iterator[int]:
    """Yield 1 for each part of a rule. Raises ValueError for searches in searches: each multiplies the time."""
    yield 1
    parts: Iterable[Any] = ()
    if isinstance(node, dict):
        searches += node.get("stopBy", "neighbor") != "neighbor"
        if searches > MOST_SEARCHES:
            raise ValueError(
                f"has more than {MOST_SEARCHES} stopBy inside each other: they take too long"
            )
        parts = node.values()
    elif isinstance(node, list):
        parts = node
    for each in parts:
        yield from parts_of(each, searches)


@frozen
class UserFlow:
    """An entry of a flow table; `key` is what it does, without what only explains it."""

    language: str
    section: str
    data: Mapping[str, Any] = field(compare=False)
    key: str

    @property
    def only_loosens(self) -> bool:
        """Return whether it can only remove findings."""
        return self.section in ("sanitizer", "guard") or bool(self.data.get("drops"))


@frozen(eq=False)
class UserRules:
    """The rules of a repository by id, each with its place `path:line`, and a hash of the files that hold them."""

    documents: Mapping[str, RuleDocument]
    places: Mapping[str, str]
    digest: str = ""
    flows: tuple["UserFlow", ...] = ()

    def rules_for(self, language: str) -> tuple[Rule, ...]:
        """Return the rules for a language, under the names of `cli_guard.code.languages`."""
        return tuple(
            each.as_rule()
            for each in self.documents.values()
            if each.language.lower() == language
        )


NO_RULES = UserRules({}, {})


def is_rule_file(path: str) -> bool:
    """Return whether rules are read from a path: in the folder itself, not below it."""
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith(ENDINGS)


def read_rules(texts: Mapping[str, str]) -> UserRules:
    """Read the rules in the texts of files by path. Raises ConfigError with the file, the line and what to do."""
    if len(texts) > MOST_FILES:
        raise ConfigError(
            f"{FOLDER}: {len(texts)} files, of at most {MOST_FILES}: put several rules into one"
        )
    documents = dict[str, RuleDocument]()
    places = dict[str, str]()
    digest = hashlib.sha256()
    flows: list[UserFlow] = []
    for path, text in sorted(texts.items()):
        digest.update(f"{path}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        if path.endswith(".toml"):
            flows += flows_in(path, text)
        for line, data in documents_in(path, text) if not path.endswith(".toml") else ():
            place = f"{path}:{line}"
            if not isinstance(data, dict):
                raise ConfigError(
                    f"{place}: a rule is a table with id, language, message, rule and metadata"
                )
            try:
                document = RuleDocument.model_validate(data)
            except ValidationError as error:
                raise ConfigError(f"{place}: {describe(error, keys_of)}") from None
            if document.id in places:
                raise ConfigError(
                    f"{place}: {document.id} is in {places[document.id]} too: give it another id"
                )
            documents[document.id] = document
            places[document.id] = place
        if len(documents) + len(flows) > MOST_RULES:
            raise ConfigError(
                f"{path}: more than {MOST_RULES} rules in {FOLDER}: remove some"
            )
    return (
        UserRules(documents, places, digest.hexdigest(), tuple(flows))
        if texts
        else NO_RULES
    )


def keys_of(place: list[str]) -> list[str]:
    return list((Metadata if place == ["metadata"] else RuleDocument).model_fields)


def check_length(path: str, text: str) -> None:
    """Raise ConfigError for a file that is too long."""
    if len(text) > MOST_CHARS:
        raise ConfigError(
            f"{path}: more than {MOST_CHARS:,} characters: divide it into several files"
        )


def documents_in(path: str, text: str) -> Iterator[tuple[int, Any]]:
    """Yield the documents of a YAML file with their first lines. Raises ConfigError."""
    import yaml

    check_length(path, text)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    lines = list[int]()
    depth = 0
    try:
        # The events first, because what builds and reads the data has no bound, and aliases multiply it.
        for event in yaml.parse(text, Loader=loader):
            line = event.start_mark.line + 1 if event.start_mark else 1
            if isinstance(event, yaml.DocumentStartEvent):
                lines.append(line)
            if isinstance(event, yaml.AliasEvent):
                raise ConfigError(
                    f"{path}:{line}: aliases are not supported: write the value out"
                )
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
                event, yaml.CollectionEndEvent
            )
            if depth > DEEPEST:
                raise ConfigError(
                    f"{path}:{line}: nested deeper than {DEEPEST}: make it simpler"
                )
        documents = list(yaml.load_all(text, Loader=loader))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigError(
            f"{path}:{mark.line + 1 if mark else 1}: not valid YAML: {what}"
        ) from None
    yield from (
        (line, data)
        for line, data in zip(lines, documents, strict=True)
        if data is not None
    )


def flows_in(path: str, text: str) -> Iterator[UserFlow]:
    """Yield the entries of a flow table. Raises ConfigError."""
    check_length(path, text)
    tables = parse_toml(text.encode("utf-8", "replace"), path)
    language = tables.pop("language", None)
    # The kinds of sink are the ends of the rules code-flow-...
    rules = read_table("code/flows.toml")["rule"]
    kinds = [rule["id"].removeprefix("code-flow-") for rule in rules]
    if language not in flow_languages():
        raise ConfigError(
            f"{path}: language is {language!r}: it must be one of {', '.join(flow_languages())}"
        )
    for section, entries in tables.items():
        if section not in FLOW_FIELDS or not isinstance(entries, list):
            raise ConfigError(
                f"{path}: unknown table {section!r}: write [[source]], [[sink]], [[sanitizer]], ..."
            )
        for number, data in enumerate(entries, 1):
            try:
                check_flow(section, data, kinds)
            except ValueError as error:
                raise ConfigError(
                    f"{path}: the [[{section}]] number {number}: {error}"
                ) from None
            key = json.dumps(
                {name: each for name, each in data.items() if name not in FLOW_PROSE},
                sort_keys=True,
            )
            yield UserFlow(language, section, data, key)


def check_flow(section: str, data: Any, kinds: list[str]) -> None:
    """Check one entry of a flow table. Raises ValueError."""
    fields = [*FLOW_FIELDS[section].split(), "reference", "fires", "silent"]
    if not isinstance(data, dict) or not data.keys() & {*FLOW_REGEXES} - {"when", "unless"}:
        raise ValueError(f"names nothing to match: give it one of {', '.join(fields)}")
    for name, value in data.items():
        if name not in fields:
            raise ValueError(f"unknown key {name!r}{nearest(name, fields)}")
        if not isinstance(value, FLOW_TYPES.get(name, str)) or len(str(value)) > 2_000:
            raise ValueError(
                f"{name!r} must be a {FLOW_TYPES.get(name, str).__name__} of at most 2,000 characters"
            )
        if name in FLOW_REGEXES:
            check_bounded(str(value).replace("{x}", "x"))
    if section == "guard" and str(data.get("condition")).count("{x}") != 1:
        raise ValueError(
            "'condition' must hold {x} once: it stands for the value that is checked"
        )
    known = [*kinds, "all", "resolved"] if section != "sink" else kinds
    for kind in (
        data.get("kinds", [])
        if section in ("sanitizer", "guard")
        else [data.get("kind", "")]
    ):
        if section not in ("source", "step") and kind not in known:
            raise ValueError(f"unknown kind {kind!r}: choose of {', '.join(known)}")


def weaker_user_rules(before: UserRules, after: UserRules) -> Iterator[str]:
    """Yield which rules were removed, weigh less or may find something else; what explains them may change."""
    kept = set(after.flows)
    known = set(before.flows)
    lost = [each for each in before.flows if not each.only_loosens and each not in kept]
    yield from (
        f"the {each.section} {each.key[:60]} was removed or changed" for each in lost
    )
    loosening = [each for each in after.flows if each.only_loosens and each not in known]
    yield from (
        f"a new {each.section} {each.key[:60]} removes findings" for each in loosening
    )
    weights = list(Severity)
    for was in before.documents.values():
        becomes = after.documents.get(was.id)
        if becomes is None:
            yield f"the rule {was.id} was removed"
        elif weights.index(becomes.metadata.severity) > weights.index(
            was.metadata.severity
        ):
            yield f"the rule {was.id} changes from {was.metadata.severity} to {becomes.metadata.severity}"
        elif becomes.found_by != was.found_by:
            yield f"the rule {was.id} may find something else"
