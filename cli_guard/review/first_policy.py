"""The first policy of a repository: a commented file for its languages, with the settings of other tools."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cli_guard.code.languages import FAMILY, language_for
from cli_guard.errors import UsageError
from cli_guard.git.repository import Repository
from cli_guard.policy.config import FILE, parse_config, parse_toml
from cli_guard.policy.effective import toml_value
from cli_guard.review.migration import Taken, read_others
from cli_guard.review.policy import work_tree_policy
from cli_guard.rules.catalog import read_table
from cli_guard.state.files import explain_write_errors

HEAD = """\
# The policy of cli-guard for this repository. It applies from the commit after the one that records it; a change that
# weakens it asks a person. `cli-guard config show` has every key with its value, docs/policy.md says what they do.
# To use a line, remove its #.
"""


def lines_for(languages: list[str], taken: set[str]) -> Iterator[str]:
    """Yield the commented lines for some languages, without those for keys that were taken over."""
    for language in ("any", *languages):
        lines = [
            each
            for each in read_table("languages/first_policy.toml").get(language, ())
            if each.split(" =")[0] not in taken
        ]
        if lines:
            yield "" if language == "any" else f"\n# {language}"
            yield from (f"#{each}" for each in lines)


def write_policy(repository: Repository, *, migrate: bool) -> list[str]:
    """Write the file; return what to tell. Raises UsageError if there is a policy, CliGuardError."""
    _, source, _ = work_tree_policy(repository.root)
    path = repository.root / FILE
    if os.path.lexists(path) or source != "built-in defaults":
        raise UsageError(f"there is a policy already ({source}): see `cli-guard config show`")
    listed = repository.git.run("ls-files", "-z").decode("utf-8", "surrogateescape").split("\0")
    found = Counter(FAMILY.get(each, each) for each in map(language_for, listed) if each)
    said, text = list[str](), HEAD
    taken: dict[str, Taken] = {}
    ignored: dict[tuple[str, str], str] = {}
    for name, each in read_others(repository.root) if migrate else ():
        if isinstance(each, str):
            said.append(f"  {name}: {each}")
        elif each.key:
            taken[each.key] = Taken(each.key, each.value, f"{name}: {each.reason}")
        else:
            ignored.setdefault(each.value, f"{name}: {each.reason}")
    keys = {*taken, *(["ignore"] if ignored else [])}
    text += "\n".join(lines_for([each for each, _ in found.most_common()], keys)) + "\n"
    text += "".join(
        f"\n# {one_line(each.reason)}\n{each.key} = {toml_value(each.value)}\n" for each in taken.values()
    )
    for (rule, pattern), reason in ignored.items():
        pairs = {"rule": rule, "path": pattern, "reason": f"migrated from {reason}"}
        text += "\n[[ignore]]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in pairs.items())
    parse_config(parse_toml(text.encode("utf-8", "replace"), FILE), FILE)
    with explain_write_errors(FILE):
        create(path, text)
    if said:
        said.insert(0, "not taken over:")
    if migrate:
        said.insert(0, f"cli-guard: taken over: {len(taken)} keys and {len(ignored)} [[ignore]]")
    if ignored or taken:
        said.append(
            "What they ignore is no longer found: the review of this file reports `policy-weakened`, and asks a person."
        )
    return [*said, f"cli-guard: wrote {FILE}: look at it, then `git add {FILE}` and commit"]


def one_line(text: str) -> str:
    return toml_value(text)[1:-1]


def create(path: Path, text: str) -> None:
    """Create a file, all of it or nothing, never over another one. Raises OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            os.fchmod(descriptor, 0o644)
        os.link(name, path)
    finally:
        Path(name).unlink()
