"""Plans what no rule can compute ("implement OAuth login"): what it concerns, and in which order to look at it."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan, Step, UsageGroup, UsageKind
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import covering_tests, plural
from cli_guard.assistant.editing.sources import Sources, is_documentation
from cli_guard.assistant.retrieval.words import parts_of
from cli_guard.code.classify import is_test, unreadable

STOP = frozenset(
    "the a an and or of in on at to for from with by into is are be it its this that these those all any some add "
    "implement fix bug make create write change update remove delete refactor improve support handle new use using "
    "should must can need needs want please code file files function class method feature issue problem error when "
    "where which who what how so as if not no our my your we i you them there now more less better work works "
    "working does do don't doesn't get set put let allow".split()
)
WORD = re.compile(r"[A-Za-z_][\w-]*")
PATHLIKE = re.compile(r"[`'\"]?((?:[\w.@+-]+/)+[\w.@+-]*|[\w@+-]+\.[A-Za-z]\w{0,8}(?![\w.]))[`'\"]?")
ENDINGS = (".py", ".js", ".ts", ".tsx", ".go", ".java", ".md", ".rs")
QUOTED = re.compile(r"`([^`]{1,200})`|\"([^\"]{1,200})\"|(?<!\w)'([^']{1,200})'(?!\w)")
DOTTED = re.compile(r"[A-Za-z_$][\w$]{0,80}(?:\.[A-Za-z_$][\w$]{0,80}){0,4}")
# "delete src/old.py", "remove the examples folder"; not "remove the cache from src/app.py".
OF_FILES = re.compile(
    r"(?:please )?(?:delete|remove|drop)(?: the| this| whole| entire| file| module| folder| directory)* "
    r"(?:[`'\"]?[\w@+-][\w./@+-]*[`'\"]?)(?: (?:file|module|folder|directory))?[.!]*$",
    re.IGNORECASE,
)
WRONG = re.compile(r"\b(?:typos?|misspell\w*|misspelt|spelling)\b", re.IGNORECASE)
OF_A_TEST = re.compile(r"^(?:please )?(?:write|add|create|implement)\b.{0,30}\btests?\b", re.IGNORECASE)
FOLDER = re.compile(r"[`'\"]?([\w@+-][\w./@+-]*?)/?[`'\"]? (?:folder|directory)\b", re.IGNORECASE)
MOST_FILES = 4
MOST_TESTS = 3
MOST_NAMES = 6
MOST_PATHS = 20
# A quotation that more files hold than this says nothing about where to look.
MOST_HOLDING = 20
MOST_CHARS = 200_000


def plan_open(sources: Sources, intent: Intent) -> Plan:
    """A plan that is grounded in files and computes nothing.

    What the request names, a file or a definition, is what it is about; only a request that names nothing has its
    files chosen by their words.
    """
    named, missing = files_named(sources, intent.request)
    if named and OF_FILES.match(intent.request):
        return plan_removal(sources, intent, named, missing)
    missing += misspelt(sources, intent.request)
    subject, usages = subject_of(sources, intent.request)
    found = [path for group in usages if group.kind == "definition" for path, _, _ in group.places]
    if not found:
        found = [path for group in usages for path, _, _ in group.places]
    words = words_of(intent.request)
    chosen = [] if named or found or missing else concerned(sources, words)[:MOST_FILES]
    paths = list(dict.fromkeys([*named, *found[:MOST_FILES], *chosen]))
    if not paths:
        return nothing_named(sources, subject, words, missing)
    code = tuple(p for p in paths if not is_test(p) and not is_documentation(p))
    documents = tuple(p for p in paths if is_documentation(p))
    tests = tuple(dict.fromkeys((*(p for p in paths if is_test(p)), *nearest_tests(sources, code, subject))))
    return Plan(
        "edit",
        f"Not mechanical: a plan for {intent.request[:100]}",
        subject,
        usages,
        tuple(steps_of(intent.request, paths, code, documents, tests[:MOST_TESTS])),
        ("no patch: what to write cannot be computed from the request",),
        assumed=f"the files were chosen by the words {', '.join(words[:6])}" if chosen else None,
        missing=tuple(missing),
        skipped=sources.skipped,
    )


def nothing_named(sources: Sources, subject: str, words: list[str], missing: list[str]) -> Plan:
    """The plan of a request that concerns nothing in the repository, as far as its words tell."""
    looked = ", ".join(words[:6])
    return Plan(
        "unknown",
        "nothing in the repository was found that this concerns",
        subject,
        steps=(Step("Name a file, a function or a word of the code that this is about"),),
        missing=(*missing, *((f"a file about {looked}",) if looked and not missing else ())),
        skipped=sources.skipped,
    )


def steps_of(
    request: str, paths: list[str], code: tuple[str, ...], documents: tuple[str, ...], tests: tuple[str, ...]
) -> Iterator[Step]:
    """What to do, in order; each file stands at the step that is about it."""
    if OF_A_TEST.search(request):
        if code:
            yield Step("Read what is to be tested", code)
        yield Step("Write the test beside those that are near" if tests else "Write the first test", tests)
        yield Step("Run it, and see it fail once without what it tests")
        return
    if code:
        yield Step("Read what is there", code)
        yield Step("Say as a test that fails now what must hold afterwards", tests)
    yield Step("Make the change", () if code else tuple(p for p in paths if p not in documents))
    if documents:
        yield Step("Bring the documents up to date", documents)
    if code:
        yield Step("Run the tests" if tests else "Run the tests: none covers this yet")


def plan_removal(sources: Sources, intent: Intent, named: list[str], missing: list[str]) -> Plan:
    """The plan for files that are to go: who imports one of them comes first."""
    going = frozenset(named)
    stem = PurePosixPath(named[0]).stem
    usages: tuple[UsageGroup, ...] = ()
    if len(named) == 1:
        others = frozenset(sources.texts) - going
        usages = kept(usages_of(sources, stem), ("import",), others)
    users = tuple(dict.fromkeys(path for group in usages for path, _, _ in group.places))
    tests = [path for path in nearest_tests(sources, tuple(named), stem) if path not in going]
    steps = [Step(f"Take away {len(named)} {plural(len(named), 'file')}", tuple(named))]
    if users:
        steps.insert(0, Step("Change what imports it", users))
    steps.append(Step("Run the tests", tuple(tests[:MOST_TESTS])))
    return Plan(
        "edit",
        f"Not mechanical: a plan for {intent.request[:100]}",
        stem if usages else "",
        usages,
        tuple(steps),
        ("no patch: whole files are not taken away from here",),
        missing=tuple(missing),
        skipped=sources.skipped,
    )


def files_named(sources: Sources, request: str) -> tuple[list[str], list[str]]:
    """The files that a request names, those of a folder that it names, and the paths that are not there."""
    named, missing = [], []
    for match in islice(PATHLIKE.finditer(request), MOST_PATHS):
        said = match[1].rstrip("/.")
        below = [path for path in sources.texts if path.startswith(f"{said}/")]
        if below:
            named += below
            continue
        found = find_path(sources, said)
        if found.path and ("/" in said or "." in found.path):
            named.append(found.path)
        elif PurePosixPath(said).suffix in ENDINGS:
            missing.append(found.missing)
    for match in islice(FOLDER.finditer(request), MOST_PATHS):
        named += [path for path in sources.texts if path.startswith(f"{match[1]}/")]
    return list(dict.fromkeys(named)), missing


def subject_of(sources: Sources, request: str) -> tuple[str, tuple[UsageGroup, ...]]:
    """The name of the code that a request is about and its uses: those that are code, and of its owner's files."""
    for name in islice(names_in(request), MOST_NAMES):
        *owners, last = name.split(".")
        homes = frozenset(
            path
            for path in sources.mentioning(last)
            if all(owner in sources.texts[path] for owner in owners[-1:])
        )
        groups = kept(usages_of(sources, last), ("definition", "call", "use"), homes)
        places = sum(len(group.places) for group in groups)
        # A name that is everywhere and defined nowhere here, `get`, is another's.
        if groups and (groups[0].kind == "definition" or places <= MOST_HOLDING):
            return last, groups
    for match in islice(QUOTED.finditer(request), MOST_NAMES):
        text = match[1] or match[2] or match[3]
        holding = list(sources.mentioning(text))
        if 0 < len(holding) <= MOST_HOLDING:
            return "", (UsageGroup("string", tuple((p, line_of(sources, p, text), text) for p in holding)),)
    return "", ()


