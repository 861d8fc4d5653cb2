"""Orders in a text that agents obey: sentences read as a verb that is ordered, what it is done to, and negations.

A verb is ordered where its clause begins, or behind `you must` and the like; in a sentence about something else ("the
hook reads ...", "attackers send ...") only the latter. What counts as a deed is data, `rules/agents/text.toml`; nothing
else in a text is an order here. English only; `languages` reads the same deeds in some other languages.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, islice

from cli_guard.lazy import frozen
from cli_guard.reviewers.agents.markdown import Block, BlockKind
from cli_guard.rules.catalog import read_patterns, read_table

TABLE = "agents/text.toml"
SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"'”)\]*_]{0,3}(?:\s+|$)|(?<=[。！？])(?![”」』])|</\w[\w-]{0,40}>|\n\s{0,40}(?=\||[-*•]\s|\d{1,3}[.)]\s)"
)
TOKEN = re.compile(r"[\w’']+(?:-\w+)*|--?[a-z][\w-]*|[^\w\s]")
MARKUP = re.compile(
    r"[*`]{1,3}|(?<!\w)_{1,2}(?![A-Z]+\b)|_{1,2}(?!\w)|^#{1,6}\s|^>\s?|\[[ x]\]\s"
)
QUOTED = re.compile(
    r"\"[^\"\n]{3,400}\"|“[^”\n]{3,400}”|«[^»\n]{3,400}»|„[^“”\n]{3,400}[“”]|「[^」\n]{3,400}」|『[^』\n]{3,400}』|(?<!\w)'[^'\n]{8,400}'(?!\w)"
)
# Names that are kept for documents reach nobody.
RESERVED = re.compile(
    r"(?i)(?<![\w-])(?:https?://)?(?:[\w-]{1,63}\.){0,8}(?:example(?:\.(?:com|net|org))?|test|invalid|localhost"
    r"|(?:attacker|evil|malicious)[\w-]{0,40}\.\w{2,6})\b(?:/[^\s\"'`|)]*)?"
)
PATH = re.compile(r"(?<![\w/:.])(?:\./)?(?:[\w.-]{1,100}/){1,20}[\w.-]{1,100}\.\w{1,5}\b")
PRONOUN = re.compile(
    r"(?i)^\W*(?:it|them|this|that|these|the (?:results?|outputs?|contents?|values?|files?|data))\b"
)
# A row of a table or an item that says what an option or a command does.
DEFINITION = re.compile(
    r"[\s|*_\[>+-]{0,20}(?:`[^`\n]{1,200}`|--?\w[\w-]{0,60})[^:|—–.]{0,60}?(?:[:|—–]| - )"
)
CLAUSE_END = re.compile(r"[;|]")
PROSE = frozenset(("", "text", "txt", "md", "markdown", "plaintext", "prompt", "xml"))
LONGEST_SENTENCE = 1_000
MOST_VERBS = 40
LONGEST_CLAUSE = 400


@frozen(eq=False)
class Deed:
    """A row of the table: what may be ordered."""

    name: str
    says: str
    verbs: frozenset[str]
    is_negated: bool
    object: re.Pattern[str]
    with_: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    needs: dict[str, re.Pattern[str]]
    goes_on: bool
    has_person: bool

    def matches(self, verb: str, clause: str, before: str, behind: str) -> bool:
        """Return whether what stands behind a verb makes it this deed. `before`, `behind` are the sentences beside."""
        text = f"{clause} {behind}" if self.goes_on else clause
        is_pronoun = PRONOUN.match(clause) is not None
        needed = self.needs.get(verb)
        if needed and not needed.search(text):
            return False
        if self.unless and self.unless.search(clause):
            return False
        # What a pronoun stands for is in the sentence before.
        place = f"{before} {text}" if is_pronoun else text
        if self.with_ and not self.with_.search(place):
            return False
        if self.object.search(text):
            return True
        return is_pronoun and self.object.search(before) is not None


@frozen
class FoundOrder:
    """One order: what is done, in which sentence, from which line to which."""

    deed: str
    says: str
    sentence: str
    line: int
    last: int
    kind: BlockKind


@frozen
class Sentence:
    """A sentence without markup, as it is written, and the lines on which it begins and ends."""

    text: str
    raw: str
    line: int
    last: int


@cache
def deeds() -> tuple[Deed, ...]:
    table = read_table(TABLE)
    return tuple(read_deed(row) for row in table["deed"])


def read_deed(row: dict[str, object]) -> Deed:
    return Deed(
        name=str(row["name"]),
        says=str(row["says"]),
        verbs=frozenset(str(row["verbs"]).split()),
        is_negated=bool(row.get("negated")),
        object=pattern_of(str(row["object"])),
        with_=pattern_of(str(row["with"])) if "with" in row else None,
        unless=pattern_of(str(row["unless"])) if "unless" in row else None,
        needs={verb: pattern_of(text) for verb, text in dict(row.get("needs", {})).items()},  # type: ignore[call-overload]
        goes_on=bool(row.get("next")),
        has_person=bool(row.get("subject")),
    )


@cache
def pattern_of(text: str) -> re.Pattern[str]:
    """Compile a pattern of the table, with the things that it names."""
    things = read_table(TABLE)["things"]
    for _ in range(3):
        for name, pattern in things.items():
            text = text.replace(f"{{{name}}}", f"(?:{pattern})")
    return re.compile(f"(?i){text}")


@cache
def words(name: str) -> frozenset[str]:
    """Return a list of words that sentences are read by."""
    return frozenset(read_table(TABLE)["words"][name].split())


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    return dict(read_patterns(TABLE, "patterns"))


def find_orders(blocks: Sequence[Block]) -> Iterator[FoundOrder]:
    """Yield the orders of a text with a deed."""
    for block in filter(is_prose, blocks):
        sentences = list(sentences_of(block))
        for place, sentence in enumerate(sentences):
            before = sentences[place - 1].text if place else ""
            behind = sentences[place + 1].text if place + 1 < len(sentences) else ""
            is_definition = DEFINITION.match(sentence.raw) is not None
            deed = deed_in(sentence.text, before, behind, is_definition=is_definition)
            if deed is not None:
                yield FoundOrder(
                    deed.name,
                    deed.says,
                    sentence.text,
                    sentence.line,
                    sentence.last,
                    block.kind,
                )


def is_prose(block: Block) -> bool:
    """Return whether the words of a block are read as words; other fences hold code."""
    return block.kind is not BlockKind.FENCE or block.language.lower() in PROSE


def sentences_of(block: Block) -> Iterator[Sentence]:
    """Yield the sentences of a block that may be orders, without what is an example."""
    if is_excused(block):
        return
    text = block.text
    start = 0
    counted = 0
    row = 0
    for end in ends_of_sentences(text):
        part = text[start:end]
        if part.strip():
            begin = start + len(part) - len(part.lstrip())
            row += text.count("\n", counted, begin)
            counted = begin
            last = row + part.strip().count("\n")
            yield Sentence(
                clean(part, block), part, block.lines[row][0], block.lines[last][0]
            )
        start = end


def ends_of_sentences(text: str) -> Iterator[int]:
    """Yield where sentences end; a very long one is read in pieces."""
    start = 0
    for end in chain((found.end() for found in SENTENCE_END.finditer(text)), (len(text),)):
        while end - start > LONGEST_SENTENCE:
            blank = text.rfind(" ", start + 1, start + LONGEST_SENTENCE)
            start = blank if blank > start else start + LONGEST_SENTENCE
            yield start
        yield end
        start = end


def clean(part: str, block: Block) -> str:
    """Return a sentence on one line, without markup and without what it quotes as an example."""
    text = part[:LONGEST_SENTENCE]
    if may_quote(block) and not has_target(text):
        text = QUOTED.sub('""', text)
    if block.kind is BlockKind.FRONT:
        text = re.sub(r"^[\w-]{1,40}[ \t]*[:=][ \t]*[\"'>|]{0,3}", "", text)
    text = MARKUP.sub("", text.replace("\n", " "))
    return " ".join(text.split())


def may_quote(block: Block) -> bool:
    return block.kind in (BlockKind.TEXT, BlockKind.QUOTE, BlockKind.FENCE)


def has_target(text: str) -> bool:
    """Return whether a text names an address that exists, or a path of this repository."""
    if PATH.search(RESERVED.sub("", text)):
        return True
    return pattern_of("{address}").search(RESERVED.sub("", text)) is not None


def is_excused(block: Block) -> bool:
    """Return whether a block shows what an attack looks like, or what is forbidden; hidden text has no excuse."""
    if not may_quote(block):
        return False
    forbidding = patterns()["forbidding"].search(block.intro)
    if forbidding:
        return True
    if has_target(block.text):
        return False
    if block.kind is BlockKind.FENCE and patterns()["example"].search(block.intro):
        return True
    return any(patterns()["heading"].search(title) for title in block.headings)


def deed_in(
    sentence: str, before: str = "", behind: str = "", *, is_definition: bool = False
) -> Deed | None:
    """Return the first deed that a sentence orders, None if it orders none."""
    if sentence.rstrip().endswith("?"):
        return None
    tokens = list(TOKEN.finditer(sentence[:LONGEST_SENTENCE]))
    names = [found[0].lower().replace("’", "'") for found in tokens]
    is_about_others = is_definition or has_other_subject(names)
    verbs = ((place, verb_of(names, place)) for place in range(len(names)))
    known = (each for each in verbs if deeds_of(each[1]))
    for place, verb in islice(known, MOST_VERBS):
        # Of a passive, what it is done to stands before it.
        start = tokens[place].end() if verb == names[place] else 0
        clause = CLAUSE_END.split(sentence[start : start + LONGEST_CLAUSE], maxsplit=1)[0]
        earlier = f"{before} {sentence[: tokens[place].start()]}"
        for deed in deeds_of(verb):
            if is_done(deed, names, place, is_about_others) and deed.matches(
                verb, clause, earlier, behind
            ):
                return deed
    return None


@cache
def deeds_by_verb() -> dict[str, list[Deed]]:
    found: dict[str, list[Deed]] = {}
    for deed in deeds():
        for verb in deed.verbs:
            found.setdefault(verb, []).append(deed)
    return found


def deeds_of(verb: str) -> list[Deed]:
    return deeds_by_verb().get(verb, [])


def verb_of(names: Sequence[str], place: int) -> str:
    """Return the verb at a place in the form of an order; a participle only in a passive: `must be sent`."""
    name = names[place]
    is_passive = place > 1 and names[place - 1] == "be"
    if not is_passive or name in ("aware", "told", "informed", "asked", "notified"):
        return name
    irregular = read_table(TABLE)["participles"].get(name)
    if irregular:
        return str(irregular)
    stem = name.removesuffix("ed")
    known = (
        each for each in (stem, f"{stem}e", f"{stem[:-1]}y", stem[:-1]) if deeds_of(each)
    )
    return next(known, name)


def is_done(deed: Deed, names: Sequence[str], place: int, is_about_others: bool) -> bool:
    """Return whether a verb at a place is ordered, or its omission where that is the deed."""
    # Of a verb that is ordered, what it is done to follows: "email, phone" are nouns.
    if not deed.is_negated and names[place + 1 : place + 2] in ([","], ["/"], ["]"], [")"]):
        return False
    negations, is_without = count_negations(names, place)
    if bool(negations % 2) is not deed.is_negated:
        return False
    if deed.has_person:
        return is_person_subject(names[max(place - 8, 0) : place])
    if names[place - 1 : place] == ["be"]:
        return not words("modals").isdisjoint(names[max(place - 5, 0) : place])
    if is_without:
        return not is_about_others
    return is_ordered(names, place, is_about_others)


def order_in(text: str) -> Deed | None:
    """Return the first deed that a hidden text orders."""
    for part in SENTENCE_END.split(text[:LONGEST_SENTENCE]):
        deed = deed_in(part)
        if deed is not None:
            return deed
    return None


def is_command_ordered(before: str) -> bool:
    """Return whether a command is given as one to run, by the words before it in its sentence."""
    names = [
        found[0].lower().replace("’", "'")
        for found in TOKEN.finditer(MARKUP.sub("", before))
    ]
    negations, _ = count_negations(names, len(names))
    return negations % 2 == 0 and not has_other_subject(names)


def count_negations(names: Sequence[str], place: int) -> tuple[int, bool]:
    """Return how many negations govern a verb, and whether `without` stands right before it."""
    count = 0
    outside = 0
    is_condition = False
    for word in names[:place]:
        # What brackets negate ends with them.
        if word == "(":
            outside = count
        elif word == ")":
            count = outside
        if word in words("conditions") or word == "without":
            is_condition = True
        if word in words("resets") or (word == "," and is_condition):
            count = 0
            is_condition = False
        elif word in words("negators"):
            count += 1
        elif word in words("lifting") and count:
            count -= 1
    is_without = place > 0 and names[place - 1] in ("without", "avoid", "ever")
    return count, is_without


def is_person_subject(before: Sequence[str]) -> bool:
    """Return whether the nearest subject before a verb is a person, not the agent."""
    known = words("persons") | words("subjects") | words("agents")
    nearest = next((name for name in reversed(before) if name in known), "")
    return nearest in words("persons")


def is_ordered(names: Sequence[str], place: int, is_about_others: bool) -> bool:
    """Return whether a verb is in the place of an order."""
    before = place - 1
    while before >= 0 and names[before] in words("negators") | {"do", "to", "ever", "even"}:
        before -= 1
    if before < 0:
        return True
    word = names[before]
    if names[place - 1] == "to":
        is_urged = word in words("before_to") | words("lifting")
        return is_urged and not is_about_others
    if word in words("modals") and before > 0 and names[before - 1] in words("agents"):
        return True
    if is_about_others:
        return False
    if word in words("leaders") | words("modals"):
        return True
    return is_behind_condition(names, place, word)


def is_behind_condition(names: Sequence[str], place: int, word: str) -> bool:
    """Return whether a verb follows a condition without a comma: "before the first edit read ..."."""
    if word in words("subjects") | words("agents") | words("starters") | words("persons"):
        return False
    begins = 0
    for each in range(place):
        if names[each] in (",", ";", ":"):
            begins = each + 1
    return names[begins] in words("starters") and place - begins in range(2, 7)


def has_other_subject(names: Sequence[str]) -> bool:
    """Return whether the main clause of a sentence is about something else than the agent."""
    place = 0
    if names and names[0] in words("starters") and "," in names:
        place = names.index(",") + 1
    while place < len(names) and names[place] in words("leaders"):
        place += 1
    if place >= len(names):
        return False
    first = names[place]
    if first in words("agents"):
        return False
    is_plural = first.endswith("s") and not first.endswith(("ss", "us", "is", "'s"))
    return first in words("subjects") or (is_plural and first not in words("negators"))
