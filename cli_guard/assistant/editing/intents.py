"""Reads what a request wants changed: which kind of change, of what, to what, where."""

import re
from dataclasses import dataclass, field
from typing import Literal

IntentKind = Literal[
    "rename",
    "rename file",
    "migrate",
    "replace",
    "move",
    "split",
    "change text",
    "set constant",
    "set default",
    "bump version",
    "add entry",
    "remove unused imports",
    "delete",
    "add line",
    "add section",
    "add parameter",
    "remove prints",
    "whitespace",
    "tabs",
    "future annotations",
    "unknown",
]
MOST_CHARS = 4_000
SPACES = re.compile(r"\s+")
# Words that open or close a request and say nothing about the change.
OPENING = re.compile(
    r"^(?:please|can you|could you|would you|i want to|i'd like to|we need to|let's|help me|plan "
    r"(?:a|an|the|how to)?|"
    r"make a plan (?:to|for)|propose (?:a|an|how to)?|refactor(?:ing)? plan (?:to|for)|prepare "
    r"(?:a|an)?|the|a|an|to|how to|"
    r"create a (?:refactor(?:ing)? )?plan (?:to|for)|suggest how to|now|then|just)\s+",
    re.IGNORECASE,
)
CLOSING = re.compile(
    r"[\s,;]*(?:please|without (?:editing|changing|touching|writing)[\w\s]{0,40}|in "
    r"(?:the|this|our) (?:whole |entire )?"
    r"(?:repo|repository|code ?base|project|code)|everywhere|across (?:the|this|our)[\w\s]{0,30}|"
    r"throughout(?: the)?[\w\s]{0,30}|in all files|over all files|for me|thanks|thank you)?[\s.!?]*$",
    re.IGNORECASE,
)
WHAT = (
    r"(?:the |a |an |our )?(?:(?:public|private|static|async|global|local|old|deprecated|Python|JavaScript|Java|"
    r"instance|member|class|module)[ -])*"
)
SORTS = (
    "function|func|fn|class|method|variable|var|parameter|param|argument|arg|constant|const|module|package|attribute|"
    "property|field|struct|type|interface|trait|enum|symbol|name|file|helper|import"
)
NAME = r"[`'\"]?(?P<{0}>[A-Za-z_$@][\w$.:/@-]*?)(?:\(\))?[`'\"]?"
IN = (
    r"(?: (?:in|of|from|inside|within) (?:the )?(?:file |module |function |method |class )?[`'\"]?"
    r"(?P<place>[\w$./@+-]+?)(?:\(\))?[`'\"]?)?"
)
QUOTED = r"(?:`(?P<{0}_b>[^`]+)`|\"(?P<{0}_d>[^\"]+)\"|'(?P<{0}_s>[^']+)'|(?P<{0}_p>{1}))"


def quoted(name: str, plain: str = r"\S+") -> str:
    """A value in any quotes, or what `plain` matches."""
    return QUOTED.format(name, plain)


