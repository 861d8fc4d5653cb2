"""The effect of setting an environment variable, or a key of Git's configuration, for a command."""

import re

from cli_guard.commands.model import EffectKind
from cli_guard.lazy import regex
from cli_guard.rules.tables import words

Meaning = tuple[EffectKind, str] | None

WORDS = words("environment")
HARMLESS_NAMES, CODE_NAMES, PLAIN_NAMES, LOCAL_NAMES = (
    regex(rf"(?:{'|'.join(WORDS[each])})\Z")
    for each in ("harmless", "code", "plain", "local")
)
# A word, or a path in the project; not an option, several words or an address.
PLAIN = regex(r"(?!-|~|/|.*\.\.|.*[:=,]/)[\w./,:+*=-]*\Z")
LOCAL = regex(
    r"(?!file:|.*host\w*=|.*\.\.)(?:\w[\w+.-]*://)?(?:[\w.%-]+(?::[\w.%-]*)?@)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])"
    r"(?::\d+)?(?:/[\w./?=&%,-]*)?\Z|sqlite\S{0,9}:(?:///?:memory:|//|///\w[\w./-]*)\Z"
)
# Variables that are harmless only with one of these values.
HARMLESS_VALUES = {
    "PAGER": ("cat", "", "less", "more"),
    "GIT_PAGER": ("cat", "", "less", "more"),
    "MANPAGER": ("cat", ""),
    "GH_PAGER": ("cat", ""),
    "AWS_PAGER": ("cat", ""),
    "SYSTEMD_PAGER": ("cat", ""),
    "LESS": None,
    "GIT_EDITOR": ("true", ":"),
}
LESS_FLAGS = regex(r"-?[FRSXiIMmNnGgEeQqWwCcdrsJu]*\Z")
HOOK_SWITCHES = {
    "SKIP": "skips hooks of pre-commit",
    "PRE_COMMIT_ALLOW_NO_CONFIG": "lets pre-commit pass without its configuration",
    "HUSKY": "switches the hooks of husky off",
    "HUSKY_SKIP_HOOKS": "switches the hooks of husky off",
    "LEFTHOOK": "switches the hooks of lefthook off",
    "LEFTHOOK_EXCLUDE": "skips hooks of lefthook",
    "OVERCOMMIT_DISABLE": "switches the hooks of overcommit off",
    "PREK_SKIP": "skips hooks of prek",
    "PRE_COMMIT_SKIP": "skips hooks of pre-commit",
    "CLI_GUARD": "switches cli-guard off",
}
# They decide what the hooks of a commit or a push review, or whose code runs there.
MISLEADS_HOOKS = regex(
    rf"(?!(?:{'|'.join(WORDS['harmless'])})\Z)(?:PRE_COMMIT|PREK|GITHEAD_|PYTHON)\w*\Z"
)
SWITCHED_ON = ("1", "true", "yes", "on")
GIT_CONFIG_PAIR = regex(r"GIT_CONFIG_(?:KEY|VALUE)_\d+\Z|GIT_CONFIG_(?:COUNT|PARAMETERS)\Z")

# The last two: hooks in Git's configuration.
HOOK_KEYS = r"core\.hookspath|init\.templatedir|hook\.(?:.*\.)?enabled|hook\.cli-guard.*\.(?:command|event)"
INCLUDES = regex(r"include\.path\Z|includeif\..*\.path\Z")
# git-config(1): the keys whose value is run as a command, or names one.
CODE_KEYS, HARMLESS_KEYS = (
    regex(rf"(?:{'|'.join(words('git_keys')[each])})\Z") for each in ("code", "harmless")
)
OFF = frozenset(("false", "0", "no", "off", ""))
# Values of keys in CODE_KEYS with which Git runs nothing.
SWITCHES = {
    "core.fsmonitor": OFF | {"true"},
    "core.pager": OFF | {"cat", "less", "more"},
    "core.editor": {"true", ":"},
    "sequence.editor": {"true", ":"},
    "diff.external": {""},
    "credential.helper": {""},
    "http.sslverify": {"true"},
}
# The keys of the repository's own configuration whose values even a read-only command runs.
READING_KEYS = regex(
    r"core\.(?:fsmonitor|pager|alternaterefscommand)\Z|pager\..*\Z|diff\.(?:external|.*\.(?:command|textconv))\Z"
    r"|filter\..*\.(?:clean|smudge|process)\Z|interactive\.difffilter\Z|gpg\.(?:.*\.)?program\Z|include\.path\Z|includeif\..*\.path\Z"
)

