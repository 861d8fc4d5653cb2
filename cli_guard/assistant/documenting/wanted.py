"""Reads a request for documentation: what it names, what is to be written, and in which style."""

import re
from dataclasses import dataclass

LONGEST_REQUEST = 4_000
QUOTED = re.compile(r"[`'\"]([^`'\"\n]{1,200})[`'\"]")
TOKEN = re.compile(r"[^\s,;`'\"()]+(?:\(\))?")
PATH = re.compile(
    r"^[\w.@~+-]*(?:/[\w.@~+-]*)+$|^[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|js|mjs|cjs|jsx|ts|mts|cts|tsx|go|java|rs|md|rst|toml)$"
)
SYMBOL = re.compile(r"^[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*(?:\(\))?$")
CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|_|\(\)$|::|^[A-Z][a-z]+[A-Z]|\w\.\w|^[A-Z]\w*[a-z]\w*$")
IDENTIFIER = re.compile(r"_|\(\)$|::|\w\.\w|[a-z][A-Z]")
UPDATE = re.compile(
    r"\b(updat\w*|outdated|out of date|stale|fix\w*|repair\w*|refresh\w*|correct\w*|sync\w*|bring up to date)\b",
    re.I,
)
README = re.compile(r"\breadme(?:\.\w+)?\b|\bsections?\b", re.I)
FUNCTIONS_ONLY = re.compile(
    r"\b(?:all|every|each|the|undocumented|public)\s+(?:\w+\s+)?(functions|methods|classes|types|modules?)\b",
    re.I,
)
MODULE_ONLY = re.compile(
    r"\b(module|file|package)(?:-level)?\s+(docstring|comment|doc|header|documentation)s?\b"
    r"|\bdocstring for the module\b",
    re.I,
)
PRIVATE = re.compile(r"\b(private|internal|non-public)\b", re.I)
EVERYTHING = re.compile(
    r"\b(everything|whole|entire|all|every|project|repo(?:sitory)?|codebase|code base|undocumented)\b", re.I
)
BEFORE_SYMBOL = re.compile(
    r"\b(?:class|function|method|func|def|struct|type|interface|enum|trait|module|property|symbol)$", re.I
)
BEHIND_SYMBOL = re.compile(r"^(?:class|function|method|struct|type|interface|enum|trait|property)\b", re.I)
STYLES = {
    "google": "google",
    "numpy": "numpy",
    "numpydoc": "numpy",
    "sphinx": "sphinx",
    "rest": "sphinx",
    "restructuredtext": "sphinx",
    "plain": "plain",
    "one-line": "plain",
    "one-liner": "plain",
    "one-liners": "plain",
}
LANGUAGES = {
    "javadoc": "java",
    "jsdoc": "javascript",
    "tsdoc": "typescript",
    "godoc": "go",
    "rustdoc": "rust",
    "docstring": "python",
    "docstrings": "python",
}
TOPICS = {
    "installation": r"install\w*|set ?up|getting started|quick ?start",
    "usage": r"usage|how to use|using it|examples?",
    "configuration": r"config\w*|settings?|environment(?: variables?)?|env vars?|options",
    "command line": r"command[- ]?line\w*|cli|commands?|flags|arguments",
    "testing": r"test(?:s|ing)?|run(?:ning)? the tests",
    "development": r"develop\w*|contribut\w*|building|build",
}
# What stands behind "section": "a section about middleware to the README".
ABOUT = re.compile(
    r"\bsections?\s+(?:about|on|describing|explaining)\s+([\w -]{1,80}?)(?:\s+(?:to|in|into|for|of)\s|$)"
)
# Words of a request that are no names of anything, whatever their case.
STOP_TEXT = """
a about add all an and any api as at be by can class classes code comment comments create describe doc docs
docstring docstrings document documentation documented documenting every everything explain file files fill
fix folder for from function functions generate give godoc google have help i in inside into is it its
javadoc jsdoc rustdoc tsdoc make me method methods missing module modules my need new no not now numpy of
on one only or our out outdated package parameters params please project public python repo repository
rest restructuredtext section sections sphinx stale style that the their them these this those to type
types undocumented up update updated use using want we what which with without would write you your readme
javascript typescript java go golang rust private internal directory proper each good better inline
"""
STOP = frozenset(STOP_TEXT.split())


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request as it was read.

    `paths` and `symbols` are as they were written; `kinds` is empty for all, or holds "function", "class",
    "module"; `topics` are sections of a README, `unknown_topic` one
    that no file tells what to write in; `style` of Python's docstrings; `language` where it is named.
    """

    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    topics: tuple[str, ...] = ()
    unknown_topic: str = ""
    readme: bool = False
    update: bool = False
    private: bool = False
    everything: bool = False
    style: str = ""
    language: str = ""


def read_request(request: str) -> Wanted:
    """What a request in plain English asks for. Whether it is there is not asked here."""
    text = " ".join(request[:LONGEST_REQUEST].split())
    quoted = [match[1].strip() for match in QUOTED.finditer(text)]
    bare = QUOTED.sub(" ", text)
    tokens = [t.strip(".,:;!?") if not t.endswith("/") else t for t in TOKEN.findall(bare)]
    tokens = [t for t in tokens if t]
    paths = [t for t in (*quoted, *tokens) if PATH.match(t)]
    # `src/fixups.py` and `update_user` are no wish to mend anything.
    plain = " ".join(t for t in tokens if t not in paths and not IDENTIFIER.search(t))
    readme = bool(README.search(plain)) or any(README.match(path) for path in paths)
    names: list[str] = [q for q in quoted if SYMBOL.match(q) and q not in paths]
    if not readme:
        for place, token in enumerate(tokens):
            before = tokens[place - 1].lower() if place else ""
            # "the class Missing" names a class; "missing docstrings" does not.
            proper = token[0].isupper() and BEFORE_SYMBOL.search(before)
            if token in paths or not SYMBOL.match(token):
                continue
            if token.lower().removesuffix("()") in STOP and not proper:
                continue
            after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
            named = BEFORE_SYMBOL.search(before) or BEHIND_SYMBOL.match(after) or CODE_LIKE.search(token)
            led = before in ("for", "of", "document", "explain", "in", "and", "describe", "to", "the")
            if (named or led) and token.lower() not in STYLES:
                names.append(token)
    low = plain.lower()
    return Wanted(
        paths=tuple(dict.fromkeys(paths)),
        symbols=tuple(dict.fromkeys(n.removesuffix("()") for n in names)),
        kinds=_kinds(plain),
        topics=_topics(low) if readme else (),
        unknown_topic=_unknown_topic(low) if readme and not _topics(low) else "",
        readme=readme,
        update=bool(UPDATE.search(plain)),
        private=bool(PRIVATE.search(plain)),
        everything=bool(EVERYTHING.search(plain)),
        style=next(
            (STYLES[w] for w in re.findall(r"[\w-]+", low) if w in STYLES and _about_style(low, w)), ""
        ),
        language=next((LANGUAGES[w] for w in re.findall(r"\w+", low) if w in LANGUAGES), ""),
    )


def _about_style(low: str, word: str) -> bool:
    return bool(
        re.search(rf"\b{re.escape(word)}(?:[- ](?:style|format|docstrings?|docs))", low)
    ) or word.startswith("numpyd")


def _kinds(text: str) -> frozenset[str]:
    if MODULE_ONLY.search(text):
        return frozenset({"module"})
    found = {word.lower() for word in FUNCTIONS_ONLY.findall(text)}
    kinds = set()
    if found & {"functions", "methods"}:
        kinds |= {"function", "method"}
    if found & {"classes", "types"}:
        kinds |= {"class"}
    return frozenset(kinds)


def _topics(low: str) -> tuple[str, ...]:
    asked = re.sub(r"\breadme(\.\w+)?\b", " ", low)
    return tuple(topic for topic, words in TOPICS.items() if re.search(rf"\b(?:{words})\b", asked))


def _unknown_topic(low: str) -> str:
    """What a section is to be about, in the words of the request: `middleware` of "add a section about middleware"."""
    found = ABOUT.search(low)
    words = [word for word in found[1].split() if word not in STOP] if found else []
    return " ".join(words)