PATTERNS: tuple[tuple[IntentKind, str], ...] = (
    (
        "rename file",
        rf"(?:rename|move) (?:the )?file {quoted('old')} (?:to|as|into|->|=>) {quoted('new')}",
    ),
    (
        "rename",
        rf"rename {WHAT}(?:(?P<sort>{SORTS}) )?{NAME.format('old')}{IN} (?:to|as|into|->|=>|→) {NAME.format('new')}"
        rf"{IN.replace('place', 'place2')}",
    ),
    (
        "rename",
        rf"(?:change|replace) (?:the )?name (?:of )?{WHAT}(?:"
        rf"(?P<sort>{SORTS}) )?{NAME.format('old')}{IN} (?:to|into|with) "
        rf"{NAME.format('new')}",
    ),
    (
        "remove unused imports",
        r"(?:remove|delete|clean(?: up)?|drop|prune|strip)(?: all)?(?: the)? (?:unused|dead) imports?"
        + IN.replace("in|of|from|inside|within", "in|of|from|inside|within|for"),
    ),
    (
        "remove prints",
        r"(?:remove|delete|drop|strip)(?: all)?(?: the)? (?:debug(?:ging)? )?"
        r"(?:prints?|print statements?|print calls?|"
        r"console\.logs?|console logs?)(?: (?:statements?|calls?|lines?))?" + IN,
    ),
    (
        "future annotations",
        r"add (?:an? |the )?[`'\"]?(?:from __future__ import annotations|future annotations(?: import)?)[`'\"]?"
        + IN.replace("in|of|from|inside|within", "in|to|into|at the top of"),
    ),
    (
        "whitespace",
        r"(?:remove|strip|trim|fix|delete|clean(?: up)?|replace)(?: all)?(?: the)? trailing "
        r"(?:white ?spaces?|spaces?|blanks?)" + IN,
    ),
    (
        "tabs",
        r"(?:replace|convert|change|expand)(?: all)?(?: the)? tabs(?: (?:with|to|by|into) (?:"
        r"(?P<width>\d+) )?spaces?)?" + IN,
    ),
    (
        "bump version",
        r"(?:bump|set|change|update|raise|increase) (?:the )?(?:project(?:'s)? |package |current )?version"
        r"(?: number)?(?: from [`'\"]?v?\d[\w.+-]*[`'\"]?)? (?:to|->|=>) [`'\"]?v?(?P<new>\d[\w.+-]*)[`'\"]?",
    ),
    (
        "bump version",
        r"(?:bump|release)(?: (?:the )?version)? (?:to )?(?:the )?(?:next )?(?P<part>major|minor|patch)"
        r"(?: version)?(?: number)?",
    ),
    (
        "set default",
        rf"(?:set|change|make) (?:the )?default(?: value)? (?:of|for) (?:the )?"
        rf"(?:parameter |argument )?[`'\"]?(?P<name>\w+)"
        rf"[`'\"]? (?:of|in|for) (?:the )?(?:function |method )?{NAME.format('owner')} (?:to|=|as) (?P<value>.+)",
    ),
    (
        "set constant",
        r"(?:set|change|update|increase|raise|lower|decrease|reduce|bump) (?:the )?"
        r"(?:constant |variable |setting |value of )?"
        r"[`'\"]?(?P<old>(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]{3,40}))[`'\"]?"
        r"(?: in [`'\"]?(?P<place>[\w./@+-]+)[`'\"]?)?"
        r"(?: from [`'\"]?[\w.-]+[`'\"]?)? ?(?:=|to|->|=>) ?(?P<value>`[^`]+`|\"[^\"]*\"|'[^']*'|[^\s`'\"]+)"
        r"(?: in (?:the )?(?:file )?[`'\"]?(?P<place2>[\w./@+-]+)[`'\"]?)?",
    ),
    (
        "add parameter",
        rf"add (?:an? |the )?(?:new |optional |keyword )*(?:parameter|param|argument|arg|option) "
        rf"{quoted('text', r'[^`]+?')} to (?:the )?(?:function |method |class )?{NAME.format('owner')}{IN}",
    ),
    (
        "add section",
        rf"add (?:an? |the )?(?:new )?section (?:called |named |titled )?{quoted('text', r'.+?')} to "
        rf"(?:the )?(?:file )?"
        r"[`'\"]?(?P<place>[\w./@+-]+)[`'\"]?(?: (?:with|saying|containing|that says)(?: the text)? (?P<body>.+))?",
    ),
    (
        "add line",
        rf"add (?:an? |the )?(?:new )?(?:line|entry|text)s? {quoted('text', r'.+?')} to (?:the )?"
        rf"(?:end of )?(?:the )?(?:file )?"
        r"[`'\"]?(?P<place>[\w./@+-]+)[`'\"]?",
    ),
    (
        "add entry",
        rf"(?:add|append|put) {quoted('text', r'[^ ]+')} (?:to|in|into) (?:the )?(?:end of )?(?:the )?(?:file )?"
        r"[`'\"]?(?P<place>[\w./@+-]*\.[\w-]+|[\w./@+-]*[A-Z]\w+file)[`'\"]?",
    ),
    (
        "add entry",
        rf"(?:ignore) {quoted('text', r'[^ ]+')} in (?:the )?[`'\"]?(?P<place>[\w./@+-]*\.[\w-]*ignore)[`'\"]?",
    ),
    (
        "split",
        rf"(?:split|break)(?: up)? {WHAT}(?:(?:module|file|package|class) )?{quoted('old', r'[^ ]+')}(?: "
        rf"(?:module|file))?"
        r"(?: up| apart)?(?: (?:into|in|by|to) .*)?",
    ),
    (
        "move",
        rf"(?:move|relocate|extract) {WHAT}(?:(?P<sort>{SORTS}) )?{NAME.format('old')}(?: from [`'\"]?"
        rf"(?P<place>[\w./-]+)[`'\"]?)? "
        rf"(?:to|into) (?:the |a |its own )?(?:new )?(?:module |file )?{NAME.format('new')}",
    ),
    (
        "delete",
        rf"(?:delete|remove|drop) {WHAT}(?:unused )?(?P<sort>{SORTS}) {NAME.format('old')}{IN}",
    ),
    (
        "change text",
        rf"fix (?:the |a )?(?:typo|spelling(?: mistake)?|misspelling)s?(?: of| in)? {quoted('old', r'[^ ]+')} "
        rf"(?:to|->|=>|→|with|into|as) {quoted('new', r'[^ ]+')}(?: in (?:the )?(?:file )?[`'\"]?"
        rf"(?P<place>[\w./@+-]+)[`'\"]?)?",
    ),
    (
        "change text",
        rf"(?:change|replace|update|edit|set|substitute) {quoted('old', r'.+?')} "
        rf"(?:to|with|by|->|=>|→|into) {quoted('new', r'.+?')}"
        r" in (?:the )?(?:file )?[`'\"]?(?P<place>[\w.@+-]*[./][\w./@+-]*|[A-Z]\w*)[`'\"]?",
    ),
    (
        "migrate",
        r"(?:refactor(?:ing)?|migrat(?:e|ion|ing)|switch(?:ing)?|move|moving|port(?:ing)?|convert"
        r"(?:ing)?|change|transition|go|"
        r"upgrade|rewrite)(?: (?:the |our |all )?[\w\s]{0,30}?)? ?from [`'\"]?"
        r"(?P<old>[\w.@/+-]+?)[`'\"]? (?:to|over to|onto) "
        r"(?:use |using )?[`'\"]?(?P<new>[\w.@/+-]+?)[`'\"]?",
    ),
    ("migrate", r"from [`'\"]?(?P<old>[\w.@/+-]+?)[`'\"]? to [`'\"]?(?P<new>[\w.@/+-]+?)[`'\"]?"),
    (
        "replace",
        rf"(?:replace|swap|substitute) {WHAT}(?:deprecated |old )?(?:(?:calls?|uses?|usages?) (?:to|of) )?"
        rf"(?:(?:function|method|call|library|class) )?{quoted('old', r'.+?')} (?:with|by|for|->|=>|→) "
        rf"(?:(?:the |calls? to )?){quoted('new', r'.+?')}",
    ),
    (
        "replace",
        rf"use {quoted('new', r'.+?')} (?:instead of|in place of|rather than|over) {quoted('old', r'.+?')}",
    ),
    (
        "migrate",
        r"(?:migrate|port|convert|switch|refactor|upgrade) (?:the |our |all )?(?:[\w]+ )?[`'\"]?"
        r"(?P<old>[\w.@/+-]+?)[`'\"]?"
        r"(?: (?:tests?|code|calls?|usages?|statements?))? (?:to|into|->|=>|→) (?:use |using )?[`'\"]?"
        r"(?P<new>[\w.@/+-]+?)[`'\"]?",
    ),
    (
        "migrate",
        r"[`'\"]?(?P<old>[\w.@/+-]+?)[`'\"]? (?:to|->|=>|→) [`'\"]?(?P<new>[\w.@/+-]+?)[`'\"]?(?: migration)?",
    ),
    (
        "replace",
        r"(?:replace|remove) (?:the )?deprecated (?:calls? (?:to|of) |call |function |method )?[`'\"]?"
        r"(?P<old_p>[\w.$]+(?:\(.*\))?)[`'\"]?",
    ),
)
COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in PATTERNS)


@dataclass(frozen=True, slots=True)
class Intent:
    """A request read: its kind, the words that matter by name, and the request itself on one line."""

    kind: IntentKind
    request: str
    words: dict[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """A word of the request, "" where it names none."""
        return self.words.get(name, "")


def read_request(request: str) -> Intent:
    """The intent of a request; `unknown` for one that no pattern fits."""
    line = SPACES.sub(" ", request[:MOST_CHARS]).strip()
    wanted = line
    while True:
        shorter = OPENING.sub("", wanted, count=1)
        if shorter == wanted:
            break
        wanted = shorter
    for text in dict.fromkeys((CLOSING.sub("", wanted), wanted)):
        for kind, pattern in COMPILED:
            match = pattern.fullmatch(text)
            if match is not None:
                return Intent(kind, line, named(match))
    return Intent("unknown", line)


def named(match: re.Match[str]) -> dict[str, str]:
    """The groups that took part, the forms of one name under that name."""
    found: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value is not None:
            base = re.sub(r"_[bdsp]$|2$", "", name)
            found[base] = value
    return found
