"""Imports that a change leaves without what they import: a module that is gone, a name that it no longer has.

Only what is certain: an import at the beginning of a line (others may be tried), by the module's whole name or from a
place beside it, of a module whose text does not hold the name in any form.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from cli_guard.code.python_imports import PythonImports
from cli_guard.lazy import frozen
from cli_guard.model import ChangeSet, Finding, Hit, Status, group_by
from cli_guard.policy.globs import matches
from cli_guard.repository.entries import name_some
from cli_guard.reviewers.drift.differences import DriftDifference, module_of
from cli_guard.rules.catalog import one

MOST_WANTED = 20
MOST_FILES = 100
MOST_NAMED = 3
LONGEST_IMPORT = 2_000
SCRIPT = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs")
FROM_FILE = re.compile(
    r"(?:(?:import|export)\b|(?:const|let|var)\s[^\"'=]*=\s*require\()[^\"']*[\"'](\.{1,2}/[^\"']+)[\"']"
)
OPEN_NAMESPACE = re.compile(r"\bimport\s*\*|\b__getattr__\b|\bglobals\(\)")

Search = Callable[[Iterable[str], str], Sequence[Hit]]
Read = Callable[[str], str | None]


@frozen
class Missing:
    """What can no longer be imported: a file, or one `name` of it, and what is there in its place."""

    path: str
    name: str = ""
    new: str = ""

    @property
    def module(self) -> str:
        return module_of(self.path)

    @property
    def title(self) -> str:
        shown = self.module or self.path
        return f"{shown}.{self.name}" if self.name else shown

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words by which Git finds its imports."""
        stem = posixpath.splitext(posixpath.basename(self.path))[0]
        if not self.path.endswith(".py"):
            endings = ("", *SCRIPT)
            return tuple(f"{stem}{each}{quote}" for each in endings for quote in "'\"")
        own = (f"from {self.module} import", f"import {self.module}", f"import {stem}")
        return (*own, *(f"from {dots}{stem} import" for dots in (".", "..", "...")))


def find_left_imports(
    changes: ChangeSet, differences: Iterable[DriftDifference], search: Search, read: Read
) -> Iterator[Finding]:
    """Yield one finding for each thing whose imports are left, at the first of them."""
    wanted = [*_missing_files(changes), *_missing_names(differences, changes, read)]
    wanted = wanted[:MOST_WANTED]
    if not wanted:
        return
    hits = search((word for each in wanted for word in each.words), "sources")
    texts: dict[str, str] = {}
    for hit in hits:
        if hit.path not in texts and len(texts) < MOST_FILES:
            texts[hit.path] = read(hit.path) or ""
    for missing in wanted:
        left = [hit for hit in hits if _imports(hit, texts.get(hit.path, ""), missing)]
        if left:
            yield _finding(missing, left)


def _missing_files(changes: ChangeSet) -> Iterator[Missing]:
    came = [each.path for each in changes if each.status in (Status.ADDED, Status.RENAMED)]
    roots = {posixpath.splitext(path)[0].removesuffix("/__init__") for path in came}
    roots |= {root.removesuffix("/index") for root in roots}
    ignored = [
        line.strip()
        for each in changes
        if posixpath.basename(each.path) == ".gitignore"
        for line in each.added.values()
    ]
    for change in changes:
        old = change.old_path or change.path
        # What is ignored from now on is made by a program.
        is_made = any(matches(each, old) for each in ignored if each)
        is_gone = change.is_gone and not is_made
        root, ending = posixpath.splitext(old)
        is_module = module_of(old) if ending == ".py" else ending in SCRIPT
        if is_gone and is_module and root.removesuffix("/__init__") not in roots:
            new = change.path if change.status is Status.RENAMED else ""
            yield Missing(old, new=module_of(new) or new)


def _missing_names(
    differences: Iterable[DriftDifference], changes: ChangeSet, read: Read
) -> Iterator[Missing]:
    changed = {each.path for each in changes if each.status is Status.MODIFIED}
    top = (
        each
        for each in differences
        if each.kind in ("function", "class", "constant")
        and not each.fact.owner
        and each.path in changed
        and each.path.endswith(".py")
    )
    for path, gone in group_by(top, lambda each: each.path).items():
        text = read(path) or ""
        if module_of(path) and not OPEN_NAMESPACE.search(text):
            for each in gone:
                if not re.search(rf"\b{re.escape(each.name)}\b", text):
                    yield Missing(path, each.name, each.new)


def _imports(hit: Hit, text: str, missing: Missing) -> bool:
    """Return whether a line of a file begins an import of what is missing, and still does after the change."""
    lines = text.split("\n")
    if lines[hit.line - 1 : hit.line] != [hit.text.rstrip("\r\n")]:
        return False
    if not missing.path.endswith(".py"):
        found = FROM_FILE.match(hit.text)
        return found is not None and _leads_to(hit.path, found[1], missing.path)
    if not hit.text.startswith(("from ", "import ")):
        return False
    rest = "\n".join(lines[hit.line - 1 :])[:LONGEST_IMPORT]
    statements = PythonImports({hit.path: rest}).statements_of(hit.path)
    if not statements:
        return False
    names = [name for name, _ in statements[0].names or ()]
    module = re.sub(r"^(?:src|lib)\.", "", statements[0].module)
    if missing.name:
        return module == missing.module and missing.name in names
    parent, _, last = missing.module.rpartition(".")
    return module == missing.module or (module == parent and last in names)


def _leads_to(importer: str, target: str, path: str) -> bool:
    full = posixpath.normpath(posixpath.join(posixpath.dirname(importer), target))
    root = posixpath.splitext(path)[0]
    return full in (path, root, *(root + each for each in SCRIPT))


def _finding(missing: Missing, left: list[Hit]) -> Finding:
    rule = one("drift", "docs-drift-import")
    places = name_some([f"{hit.path}:{hit.line}" for hit in left], MOST_NAMED)
    count = "1 import" if len(left) == 1 else f"{len(left)} imports"
    verb = "is" if len(left) == 1 else "are"
    what = f"now `{missing.new}`" if missing.new else "gone"
    return rule.finding(
        path=left[0].path,
        line=left[0].line,
        message=f"{count} of `{missing.title}` {verb} left ({places}); it is {what} ({missing.path}).",
        content=missing.title,
    )