# Keys whose value only one command of git runs, by the command.
OWN_READING_KEYS = {
    "git archive": regex(r"tar\..*\.command\Z"),
    "git merge-tree": regex(r"merge\..*\.driver\Z"),
    "git interpret-trailers": regex(r"trailer\..*\.(?:command|cmd)\Z"),
    "git help": regex(
        r"help\.(?:browser|format)\Z|(?:browser|man)\..*\Z|web\.browser\Z|core\.pager\Z|pager\..*\Z"
    ),
    "git remote": regex(
        r"remote\..*\.(?:uploadpack|vcs|proxy)\Z|core\.(?:sshcommand|gitproxy|askpass)\Z"
        r"|credential\.(?:.*\.)?helper\Z"
    ),
}


def variable_means(name: str, value: str | None) -> Meaning:
    """Return the effect of setting an environment variable, None if harmless. `value` is None if unknown."""
    if name in HOOK_SWITCHES:
        wanted = (value or "").lower()
        # HUSKY=1 and LEFTHOOK=1 are the defaults.
        if name in ("HUSKY", "LEFTHOOK", "CLI_GUARD") and wanted in SWITCHED_ON:
            return None
        return EffectKind.GUARD, HOOK_SWITCHES[name]
    if GIT_CONFIG_PAIR.match(name):
        return pair_means(name, value)
    if (
        name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG")
        and value != "/dev/null"
    ):
        return EffectKind.GUARD, "replaces Git's configuration, which can switch hooks off"
    if HARMLESS_NAMES.match(name):
        return None
    if name in HARMLESS_VALUES:
        allowed = HARMLESS_VALUES[name]
        if value is not None and (
            LESS_FLAGS.match(value) if allowed is None else value in allowed
        ):
            return None
    if CODE_NAMES.match(name):
        return (
            EffectKind.EXEC,
            f"sets {name}, which decides what code runs or where it connects",
        )
    if name == name.lower() or (value is not None and is_plain_setting(name, value)):
        return None
    return EffectKind.UNKNOWN, f"sets {name}, which is not known to be harmless"


def is_plain_setting(name: str, value: str) -> bool:
    """Return whether a name is on the tables of those that are harmless with such a value."""
    if LOCAL_NAMES.match(name):
        return LOCAL.match(value) is not None
    return bool(PLAIN_NAMES.match(name) and (PLAIN.match(value) or LOCAL.match(value)))


def pair_means(name: str, value: str | None) -> Meaning:
    """Return the effect of one of GIT_CONFIG_COUNT, _KEY_n, _VALUE_n and GIT_CONFIG_PARAMETERS."""
    if (
        value is None
        or "hook" in value.lower()
        or "include" in value.lower()
        or "templatedir" in value.lower()
    ):
        return (
            EffectKind.GUARD,
            "sets Git's configuration from the environment, which can switch hooks off",
        )
    if "_KEY_" in name:
        return key_means(value, None)
    return EffectKind.EXEC, f"sets Git's configuration from the environment ({name})"


def key_means(key: str, value: str | None) -> Meaning:
    """Return the effect of setting a key of Git's configuration, None if harmless. `value` is None if unknown."""
    section, dot, rest = key.partition(".")
    middle, _, last = rest.rpartition(".")
    lower = f"{section.lower()}{dot}{middle + '.' if middle else ''}{last.lower()}"
    if re.fullmatch(HOOK_KEYS, lower) and not (
        last.lower() == "enabled" and value in SWITCHED_ON
    ):
        return EffectKind.GUARD, f"sets {key}, which switches hooks off or replaces them"
    if INCLUDES.match(lower):
        return EffectKind.GUARD, f"sets {key}: the file it names may switch hooks off"
    if value is not None and value.lower() in SWITCHES.get(lower, ()):
        return None
    if (
        lower.startswith("pager.")
        and value is not None
        and value.lower() in SWITCHES["core.pager"]
    ):
        return None
    if lower.startswith("alias.") and value is not None and not value.startswith("!"):
        return EffectKind.EXEC, f"sets {key}, which redefines a Git command"
    if CODE_KEYS.match(lower):
        return (
            EffectKind.EXEC,
            f"sets {key}, which decides what code runs or where it connects",
        )
    if HARMLESS_KEYS.match(lower):
        return None
    return EffectKind.UNKNOWN, f"sets {key}, which is not known to be harmless"
