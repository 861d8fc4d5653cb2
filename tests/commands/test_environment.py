"""What it means to set a variable of the environment or a key of Git's configuration."""

from examples import examples, near_misses, table

from cli_guard.commands import judge
from cli_guard.commands.effects.environment import key_means, pair_means, variable_means
from cli_guard.commands.model import EffectKind
from cli_guard.model import Decision

ALLOW = Decision.ALLOW
REVIEW = Decision.REVIEW
DENY = Decision.DENY

NOTHING_OF_NOTE = (
    "LANG=C LC_ALL=C.UTF-8 LANGUAGE=de TZ=UTC NO_COLOR=1 FORCE_COLOR=0 CLICOLOR_FORCE=1 COLUMNS=80 LINES=24 "
    "TERM=dumb CI=1 DEBIAN_FRONTEND=noninteractive PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 "
    "PYTHONHASHSEED=0 PYTHONIOENCODING=utf-8 RUST_BACKTRACE=1 NODE_NO_WARNINGS=1 LS_COLORS= GREP_COLOR=1 "
    "JQ_COLORS=x GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 GIT_LITERAL_PATHSPECS=1 PAGER=cat PAGER=less "
    "PAGER= GIT_PAGER=cat GIT_PAGER= MANPAGER=cat AWS_PAGER= LESS=-FRX LESS=R LESS= GIT_EDITOR=true "
    "GIT_EDITOR=: AWS_REGION=eu-1 AWS_DEFAULT_OUTPUT=json TF_IN_AUTOMATION=1 DOCKER_BUILDKIT=1 VERBOSE=1 "
    "DEBUG=x LOG_LEVEL=debug HUSKY=1 HUSKY=true LEFTHOOK=1 CLI_GUARD=on NPM_CONFIG_LOGLEVEL=error"
).split()
RUNS_CODE = (
    "PATH=/tmp:$PATH BASH_ENV=x ENV=x IFS=, PROMPT_COMMAND=x PS4=x SHELLOPTS=x BASHOPTS=x CDPATH=/ SHELL=x "
    "LD_PRELOAD=x.so LD_LIBRARY_PATH=. DYLD_INSERT_LIBRARIES=x HOME=/tmp XDG_CONFIG_HOME=/tmp PAGER=x "
    "GIT_PAGER=x MANPAGER=sh EDITOR=x VISUAL=vi GIT_EDITOR=vi BROWSER=x LESSOPEN=x LESS=-ox LESSCLOSE=x "
    "GIT_SSH=x GIT_SSH_COMMAND=x GIT_EXTERNAL_DIFF=x GIT_DIR=/tmp/x GIT_WORK_TREE=/ GIT_PROXY_COMMAND=x "
    "GIT_ASKPASS=x GIT_EXEC_PATH=. SSH_ASKPASS=x SUDO_ASKPASS=x RSYNC_RSH=x TAR_OPTIONS=x MAKEFLAGS=x CC=x "
    "CFLAGS=x PYTHONPATH=. PYTHONSTARTUP=x PYTHONHOME=x PERL5LIB=. PERL5OPT=x RUBYLIB=. RUBYOPT=x "
    "NODE_OPTIONS=x NODE_PATH=. JAVA_TOOL_OPTIONS=x CLASSPATH=. RUSTC_WRAPPER=x CARGO_HOME=. GOFLAGS=x "
    "KUBECONFIG=x DOCKER_HOST=x PIP_INDEX_URL=x UV_INDEX_URL=x npm_config_registry=x NPM_CONFIG_REGISTRY=x "
    "HTTPS_PROXY=x http_proxy=x ALL_PROXY=x SSL_CERT_FILE=x CURL_HOME=. WGETRC=x OPENSSL_CONF=x TMPDIR=/x "
    "BASH_FUNC_ls%%=x GCONV_PATH=."
).split()
SWITCHED_OFF = (
    "SKIP=ruff SKIP= PRE_COMMIT_ALLOW_NO_CONFIG=1 HUSKY=0 HUSKY= HUSKY=false HUSKY_SKIP_HOOKS=1 LEFTHOOK=0 "
    "LEFTHOOK=false LEFTHOOK_EXCLUDE=x OVERCOMMIT_DISABLE=1 PREK_SKIP=x PRE_COMMIT_SKIP=x CLI_GUARD=0 "
    "CLI_GUARD=off GIT_CONFIG_GLOBAL=x GIT_CONFIG_SYSTEM=/tmp/x GIT_CONFIG=x "
    "GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_KEY_12=CORE.HOOKSPATH GIT_CONFIG_KEY_0=include.path "
    "GIT_CONFIG_KEY_0=init.templateDir GIT_CONFIG_PARAMETERS='core.hooksPath=x'"
).split()
# Names on the tables of the harmless ones, each with a plain value.
PLAIN_SETTINGS = (
    "NODE_ENV=test NODE_ENV= PORT=3000 APP_ENV=test APP_NAME=shop TEST_DB=1 UPDATE_SNAPSHOTS=1 "
    "RAILS_ENV=test RACK_ENV=test MIX_ENV=test FLASK_ENV=development FLASK_APP=app:create GOOS=linux GOARCH=arm64 "
    "CGO_ENABLED=0 RUST_LOG=debug,hyper=info AWS_PROFILE=dev TF_LOG=DEBUG TF_VAR_region=eu-1 COVERAGE=true "
    "DJANGO_SETTINGS_MODULE=app.settings.test SPRING_PROFILES_ACTIVE=dev ASPNETCORE_ENVIRONMENT=Development "
    "TIMEOUT=30 WORKERS=4 SEED=42 PORT=0.5 DB_NAME=a,b,c TEST_NAME=2024-01-31 TEST_NAME=data/a.json "
    "MAX_RETRIES=3 DRY_RUN=1 "
    "DATABASE_URL=postgres://localhost/x DATABASE_URL=postgres://u:p@localhost:5432/x?schema=public "
    "DATABASE_URL=sqlite:///app.db DATABASE_URL=sqlite:///:memory: REDIS_URL=redis://127.0.0.1:6379/0 "
    "API_URL=http://localhost:3000/api HOST=0.0.0.0 DB_HOST=localhost:9092 BASE_URL=http://[::1]:80"
).split()
# A name on no table; or what the value says: a path elsewhere, an option, several paths, an address of another host.
UNKNOWN_NAMES = (
    "SKIPX=1 XSKIP=1 HUSKYX=0 MYPATHX=1 CLI_GUARD_X=1 GITX=1 MY_PATH=x MYPATH=x NODE_FOO=1 PLUGIN_PATH=. TOOL_HOME=x "
    "FOO_CONFIG=x FOO_CONF=x FOORC=x INPUTRC=x X_OPTS=x FOO_ARGS=x FOO_FLAGS=x PYTEST_ADDOPTS=x PYTEST_PLUGINS=x "
    "PYLINTRC=x FZF_DEFAULT_COMMAND=x RIPGREP_CONFIG_PATH=x BAT_THEME=x MAKEFILES=x CONFIG_SITE=x CPATH=x AS=x "
    "CMAKE_TOOLCHAIN_FILE=x CCACHE_PREFIX=x X_WRAPPER=x FOO_LAUNCHER=x FOO_CMD=x BUILD_COMMAND=x CHROME_BIN=x "
    "GOPROXY=x GONOSUMDB=x GOTOOLCHAIN=x JAVA_HOME=x KOTLIN_HOME=x SBT_OPTS=x PHPRC=x PHP_INI_SCAN_DIR=x LUA_INIT=x "
    "ELECTRON_RUN_AS_NODE=1 VIMINIT=x EXINIT=x ZDOTDIR=x FPATH=x HOSTALIASES=x TERMINFO=x GTK_MODULES=x QT_DEBUG=1 "
    "ANSIBLE_CALLBACKS=x TF_CLI_ARGS=x TF_DATA_DIR=x HELM_DRIVER=x KUBE_EDITOR_X=1 DOTNET_STARTUP_HOOKS=x "
    "CORECLR_PROFILER=x ASPNETCORE_HOSTINGSTARTUPASSEMBLIES=x R_PROFILE=x R_LIBS=x JULIA_PROJECT=x ERL_AFLAGS=x "
    "MIX_EXS=x AWS_ENDPOINT_URL=https://a.test AWS_CONFIG_FILE=x AWS_CA_BUNDLE=x AWS_SHARED_CREDENTIALS_FILE=x "
    "CLOUDSDK_PYTHON=x GH_HOST=localhost VAULT_ADDR=http://localhost SASS_BINARY_SITE=x YARN_REGISTRY=x PNPM_HOME=x "
    "BUNDLE_GEMFILE=x GEM_HOME=x COMPOSER_HOME=x RUSTUP_TOOLCHAIN=x SSH_AUTH_SOCK=x GNUPGHOME=x NETRC=x TMP=x "
    "SPRING_APPLICATION_JSON_FILE=x SPRING_CONFIG_LOCATION=x DBUS_SESSION_BUS_ADDRESS=x DISPLAY=x GLIBC_TUNABLES=x "
    "FOO=1 BAR=1 FOO= VITE_API=x NEXT_PUBLIC_NAME=shop SECRET_KEY=test POSTGRES_PASSWORD=x REPORT_DATE=2024-01-31 "
    "THRESHOLD=0.5 FEATURES=a,b,c IMAGE=app:1.2 FIXTURE=data/a.json PGHOST=localhost "
    "KAFKA_BROKERS=localhost:9092 LANGX=1 "
    "NODE_ENV=/etc/x NODE_ENV=~/x NODE_ENV=../x NODE_ENV=a/../../x NODE_ENV=-x NODE_ENV=a:/b NODE_ENV=a=/b "
    "NODE_ENV=https://a.test NODE_ENV=file:///etc/x "
    "DATABASE_URL=postgres://db.a.test/x DATABASE_URL=postgres://localhost/x?host=a.test HOST=a.test API_URL=x "
    "DATABASE_URL=postgres://localhost@a.test/x DATABASE_URL=sqlite:////etc/x REDIS_HOST=10.0.0.1 SMTP_SERVER=a.test"
).split()


