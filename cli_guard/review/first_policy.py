"""The first policy of a repository: a commented file for its languages, with the settings of other tools."""

import os
from collections import Counter
from typing import Any

from cli_guard.code.languages import FAMILY, language_for
from cli_guard.errors import UsageError
from cli_guard.git.repository import Repository
from cli_guard.policy.config import FILE, parse_config, parse_toml
from cli_guard.policy.effective import toml_value
from cli_guard.review.migration import read_others
from cli_guard.review.policy import work_tree_policy
from cli_guard.rules.catalog import read_table
from cli_guard.state.files import explain_write_errors, write_atomically

HEAD = """\
# The policy of cli-guard for this repository. It applies from the commit after the one that records it.
# A change that weakens it asks a person. `cli-guard config show` has every key, docs/policy.md what they do.
# To use a line, remove its first #.
"""


def write_policy(repository: Repository, *, migrate: bool) -> list[str]:
    """Write the file; return what to tell. Raises UsageError if there is a policy, CliGuardError."""
    path, source = repository.root / FILE, work_tree_policy(repository.root)[1]
    if os.path.lexists(path) or source != "built-in defaults":
        raise UsageError(f"there is a policy already, {source}: see `cli-guard config show`")
    keys: dict[str, tuple[Any, str]] = {}
    ignored: dict[tuple[str, str], str] = {}
    left = []
    for name, each in read_others(repository.root) if migrate else ():
        if isinstance(each, str):
            left.append(f"  {name}: {each}")
        elif each[0]:
            keys[each[0]] = (each[1], f"{name}: {each[2]}")
        else:
            ignored.setdefault(each[1], f"from {name}: {each[2]}")
    listed = repository.git.run("ls-files", "-z").decode("utf-8", "surrogateescape").split("\0")
    found = Counter(FAMILY.get(each, each) for each in map(language_for, listed) if each)
    offers = read_table("languages/first_policy.toml")
    lines = [HEAD]
    for language in ("any", *(each for each, _ in found.most_common() if each in offers)):
        lines += [f"# {language}:"] if language != "any" else []
        hidden = {*keys, "ignore" if ignored else ""}
        lines += [f"#{each}" for each in offers[language] if each.split(" =")[0] not in hidden]
    lines += [f"{key} = {toml_value(value)}  # {toml_value(why)}" for key, (value, why) in keys.items()]
    for (rule, pattern), reason in ignored.items():
        pairs = {"rule": rule, "path": pattern, "reason": reason}
        lines += ["", "[[ignore]]", *(f"{key} = {toml_value(value)}" for key, value in pairs.items())]
    text = "\n".join([*lines, ""]).encode("utf-8", "replace").decode()
    parse_config(parse_toml(text.encode(), FILE), FILE)
    with explain_write_errors(FILE):
        write_atomically(path, text)
    told = [f"cli-guard: wrote {FILE}: look at it, then `git add {FILE}` and commit"]
    if migrate:
        told += [f"taken over: {len(keys)} keys, {len(ignored)} [[ignore]]"]
        told += ["not taken over:", *left] if left else []
    if ignored:
        told += [
            "What they ignore is no longer reported: its review says `policy-weakened`, and asks a person."
        ]
    return told
