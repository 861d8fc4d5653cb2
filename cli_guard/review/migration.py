"""Read what other tools are told to ignore or allow (gitleaks, detect-secrets, pre-commit) as settings of a policy.

The files are anyone's: each is bounded, one that cannot be read is one line, and what has no counterpart is a line too.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli_guard.errors import ConfigError
from cli_guard.policy.config import parse_toml
from cli_guard.policy.user_rules import documents_in
from cli_guard.review.policy import read_policy_file

MOST_BYTES, MOST_ENTRIES = 1_000_000, 1_000
SECRETS = "secret-*"
# A regular expression with at most one group is written as path patterns; a richer one is not guessed at.
GROUP = re.compile(r"([^()|]*)\((?:\?:)?([^()]*)\)([^()|]*)")
PART = re.compile(r"(\.[*+]\??|\[\^/\][*+])|\\([^\w\s])|([\w/@,=~ -])|\.")
FINGERPRINT = re.compile(r"(?:[0-9a-f]{40,64}:)?(.+):([^:]+):\d+")
CONVENTIONAL = ("conventional-pre-commit", "commitizen", "commitlint")
SEARCHERS = ("gitleaks", "detect-secrets", "detect-private-key", "detect-aws-credentials", "trufflehog")


@dataclass(frozen=True)
class Taken:
    """A setting with a counterpart: `[[ignore]]` of a rule at a path if `key` is "", else a key with its value."""

    key: str
    value: Any
    reason: str


Found = Iterator[Taken | str]


def patterns_of(regex: str) -> list[str] | None:
    """Write a regular expression over paths as path patterns, None if that is not certain."""
    body = re.sub(r"\s+#[^\n]*|\s+", "", regex[4:]) if regex.startswith("(?x)") else regex
    grouped = GROUP.fullmatch(body)
    parts = (
        [f"{grouped[1]}{each}{grouped[3]}" for each in grouped[2].split("|")] if grouped else body.split("|")
    )
    found = []
    for part in parts[:MOST_ENTRIES]:
        glob, rest = "" if part.startswith("^") else "**", part.removeprefix("^").removesuffix("$")
        while rest and (match := PART.match(rest)):
            wide = "*" if (match[1] or "").startswith("[") else "**"
            glob, rest = glob + (wide if match[1] else match[2] or match[3] or "?"), rest[match.end() :]
        ends = [""] if part.endswith("$") else ["**"] if "/" in glob else ["", "/**"]
        made = [re.sub(r"\*{2,}", "**", glob + end) for end in ends]
        if rest or not glob.strip("*?/"):
            return None
        found += made
    return found


def ignore(rule: str, regex: Any, reason: str) -> Found:
    """Yield an answer to a rule for each path pattern of a regular expression. Raises TypeError if it is no text."""
    patterns = patterns_of(as_type(regex, str)[:2_000])
    for pattern in patterns or ():
        yield Taken("", (rule, pattern), reason)
    if not patterns:
        yield f"the pattern {regex[:80]!r} cannot be written as a path pattern"


def as_type(value: Any, kind: type) -> Any:
    """Return a value of the type that it should have. Raises TypeError."""
    if not isinstance(value, kind):
        raise TypeError(f"{str(value)[:40]!r} should be a {kind.__name__}")
    return value


def read_gitleaks(text: str) -> Found:
    data = parse_toml(text.encode(), ".gitleaks.toml")
    lists = [
        *([data["allowlist"]] if "allowlist" in data else []),
        *as_type(data.get("allowlists", []), list),
    ]
    for each in lists:
        narrow = each.keys() & {"condition", "targetRules"}
        for regex in () if narrow else as_type(each.get("paths", []), list):
            yield from ignore(SECRETS, regex, str(each.get("description") or "in its allowlist")[:200])
        left = each.keys() - {"description"} - (set() if narrow else {"paths"})
        yield from (f"allowlist: {key} has no counterpart" for key in sorted(left))
    for rule in as_type(data.get("rules", []), list):
        yield f"rule {str(rule.get('id'))[:80]!r}: write it as a rule of your own (docs/code.md)"
    rest = sorted(data.keys() - {"title", "description", "allowlist", "allowlists", "rules"})
    yield from (f"{key[:80]!r} has no counterpart" for key in rest)


def read_gitleaksignore(text: str) -> Found:
    for line in filter(None, (each.split("#", 1)[0].strip() for each in text.split("\n"))):
        found = FINGERPRINT.fullmatch(line)
        yield (
            Taken("", (SECRETS, found[1].replace("*", "?")), f"its {found[2][:80]}")
            if found
            else f"{line[:80]!r} is no fingerprint"
        )


def read_detect_secrets(text: str) -> Found:
    data = as_type(json.loads(text), dict)
    for path, entries in as_type(data.get("results", {}), dict).items():
        if any(each.get("is_secret") is True for each in entries):
            yield f"{path[:200]}: a secret that was audited as real: remove it"
            continue
        kinds = sorted({str(each["type"])[:80] for each in entries})
        yield Taken("", (SECRETS, path.replace("*", "?")), f"its {', '.join(kinds)}")
    for each in as_type(data.get("filters_used", []), list):
        if str(each.get("path")).endswith("should_exclude_file"):
            for regex in as_type(each["pattern"], list):
                yield from ignore(SECRETS, regex, "its excluded files")
        elif each.keys() - {"path", "min_level"}:
            yield f"filter {str(each['path'])[-80:]!r} has no counterpart"
    yield from (
        f"{key[:80]!r} has no counterpart" for key in data.keys() & {"plugins_used", "custom_plugin_paths"}
    )


def read_pre_commit(text: str) -> Found:
    data = as_type(next((each for _, each in documents_in(".pre-commit-config.yaml", text)), {}), dict)
    if data.get("exclude"):
        yield from ignore("*", data["exclude"], "its exclude")
    yield from (f"{str(key)[:80]!r} has no counterpart" for key in data.keys() - {"exclude", "repos"})
    for hook in (
        hook for repo in as_type(data.get("repos", []), list) for hook in as_type(repo["hooks"], list)
    ):
        name, arguments = (
            as_type(hook["id"], str),
            [str(each) for each in as_type(hook.get("args", []), list)],
        )
        given = re.findall(
            r"(--?\w[\w-]*)[= ]?(\S*)", re.sub(r"(^| )(--?\w[\w-]*) (?!-)", r"\1\2=", " ".join(arguments))
        )
        values = {option: [value for each, value in given if each == option] for option, _ in given}
        if name == "check-added-large-files":
            largest = int((values.get("--maxkb") or ["500"])[-1]) * 1_024
            yield Taken("limits.file_chars", max(largest, 1_000), name)
        elif name == "no-commit-to-branch":
            branches = [*values.get("--branch", []), *values.get("-b", [])] or ["main", "master"]
            yield Taken("git.protected_branches", branches, f"{name}: not forced or deleted by a push")
            values = {option: each for option, each in values.items() if option not in ("--branch", "-b")}
        elif name in CONVENTIONAL:
            yield Taken("message.style", "conventional", name)
        if name in SEARCHERS and hook.get("exclude"):
            yield from ignore(SECRETS, hook["exclude"], f"the exclude of {name}")
        left = [key for key in ("exclude", "files", "types", "stages") if key in hook]
        left = [key for key in left if not (key == "exclude" and name in SEARCHERS)]
        left += sorted(values.keys() - {"--maxkb"})
        if left:
            yield f"{name[:80]}: {', '.join(left)[:200]} stay there"


READERS: Mapping[str, Callable[[str], Found]] = {
    ".gitleaks.toml": read_gitleaks,
    ".gitleaksignore": read_gitleaksignore,
    ".secrets.baseline": read_detect_secrets,
    ".pre-commit-config.yaml": read_pre_commit,
}


def read_others(root: Path) -> Iterator[tuple[str, Taken | str]]:
    """Yield the settings of other tools in a work tree, by file, and a line for each that cannot be taken over."""
    for name, reader in READERS.items():
        try:
            raw = read_policy_file(root / name, name, MOST_BYTES)
            for number, each in enumerate(reader(raw.decode("utf-8-sig")) if raw else ()):
                if number == MOST_ENTRIES:
                    raise ValueError(f"more than {MOST_ENTRIES:,} entries")
                yield name, each
        except ConfigError as error:
            yield name, f"not read: {error}"
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            yield name, f"not read any further: {type(error).__name__}: {str(error)[:200]}"