@near_misses("setting", NOTHING_OF_NOTE)
def test_a_harmless_variable_means_nothing(setting: str) -> None:
    name, _, value = setting.partition("=")
    assert variable_means(name, value) is None
    assert judge(f"{setting} ls").verdict is ALLOW


@examples("setting", RUNS_CODE)
def test_a_variable_that_decides_what_runs_is_asked_about(setting: str) -> None:
    name, _, value = setting.partition("=")
    kind, reason = variable_means(name, value) or (None, "")
    assert kind is EffectKind.EXEC
    assert name in reason
    assert judge(f"env {setting} ls").verdict is REVIEW


@examples("setting", SWITCHED_OFF)
def test_a_variable_that_switches_hooks_off_is_denied(setting: str) -> None:
    name, _, value = setting.partition("=")
    assert (variable_means(name, value.strip("'")) or (None,))[0] is EffectKind.GUARD
    for command in (
        f"{setting} git commit -m x",
        f"env {setting} git commit -m x",
        f"export {setting}; git commit -m x",
    ):
        assert judge(command).verdict is DENY, command


MISLEADING = (
    "PRE_COMMIT=1 PRE_COMMIT_FROM_REF=HEAD PRE_COMMIT_TO_REF=HEAD PRE_COMMIT_HOME=x PREK_HOME=x "
    "GITHEAD_0123456789012345678901234567890123456789=x PYTHONPATH=src PYTHONSTARTUP=x PYTHONUSERBASE=x PYTHONHOME=$x"
).split()


