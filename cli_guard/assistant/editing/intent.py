"""Reads what a request wants changed: which kind of change, of what, to what, where."""

import re
from dataclasses import dataclass, field

MOST_CHARS = 4_000
SPACES = re.compile(r"\s+")
# Words that open or close a request and say nothing about the change.
OPENING = re.compile(
    r"^(?:please|can you|could you|would you|i want to|i'd like to|we need to|let's|help me|now|then|just|how to|"
    r"(?:make|create|prepare|propose|suggest|plan)(?: an?| the)?(?: refactor(?:ing)?)?(?: plan| patch)?"
    r"(?: how)?(?: to| for)?|refactor(?:ing)? plan (?:to|for)|the|a|an|to)\s+",
    re.IGNORECASE,
)
CLOSING = re.compile(
    r"[\s,;]*(?:please|without (?:editing|changing|touching|writing)[\w\s]{0,40}|everywhere|for me|thanks|thank you|"
    r"in (?:the|this|our) (?:whole |entire )?(?:repo|repository|code ?base|project|code)|(?:in|over) all files|"
    r"(?:across (?:the|this|our)|throughout(?: the)?)[\w\s]{0,30})?[\s.!?]*$",
    re.IGNORECASE,
)
# What `<part>` and `<part:group>` in a pattern are: a name of code, a text in quotes or not, a library, a place.
Q = r"[`'\"]?"
PARTS = {
    "name": rf"{Q}(?P<GROUP>[A-Za-z_$@][\w$.:/@-]*?)(?:\(\))?{Q}",
    "text": r"(?:`(?P<GROUP_b>[^`]+)`|\"(?P<GROUP_d>[^\"]+)\"|'(?P<GROUP_s>[^']+)'|(?P<GROUP_p>.+?))",
    "word": r"(?:`(?P<GROUP_b>[^`]+)`|\"(?P<GROUP_d>[^\"]+)\"|'(?P<GROUP_s>[^']+)'|(?P<GROUP_p>[^ ]+))",
    "library": rf"{Q}(?P<GROUP>[\w.@/+-]+?){Q}",
    "value": r"(?P<GROUP>`[^`]+`|\"[^\"]*\"|'[^']*'|[^\s`'\"]+)",
    "constant": rf"{Q}(?P<GROUP>(?-i:[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]{{3,40}})){Q}",
    "version": rf"{Q}v?(?P<GROUP>\d[\w.+-]*){Q}",
    "path": rf"(?:the )?(?:end of )?(?:the )?(?:file )?{Q}(?P<GROUP>[\w./@+-]+){Q}",
    "in": rf"(?: (?:in|of|from|inside|within|for) (?:the )?(?:file |module |function |method |class )?"
    rf"{Q}(?P<GROUP>[\w$./@+-]+?)(?:\(\))?{Q})?",
    "infile": rf"(?: in (?:the )?(?:file )?{Q}(?P<GROUP>[\w./@+-]+){Q})?",
    "sort": r"(?P<GROUP>function|func|fn|class|method|variable|var|parameter|param|argument|arg|constant|const|module|"
    r"package|attribute|property|field|struct|type|interface|trait|enum|symbol|name|file|helper|import)",
    "what": r"(?:the |a |an |our )?(?:(?:public|private|static|async|global|local|old|deprecated|Python|JavaScript|"
    r"Java|instance|member|class|module)[ -])*",
    "to": r"(?:to|as|into|->|=>|→)",
    "clean": r"(?:remove|delete|clean(?: up)?|drop|prune|strip|trim|fix)(?: all)?(?: the)?",
    "set": r"(?:set|change|update|increase|raise|lower|decrease|reduce|bump|make) (?:the )?",
    "migrate": r"(?:refactor(?:ing)?|migrat(?:e|ion|ing)|switch(?:ing)?|mov(?:e|ing)|port(?:ing)?|convert(?:ing)?|"
    r"change|transition|go|upgrade|rewrite)",
    "calls": r"(?:(?:calls?|uses?|usages?) (?:to|of) )?(?:(?:function|method|call|library|class) )?",
}
# Kind and pattern, a line each (an indented one goes on); the first that fits the whole request is taken.
PATTERNS = r"""
rename file: (?:rename|move) (?:the )?file <word:old> <to> <word:new>
rename: rename <what>(?:<sort:sort> )?<name:old><in:place> <to> <name:new><in:place2>
rename: (?:change|replace) (?:the )?name (?:of )?<what>(?:<sort:sort> )?<name:old><in:place> (?:to|into|with)
    <name:new>
remove unused imports: <clean> (?:unused|dead) imports?<in:place>
bump version: <set>(?:project(?:'s)? |package |current )?version(?: number)?(?: from <version:from>)? <to>
    <version:new>
bump version: (?:bump|release)(?: (?:the )?version)? (?:to )?(?:the )?(?:next
    )?(?P<part>major|minor|patch)(?: version)?
set constant: <set>(?:constant |variable |setting |value of )?<constant:old><infile:place>(?: from
    <version:from>)? ?(?:=|to|->|=>) ?<value:value><infile:place2>
move: (?:move|relocate|extract) <what>(?:<sort:sort> )?<name:old><in:place> (?:to|into) (?:the |a |its own
    )?(?:new )?(?:module |file )?<name:new>
delete: (?:delete|remove|drop) <what>(?:unused )?<sort:sort> <name:old><in:place>
change text: fix (?:the |a )?(?:typo|spelling(?: mistake)?|misspelling)s?(?: of| in)? <word:old>
    (?:<to>|with) <word:new><infile:place>
change text: (?:change|replace|update|edit|set|substitute) <text:old> (?:<to>|with|by) <text:new> in
    (?=(?:the |file )*[`'"]?(?:\S*[./]|[A-Z]\w*[`'"]?$))<path:place>
migrate: <migrate>(?: (?:the |our |all )?[\w\s]{0,30}?)? ?from <library:old> (?:to|over to|onto) (?:use
    |using )?<library:new>
migrate: from <library:old> to <library:new>
replace: (?:replace|swap|substitute) <what>(?:deprecated |old )?<calls><text:old> (?:with|by|for|->|=>|→)
    (?:the |calls? to )?<text:new>
replace: use <text:new> (?:instead of|in place of|rather than|over) <text:old>
migrate: (?:migrate|port|convert|switch|refactor|upgrade) (?:the |our |all )?(?:\w+ )?<library:old>(?:
    (?:tests?|code|calls?|usages?|statements?))? (?:to|into|->|=>|→) (?:use |using )?<library:new>
migrate: <library:old> (?:to|->|=>|→) <library:new>(?: migration)?
replace: (?:replace|remove) (?:the )?deprecated (?:calls? (?:to|of) |call |function |method
    )?[`'"]?(?P<old_p>[\w.$]+(?:\(.*\))?)[`'"]?
"""


