"""The effect of setting an environment variable, or a key of Git's configuration, for a command."""

import re
from collections.abc import Iterable

from cli_guard.commands.model import EffectKind
from cli_guard.lazy import regex
from cli_guard.rules.tables import words

Meaning = tuple[EffectKind, str] | None

WORDS = words("environment")
GIT_KEYS = words("git_keys")


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches what one of these matches as a whole."""
    return regex(rf"(?:{'|'.join(patterns)})\Z")


HARMLESS_NAMES, CODE_NAMES, PLAIN_NAMES, LOCAL_NAMES = (
    any_of(WORDS[each]) for each in ("harmless", "code", "plain", "local")
)
# A word, or a path in the project; not an option, several words or an address.
PLAIN = regex(r"(?!-|~|/|.*\.\.|.*[:=,]/)[\w./,:+*=-]*\Z")
LOCAL = regex(
    r"(?!file:|.*host\w*=|.*\.\.)(?:\w[\w+.-]*://)?(?:[\w.%-]+(?::[\w.%-]*)?@)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])"
    r"(?::\d+)?(?:/[\w./?=&%,-]*)?\Z|sqlite\S{0,9}:(?:///?:memory:|//|///\w[\w./-]*)\Z"
)
HOOK_SWITCHES = WORDS["hook_switches"]
# They decide what the hooks of a commit or a push review, or whose code runs there.
MISLEADS_HOOKS = regex(
    rf"(?!(?:{'|'.join(WORDS['harmless'])})\Z)(?:PRE_COMMIT|PREK|GITHEAD_|PYTHON)\w*\Z"
)
SWITCHED_ON = ("1", "true", "yes", "on")
GIT_CONFIG_PAIR = regex(r"GIT_CONFIG_(?:KEY|VALUE)_\d+\Z|GIT_CONFIG_(?:COUNT|PARAMETERS)\Z")

# The last two: hooks in Git's configuration.
HOOK_KEYS = r"core\.hookspath|init\.templatedir|hook\.(?:.*\.)?enabled|hook\.cli-guard.*\.(?:command|event)"
INCLUDES = regex(r"include\.path\Z|includeif\..*\.path\Z")
CODE_KEYS, HARMLESS_KEYS, READING_KEYS = (
    any_of(GIT_KEYS[each]) for each in ("code", "harmless", "reading")
)
OWN_READING_KEYS = {name: any_of(keys) for name, keys in GIT_KEYS["own_reading"].items()}


def variable_means(name: str, value: str | None) -> Meaning:
    """Return the effect of setting an environment variable, None if harmless. `value` is None if unknown."""
    if name in HOOK_SWITCHES:
        wanted = (value or "").lower()
        # HUSKY=1 and LEFTHOOK=1 are the defaults.
        if name in ("HUSKY", "LEFTHOOK", "CLI_GUARD") and wanted in SWITCHED_ON:
            return None
        return EffectKind.GUARD, " ".join(HOOK_SWITCHES[name])
    if GIT_CONFIG_PAIR.match(name):
        return pair_means(name, value)
    if (
        name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG")
        and value != "/dev/null"
    ):
        return EffectKind.GUARD, "replaces Git's configuration, which can switch hooks off"
    if HARMLESS_NAMES.match(name):
        return None
    allowed = WORDS["values"].get(name)
    if allowed and value is not None and any_of(allowed).match(value):
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
    switch = "core.pager" if lower.startswith("pager.") else lower
    if switch in GIT_KEYS["switches"] and value is not None and runs_nothing(switch, value):
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


def runs_nothing(key: str, value: str) -> bool:
    """Return whether Git runs nothing with this value of a key; with most keys only if it is empty."""
    return any_of(GIT_KEYS["switches"].get(key, [""])).match(value.lower()) is not None