@examples("setting", MISLEADING)
def test_a_variable_that_misleads_hooks_is_denied_before_git(setting: str) -> None:
    name, _, value = setting.partition("=")
    for command in (
        f"{setting} git commit -m x",
        f"env {setting} git -C . merge x",
        f"export {setting}; git add -A && git push",
        f"{name}={value}; export {name}; git commit --amend --no-edit",
        f"{setting} bash -c 'git commit -m x'",
        f"commit() {{ git commit -m x; }}; {setting} commit",
    ):
        assert judge(command).verdict is DENY, command


@near_misses("setting", MISLEADING)
def test_a_variable_that_misleads_hooks_means_no_more_elsewhere(setting: str) -> None:
    name = setting.partition("=")[0]
    for command in (
        f"{setting} pytest; git commit -m x",
        f"env {setting} pytest && git commit -m x",
        f"export {setting}; git log; unset {name}; git commit -m x",
    ):
        assert judge(command).verdict is not DENY, command
    assert (
        judge("PYTHONUNBUFFERED=1 git commit -m x").verdict
        is judge("git commit -m x").verdict
    )


@near_misses("setting", PLAIN_SETTINGS)
def test_a_listed_name_with_a_plain_value_means_nothing(setting: str) -> None:
    name, _, value = setting.partition("=")
    assert variable_means(name, value) is None
    assert judge(f"{setting} ls").verdict is ALLOW
    assert judge(f"export {setting}; ls").verdict is ALLOW


