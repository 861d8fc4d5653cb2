"""Plans what no rule can compute ("implement OAuth login"): the files it concerns, and their order."""

import re
from itertools import islice
from pathlib import PurePosixPath

from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.plan import Draft, Plan, covering_tests
from cli_guard.assistant.editing.sources import Sources, find_path, is_documentation
from cli_guard.assistant.editing.usages import IN_CODE, UsageGroup, paths_of, usages_of
from cli_guard.assistant.retrieval import find
from cli_guard.code.test_files import is_test_code

PATH_LIKE = re.compile(r"[`'\"]?((?:[\w.@+-]+/)+[\w.@+-]*|[\w@+-]+\.[A-Za-z]\w{0,8}(?![\w.]))[`'\"]?")
ENDINGS = (".py", ".js", ".ts", ".tsx", ".go", ".java", ".md", ".rs")
FOLDER = re.compile(r"[`'\"]?([\w@+-][\w./@+-]*?)/?[`'\"]? (?:folder|directory)\b", re.IGNORECASE)
# A name of code: in backticks, called, with an inner capital or underscore, or a class that does not open the request.
CODE_NAME = re.compile(r"(`?)((?:[A-Za-z_$][\w$]{0,80}\.){0,4}[A-Za-z_$][\w$]{0,80})(\(\))?\1")
OF_A_TEST = re.compile(r"^(?:please )?(?:write|add|create|implement)\b.{0,30}\btests?\b", re.IGNORECASE)
MOST_FILES, MOST_TESTS, MOST_PATHS = 4, 3, 20
# A name that is used in more places and defined in none says nothing about where to look.
MOST_USES = 20


def plan_open(sources: Sources, intent: Intent) -> Plan:
    """A plan without a patch: the files that the request names, or else those that a search for its words finds."""
    request = intent.request
    named, missing = find_files(sources, request)
    draft = Draft(sources, "edit", f"Not mechanical: a plan for {request[:100]}")
    draft.name, draft.usages = find_subject(sources, request)
    found = paths_of(draft.usages, "definition") or paths_of(draft.usages, *IN_CODE)
    paths = list(dict.fromkeys([*named, *found[:MOST_FILES]]))
    if not paths and not missing and sources.texts:
        answer = find(request, sources.texts, seconds=min(5.0, sources.seconds_left()))
        paths = list(dict.fromkeys(each.path for each in answer.places))[:MOST_FILES]
        words = ", ".join(answer.terms[:6])
        draft.assume(f"the files were chosen by the words {words}" if paths else None)
        missing += [f"a file about {words}"] if words and not paths else []
    if not paths:
        draft.kind, draft.title = "unknown", "nothing in the repository was found that this concerns"
        return draft.ask("Name a file, a function or a word of the code that this is about", *missing)
    documents = [path for path in paths if is_documentation(path)]
    code = [path for path in paths if not is_test_code(path) and path not in documents]
    near = [path for path in paths if is_test_code(path)] + list(covering_tests(sources, code, draft.name))
    tests = list(dict.fromkeys(near))[:MOST_TESTS]
    steps = [
        ("Read what is there", code),
        ("Write a test that fails now and says what must hold afterwards", tests),
        ("Make the change", [path for path in paths if path not in documents]),
        ("Bring the documents up to date", documents),
        ("Run the tests", tests),
    ]
    for purpose, concerned in [steps[0], steps[1], steps[4]] if OF_A_TEST.search(request) else steps:
        draft.add_step(purpose, concerned, is_mechanical=False)
    draft.risks.append("no patch: what to write cannot be computed from the request")
    return draft.propose(missing)


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


def find_subject(sources: Sources, request: str) -> tuple[str, tuple[UsageGroup, ...]]:
    """The name of the code that a request is about, and its uses in the files that name its owner."""
    plain = PATH_LIKE.sub(lambda found: " " if "/" in found[1] else found[0], request)
    for match in islice(CODE_NAME.finditer(plain), MOST_PATHS):
        is_class = match.start() > 0 and match[2][0].isupper()
        if not (match[1] or match[3] or is_class or re.search(r"_|[a-z][A-Z]", match[2])):
            continue
        *owners, last = match[2].split(".")
        uses = [group for group in usages_of(sources, last) if group.kind in ("definition", "call", "use")]
        at_owner = [[p for p in g.places if not owners or owners[-1] in sources.texts[p[0]]] for g in uses]
        found = [
            UsageGroup(g.kind, tuple(places)) for g, places in zip(uses, at_owner, strict=True) if places
        ]
        if found and (found[0].kind == "definition" or sum(map(len, at_owner)) <= MOST_USES):
            return last, tuple(found)
    return "", ()
