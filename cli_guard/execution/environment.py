"""The clean environment of a command.

Only the variables that tool chains need pass, and those that were named. A secret never passes, even if named: what a
command prints ends up in logs and answers. A command that needs one reads it from where secrets are kept.
"""

import os
import re
from collections.abc import Iterable, Mapping

from cli_guard.lazy import frozen

# The user, terminal and language. Full names only: a pattern such as LC_* would let anything pass.
PLAIN = frozenset(
    """
    USER LOGNAME LANG LANGUAGE LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES
    LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME TZ TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR
    CLICOLOR_FORCE COLUMNS LINES CI SOURCE_DATE_EPOCH DISPLAY WAYLAND_DISPLAY
    PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 PYTHONHASHSEED PYENV_VERSION
    RUSTUP_TOOLCHAIN NODE_ENV CONDA_DEFAULT_ENV
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
    NO_PROXY no_proxy
    """.split()
)
# Folders and files, some of them lists. A relative one would be in the repository, which must not choose programs,
# settings and certificates.
PATHS = frozenset(
    """
    PATH HOME SHELL TMPDIR TMP TEMP
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_DIRS XDG_DATA_DIRS
    VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR ASDF_DIR
    ASDF_DATA_DIR MISE_DATA_DIR CARGO_HOME RUSTUP_HOME GOPATH GOROOT GOCACHE GOMODCACHE JAVA_HOME MAVEN_HOME M2_HOME
    GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GEM_HOME GEM_PATH RBENV_ROOT COMPOSER_HOME
    HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY DEVELOPER_DIR SDKROOT
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS NIX_SSL_CERT_FILE
    """.split()
)
# Addresses that may hold a user and a password (curl(1), ENVIRONMENT).
PROXIES = frozenset(
    "http_proxy https_proxy ftp_proxy all_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY".split()
)
BUILT_IN = PLAIN | PATHS | PROXIES

# Up to the last `@`: a password that is not encoded may hold any character.
LOGIN = re.compile(r"\A((?:[A-Za-z][A-Za-z0-9+.-]*://)?).*@", re.DOTALL)
# A variable that is the address of a service.
ADDRESS_NAME = re.compile(r"(?:UR[LI]|DSN|WEBHOOK|STR|STRING)\Z")
# Folders by definition (POSIX), whatever their names suggest.
FOLDERS = frozenset(("PWD", "OLDPWD"))
# Values of a switch: `AUTH=false`.
SWITCHES = frozenset(("", "0", "1", "true", "false", "yes", "no", "on", "off"))


@frozen
class Passed:
    """The environment of a command, and how it differs from the caller's.

    `left_out` are named variables that hold a secret; `missing` were named and are not set; `changed` lost a part:
    relative folders, or the login of a proxy.
    """

    env: dict[str, str]
    left_out: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def notes(self) -> tuple[str, ...]:
        """Return what was left out or changed, a line each; a variable that is not set needs no note."""
        if not (self.left_out or self.changed):
            return ()
        from cli_guard.secrets.printable import printable

        lines = [
            f"{printable(name)} was left out: it holds a secret, which commands do not get"
            for name in self.left_out
        ]
        for name in self.changed:
            if name not in self.env:
                lines.append(f"{name} was left out: it names a relative folder")
            else:
                part = "login" if name in PROXIES else "relative folders"
                lines.append(f"{name} was passed without its {part}")
        return tuple(lines)


def clean_environment(env: Mapping[str, str], named: Iterable[str] = ()) -> Passed:
    """Return the part of an environment that a command gets: what tool chains need, and the `named` variables.

    Variables that make programs run other code (LD_PRELOAD, BASH_ENV, NODE_OPTIONS, most of GIT_*) pass only if named;
    the Git variables of a hook would lead a command to the hook's repository.
    """
    passed: dict[str, str] = {}
    left_out = []
    missing = []
    changed = []
    for name in sorted(BUILT_IN & env.keys()):
        value = env[name]
        kept = _without_relative(value) if name in PATHS else value
        if name in PROXIES:
            kept = LOGIN.sub(r"\1", value)
        if kept != value:
            changed.append(name)
        if kept or not value:
            passed[name] = kept
    for name in dict.fromkeys(named):
        if name in BUILT_IN and name in env:
            continue
        if name not in env:
            missing.append(name)
        elif _is_secret(name, env[name]):
            left_out.append(name)
        else:
            passed[name] = env[name]
    # A shell without it searches a path of its own, which may hold the current folder (bash(1), PATH).
    passed["PATH"] = passed.get("PATH") or os.defpath
    return Passed(passed, tuple(left_out), tuple(missing), tuple(changed))


def _without_relative(value: str) -> str:
    """Drop the relative paths of a list; an empty entry is the current folder."""
    if value.startswith("/") and ":" not in value:
        return value
    return os.pathsep.join(path for path in value.split(os.pathsep) if os.path.isabs(path))  # noqa: PTH117 - as text


def _is_secret(name: str, value: str) -> bool:
    """Check the name and the value."""
    from cli_guard.commands.expand.parameters import SECRET_NAME
    from cli_guard.secrets import scan
    from cli_guard.secrets.names import kind_of

    if value.lower() in SWITCHES or name in FOLDERS:
        return False
    # `DEPLOY_TOKEN_2`, not `TOKEN_FILE`: the last word says what it is.
    last = name.rstrip("0123456789_")
    # An address is one only with a password in it.
    named = not ADDRESS_NAME.search(last) and any(
        found.end() == len(last) for found in SECRET_NAME.finditer(last)
    )
    if kind_of(name) or named:
        return True
    return bool(scan(f"{name}={value}", ".env").hits)