def expand(pattern: str) -> re.Pattern[str]:
    full = re.sub(r"(?<!\?P)<(\w+):?(\w*)>", lambda m: PARTS[m[1]].replace("GROUP", m[2]), pattern)
    return re.compile(full, re.IGNORECASE)


LINES = (line.partition(": ") for line in PATTERNS.replace("\n    ", " ").strip().splitlines())
COMPILED = [(kind, expand(text)) for kind, _, text in LINES]


@dataclass(frozen=True, slots=True)
class Intent:
    """A request as it was read: its kind, the words that matter by name, and the request itself on one line."""

    kind: str
    request: str
    words: dict[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """A word of the request, "" where it names none."""
        return self.words.get(name, "")


def read_request(request: str) -> Intent:
    """The intent of a request; `unknown` for one that no pattern fits."""
    line = SPACES.sub(" ", request[:MOST_CHARS]).strip()
    wanted, before = line, ""
    while wanted != before:
        wanted, before = OPENING.sub("", wanted, count=1), wanted
    for text in dict.fromkeys((CLOSING.sub("", wanted), wanted)):
        for kind, pattern in COMPILED:
            match = pattern.fullmatch(text)
            if match is not None:
                found = {
                    re.sub(r"_[bdsp]$|2$", "", k): v for k, v in match.groupdict().items() if v is not None
                }
                return Intent(kind, line, found)
    return Intent("unknown", line)
