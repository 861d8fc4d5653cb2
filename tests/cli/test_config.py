"""`cli-guard config`: a policy checked with a hook's words, shown with its sources, written and migrated."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from examples import table
from in_process import call, guard, stage
from repositories import Repo, key

from cli_guard.policy.config import Config, parse_config, read_config
from cli_guard.policy.globs import matches
from cli_guard.policy.migration import patterns_of
from cli_guard.rules.catalog import read_table

# A file of the work tree, and what a hook says of it when it is staged.
BROKEN = {
    "cli-guard.toml": (
        "[decisons]\n",
        "[rules]\nsecret-awss = 'off'\n",
        "[",
        "[limits]\nfiles = 'x'\n",
        b"\xff",
    ),
    "pyproject.toml": (
        "[tool.cli-guard]\nlimit = 1\n",
        "[tool]\ncli-guard = 3\n",
        "cli-guard = [",
    ),
    "cli-guard-baseline.json": ("[]", "{"),
}


def test_check_says_what_a_hook_says(committed: Repo) -> None:
    for name, texts in BROKEN.items():
        for text in texts:
            committed.write(name, text)
            unstaged = guard(committed, "config", "check")
            assert unstaged.code == 2 and unstaged.err.count("\n") == 1, (name, text)
            committed.git("add", name)
            staged = guard(committed, "hook", "pre-commit")
            assert staged.err == unstaged.err.replace("the work tree", "the index")
            committed.git("rm", "-qf", name)
    assert (
        guard(committed, "config", "check").out == "cli-guard: built-in defaults: valid\n"
    )


@table(
    ("name", "text", "code", "says"),
    [
        (
            "cli-guard.toml",
            '[rules]\n"docs-*" = "off"\n',
            0,
            "cli-guard: cli-guard.toml: valid",
        ),
        (
            "cli-guard.toml",
            "[ruls]\n",
            2,
            "cli-guard.toml: unknown key 'ruls'; did you mean 'rules'?",
        ),
        (
            "other.toml",
            "[ruls]\n",
            2,
            "(other.toml): unknown key 'ruls'; did you mean 'rules'?",
        ),
        ("pyproject.toml", "[project]\n", 0, "pyproject.toml: no [tool.cli-guard] in it"),
        (
            "pyproject.toml",
            "[tool.cli-guard.ruls]\n",
            2,
            "unknown key 'ruls'; did you mean 'rules'?",
        ),
        (
            "home/.config/cli-guard/config.toml",
            '[decisions]\nhigh = "deny"\n',
            0,
            "config.toml: valid",
        ),
        (
            "home/.config/cli-guard/config.toml",
            '[rules]\n"docs-*" = "off"\n',
            2,
            "a user file can only tighten",
        ),
        ("\x1b[31m.toml", "[ruls]\n", 2, r"\x1b[31m.toml): unknown key"),
        ("missing.toml", None, 2, "missing.toml: there is no such file"),
        ("folder.toml/x", "", 2, "folder.toml: there is no such file"),
        ("fifo", "", 2, "fifo: there is no such file"),
    ],
)
def test_check_of_a_file(
    tmp_path: Path,
    isolated: dict[str, str],
    name: str,
    text: str | None,
    code: int,
    says: str,
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == "fifo":
        os.mkfifo(path)
    elif text is not None:
        path.write_text(text)
    env = isolated | {
        "HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "home/.config"),
    }
    done = call(tmp_path, env, "config", "check", name.removesuffix("/x"))
    assert (
        done.code == code
        and says in done.all
        and done.all.count("\n") == 1
        and "\x1b" not in done.all
    )


def test_show(committed: Repo) -> None:
    committed.commit(
        "Set a policy",
        {
            "cli-guard.toml": '[decisions]\nhigh = "deny"\nlow = "off"\n[git]\nprotected_branches = ["dev"]\n'
            '[[ignore]]\nrule = "secret-*"\npath = "a\\u202e/**"\nreason = "made up \\"here\\""\n'
        },
    )
    own = Path(committed.env["XDG_CONFIG_HOME"], "cli-guard/config.toml")
    own.parent.mkdir(parents=True)
    own.write_text(
        '[decisions]\nhigh = "review"\nmedium = "review"\n[git]\nprotected_branches = ["mine"]\n'
        f'[approvals]\nhigh = "key"\n[commands]\ndeny = ["login {key()}"]\n'
    )
    committed.write("cli-guard.toml", "[not what is at HEAD")
    shown = guard(committed, "config", "show").out
    for line in (
        "# cli-guard.toml at ",
        'high = "deny"  # cli-guard.toml at ',
        'medium = "review"  # the user\'s own file',
        'critical = "deny"  # default',
        'low = "off"  # cli-guard.toml at ',
        'protected_branches = ["dev", "mine"]  # cli-guard.toml at ',
        "files = 25000  # default",
    ):
        assert line in shown, line
    assert key() not in shown and "\u202e" not in shown
    parse_config(tomllib.loads(shown), "what is shown")
    rows = guard(committed, "config", "show", "--format", "json").json
    assert {
        "key": "decisions.medium",
        "value": "review",
        "source": "the user's own file",
    } in rows
    outside = Path(committed.env["HOME"])
    assert (
        "# built-in defaults, the user's own file"
        in call(outside, committed.env, "config", "show").out
    )
    own.write_text('[decisions]\nhigh = "off"\n')
    assert (
        guard(committed, "config", "show").code
        == guard(committed, "config", "check").code
        == 2
    )


def test_init_writes_lines_that_are_valid_each_and_together(committed: Repo) -> None:
    files = {
        "a.py": "x",
        "m.tsx": "x",
        "b.go": "x",
        "x.tf": "x",
        "é \n.rb": "x",
        "r.rs": "",
        "k.php": "",
    }
    stage(committed, {**files, "J.java": ""})
    done = guard(committed, "config", "init")
    assert done.code == 0 and "wrote cli-guard.toml" in done.out
    text = (committed.path / "cli-guard.toml").read_text()
    offered = [
        line[1:]
        for line in text.splitlines()
        if line.startswith("#") and line[1:2] not in (" ", "")
    ]
    assert (
        len(offered)
        == sum(len(lines) for lines in read_table("languages/first_policy.toml").values())
        > 12
    )
    defaults = parse_config({}, "none")
    for lines in ([], *([each] for each in offered), offered):
        found = read_config({"cli-guard.toml": "\n".join(lines).encode()}.get, "")
        assert found and (found[0] != defaults or not lines), lines
    again = guard(committed, "config", "init", "--migrate")
    assert again.code == 2 and "there is a policy already" in again.err
    assert (committed.path / "cli-guard.toml").read_text() == text
    (committed.path / "cli-guard.toml").unlink()
    for take in (lambda p: p.symlink_to("nowhere"), lambda p: p.mkdir(), os.mkfifo):
        take(committed.path / "cli-guard.toml")
        done = guard(committed, "config", "init")
        assert done.code == 2 and done.err.count("\n") == 1
        committed.run("rm", "-r", "cli-guard.toml")
    committed.write("pyproject.toml", '[tool.cli-guard.rules]\n"docs-*" = "off"\n')
    assert (
        "there is a policy already, pyproject.toml"
        in guard(committed, "config", "init").err
    )
    assert guard(committed, "config", "init", "x").code == 2
    assert call(Path(committed.env["HOME"]), committed.env, "config", "init").code == 2
    assert not [
        each for each in committed.path.iterdir() if each.name.startswith(".cli-guard.toml")
    ]


@table(
    ("regex", "paths", "not_paths"),
    [
        (r"^tests/", ["tests/a/b.py"], ["src/tests/a.py", "tests.py"]),
        (
            r"package-lock\.json$",
            ["package-lock.json", "web/package-lock.json"],
            ["package-lockxjson", "p.json"],
        ),
        (
            r"(?x)^(\n  vendor/.*| # ours\n  .*\.lock\n)$",
            ["vendor/a/b", "a/x.lock"],
            ["x/vendor/a", "x.locks"],
        ),
        ("(.*?)(png|gif)$", ["a/b.png"], ["a.pngx"]),
        (r"\.(png|jpg)$", ["a/b.png", "c.jpg"], ["a.gif", "png"]),
        (r"^docs/[^/]*\.md$", ["docs/a.md"], ["docs/a/b.md"]),
        (r"vendor", ["vendor/x", "a/vendor/x"], ["src/x"]),
        (r"a.b/c", ["axb/c"], ["ab/c"]),
    ],
)
def test_a_regular_expression_as_path_patterns(
    regex: str, paths: list[str], not_paths: list[str]
) -> None:
    patterns = patterns_of(regex.replace(r"\n", "\n"))
    assert all(any(matches(each, path) for each in patterns) for path in paths), patterns
    assert not any(matches(each, path) for each in patterns for path in not_paths), patterns


@table(
    "regex",
    [
        "",
        ".*",
        "^",
        "$",
        "(?!x)a",
        "a{2}",
        "ab?",
        "a+",
        "[abc]",
        "(a(b)c)",
        "(a)|(b)",
        r"\bx",
        "x" * 50 + "(" * 500,
    ],
)
def test_what_is_richer_or_everything_is_not_guessed_at(regex: str) -> None:
    assert patterns_of(regex) == []


OTHERS = {
    ".gitleaks.toml": "[allowlist]\ndescription = 'test data'\npaths = ['^fixtures/', '.*', 'a{2}']\nregexes = ['x']\n"
    "[[rules]]\nid = 'mine'\n[extend]\nuseDefault = true\n",
    ".gitleaksignore": "# old\n" + "c" * 40 + ":src/old.py:aws-access-token:23\nnonsense\n",
    ".secrets.baseline": json.dumps(
        {
            "version": "1.5.0",
            "plugins_used": [],
            "filters_used": [
                {
                    "path": "detect_secrets.filters.regex.should_exclude_file",
                    "pattern": ["^docs/"],
                },
                {
                    "path": "detect_secrets.filters.wordlist.should_exclude_secret",
                    "file_name": "words",
                },
            ],
            "results": {
                "a/b.py": [{"type": "AWS"}],
                "real.py": [{"type": "AWS", "is_secret": True}],
            },
        }
    ),
    ".pre-commit-config.yaml": "exclude: ^vendor/\nci: {}\nrepos:\n- repo: x\n  hooks:\n"
    "  - {id: check-added-large-files, args: ['--maxkb=100', --enforce-all]}\n"
    "  - {id: no-commit-to-branch, args: [-b, dev, --pattern, 'x.*']}\n"
    "  - {id: no-commit-to-branch, args: [--branch=next]}\n  - {id: conventional-pre-commit}\n"
    "  - {id: gitleaks, exclude: ^samples/}\n  - {id: black, exclude: ^old/}\n",
}


def test_migrate(committed: Repo) -> None:
    committed.commit("Have other tools", dict(OTHERS))
    done = guard(committed, "config", "init", "--migrate")
    found = read_config(
        {"cli-guard.toml": (committed.path / "cli-guard.toml").read_bytes()}.get, ""
    )
    assert found and done.code == 0
    config, _ = found
    assert [(each.rule, each.path, each.reason) for each in config.ignore] == [
        ("secret-*", "fixtures/**", "from .gitleaks.toml: test data"),
        ("secret-*", "src/old.py", "from .gitleaksignore: its aws-access-token"),
        ("secret-*", "a/b.py", "from .secrets.baseline: its AWS"),
        ("secret-*", "docs/**", "from .secrets.baseline: its excluded files"),
        ("*", "vendor/**", "from .pre-commit-config.yaml: its exclude"),
        ("secret-*", "samples/**", "from .pre-commit-config.yaml: the exclude of gitleaks"),
    ]
    assert config.message.style == "conventional"
    assert config.limits == Config().limits, "a bound on files does not say what to read"
    assert config.git.protected_branches == ("main", "master", "release/*", "dev", "next")
    text = (committed.path / "cli-guard.toml").read_text()
    assert '"conventional"  # .pre-commit-config.yaml: conventional-pre-commit\n' in text
    left = done.out.split("not taken over:\n")[1]
    for words in (
        *(
            "'.*'",
            "'a{2}'",
            "'regexes'",
            "'mine'",
            "'extend'",
            "'nonsense'",
            "real.py",
            "wordlist",
            "'plugins_used'",
        ),
        *(
            "'ci'",
            "check-added-large-files: its bound",
            "--enforce-all",
            "--pattern",
            "black: exclude",
        ),
    ):
        assert words in left, words
    assert "policy-weakened" in done.out
    committed.git("add", "-A")
    assert "policy-weakened" in guard(committed, "review").out


@pytest.mark.parametrize("name", OTHERS)
def test_hostile_files_of_other_tools(committed: Repo, name: str) -> None:
    deep = "[" * 100_000
    texts: list[str | bytes] = [
        "",
        "\0",
        b"\xff\xfe",
        deep,
        "a: &a [1]\nb: *a\n",
        "[[]]",
        "{}",
        "[]",
        "3",
        "x" * 2_000_000,
    ]
    texts += [
        '{"results": [1]}',
        '{"results": {"a": [3]}}',
        '{"filters_used": [{"path": 3}]}',
        "a = " + deep,
    ]
    texts += [
        "[allowlist]\npaths = 'x'",
        "[allowlist]\npaths = [3]",
        "allowlist = 3",
        "rules = [3]",
        "allowlists = {}",
    ]
    texts += [
        "repos: 3",
        "repos: [3]",
        "repos:\n- hooks: [{id: 3}]",
        "exclude: [1]",
        "repos:\n- hooks: [{id: a, args: 3}]",
    ]
    texts += ["exclude: " + "long/path|" * 600 + "s"]
    texts += ["repos:\n- hooks: [{id: check-added-large-files, args: [--maxkb=x]}]"]
    texts += ["a\x1b]0;x\x07:secret\u202e:1\n" * 3, "a:b:1\n" * 5_000, f"{key()}:x:1\n"]
    for text in texts:
        committed.write(name, text)
        done = guard(committed, "config", "init", "--migrate")
        assert (
            done.code in (0, 2) and "\x1b" not in done.all and "\u202e" not in done.all
        ), text[:50]
        assert len(done.all.splitlines()) < 20 and "Traceback" not in done.all, done.all[
            :500
        ]
        assert key() not in done.all
        (committed.path / "cli-guard.toml").unlink(missing_ok=True)
