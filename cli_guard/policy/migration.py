"""Read what gitleaks, detect-secrets and pre-commit are told to ignore or allow, as settings of ours.

Their files are anyone's: each is bounded, one that cannot be read is one line, and what has no counterpart is a line
too.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cli_guard.errors import ConfigError
from cli_guard.policy.config import GitSection, parse_toml
from cli_guard.policy.recorded import read_policy_file
from cli_guard.policy.user_rules import documents_in

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1_000_000
MOST_ENTRIES = 1_000
LONGEST = 5_000
SECRETS = "secret-*"
NONE = "has no counterpart"
# A regular expression with at most one group is written as path patterns; a richer one is not guessed at.
GROUP = re.compile(r"([^()|]*)\((?:\?:)?([^()]*)\)([^()|]*)")
PART = re.compile(
    r"(?P<any>\.[*+]\??)|(?P<name>\[\^/\][*+])|\\(?P<quoted>[^\w\s])"
    r"|(?P<plain>[\w/@,=~ -](?![*+?{]))|(?P<one>\.(?![?{]))"
)
GLOBS = {"any": "**", "name": "*", "one": "?"}
FINGERPRINT = re.compile(r"(?:[0-9a-f]{40,64}:)?(.+):([^:]+):\d+")
# Their branches come to these, which are protected anyway: a migration never weakens.
PROTECTED: tuple[str, ...] = GitSection().protected_branches
# Hooks whose counterpart is a setting, and those that search for secrets.
CONVENTIONAL = ("conventional-pre-commit", "commitizen", "commitlint")
SEARCHERS = (
    "gitleaks",
    "detect-secrets",
    "detect-private-key",
    "detect-aws-credentials",
    "trufflehog",
)
# A key ("" for an `[[ignore]]`) with its value and the reason, or a line about what cannot be taken over.
Found = Iterator[tuple[str, Any, str] | str]


def patterns_of(regex: str) -> list[str]:
    """Write a regular expression over paths as path patterns; none if that is not certain, or matches everything."""
    body = regex
    if regex.startswith("(?x)"):  # verbose: without its comments and blanks
        body = re.sub(r"\s+#[^\n]*|\s+", "", regex[4:])
    body = body.removeprefix("(.*?)")
    parts = body.split("|")
    if group := GROUP.fullmatch(body):
        parts = [group[1] + each + group[3] for each in group[2].split("|")]
    found = []
    for part in parts:
        glob = glob_of(part)
        if not glob.strip("*?/"):
            return []
        found += [re.sub(r"\*{3,}", "**", glob + end) for end in ends_of(part, glob)]
    return found


def glob_of(part: str) -> str:
    """Write one alternative, piece by piece, as a glob; "" if a piece has no counterpart."""
    glob = "" if part.startswith("^") else "**"
    rest = part.removeprefix("^").removesuffix("$")
    while rest:
        piece = PART.match(rest)
        if piece is None:
            return ""
        glob += GLOBS.get(piece.lastgroup or "") or piece[piece.lastgroup or 0]
        rest = rest[piece.end() :]
    return glob


def ends_of(part: str, glob: str) -> tuple[str, ...]:
    """Return what may follow a glob: nothing after `$`, else all below it; one without a slash is of names."""
    if part.endswith("$"):
        return ("",)
    return ("**",) if "/" in glob else ("", "/**")


def ignore(rule: str, regex: Any, reason: str) -> Found:
    patterns = patterns_of(regex) if len(as_type(regex, str)) <= LONGEST else []
    yield from (("", (rule, pattern), reason) for pattern in patterns)
    if not patterns:
        yield f"the pattern {regex[:80]!r} cannot be written as a path pattern"


def as_type(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{str(value)[:40]!r} should be a {kind.__name__}")
    return value


def read_gitleaks(text: str) -> Found:
    data = parse_toml(text.encode(), "the file")
    for each in [data.get("allowlist", {}), *as_type(data.get("allowlists", []), list)]:
        # With a condition or target rules it allows less than its paths.
        taken = set() if each.keys() & {"condition", "targetRules"} else {"paths"}
        for regex in as_type(each.get("paths", []), list) if taken else ():
            yield from ignore(
                SECRETS, regex, str(each.get("description", "its allowlist"))[:200]
            )
        taken |= {"description"}
        yield from (
            f"{key[:80]!r} of an allowlist {NONE}" for key in each if key not in taken
        )
    for rule in as_type(data.get("rules", []), list):
        yield f"rule {str(rule.get('id'))[:80]!r}: write it as a rule of your own (docs/code.md)"
    known = {"title", "description", "allowlist", "allowlists", "rules"}
    yield from (f"{key[:80]!r} {NONE}" for key in data if key not in known)


def read_gitleaksignore(text: str) -> Found:
    for line in text.split("\n"):
        if found := FINGERPRINT.fullmatch(line.strip()):
            yield "", (SECRETS, found[1].replace("*", "?")), f"its {found[2][:80]}"
        elif line.strip() and not line.startswith("#"):
            yield f"{line[:80]!r} is no fingerprint"


def read_detect_secrets(text: str) -> Found:
    data = as_type(json.loads(text), dict)
    for path, entries in as_type(data.get("results", {}), dict).items():
        if any(each.get("is_secret") for each in entries):
            yield f"{path[:200]}: a secret that was audited as real: remove it"
        else:
            kinds = ", ".join(sorted({str(each["type"])[:80] for each in entries}))[:200]
            yield "", (SECRETS, path.replace("*", "?")), f"its {kinds}"
    for each in as_type(data.get("filters_used", []), list):
        if each["path"].endswith("should_exclude_file"):
            for regex in as_type(each["pattern"], list):
                yield from ignore(SECRETS, regex, "its excluded files")
        else:
            yield f"filter {each['path'][-80:]!r} {NONE}"
    known = ("results", "filters_used", "version", "generated_at")
    yield from (f"{key[:80]!r} {NONE}" for key in data if key not in known)


def read_pre_commit(text: str) -> Found:
    data = as_type(next((each for _, each in documents_in("the file", text)), {}), dict)
    if data.get("exclude"):
        yield from ignore("*", data["exclude"], "its exclude")
    yield from (
        f"{str(key)[:80]!r} {NONE}" for key in data if key not in ("exclude", "repos")
    )
    hooks = [
        hook
        for repo in as_type(data.get("repos", []), list)
        for hook in as_type(repo["hooks"], list)
    ]
    for hook in hooks:
        name = as_type(hook["id"], str)[:80]
        left = {"exclude", "files", "types", "stages"} & {*hook}
        words = (
            " ".join(map(str, as_type(hook.get("args", []), list)))
            .replace("=", " ")
            .split()
        )
        options = [(a, b) for a, b in pairwise([*words, ""]) if a.startswith("-")]
        taken = set[str]()
        if name == "check-added-large-files":
            # A limit of ours says what is read at all: as their bound it would leave files unread.
            taken = {"--maxkb"}
            yield f"{name}: its bound {NONE}; `code-large-file` advises on files over 5 MB"
        elif name == "no-commit-to-branch":
            taken = {"--branch", "-b"}
            named = [value for option, value in options if option in taken]
            yield (
                "git.protected_branches",
                [*dict.fromkeys((*PROTECTED, *named))],
                f"{name}: here, no push may force or delete them",
            )
        elif name in CONVENTIONAL:
            yield "message.style", "conventional", name
        elif name in SEARCHERS and "exclude" in left:
            left.discard("exclude")
            yield from ignore(SECRETS, hook["exclude"], f"the exclude of {name}")
        if left := {*left, *(option for option, _ in options if option not in taken)}:
            yield f"{name}: {', '.join(sorted(left))[:200]}: {NONE}"


READERS: Mapping[str, Callable[[str], Found]] = {
    ".gitleaks.toml": read_gitleaks,
    ".gitleaksignore": read_gitleaksignore,
    ".secrets.baseline": read_detect_secrets,
    ".pre-commit-config.yaml": read_pre_commit,
}


def read_others(root: "Path") -> Iterator[tuple[str, tuple[str, Any, str] | str]]:
    """Yield the settings of other tools in a work tree, or a line about what is not taken over, with their files."""
    for name, reader in READERS.items():
        try:
            raw = read_policy_file(root / name, "the file", MOST_BYTES)
            for number, each in enumerate(reader(raw.decode("utf-8-sig")) if raw else ()):
                if number == MOST_ENTRIES:
                    raise ValueError(f"more than {MOST_ENTRIES:,} entries")
                yield name, each
        except (ConfigError, ValueError) as error:
            yield name, f"not read any further: {str(error)[:200]}"
        except (TypeError, KeyError, AttributeError, RecursionError):
            yield name, "not read any further: it is not in the form that its tool writes"