def misspelt(sources: Sources, request: str) -> list[str]:
    """The quoted words that a request calls wrong and no file holds."""
    if not WRONG.search(request):
        return []
    said = [match[1] or match[2] or match[3] for match in QUOTED.finditer(request)]
    return [f"{text!r}: no file holds it" for text in said[:1] if not any(sources.mentioning(text))]


def line_of(sources: Sources, path: str, text: str) -> int:
    """The line, from 1, that a text begins on."""
    return sources.line(path, sources.texts[path].find(text))


def kept(
    groups: Sequence[UsageGroup], kinds: Sequence[UsageKind], homes: frozenset[str] | None
) -> tuple[UsageGroup, ...]:
    """The groups of some kinds, and of some files."""
    chosen = [
        UsageGroup(group.kind, tuple(place for place in group.places if homes is None or place[0] in homes))
        for group in groups
        if group.kind in kinds
    ]
    return tuple(group for group in chosen if group.places)


def names_in(request: str) -> Iterator[str]:
    """The words of a request that are written like names in code: in backticks first, then by their form."""
    for match in QUOTED.finditer(request):
        if match[1] and (name := DOTTED.fullmatch(match[1].removesuffix("()"))):
            yield name[0]
    plain = PATHLIKE.sub(lambda found: " " if "/" in found[1] else found[0], request)
    for match in DOTTED.finditer(plain):
        called = plain[match.end() : match.end() + 1] == "("
        if called or re.search(r"_|[a-z][A-Z]", match[0]) or re.search(r"^[A-Z]\w*\.\w", match[0]):
            yield match[0]


