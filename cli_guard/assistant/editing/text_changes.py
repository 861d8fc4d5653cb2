"""Plans the changes that need no syntax: a text for another, lines and entries added, blanks."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.edits import Edit, applied, result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Kind, Plan, Step, UsageGroup
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import listed, patched, plural, refused
from cli_guard.assistant.editing.sources import SCRIPT_LANGUAGES, Sources, is_documentation

MOST_PLACES = 5_000
# What may go over several lines, in which a blank is a part of the value.
LONG_STRINGS: dict[str, tuple[str, ...]] = {
    "python": ("string",),
    **dict.fromkeys(SCRIPT_LANGUAGES, ("template_string",)),
    "go": ("raw_string_literal",),
    "bash": ("heredoc_body", "string", "raw_string"),
}
TRAILING = re.compile(r"(?<![ \t])[ \t]++(?=\r?\n|\Z)")


def no_file(sources: Sources, intent: Intent, missing: str, kind: Kind = "edit") -> Plan:
    """The plan for a request about a file that is not there."""
    said = intent.get("place") or missing
    return Plan(
        kind,
        f"{said} is not there",
        said,
        steps=(Step(f"Say which file is meant: {missing} is not in the repository"),),
        missing=(missing,),
        skipped=sources.skipped,
    )


def edited(
    sources: Sources,
    summary: str,
    subject: str,
    changes: dict[str, str],
    *,
    steps: Iterable[Step] = (),
    risks: Iterable[str] = (),
    usages: tuple[UsageGroup, ...] = (),
    assumed: str | None = None,
    kind: Kind = "edit",
) -> Plan:
    """The plan of a change that is computed whole."""
    if not changes and sources.cut:
        why = "not every file could be looked at in the time given"
        return refused(sources, kind, summary, "", why, (), assumed)
    if not changes:
        return refused(
            sources, kind, summary, "", "there is nothing to change: it is so already", (), assumed
        )
    done = list(steps) or [Step(summary, tuple(sorted(changes)), True)]
    return patched(
        sources, kind, summary, subject, result(sources, changes), usages, done, risks, assumed=assumed
    )


def plan_change_text(sources: Sources, intent: Intent) -> Plan:
    """The plan for "change X to Y in path" and "fix the typo X -> Y"; without a path, a typo is mended in all files."""
    old, new, place = intent.get("old"), intent.get("new"), intent.get("place")
    named = find_path(sources, place) if place else None
    if named and not named.path:
        return no_file(sources, intent, named.missing)
    paths = [named.path] if named else list(sources.mentioning(old))
    assumed = named.assumed if named else None
    typo = (
        re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
        if re.fullmatch(r"\w+", old)
        else re.compile(re.escape(old))
    )
    edits = [Edit(p, m.start(), m.end(), new) for p in paths for m in typo.finditer(sources.texts[p])][
        :MOST_PLACES
    ]
    title = f"Change {old!r} to {new!r}" + (f" in {paths[0]}" if place else "")
    if not edits:
        where = place or "the repository"
        return Plan(
            "edit",
            f"{old!r} is not in {where}",
            old,
            steps=(Step(f"Say what to change: {old!r} is not in {where}"),),
            missing=(f"{old!r} in {where}",),
            skipped=sources.skipped,
        )
    risks = list(name_risks(sources, old, edits))
    if len(edits) > 1 and place:
        assumed = "; ".join(filter(None, (assumed, f"all {len(edits)} places in {paths[0]} are meant")))
    return edited(
        sources,
        title,
        old,
        applied(sources, edits),
        steps=[
            Step(
                f"Change {len(edits)} {plural(len(edits), 'place')}",
                tuple(sorted({e.path for e in edits})),
                True,
            )
        ],
        risks=risks,
        usages=usages_of(sources, old) if "\n" not in old else (),
        assumed=assumed,
    )


def name_risks(sources: Sources, old: str, edits: list[Edit]) -> Iterator[str]:
    """The risk of mending a word that is a name in code."""
    if not re.fullmatch(r"\w+", old):
        return
    code = sorted({e.path for e in edits if sources.language(e.path) not in (None, "yaml")})
    groups = {g.kind for g in usages_of(sources, old)}
    if code and groups & {"definition", "call", "import", "use"}:
        yield f"{old} is also a name in code ({listed(code)}): who uses it from outside must follow"


def plan_add_entry(sources: Sources, intent: Intent) -> Plan:
    """The plan for "add `*.log` to .gitignore": the entry as the last line; a .gitignore that is not there is made."""
    entry, place = intent.get("text").strip(), intent.get("place")
    named = find_path(sources, place)
    path = named.path
    if (
        not path
        and PurePosixPath(place).name.startswith(".")
        and PurePosixPath(place).name.endswith("ignore")
    ):
        path = place
    if not path:
        return no_file(sources, intent, named.missing)
    text = sources.texts.get(path, "")
    return edited(
        sources,
        f"Add {entry} to {path}",
        entry,
        {} if entry in (line.strip() for line in text.splitlines()) else {path: with_line(text, entry)},
        assumed=named.assumed,
        risks=ignore_risks(sources, entry) if path.endswith(".gitignore") else (),
    )


def ignore_risks(sources: Sources, entry: str) -> Iterator[str]:
    """Files that Git has already go on being tracked."""
    clean = entry.strip("/").removeprefix("**/")
    have = [
        p for p in sources.texts if p == clean or p.startswith(f"{clean}/") or PurePosixPath(p).match(clean)
    ]
    if have:
        yield f"Git goes on tracking what it tracks already: {listed(have)}"


def plan_add_line(sources: Sources, intent: Intent) -> Plan:
    """The plan for "add a line X to path": at its end."""
    named = find_path(sources, intent.get("place"))
    if not named.path:
        return no_file(sources, intent, named.missing)
    line, text = intent.get("text"), sources.texts[named.path]
    changes = {named.path: with_line(text, line)}
    return edited(sources, f"Add a line to {named.path}", line, changes, assumed=named.assumed)


def plan_add_section(sources: Sources, intent: Intent) -> Plan:
    """The plan for "add a section T to path": at the end, with a heading as the document has them."""
    named = find_path(sources, intent.get("place"))
    if not named.path:
        return no_file(sources, intent, named.missing)
    title, body, text = intent.get("text"), intent.get("body").strip("`'\""), sources.texts[named.path]
    path, end = named.path, "\r\n" if "\r\n" in text else "\n"
    if path.endswith((".ini", ".cfg", ".toml")):
        block, exists = f"[{title.strip('[]')}]", f"[{title.strip('[]')}]" in text
    elif path.endswith(".rst"):
        block, exists = (
            f"{title}{end}{'-' * len(title)}",
            re.search(rf"^{re.escape(title)}\s*$", text, re.M) is not None,
        )
    else:
        level = (
            "##" if re.search(r"^## ", text, re.MULTILINE) or re.search(r"^# ", text, re.MULTILINE) else "#"
        )
        block = f"{level} {title}"
        exists = re.search(rf"^#+ +{re.escape(title)}\s*$", text, re.MULTILINE | re.IGNORECASE) is not None
    block += f"{end}{end}{body}" if body else ""
    head = text.rstrip()
    changes = {} if exists else {path: f"{head}{end * 2 if head else ''}{block}{end}"}
    note = named.assumed
    if not body and changes:
        note = "; ".join(filter(None, (note, "the request gives no text: only the heading is added")))
    return edited(sources, f"Add a section {title} to {path}", title, changes, assumed=note)


def with_line(text: str, line: str) -> str:
    """The text with one more line, in the line ends it has."""
    end = "\r\n" if "\r\n" in text else "\n"
    lead = "" if not text or text.endswith("\n") else end
    return f"{text}{lead}{line}{end}"


def plan_whitespace(sources: Sources, intent: Intent) -> Plan:
    """The plan for "remove trailing whitespace in path", "replace tabs in path"; long strings are left alone."""
    place, tabs = intent.get("place"), intent.kind == "tabs"
    named = find_path(sources, place) if place else None
    if named and not named.path:
        return no_file(sources, intent, named.missing)
    paths = [named.path] if named else list(sources.texts)
    assumed = named.assumed if named else None
    what = "Replace tabs with spaces" if tabs else "Remove trailing whitespace"
    title = f"{what} in {paths[0] if place else 'all files'}"
    if tabs and place and PurePosixPath(paths[0]).name.lower() in ("makefile", "gnumakefile"):
        return refused(sources, "edit", title, "", "make reads a tab at the start of a line as a recipe", ())
    edits: list[Edit] = []
    for path in paths:
        if sources.in_time(path):
            edits += blanks(sources, path, int(intent.get("width") or 4) if tabs else 0)
    risks = []
    if not tabs and any(is_documentation(e.path) and e.path.endswith((".md", ".mdx")) for e in edits):
        risks.append("two blanks at the end of a line are a line break in Markdown")
    return edited(sources, title, "", applied(sources, edits), assumed=assumed, risks=risks)


def blanks(sources: Sources, path: str, width: int) -> Iterator[Edit]:
    """The edits of blanks in one file outside of strings: leading tabs if `width`, trailing blanks if not."""
    text = sources.texts[path]
    pattern = re.compile(r"^[ ]*\t[ \t]*", re.MULTILINE) if width else TRAILING
    if pattern.search(text) is None:
        return
    root = sources.root(path)
    kept: list[tuple[int, int]] = []
    found = LONG_STRINGS.get(sources.language(path) or "", ())
    if root is not None and found:
        for node in root.find_all(any=[{"kind": kind} for kind in found]):
            where = node.range()
            if where.start.line != where.end.line:
                kept.append((where.start.index, where.end.index))
    kept.sort()
    number = 0
    for match in pattern.finditer(text):
        while number < len(kept) and kept[number][1] <= match.start():
            number += 1
        if number < len(kept) and kept[number][0] < match.end():
            continue
        yield Edit(path, match.start(), match.end(), match[0].expandtabs(width) if width else "")