@examples("setting", UNKNOWN_NAMES)
def test_a_name_or_value_that_may_be_code_or_a_place_is_unknown(setting: str) -> None:
    name, _, value = setting.partition("=")
    assert variable_means(name, value)
    assert judge(f"{setting} ls").verdict is REVIEW


@examples("value", ["$(date)", "$UNSET", "'a b'", "'a;b'", "'() { :; }'", "`id`"])
def test_a_value_that_is_not_plain_is_asked_about(value: str) -> None:
    assert judge("NODE_ENV=x ls").verdict is ALLOW
    assert judge(f"NODE_ENV={value} ls").verdict is REVIEW


@table("setting", "SKIPX=1 MYPATHX=1 FOO=/etc/x MY_PATH=x".split())
def test_a_variable_that_the_text_reads_is_not_passed_on(setting: str) -> None:
    name = setting.partition("=")[0]
    assert judge(f"{setting}; echo ${name}").verdict is ALLOW
    assert judge(f"{setting.lower()}; ls").verdict is ALLOW
    unread = judge(f"{setting}; ls")
    assert (unread.verdict, name in unread.reason) == (REVIEW, True)


# bash(1), Shell Variables: each changes how the rest is read or run, or evaluates what it is set to.
OF_BASH = (
    "BASH_ENV BASH_COMPAT BASH_XTRACEFD BASHOPTS CDPATH CHILD_MAX COMPREPLY COPROC DIRSTACK EMACS ENV EPOCHSECONDS "
    "EXECIGNORE FCEDIT FIGNORE FUNCNEST GLOBIGNORE GLOBSORT GROUPS HISTCMD HISTFILE HISTCONTROL HOSTFILE IFS IGNOREEOF "
    "INPUTRC INSIDE_EMACS LINENO MAILCHECK MAILPATH MAPFILE OLDPWD OPTARG OPTERR OPTIND PIPESTATUS PPID "
    "POSIXLY_CORRECT PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS4 PWD RANDOM READLINE_LINE REPLY SECONDS SHELLOPTS SHLVL "
    "SRANDOM TIMEFORMAT TMOUT UID auto_resume histchars _"
).split()


