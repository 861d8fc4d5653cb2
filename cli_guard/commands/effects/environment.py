"""The effect of setting an environment variable, or a key of Git's configuration, for a command."""

import re

from cli_guard.commands.model import Kind

Meaning = tuple[Kind, str] | None

HARMLESS_NAMES = re.compile(
    r"(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|COLORTERM|COLUMNS|LINES|TERM|CI|DEBIAN_FRONTEND"
    r"|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|HASHSEED|FAULTHANDLER|NOUSERSITE|SAFEPATH|DEVMODE)"
    r"|RUST_BACKTRACE|NODE_NO_WARNINGS|NODE_DISABLE_COLORS|POSIXLY_CORRECT|TIMEFORMAT|BLOCKSIZE|BLOCK_SIZE|LS_COLORS"
    r"|GREP_COLORS?|JQ_COLORS|QUOTING_STYLE|TIME_STYLE|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|GIT_LITERAL_PATHSPECS"
    r"|GIT_NO_REPLACE_OBJECTS|GIT_FLUSH|HOMEBREW_NO_(?:AUTO_UPDATE|ANALYTICS|ENV_HINTS|COLOR)|PIP_DISABLE_PIP_VERSION_CHECK"
    r"|PIP_NO_COLOR|NPM_CONFIG_(?:FUND|AUDIT|LOGLEVEL|UPDATE_NOTIFIER)|npm_config_(?:fund|audit|loglevel|update_notifier)"
    r"|AWS_(?:REGION|DEFAULT_REGION|DEFAULT_OUTPUT)|TF_IN_AUTOMATION|TF_CLI_CONFIG_INPUT|SYSTEMD_COLORS|NO_UPDATE_NOTIFIER"
    r"|VERBOSE|DEBUG|LOG_LEVEL|LOGLEVEL|QUIET|DOCKER_BUILDKIT|COMPOSE_PROGRESS|BUILDKIT_PROGRESS)\Z"
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
LESS_FLAGS = re.compile(r"-?[FRSXiIMmNnGgEeQqWwCcdrsJu]*\Z")
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
SWITCHED_ON = frozenset(("1", "true", "yes", "on"))
GIT_CONFIG_PAIR = re.compile(r"GIT_CONFIG_(?:KEY|VALUE)_\d+\Z|GIT_CONFIG_(?:COUNT|PARAMETERS)\Z")
CODE_NAMES = re.compile(
    r"(?:PATH|IFS|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|CDPATH|BASH_FUNC_.*|SHELL"
    r"|LD_[A-Z_]+|DYLD_[A-Z_]+|GCONV_PATH|LOCPATH|HOME|XDG_CONFIG_HOME|XDG_DATA_DIRS|TMPDIR|.*(?:PAGER|EDITOR|BROWSER)"
    r"|VISUAL|LESSOPEN|LESSCLOSE|LESS|MANOPT|GIT_.*|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|TAR_OPTIONS|MAKEFLAGS|MFLAGS|CC|CXX|LD|AR"
    r"|CFLAGS|CXXFLAGS|LDFLAGS|PYTHON[A-Z]+|PERL5?(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS)"
    r"|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|CLASSPATH|RUSTC(?:_WRAPPER)?|RUSTFLAGS|CARGO_.*|GO(?:FLAGS|PATH|ROOT)"
    r"|KUBECONFIG|DOCKER_HOST|PIP_[A-Z_]+|UV_[A-Z_]+|NPM_CONFIG_[A-Z_]+|npm_config_[a-z_]+|(?:HTTPS?|ALL|NO|FTP)_PROXY"
    r"|(?:https?|all|no|ftp)_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_(?:CA_BUNDLE|HOME)|WGETRC|OPENSSL_CONF|PGSERVICEFILE)\Z"
)

HOOKS_PATH = "core.hookspath"
HOOK_KEYS = frozenset((HOOKS_PATH, "init.templatedir", "hook.enabled"))
INCLUDES = re.compile(r"include\.path\Z|includeif\..*\.path\Z")
# git-config(1): the keys whose value is run as a command, or names one.
CODE_KEYS = re.compile(
    r"core\.(?:fsmonitor|pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand|worktree|attributesfile)\Z|pager\..*\Z|alias\..*\Z"
    r"|diff\.(?:external|.*\.(?:command|textconv|cachetextconv))\Z|filter\..*\.(?:clean|smudge|process)\Z|merge\..*\.driver\Z"
    r"|(?:merge|diff)tool\..*\.(?:cmd|path)\Z|(?:merge|diff)\.(?:gui)?tool\Z|credential\.(?:.*\.)?helper\Z|gpg\.(?:.*\.)?program\Z|gpg\.ssh\..*\Z"
    r"|sequence\.editor\Z|interactive\.difffilter\Z|remote\..*\.(?:uploadpack|receivepack|vcs|url|pushurl|proxy)\Z|url\..*insteadof\Z"
    r"|uploadpack\..*hook\Z|submodule\..*\.(?:update|url)\Z|trailer\..*\.(?:command|cmd)\Z|sendemail\..*\Z|web\.browser\Z|browser\..*\Z"
    r"|man\..*\Z|instaweb\..*\Z|protocol\..*\Z|http\..*\Z|transfer\..*\Z|receive\..*\Z|safe\.directory\Z|extensions\..*\Z|hook\..*\Z|tar\..*\.command\Z"
)
HARMLESS_KEYS = re.compile(
    r"(?:user\.(?:name|email)|color\..*|column\..*|advice\..*|log\..*|core\.(?:quotepath|abbrev|autocrlf|eol|ignorecase|whitespace"
    r"|precomposeunicode|longpaths|symlinks|filemode|untrackedcache|preloadindex|optionallocks|commentchar)|diff\.(?:renames|renamelimit|algorithm"
    r"|context|mnemonicprefix|noprefix|colormoved|colormovedws|submodule|indentheuristic|statgraphwidth|wserrorhighlight|suppressblankempty"
    r"|ignoresubmodules|dirstat|interhunkcontext)|grep\..*|status\..*|blame\..*|format\.pretty|i18n\..*|versionsort\..*|branch\.sort"
    r"|tag\.sort|commit\.(?:gpgsign|verbose|status)|tag\.gpgsign|gc\.auto|maintenance\.auto|init\.defaultbranch|pull\.(?:rebase|ff)"
    r"|push\.default|rebase\.autostash|fetch\.prune|merge\.(?:conflictstyle|renames|renamelimit)|rerere\..*|help\.autocorrect|index\..*"
    r"|pack\..*|feature\..*|stash\..*|submodule\.recurse|lfs\.(?:fetchexclude|fetchinclude))\Z"
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
READING_KEYS = re.compile(
    r"core\.(?:fsmonitor|pager|alternaterefscommand)\Z|pager\..*\Z|diff\.(?:external|.*\.(?:command|textconv))\Z"
    r"|filter\..*\.(?:clean|smudge|process)\Z|interactive\.difffilter\Z|gpg\.(?:.*\.)?program\Z|include\.path\Z|includeif\..*\.path\Z"
)

# Keys whose value only one command of git runs, by the command.
OWN_READING_KEYS = {
    "git archive": re.compile(r"tar\..*\.command\Z"),
    "git merge-tree": re.compile(r"merge\..*\.driver\Z"),
    "git interpret-trailers": re.compile(r"trailer\..*\.(?:command|cmd)\Z"),
    "git help": re.compile(
        r"help\.(?:browser|format)\Z|(?:browser|man)\..*\Z|web\.browser\Z|core\.pager\Z|pager\..*\Z"
    ),
    "git remote": re.compile(
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
        return Kind.GUARD, HOOK_SWITCHES[name]
    if GIT_CONFIG_PAIR.match(name):
        return pair_means(name, value)
    if name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG") and value != "/dev/null":
        return Kind.GUARD, "replaces Git's configuration, which can switch hooks off"
    if HARMLESS_NAMES.match(name):
        return None
    if name in HARMLESS_VALUES:
        allowed = HARMLESS_VALUES[name]
        if value is not None and (LESS_FLAGS.match(value) if allowed is None else value in allowed):
            return None
    if CODE_NAMES.match(name):
        return Kind.EXEC, f"sets {name}, which decides what code runs or where it connects"
    return Kind.UNKNOWN, f"sets {name}, which is not known to be harmless"


def pair_means(name: str, value: str | None) -> Meaning:
    """Return the effect of one of GIT_CONFIG_COUNT, _KEY_n, _VALUE_n and GIT_CONFIG_PARAMETERS."""
    if (
        value is None
        or "hook" in value.lower()
        or "include" in value.lower()
        or "templatedir" in value.lower()
    ):
        return Kind.GUARD, "sets Git's configuration from the environment, which can switch hooks off"
    if "_KEY_" in name:
        return key_means(value, None)
    return Kind.EXEC, f"sets Git's configuration from the environment ({name})"


def key_means(key: str, value: str | None) -> Meaning:
    """Return the effect of setting a key of Git's configuration, None if harmless. `value` is None if unknown."""
    section, dot, rest = key.partition(".")
    middle, _, last = rest.rpartition(".")
    lower = f"{section.lower()}{dot}{middle + '.' if middle else ''}{last.lower()}"
    if lower in HOOK_KEYS:
        return Kind.GUARD, f"sets {key}, which switches hooks off or replaces them"
    if INCLUDES.match(lower):
        return Kind.GUARD, f"sets {key}: the file it names may switch hooks off"
    if value is not None and value.lower() in SWITCHES.get(lower, ()):
        return None
    if lower.startswith("pager.") and value is not None and value.lower() in SWITCHES["core.pager"]:
        return None
    if lower.startswith("alias.") and value is not None and not value.startswith("!"):
        return Kind.EXEC, f"sets {key}, which redefines a Git command"
    if CODE_KEYS.match(lower):
        return Kind.EXEC, f"sets {key}, which decides what code runs or where it connects"
    if HARMLESS_KEYS.match(lower):
        return None
    return Kind.UNKNOWN, f"sets {key}, which is not known to be harmless"