def nearest_tests(sources: Sources, code: tuple[str, ...], subject: str) -> list[str]:
    """The tests of some files, those that are named after one or name the subject first."""
    stems = {PurePosixPath(path).stem.strip("_") for path in code}

    def far(path: str) -> tuple[bool, bool, str]:
        stem = PurePosixPath(path).stem
        return not any(each and each in stem for each in stems), subject not in sources.texts[path], path

    return sorted(covering_tests(sources, code, subject), key=far)


def words_of(request: str) -> list[str]:
    """The words of a request that say what it is about, once each."""
    found = [w.lower() for w in WORD.findall(request)]
    return [w for w in dict.fromkeys(found) if w not in STOP and len(w) > 2][:20]


def concerned(sources: Sources, words: list[str]) -> list[str]:
    """The files that the words are about, by path first and by text, the most about them first."""
    rare: dict[str, int] = {}
    hits: dict[str, dict[str, float]] = {}
    for path, text in sources.texts.items():
        if not sources.in_time(path) or unreadable(path, text, MOST_CHARS):
            continue
        parts = set(parts_of(path))
        lower = text.lower()
        for each in words:
            count = min(lower.count(each), 20)
            score = (8.0 if each in parts or each.rstrip("s") in parts else 0.0) + count**0.5
            if score:
                hits.setdefault(path, {})[each] = score
                rare[each] = rare.get(each, 0) + 1
    total = max(1, len(sources.texts))
    scores = {
        path: sum(score * (1.0 - 0.9 * rare[each] / total) for each, score in found.items())
        for path, found in hits.items()
    }
    best = max(scores.values(), default=0.0)
    good = [p for p in scores if scores[p] >= max(0.35 * best, 0.8)]
    return sorted(good, key=lambda p: (is_test(p), -round(scores[p], 6), p))
