"""The environment of a command: what passes, what never does, and what is told of it."""

import os
import subprocess

from examples import examples, near_misses, table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.execution.environment import BUILT_IN, clean_environment
from cli_guard.rules.examples import expand


def test_only_what_tool_chains_need_passes() -> None:
    harmless = {
        "PATH": "/usr/bin",
        "HOME": "/home/jane",
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
        "CI": "true",
    }
    others = {
        "DEPLOY_TOKEN": "x",
        "EDITOR": "vim",
        "GIT_DIR": "/r/.git",
        "LC_SENT_ALONG": "x",
        "PWD": "/r",
        "PS1": "$",
    }
    passed = clean_environment(harmless | others)
    assert passed.env == harmless
    assert passed.left_out == passed.missing == passed.changed == passed.notes() == ()


@examples(
    "name",
    """LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV SHELLOPTS PROMPT_COMMAND PYTHONSTARTUP
    PYTHONPATH PYTHONHOME PYTHONINSPECT NODE_OPTIONS NODE_PATH PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS
    _JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS GOFLAGS RUSTFLAGS RUSTC_WRAPPER CC MAKEFLAGS GIT_SSH GIT_SSH_COMMAND
    GIT_EXTERNAL_DIFF GIT_EDITOR GIT_PAGER GIT_ASKPASS GIT_CONFIG_GLOBAL GIT_CONFIG_COUNT GIT_DIR GIT_INDEX_FILE
    GIT_EXEC_PATH GIT_TEMPLATE_DIR EDITOR VISUAL PAGER LESSOPEN BROWSER IFS CDPATH PS4 BASH_FUNC_ls%% PIP_INDEX_URL
    KUBECONFIG DOCKER_HOST SSH_AUTH_SOCK PWD OLDPWD""".split(),
)
def test_what_makes_programs_run_other_code_passes_only_if_it_is_named(name: str) -> None:
    env = {"PATH": "/bin", name: "/x/y"}
    assert name not in BUILT_IN
    assert clean_environment(env).env == {"PATH": "/bin"}
    assert clean_environment(env, [name]).env == env


SECRETS = {
    "DEPLOY_TOKEN": "abc",
    "NPM_TOKEN_2": "abc",
    "DB_PASSWORD": "x",
    "PGPASSWORD": "x",
    "MYSQL_PWD": "x",
    "DJANGO_SECRET_KEY": "a",
    "OPENAI_API_KEY": "a",
    "GITHUB_PAT": "a",
    "SITE_TOKEN": "a",
    "GOOGLE_APPLICATION_CREDENTIALS": "/k.json",
    "ANY_NAME": expand("ghp_<<crc62:30>>"),
    "DATABASE_URL": expand("postgres://shop:s3cr3t<<lower:3>>@db.acme.io:5432/shop"),
    "PIP_INDEX_URL": expand("https://jane:pq<<alnum:12>>1Z@pypi.acme.io/simple"),
    "OPTIONS": expand('{"api_key": "<<hex:40>>"}'),
    "GIT_SSH_KEY": expand("<<pem:RSA PRIVATE KEY>>"),
}
NO_SECRETS = {
    "TOKEN_FILE": "/run/token",
    "AUTH": "false",
    "API_TOKEN": "",
    "DATABASE_URL": "postgres://postgres:postgres@localhost/test",
    "MAX_TOKENS": "100",
    "TOKENIZERS_PARALLELISM": "false",
    "AUTH_MODE": "dev",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "GIT_SHA": "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "VITE_API_URL": "http://localhost:3000",
    "PASSWORD_STORE_DIR": "/home/jane/store",
    "KEYBOARD": "us",
    "BROKEN": "\udcff\x01",
}


@examples("name", SECRETS)
def test_a_secret_never_passes(name: str) -> None:
    passed = clean_environment({"PATH": "/bin", name: SECRETS[name]}, [name])
    assert passed.env == {"PATH": "/bin"}
    assert passed.left_out == (name,)
    assert passed.notes() == (
        f"{name} was left out: it holds a secret, which commands do not get",
    )


@near_misses("name", NO_SECRETS)
def test_what_only_sounds_like_one_passes(name: str) -> None:
    env = {"PATH": "/bin", name: NO_SECRETS[name]}
    assert clean_environment(env, [name]).env == env


def test_a_repository_puts_no_programs_in_front() -> None:
    env = {
        "PATH": ".:/usr/bin::node_modules/.bin:~/bin:/bin:",
        "JAVA_HOME": "jdk",
        "GOPATH": "go:/go",
        "HOME": "/h",
    }
    passed = clean_environment(env, ["JAVA_HOME", "GOPATH"])
    assert passed.env == {"PATH": "/usr/bin:/bin", "GOPATH": "/go", "HOME": "/h"}
    assert passed.changed == ("GOPATH", "JAVA_HOME", "PATH")
    assert passed.notes() == (
        "GOPATH was passed without its relative folders",
        "JAVA_HOME was left out: it names a relative folder",
        "PATH was passed without its relative folders",
    )


@table("env", [{}, {"PATH": ""}, {"PATH": "."}, {"PATH": ":"}, {"PATH": "/bin::."}])
def test_there_is_a_path_of_programs(env: dict[str, str]) -> None:
    passed = clean_environment(env)
    assert all(map(os.path.isabs, passed.env["PATH"].split(":")))
    assert (
        subprocess.run(["sh", "-c", "ls /"], env=passed.env, capture_output=True).returncode
        == 0
    )


@table(
    ("address", "without"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://jane:pa55@proxy:3128/", "http://proxy:3128/"),
        ("http://jane:p/a@5#5@proxy:3128", "http://proxy:3128"),
        ("jane:pa55@proxy:3128", "proxy:3128"),
        ("socks5h://token@proxy", "socks5h://proxy"),
    ],
)
@table("named", [(), ("https_proxy",)])
def test_a_proxy_passes_without_its_login(
    address: str, without: str, named: tuple[str, ...]
) -> None:
    passed = clean_environment({"PATH": "/bin", "https_proxy": address}, named)
    assert passed.env["https_proxy"] == without
    assert passed.changed == (("https_proxy",) if address != without else ())


def test_what_is_named_and_not_set_is_told() -> None:
    passed = clean_environment({"PATH": "/bin"}, ["NOPE", "NOPE", "HOME"])
    assert passed.missing == ("NOPE", "HOME")
    assert passed.env == {"PATH": "/bin"}


NAMES = st.sampled_from([*sorted(BUILT_IN), "A_TOKEN", "X", "LD_PRELOAD"]) | st.text(
    min_size=1, max_size=8
)
VALUES = st.text(max_size=20) | st.sampled_from(["", "/a:b:/c", "http://u:p@h", ".", "a@b"])


@given(st.dictionaries(NAMES, VALUES), st.lists(NAMES, max_size=4))
def test_nothing_passes_that_is_neither_needed_nor_named(
    env: dict[str, str], named: list[str]
) -> None:
    passed = clean_environment(env, named)
    assert set(passed.env) <= BUILT_IN | set(named)
    assert set(passed.env) - {"PATH"} <= set(env)
    assert not set(passed.env) & set(passed.left_out)
    assert set(named) <= {*passed.env, *passed.left_out, *passed.missing, *passed.changed}
    assert not any(part[:1] != "/" for part in passed.env["PATH"].split(":"))
    assert "A_TOKEN" not in passed.env or env["A_TOKEN"].lower() in (
        "",
        "0",
        "1",
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
    )
