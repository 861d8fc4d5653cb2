"""Plans what is not computed here: changes of JavaScript, Go, Java and Rust. Uses, steps and risks, no patch."""

import re
from pathlib import PurePosixPath

from cli_guard.assistant.editing.plan import (
    EditPlan,
    PlanDraft,
    PlanKind,
    covering_tests,
    draft_unknown,
)
from cli_guard.assistant.editing.sources import (
    Sources,
    join_some,
)
from cli_guard.assistant.editing.usages import (
    IN_CODE,
    paths_of,
    usages_of,
    word,
)
from cli_guard.assistant.request_change import Change

PLANNED_ONLY = frozenset({"javascript", "typescript", "tsx", "go", "java", "rust"})
JAVASCRIPT = "a property of that name (`.{name}`) may be another object's: each use is for a person to decide"
RISKS = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), JAVASCRIPT),
    "go": "a method or field of that name may be another type's, and an exported name is used from outside",
    "java": "overriding methods must follow, and a public class has the name of its file",
    "rust": "macros and traits may name it, and a `pub` name is used from outside",
}


def plan_uses(sources: Sources, kind: PlanKind, intent: Change, name: str = "") -> EditPlan:
    """Return the plan for a name that no Python file defines: its uses by kind, what to do with them, and no patch."""
    name = name or intent.get("old")
    new = intent.get("new")
    last = re.split(r"[.:/#]+", name.strip("()"))[-1] or name
    usages = usages_of(sources, last)
    used = paths_of(usages, *IN_CODE)
    languages = sorted({sources.language(path) or "" for path in used} & PLANNED_ONLY)
    defined = [
        place for group in usages if group.kind == "definition" for place in group.places
    ]
    if not languages or not (defined or kind == "replace call"):
        return draft_unknown(sources, kind, name, intent)
    title = (
        f"{kind.capitalize()} {name} to {new}"
        if kind in ("rename", "move")
        else intent.request[:100]
    )
    draft = PlanDraft(sources, kind, title, last, usages=usages)
    draft.add_step("Change the definition", paths_of(usages, "definition"))
    draft.add_step("Change the imports", paths_of(usages, "import"))
    draft.add_step("Change the calls and other uses", paths_of(usages, "call", "use"))
    spoken = paths_of(usages, "mention", "configuration", "documentation")
    draft.add_step("Look at the comments, strings and documents that name it", spoken)
    draft.add_step(
        "Compile, and run the tests that cover it",
        covering_tests(sources, used, last) or used,
    )
    draft.risks.append(
        f"no patch: a change of {', '.join(languages)} is planned here and not computed"
    )
    if len(defined) > 1:
        places = join_some([f"{path}:{line}" for path, line, _ in defined])
        draft.risks.append(
            f"{last} is defined in {len(defined)} places, decide which is meant: {places}"
        )
    new_last = re.split(r"[.:/#(]+", new)[-1]
    in_use = [
        path
        for path in sources.mentioning(new_last)
        if word(new_last).search(sources.texts[path])
    ]
    if kind == "rename" and new_last and in_use:
        draft.risks.append(f"{new_last} is in use already: {join_some(in_use)}")
    draft.risks += [RISKS[each].format(name=last) for each in languages]
    return draft.propose()


def plan_file_uses(draft: PlanDraft, source: str, target: str) -> EditPlan:
    sources = draft.sources
    stem = PurePosixPath(source).stem
    named = re.compile(rf"['\"/\\]{re.escape(stem)}\b")
    draft.add_step(f"Move {source} to {target}", [source])
    naming = [
        path for path in sources.mentioning(stem) if named.search(sources.texts[path])
    ]
    draft.add_step("Change what imports or names it", naming)
    draft.add_step(
        "Compile, and run the tests", covering_tests(sources, [source], stem) or [source]
    )
    draft.risks.append(
        f"no patch: a change of {sources.language(source)} is planned here and not computed"
    )
    draft.risks.append(
        "links and builds outside of this repository that name the old path break"
    )
    return draft.propose()