@examples("name", OF_BASH)
def test_a_variable_with_a_meaning_to_bash_is_never_plain(name: str) -> None:
    for command in (
        f"{name}=1; echo ${name}",
        f"{name}=1 ls",
        f"export {name}=1; echo ${name}",
        f"for {name} in 1; do echo ${name}; done",
        f"read -r {name} < a; echo ${name}",
        f"unset {name}; echo ${name}",
    ):
        verdict = judge(command)
        assert verdict.verdict is not ALLOW, command
        assert any(name in effect.reason for effect in verdict.effects), command


@table("name", ["PAGER", "LESS", "GIT_EDITOR", "PATH", "GIT_PAGER"])
def test_a_value_that_is_not_known_may_be_any(name: str) -> None:
    assert (variable_means(name, None) or (None,))[0] is EffectKind.EXEC


@table(
    "name",
    ["HUSKY", "CLI_GUARD", "GIT_CONFIG_KEY_0", "GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL"],
)
def test_a_switch_whose_value_is_not_known_counts_as_off(name: str) -> None:
    assert (variable_means(name, None) or (None,))[0] is EffectKind.GUARD


@table(
    ("name", "value", "kind"),
    [
        ("GIT_CONFIG_COUNT", "1", EffectKind.EXEC),
        ("GIT_CONFIG_KEY_0", "user.name", None),
        ("GIT_CONFIG_KEY_0", "core.pager", EffectKind.EXEC),
        ("GIT_CONFIG_KEY_0", "x.y", EffectKind.UNKNOWN),
        ("GIT_CONFIG_VALUE_0", "ada", EffectKind.EXEC),
        ("GIT_CONFIG_VALUE_0", "/tmp/hooks", EffectKind.GUARD),
        ("GIT_CONFIG_PARAMETERS", "'user.name=ada'", EffectKind.EXEC),
        ("GIT_CONFIG_PARAMETERS", "'core.hookspath=/x'", EffectKind.GUARD),
    ],
)
def test_pairs_of_the_environment_are_keys(
    name: str, value: str, kind: EffectKind | None
) -> None:
    assert (pair_means(name, value) or (None,))[0] is kind


KEYS = {
    None: (
        "user.name=x user.email=x color.ui=never COLOR.UI=never advice.detachedHead=false log.date=iso "
        "core.quotePath=off core.abbrev=12 core.autocrlf=false diff.renames=true diff.algorithm=patience "
        "grep.lineNumber=true status.short=true blame.date=iso commit.gpgsign=false init.defaultBranch=main "
        "pull.rebase=true push.default=simple core.pager=cat core.pager= core.pager=less pager.log=false "
        "pager.log= core.fsmonitor=false core.fsmonitor=true core.editor=true sequence.editor=: "
        "diff.external= credential.helper= http.sslVerify=true rerere.enabled=true "
        "merge.conflictStyle=diff3"
    ),
    EffectKind.GUARD: (
        "core.hooksPath=/dev/null core.hookspath= CORE.HOOKSPATH=x init.templateDir=x include.path=x "
        "includeIf.gitdir:/x/.path=y hook.enabled=false Include.Path=x hook.lint.enabled=false Hook.lint.Enabled= "
        "hook.cli-guard-pre-commit.command=true hook.cli-guard.x.event=post-commit"
    ),
    EffectKind.EXEC: (
        "core.pager=x core.editor=vi core.fsmonitor=./x core.sshCommand=x core.askPass=x core.gitProxy=x "
        "core.worktree=/ core.attributesFile=x core.alternateRefsCommand=x pager.log=x alias.x=!sh "
        "alias.x=status diff.external=x diff.py.textconv=x diff.py.command=x filter.lfs.clean=x "
        "filter.x.smudge=x filter.x.process=x merge.x.driver=x mergetool.x.cmd=x difftool.x.path=x "
        "merge.tool=x credential.helper=x credential.https://x.helper=y gpg.program=x gpg.ssh.program=x "
        "gpg.ssh.allowedSignersFile=x sequence.editor=x interactive.diffFilter=x remote.origin.url=x "
        "remote.origin.uploadpack=x url.x.insteadOf=y protocol.ext.allow=always http.proxy=x "
        "http.sslVerify=false safe.directory=* submodule.x.update=!x trailer.x.command=y "
        "sendemail.smtpServer=x web.browser=x tar.x.command=y hook.lint.command=x hook.lint.enabled=true"
    ),
    EffectKind.UNKNOWN: "foo.bar=x core.foo=x user.signingKey=x pagers.log=cat aliases.x=y corehookspath=x core=x",
}


