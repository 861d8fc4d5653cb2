"""Plans what no rule can compute ("implement OAuth login"): what it concerns, and in which order to look at it."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.plan import Draft, Plan, covering_tests
from cli_guard.assistant.editing.sources import Sources, count, find_path, is_documentation
from cli_guard.assistant.editing.usages import IN_CODE, UsageGroup, paths_of, show_line, usages_of
from cli_guard.assistant.retrieval import find
from cli_guard.code.test_files import is_test_code

PATH_LIKE = re.compile(r"[`'\"]?((?:[\w.@+-]+/)+[\w.@+-]*|[\w@+-]+\.[A-Za-z]\w{0,8}(?![\w.]))[`'\"]?")
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


def plan_open(sources: Sources, intent: Intent) -> Plan:
    """A plan that is grounded in files and computes nothing.

    What the request names, a file or a definition, is what it is about; only a request that names nothing has its
    files chosen by a search for its words.
    """
    request = intent.request
    named, missing = find_files(sources, request)
    draft = Draft(sources, "edit", f"Not mechanical: a plan for {request[:100]}", usages=())
    if named and OF_FILES.match(request):
        return plan_removal(draft, named)
    quoted = [match[1] or match[2] or match[3] for match in islice(QUOTED.finditer(request), MOST_NAMES)]
    if WRONG.search(request) and quoted and not any(sources.mentioning(quoted[0])):
        missing.append(f"{quoted[0]!r}: no file holds it")
    draft.name, draft.usages = subject_of(sources, request, quoted)
    found = paths_of(draft.usages, "definition") or paths_of(draft.usages, *IN_CODE, "mention")
    paths = list(dict.fromkeys([*named, *found[:MOST_FILES]]))
    if not paths and not missing and sources.texts:
        answer = find(request, sources.texts, seconds=min(5.0, sources.seconds_left()))
        paths = list(dict.fromkeys(each.path for each in answer.places))[:MOST_FILES]
        words = ", ".join(answer.terms[:6])
        if paths:
            draft.assume(f"the files were chosen by the words {words}")
        elif words:
            missing.append(f"a file about {words}")
    if not paths:
        draft.kind, draft.title = "unknown", "nothing in the repository was found that this concerns"
        return draft.ask("Name a file, a function or a word of the code that this is about", *missing)
    add_steps(draft, request, paths)
    draft.risks.append("no patch: what to write cannot be computed from the request")
    return draft.propose(missing)


def add_steps(draft: Draft, request: str, paths: list[str]) -> None:
    """What to do, in order; each file is at the step that is about it."""
    documents = [path for path in paths if is_documentation(path)]
    code = [path for path in paths if not is_test_code(path) and path not in documents]
    covering = [path for path in paths if is_test_code(path)] + nearest_tests(draft, code)
    tests = list(dict.fromkeys(covering))[:MOST_TESTS]
    if OF_A_TEST.search(request):
        draft.add_step("Read what is to be tested", code, is_mechanical=False)
        draft.add_step("Write the test beside those that are near", tests, is_mechanical=False)
        draft.add_step("Run it, and see it fail once without what it tests", paths, is_mechanical=False)
        return
    draft.add_step("Read what is there", code, is_mechanical=False)
    draft.add_step(
        "Write a test that fails now and says what must hold afterwards", tests, is_mechanical=False
    )
    draft.add_step("Make the change", [path for path in paths if path not in documents], is_mechanical=False)
    draft.add_step("Bring the documents up to date", documents, is_mechanical=False)
    draft.add_step("Run the tests", tests, is_mechanical=False)


def plan_removal(draft: Draft, named: list[str]) -> Plan:
    """The plan for files that are to go: what imports one of them comes first."""
    draft.name = PurePosixPath(named[0]).stem
    others = set(draft.sources.texts) - set(named)
    every = usages_of(draft.sources, draft.name) if len(named) == 1 else ()
    draft.usages = only_in(every, ("import",), others)
    draft.add_step("Change what imports it", paths_of(draft.usages, "import"), is_mechanical=False)
    draft.add_step(f"Remove {count(len(named), 'file')}", named, is_mechanical=False)
    tests = [path for path in nearest_tests(draft, named) if path in others]
    draft.add_step("Run the tests", tests[:MOST_TESTS], is_mechanical=False)
    draft.risks.append("no patch: whole files are not removed from here")
    return draft.propose()


def find_files(sources: Sources, request: str) -> tuple[list[str], list[str]]:
    """The files that a request names, those of a folder that it names, and the paths that are not there."""
    named, missing = [], []
    for match in islice(PATH_LIKE.finditer(request), MOST_PATHS):
        name = match[1].rstrip("/.")
        below = [path for path in sources.texts if path.startswith(f"{name}/")]
        found = find_path(sources, name)
        if below or (found.path and ("/" in name or "." in found.path)):
            named += below or [found.path]
        elif PurePosixPath(name).suffix in ENDINGS:
            missing.append(found.missing)
    for match in islice(FOLDER.finditer(request), MOST_PATHS):
        named += [path for path in sources.texts if path.startswith(f"{match[1]}/")]
    return list(dict.fromkeys(named)), missing


def subject_of(sources: Sources, request: str, quoted: Sequence[str]) -> tuple[str, tuple[UsageGroup, ...]]:
    """The name of the code that a request is about and its uses: those that are code, and of its owner's files."""
    for name in islice(names_in(request), MOST_NAMES):
        *owners, last = name.split(".")
        homes = {p for p in sources.mentioning(last) if not owners or owners[-1] in sources.texts[p]}
        groups = only_in(usages_of(sources, last), ("definition", "call", "use"), homes)
        places = sum(len(group.places) for group in groups)
        # A name that is everywhere and defined nowhere here, `get`, is another's.
        if groups and (groups[0].kind == "definition" or places <= MOST_HOLDING):
            return last, groups
    for text in quoted:
        holding = list(sources.mentioning(text))
        if 0 < len(holding) <= MOST_HOLDING:
            lines = ((path, sources.line(path, sources.texts[path].find(text))) for path in holding)
            return "", (UsageGroup("mention", tuple(show_line(sources, *each) for each in lines)),)
    return "", ()


def only_in(groups: Sequence[UsageGroup], kinds: Sequence[str], homes: set[str]) -> tuple[UsageGroup, ...]:
    chosen = (
        UsageGroup(group.kind, tuple(place for place in group.places if place[0] in homes))
        for group in groups
        if group.kind in kinds
    )
    return tuple(group for group in chosen if group.places)


def names_in(request: str) -> Iterator[str]:
    """The words of a request that are written like names in code: in backticks first, then by their form."""
    for match in QUOTED.finditer(request):
        if match[1] and (name := DOTTED.fullmatch(match[1].removesuffix("()"))):
            yield name[0]
    plain = PATH_LIKE.sub(lambda found: " " if "/" in found[1] else found[0], request)
    for match in DOTTED.finditer(plain):
        is_called = plain[match.end() : match.end() + 1] == "("
        is_class = match.start() > 0 and match[0][0].isupper()
        if is_called or is_class or re.search(r"_|[a-z][A-Z]", match[0]):
            yield match[0]


def nearest_tests(draft: Draft, code: Sequence[str]) -> list[str]:
    stems = {PurePosixPath(path).stem.strip("_") for path in code} - {""}

    def distance(path: str) -> tuple[bool, bool, str]:
        is_named = any(each in PurePosixPath(path).stem for each in stems)
        return not is_named, draft.name not in draft.sources.texts[path], path

    return sorted(covering_tests(draft.sources, code, draft.name), key=distance)
