"""Plans a new version of the project: every place that holds the current one as its version."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.edits import Edit, applied
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.manifests import LOCKS
from cli_guard.assistant.editing.mentions import SHOWN_PLACES, shown_place
from cli_guard.assistant.editing.model import Plan, Step, UsageGroup
from cli_guard.assistant.editing.plans import listed, plural, refused
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.text_changes import edited

# Where a project says its version, the most telling first.
MANIFESTS = tuple(
    "pyproject.toml package.json Cargo.toml setup.cfg setup.py pom.xml VERSION version.txt build.gradle "
    "__init__.py _version.py __version__.py __about__.py version.py".split()
)
VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+.]?[A-Za-z][\w.+-]*)?")


def plan_bump(sources: Sources, intent: Intent) -> Plan:
    """The plan for "bump version to 1.2.3": every place that holds the current one as its version."""
    current = current_version(sources)
    if current is None:
        return Plan(
            "edit",
            "no manifest says a version",
            "version",
            steps=(Step("Say where the version is written"),),
            missing=("a version in pyproject.toml, package.json, Cargo.toml, pom.xml, setup.cfg or VERSION",),
            skipped=sources.skipped,
        )
    path, old = current
    new = intent.get("new") or next_version(old, intent.get("part").lower())
    title = f"Change the version from {old} to {new}"
    if not new:
        return refused(
            sources, "edit", f"Change the version {old}", "", f"{old} has no number for that part", ()
        )
    if new == old:
        return refused(sources, "edit", title, "", "it has that version already", ())
    edits = list(version_edits(sources, path, old, new))
    taken = {(e.path, e.start) for e in edits}
    others = [
        f"{p}:{sources.line(p, m.start())}"
        for p in sources.mentioning(old)
        if PurePosixPath(p).name not in LOCKS
        for m in re.finditer(rf"(?<![\w.]){re.escape(old)}(?![\w.])", sources.texts[p])
        if (p, m.start()) not in taken
    ]
    risks = []
    if others:
        risks.append(f"{old} stands elsewhere too, perhaps as another's, and was left: {listed(others)}")
    locked = [p for p in sources.texts if PurePosixPath(p).name in LOCKS and old in sources.texts[p]]
    steps = [
        Step(
            f"Change the version in {len(edits)} {plural(len(edits), 'place')}",
            tuple(sorted({e.path for e in edits})),
            True,
        )
    ]
    if locked:
        risks.append(
            f"lock files that hold the version of the project are written anew by its tool: {listed(locked)}"
        )
    shown = (shown_place(sources, e.path, sources.line(e.path, e.start)) for e in edits[:SHOWN_PLACES])
    usages = (UsageGroup("configuration", tuple(shown)),)
    return edited(sources, title, old, applied(sources, edits), steps=steps, risks=risks, usages=usages)


def current_version(sources: Sources) -> tuple[str, str] | None:
    """The manifest that says the version of the project, nearest to the root, and the version."""
    names = MANIFESTS
    candidates = sorted(
        (p for p in sources.texts if PurePosixPath(p).name in names),
        key=lambda p: (p.count("/"), names.index(PurePosixPath(p).name), p),
    )
    for path in candidates:
        found = version_in(path, sources.texts[path])
        if found is not None:
            return path, found
    return None


def version_in(path: str, text: str) -> str | None:
    """The version of the project that a manifest says."""
    name = PurePosixPath(path).name
    found: object = None
    try:
        if name == "package.json":
            data = json.loads(text)
            found = data.get("version") if isinstance(data, dict) else None
        elif name.endswith(".toml"):
            table = tomllib.loads(text)
            tool = table.get("tool", {}).get("poetry", {}) if isinstance(table.get("tool"), dict) else {}
            for each in (table.get("project"), table.get("package"), tool):
                if isinstance(each, dict) and isinstance(each.get("version"), str):
                    found = each["version"]
                    break
    except (ValueError, RecursionError, AttributeError):
        return None
    if found is None:
        patterns = {
            "pom.xml": r"<project\b(?:(?!<(?:dependencies|parent|build)>).){0,2000}?<version>\s*([^<\s$]+)\s*<",
            "VERSION": r"\A\s*v?(\S+)\s*\Z",
            "version.txt": r"\A\s*v?(\S+)\s*\Z",
            "setup.cfg": r"^version\s*=\s*(\S+)\s*$",
        }
        default = r"^[ \t]*(?:__version__|VERSION|version)\s*(?::\s*\w+\s*)?=\s*['\"]([^'\"\n]+)['\"]"
        pattern = default if not name.endswith((".toml", ".json")) else r"(?!)"
        match = re.search(patterns.get(name, pattern), text, re.MULTILINE | re.DOTALL)
        found = match[1] if match else None
    return found if isinstance(found, str) and VERSION.fullmatch(found) else None


def next_version(old: str, part: str) -> str:
    """The version after `old`, by part; "" if it has no such part."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", old)
    if numbers is None:
        return ""
    major, minor, patch = int(numbers[1]), int(numbers[2]), int(numbers[3] or 0)
    steps = {"major": (major + 1, 0, 0), "minor": (major, minor + 1, 0), "patch": (major, minor, patch + 1)}
    found = steps.get(part)
    return ".".join(map(str, found)) if found else ""


def version_edits(sources: Sources, manifest: str, old: str, new: str) -> Iterator[Edit]:
    """Where the version stands as a version: after a word like version, in the manifest first of all."""
    said = re.compile(
        rf"(?:\b(?:__version__|version|VERSION|release|Version|currentVersion|current_version|appVersion)\b['\"]?\s*(?::\s*str\s*)?[:=]\s*['\"]?v?"
        rf"|<version>\s*)(?P<v>{re.escape(old)})(?![\w.])"
    )
    whole = re.compile(rf"\A\s*v?(?P<v>{re.escape(old)})\s*\Z")
    for path in sources.mentioning(old):
        name = PurePosixPath(path).name
        if name in LOCKS:
            continue
        pattern = whole if name in ("VERSION", "version.txt") else said
        matches = list(pattern.finditer(sources.texts[path]))
        # A manifest of dependencies holds versions of others: its own comes first.
        if name in ("pom.xml", "package.json", "Cargo.toml") or name.endswith(".lock"):
            matches = matches[:1] if version_in(path, sources.texts[path]) == old else []
        yield from (Edit(path, m.start("v"), m.end("v"), new) for m in matches)
