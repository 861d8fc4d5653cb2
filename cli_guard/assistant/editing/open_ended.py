"""Plans what no rule can compute ("implement OAuth login"): the files it concerns, and their order."""

from cli_guard.assistant.editing.plan import Draft, Plan, covering_tests
from cli_guard.assistant.editing.sources import Sources, find_path, is_documentation
from cli_guard.assistant.editing.usages import IN_CODE, UsageGroup, paths_of, usages_of
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.request_names import Names
from cli_guard.assistant.retrieval import find
from cli_guard.code.test_files import is_test_code

MOST_FILES, MOST_TESTS, MOST_NAMES = 4, 3, 20
# A name that is used in more places and defined in none says nothing about where to look.
MOST_USES = 20


def plan_open(sources: Sources, intent: Change) -> Plan:
    """A plan without a patch: the files that the request names, or else those that a search for its words finds."""
    request = intent.request
    named, missing = find_files(sources, intent.names)
    draft = Draft(sources, "edit", f"Not mechanical: a plan for {request[:100]}")
    draft.name, draft.usages = find_subject(sources, intent)
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
    for purpose, concerned in [steps[0], steps[1], steps[4]] if intent.only_tests else steps:
        draft.add_step(purpose, concerned, is_mechanical=False)
    draft.risks.append("no patch: what to write cannot be computed from the request")
    return draft.propose(missing)


def find_files(sources: Sources, names: Names) -> tuple[list[str], list[str]]:
    """The files that a request names, whole folders too, and the paths that are not there."""
    named, missing = list(names.paths), []
    others = (*names.missing, *names.created, *(name for name, _ in names.ambiguous))
    for name in others[:MOST_NAMES]:
        found = find_path(sources, name)
        if found.path:
            named.append(found.path)
        else:
            missing.append(found.missing)
    return list(dict.fromkeys(named)), missing


def find_subject(sources: Sources, intent: Change) -> tuple[str, tuple[UsageGroup, ...]]:
    """The name of the code that a request is about, and its uses in the files that name its owner."""
    for name in (*intent.names.symbols, *intent.classes)[:MOST_NAMES]:
        *owners, last = name.removesuffix("()").replace("::", ".").split(".")
        uses = [group for group in usages_of(sources, last) if group.kind in ("definition", "call", "use")]
        at_owner = [[p for p in g.places if not owners or owners[-1] in sources.texts[p[0]]] for g in uses]
        found = [
            UsageGroup(g.kind, tuple(places)) for g, places in zip(uses, at_owner, strict=True) if places
        ]
        if found and (found[0].kind == "definition" or sum(map(len, at_owner)) <= MOST_USES):
            return last, tuple(found)
    return "", ()