@table(
    ("setting", "kind"),
    [(each, kind) for kind, settings in KEYS.items() for each in settings.split()],
)
def test_a_key_of_the_configuration_means_what_it_does(
    setting: str, kind: EffectKind | None
) -> None:
    key, _, value = setting.partition("=")
    meaning = key_means(key, value)
    assert (meaning[0] if meaning else None) is kind
    wanted = DENY if kind is EffectKind.GUARD else REVIEW if kind else ALLOW
    assert judge(f"git -c '{setting}' status").verdict is wanted


@table(
    "key", ["core.pager", "core.fsmonitor", "credential.helper", "alias.x", "core.editor"]
)
def test_a_key_whose_value_is_not_known_may_run_anything(key: str) -> None:
    assert (key_means(key, None) or (None,))[0] is EffectKind.EXEC
    assert judge(f'git -c "{key}=$x" status').verdict is REVIEW
    assert judge(f"git --config-env={key}=NAME status").verdict is REVIEW


@table(
    ("command", "verdict"),
    [
        ("git config core.hooksPath /dev/null", DENY),
        ("git config --global core.hooksPath ''", DENY),
        ("git config set core.hooksPath x", DENY),
        ("git config --unset core.hooksPath", DENY),
        ("git config --remove-section core", DENY),
        ("git config --rename-section hook.cli-guard-pre-commit hook.x", DENY),
        ("git config unset hook.cli-guard-commit-msg.event", DENY),
        ("git config --unset hooked.event", REVIEW),
        ("git config include.path ../x", DENY),
        ("git -c core.hooksPath=/dev/null commit -m x", DENY),
        ("git -c 'core.hooksPath'=x commit -m x", DENY),
        ("git -c $k=x commit -m x", REVIEW),
        ("git config user.name ada", REVIEW),
        ("git config core.pager 'sh x'", REVIEW),
        ("git config alias.x '!rm -rf /'", DENY),
        ("git -c alias.x='!rm -rf /' x", DENY),
        ("git -c core.pager='rm -rf /' log", DENY),
        ("git config --edit", REVIEW),
        ("git config --unset user.name", REVIEW),
        ("git config core.hooksPath", ALLOW),
        ("git config --get core.hooksPath", ALLOW),
        ("git config --get-all user.name", ALLOW),
        ("git config --list", ALLOW),
        ("git config get user.name", ALLOW),
        ("git config --global --get user.email", ALLOW),
        ("git config --get http.extraHeader", REVIEW),
        ("git config --get github.token", REVIEW),
        ("echo core.hooksPath /dev/null", ALLOW),
        ("echo SKIP=ruff", ALLOW),
        ("grep -r SKIP= .", ALLOW),
        ("git log --grep core.hooksPath=x", ALLOW),
        ("git --config-env=core.hooksPath=NAME status", DENY),
        ("git --config-env=user.name=NAME status", ALLOW),
        ("export HUSKY=1", ALLOW),
        ("unset PATH; ls", REVIEW),
        ("unset path; ls", ALLOW),
    ],
)
def test_commands_that_set_and_ask(command: str, verdict: Decision) -> None:
    answer = judge(command)
    assert answer.verdict is verdict, answer.reason


@table(
    "command",
    [
        "git config user.name ada",
        "git config --unset user.name",
        "git config set user.name ada",
    ],
)
def test_a_change_of_the_configuration_names_its_key(command: str) -> None:
    assert judge(command).reason.startswith("git config changes user.name")
