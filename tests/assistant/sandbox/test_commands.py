"""The commands beside those of bash, and the three levels of help that are made from their one list."""

import resource
import shlex
import struct
import zlib
from dataclasses import replace

import pytest
from examples import table
from repositories import Repo
from shell_worlds import of_repository, world
from watching import cpu_seconds

from cli_guard.assistant import sandbox as shell
from cli_guard.assistant.sandbox.commands import COMMANDS, TOOLS
from cli_guard.assistant.sandbox.execution import ABSENT
from cli_guard.errors import CliGuardError
from cli_guard.git.repository import GitRepository
from cli_guard.policy.language_model import ModelSection
from cli_guard.policy.mcp import McpTool
from cli_guard.rules.catalog import read_table

# Builtins of bash, and tools that are rarely used or the same as another: there, and not listed to keep help short.
BESIDES = set(read_table("sandbox.toml")["besides"].split())


def out(command: str, here: shell.CommandWorld | None = None, stdin: bytes = b"") -> str:
    """Standard output of a command that must succeed."""
    ran = shell.run(command, here or world(), stdin=stdin)
    assert ran.exit_code == 0, ran.shown
    return ran.stdout.decode()


def error(command: str, here: shell.CommandWorld | None = None) -> str:
    """The error stream of a command that must fail."""
    ran = shell.run(command, here or world())
    assert ran.exit_code != 0, ran.shown
    return ran.stderr.decode()


def test_level_0_lists_every_command_from_the_one_list() -> None:
    described = shell.description("the index")
    for text in (described, out("help")):
        for name in (*COMMANDS, *TOOLS):
            assert any(
                name in line.partition(":")[0].split() for line in text.splitlines()
            ), name
    assert "over the index" in described and len(described) < 5_000


def test_nothing_is_listed_that_is_not_there_and_nothing_new_goes_unseen() -> None:
    names = set(out("compgen -c | sort -u").split())
    assert set(TOOLS) <= names
    assert names <= {*TOOLS, *COMMANDS, *ABSENT, *BESIDES}
    assert not set(TOOLS) & set(ABSENT)


@table("name", COMMANDS)
def test_every_command_answers_help(name: str) -> None:
    usage = out(f"{name} --help")
    assert usage.startswith(f"usage: {name}") and COMMANDS[name].summary in usage
    assert out(f"help {name}") == usage
    for sub in COMMANDS[name].subcommands:
        assert out(f"{name} {sub} --help").startswith(f"usage: {name} {sub}")


@table("name", [n for n, c in COMMANDS.items() if c.subcommands or c.needs])
def test_level_1_a_bare_call_prints_the_usage(name: str) -> None:
    ran = shell.run(name, world())
    assert ran.exit_code == 2 and ran.stdout == b""
    assert ran.shown.startswith(f"[error] {name}: usage: {name} ")


@table(
    ("command", "usage"),
    [
        ("memory search", "usage: memory search WORDS"),
        ("memory forget", "usage: memory forget ID"),
        ("mcp call", "usage: mcp call SERVER.TOOL [JSON]"),
        ("mcp show", "usage: mcp show SERVER.TOOL"),
        (
            "memory fly",
            "there is no memory fly: it has search, recent, store, facts, forget",
        ),
    ],
)
def test_level_2_missing_arguments_print_the_parameters(command: str, usage: str) -> None:
    assert usage in error(command)


def test_help_of_what_there_is_not_lists_what_there_is() -> None:
    assert "Available: ask, awk," in error("help nothing")
    assert out("help mv") == "mv: works as in bash; its own help: mv --help\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    return (
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", zlib.crc32(kind + data))
    )


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 640, 480, 8, 2, 0, 0, 0))
    + chunk(b"IEND", b"")
)
JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x05abc\xff\xc2\0\x11\x08" + b"\0" * 10
GIF = b"GIF89a" + struct.pack("<HH", 7, 9) + b"\0;"
BMP = b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, 5, -6) + b"\0" * 10
ICO = b"\0\0\1\0\1\0" + bytes((16, 16)) + b"\0" * 14
WEBP = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a"


@table(
    ("raw", "kind"),
    [
        *(
            (PNG, "png"),
            (JPEG, "jpeg"),
            (GIF, "gif"),
            (BMP, "bmp"),
            (ICO, "x-icon"),
            (WEBP, "webp"),
        ),
        *((PNG[:12], "png"), (JPEG[:9], "jpeg")),
    ],
)
def test_see_names_kind_and_size_and_gives_the_picture(raw: bytes, kind: str) -> None:
    ran = shell.run("see p/i", world({"p/i": raw}))
    assert ran.stdout.decode() == f"p/i: {kind} image, {len(raw):,} bytes\n"
    (image,) = ran.images
    assert (image.kind, image.data, image.path) == (kind, raw, "p/i")


def test_see_says_what_reads_other_files() -> None:
    assert "use cat to read text files" in error(
        "see a.svg", world({"a.svg": b'<svg width="2" height="3"/>'})
    )
    assert "use cat to read text files" in error(
        "see a.txt", world({"a.txt": b"text <svg"})
    )
    assert "use xxd" in error("see b", world({"b": b"\0\1"}))
    assert "no file nope here" in error("see nope")


SOURCE = b"class App:\n    def run(self):\n        return helper(1)\n\n\ndef helper(x):\n    return x\n"


def test_symbols_and_refs_go_by_the_tree_of_the_language() -> None:
    here = world(
        {
            "src/a.py": SOURCE,
            "src/b.py": b"# helper\nfrom a import helper\nprint('helper', helper(2))\n",
            "n.md": b"x",
        }
    )
    assert out("symbols src/a.py", here) == (
        "src/a.py:1: class App\nsrc/a.py:2: function App.run\nsrc/a.py:6: function helper\n"
    )
    assert out("symbols helper", here) == "src/a.py:6: function helper\n"
    assert out("cd src && symbols .", here).count("\n") == 3
    assert [
        " ".join(line.split(": ")[:2]) for line in out("refs helper", here).splitlines()
    ] == [
        "src/a.py:6:5 definition",
        "src/b.py:2:15 import",
        "src/a.py:3:16 call",
        "src/b.py:3:17 call",
        "src/b.py:1:3 mention",
        "src/b.py:3:8 mention",
    ]
    assert out("symbols | grep -c py:", here) == "3\n"
    assert "grep -rn nothing" in error("symbols nothing", here)
    assert "grep -rnw nothing" in error("refs nothing", here)


@pytest.fixture
def storied(repo: Repo) -> Repo:
    """A repository with two commits, something staged and something not."""
    repo.commit("Begin", {"app.py": "a = 1\n", "docs/x.md": "one\n"})
    repo.commit("Change app\n\nBecause of tests.", {"app.py": "a = 1\nb = 2\n"})
    repo.write("app.py", "a = 1\nb = 3\n")
    repo.git("add", "-A")
    repo.write("docs/x.md", "two\n")
    repo.write("new.txt", "n\n")
    return repo


def test_the_history_is_read(storied: Repo) -> None:
    here = of_repository(storied)
    assert [line.partition(" ")[2] for line in out("log --oneline", here).splitlines()] == [
        "Change app",
        "Begin",
    ]
    assert "    Because of tests." in out("log -n 1", here)
    assert out("log --oneline -1 | wc -l", here) == "1\n"
    assert out("log --oneline -- docs | wc -l", here) == "1\n"
    assert out("cd docs && log --oneline -- x.md | wc -l", here) == "1\n"
    assert out("log -i --grep BECAUSE --oneline | wc -l", here) == "1\n"
    assert out("log --author nobody --oneline | wc -l", here) == "0\n"
    assert out("log -pn1 | grep -c ^diff", here) == "1\n"
    assert "+b = 2" in out("show", here) and "+b = 3" not in out("show", here)
    assert out("show HEAD~1:app.py", here) == "a = 1\n"
    assert "+b = 3" in out("git diff --staged", here) and "two" in out("git diff", here)
    assert "+b = 2" in out("git diff HEAD~1..HEAD", here)
    assert "app.py | 2 +-" in out("git diff --staged --stat", here)
    assert out("git diff --staged -- docs", here) == ""
    assert "Ada" in out("blame app.py -L 2,2", here) and "b = 2" in out(
        "blame app.py", here
    )
    assert out("status", here) == "## main\nM  app.py\n M docs/x.md\n?? new.txt\n"


@table(
    ("command", "words"),
    [
        ("log nosuch", "bad revision 'nosuch'; commits: git log"),
        ("log --output=x", "no option --output here"),
        ("log -n x", "-n needs a number"),
        ("log -n", "-n needs a number"),
        (
            "show HEAD:nope",
            "bad revision 'HEAD:nope'; commits: git log --oneline --all; files: git ls-files",
        ),
        ("blame nope", "no such path"),
        ("blame app.py -L x", "-L needs a span, not 'x'"),
        ("log -- ../../etc", "outside the repository"),
        ("git diff --ext-diff", "no option --ext-diff"),
        ("log --exec=x", "no option"),
        ("log -px", "no option -x"),
        ("log --stat=x", "--stat needs a number"),
        ("status -v", "no option -v"),
        ("diff nope app.py", "nope: No such file"),
        ("show --textconv", "no option"),
        ("git log --format=%G?", "--format needs a format"),
        ("git log --format='%(trailers)'", "--format needs a format"),
        ("git log '--pretty=%C(always,red)%h'", "--pretty needs a format"),
        ("git log --pretty=secret", "--pretty needs a format"),
        ("git log -S ''", "-S needs a text"),
        ("git log --stat=1,--output=x", "--stat needs a number"),
        ("git grep -f /etc/passwd x", "no option -f"),
        ("git grep -O x", "no option -O"),
        ("git grep --open-files-in-pager=sh x", "no option --open-files-in-pager"),
        ("git grep --no-index x", "no option --no-index"),
        ("git diff --no-index app.py docs/x.md", "no option --no-index"),
        ("git diff -- app.py /etc/passwd", "outside the repository"),
        ("git diff -- ':/../x'", "is outside"),
        ("git ls-files ':(attr:x)'", "only :!PATH and :/PATH"),
        ("git blame --contents /etc/passwd app.py", "no option --contents"),
        ("git log --max-count=1x", "--max-count needs a number"),
        ("git branch -D main", "no option -D"),
        ("git tag -d v1", "no option -d"),
        ("git -c core.pager=x log", "no git -c here"),
        ("git --git-dir=/x log", "no git --git-dir=/x here"),
        ("git rev-parse --git-dir", "no option --git-dir"),
        ("git config --list", "no git config here"),
        ("git commit -m x", "git commit is left to the developer"),
        ("git push | cat; false", "git push is left to the developer"),
        ("git lgo", "no git lgo here; there is: diff, log"),
    ],
)
def test_no_option_of_git_goes_through(storied: Repo, command: str, words: str) -> None:
    assert words in error(command, of_repository(storied))


def test_a_repository_cannot_make_the_history_run_a_program(storied: Repo) -> None:
    mark = storied.path / "ran"
    script = f"sh -c 'touch {mark}; cat'"
    for key in (
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "filter.x.smudge",
        "core.pager",
        "core.fsmonitor",
    ):
        storied.git("config", key, script)
    storied.git("config", "gpg.program", script)
    storied.git("config", "log.showSignature", "true")
    storied.git("config", "color.ui", "always")
    storied.write(".git/info/attributes", "* diff=x filter=x\n")
    storied.write("docs/x.md", "three\n")
    here = of_repository(storied)
    mark.unlink(missing_ok=True)
    storied.git("config", "format.pretty", "%G?")
    storied.git("config", "diff.external", script)
    storied.git("config", "status.submoduleSummary", "true")
    for command in (
        *(
            "log -p",
            "show",
            "git diff --staged",
            "blame app.py",
            "status",
            "log --stat",
            "git diff",
        ),
        *(
            "git log",
            "git show",
            "git status",
            "git grep -n a",
            "git ls-files -m",
            "git shortlog HEAD",
        ),
        *(
            "git log --oneline",
            "git rev-list --all",
            "git branch -v",
            "git cat-file -p HEAD",
            "git blame app.py",
        ),
    ):
        assert "\x1b" not in out(command, here)
    assert not mark.exists()


def test_git_answers_as_git(storied: Repo) -> None:
    """Real Git is the oracle, in the folder that the command is called in."""
    here = of_repository(storied)
    for command in GIT.splitlines():
        folder, _, words = (
            command.partition(" && ")
            if command.startswith("cd ")
            else ("cd .", "", command)
        )
        expected = storied.git("-C", folder.removeprefix("cd "), *shlex.split(words)[1:])
        assert out(command, here).strip() == expected, command


GIT = """\
git log
git log --oneline -1
git log --reverse --format='%h|%an|%ad|%s' --date=short
git log -S 'b = 2' --oneline -- app.py
git log --stat -p -n 1
git log -L 1,2:app.py --oneline
git show HEAD~1:app.py
git show --name-only --format=
git diff
git diff --staged --stat
git diff HEAD~1 HEAD -- app.py
git diff HEAD~1..HEAD -U0
git blame HEAD -- app.py
git blame -L 1,1 HEAD app.py
git grep -n b HEAD -- '*.py'
git grep --cached -c a
git grep -e a --and -e 1 HEAD~1
git grep -h -e b -- app.py
git status
git status --short
git status --porcelain=v2 --branch
git ls-files
git ls-files '*.md'
git ls-files -- ':!docs'
cd docs && git ls-files
cd docs && git log --oneline -- x.md
git ls-tree -r --name-only HEAD
git rev-parse HEAD
git rev-parse --short HEAD
git rev-parse --abbrev-ref HEAD
git branch --show-current
git branch
git shortlog -sn HEAD
git rev-list --count HEAD
git merge-base HEAD HEAD~1
git cat-file -t HEAD
git --no-pager log -1 --format=%cs"""


def test_a_name_makes_no_branch(storied: Repo) -> None:
    with storied.unchanged():
        assert (
            out("git branch new; git tag v9; git branch -a", of_repository(storied))
            == "* main\n"
        )
    assert out("git rev-parse --show-toplevel", of_repository(storied)) == "/repo\n"
    assert (
        out("git grep -c zzz | wc -l; git -C docs ls-files", of_repository(storied))
        == "0\nx.md\n"
    )


def test_without_history_each_command_says_so(repo: Repo) -> None:
    for command in ("log", "show", "blame x", "status", "git diff --staged"):
        assert "held in memory" in error(command)
    here = of_repository(repo)
    assert "does not have any commits yet" in error("log", here)
    assert "commits yet" in error("show", here)
    assert out("git diff", here) == ""


class Servers:
    """One server with one tool, which repeats what it is given."""

    def list(self) -> tuple[McpTool, ...]:
        return (McpTool("mcp:echo.say", "echo", "Says it.", {"type": "object"}),)

    def call(self, name: str, arguments: str) -> str:
        if name != "echo.say":
            raise CliGuardError(f"no tool {name}: see mcp list")
        return f"said {arguments}\x1b[0m"


def test_mcp_lists_shows_and_calls() -> None:
    here = world(mcp=Servers())
    assert out("mcp list", here) == "echo.say  Says it.\n"
    assert '"type": "object"' in out("mcp show echo.say", here)
    assert out("""mcp call echo.say '{"a": 1}' | cut -c1-13""", here) == 'said {"a": 1}\n'
    assert (
        out("""echo '{"b": 2}' | mcp call echo.say | cut -c1-13""", here)
        == 'said {"b": 2}\n'
    )
    assert "\x1b" not in shell.run("mcp call echo.say", here).shown
    assert "see mcp list" in error("mcp call echo.fly", here)
    assert "[mcp.NAME]" in error("mcp list")


def test_our_commands_stand_in_pipes_and_leave_the_input_of_others_alone(
    storied: Repo,
) -> None:
    here = of_repository(storied)
    assert out("log --oneline | wc -l", here) == "2\n"
    assert (
        out(
            "for f in app.py nope; do blame $f > /dev/null 2>&1 && echo $f; done; true",
            here,
        )
        == "app.py\n"
    )
    loop = "while read l; do status > /dev/null; ls > /dev/null; echo $l; done"
    assert out(loop, here, stdin=b"one\ntwo\n") == "one\ntwo\n"
    assert out("x=$(log --oneline -1); echo ${#x} | grep -c .", here) == "1\n"
    assert out("echo app.py | xargs blame | wc -l", here) == "2\n"


def test_a_reader_that_ends_early_is_no_error() -> None:
    here = world({"a": b"x\n" * 200_000, "b": b"y\n" * 200_000})
    ran = shell.run(
        "diff -u a b | head -1; ls nope | head -1; set -o pipefail; diff a b | true", here
    )
    assert ran.stdout == b"--- a\n" and ran.exit_code in (1, 141)
    assert ran.stderr.count(b"\n") == 1 and b"Pipe" not in ran.stderr


def test_diff_compares_files_and_git_diff_the_repository(storied: Repo) -> None:
    here = of_repository(storied)
    assert "+b = 3" in out("git diff --cached", here)
    ran = shell.run("diff app.py docs/x.md", here)
    assert ran.exit_code == 1 and ran.stdout.startswith(b"1,2c1\n< a = 1\n")
    assert shell.run("diff -u app.py docs/x.md | head -1", here).stdout.startswith(
        b"--- app.py\n"
    )


TREE = {
    "src/a.py": b"1\n",
    "src/deep/b.py": b"2\n",
    "src/deep/B.txt": b"",
    "docs/x.md": b"",
    ".ci/y.yml": b"k: 1\n",
}


@table(
    ("command", "lines"),
    [
        ("fd", "docs/ docs/x.md src/ src/a.py src/deep/ src/deep/B.txt src/deep/b.py"),
        ("fd b", "src/deep/B.txt src/deep/b.py"),
        ("fd B", "src/deep/B.txt"),
        ("fd -i B src/deep", "src/deep/B.txt src/deep/b.py"),
        ("fd -e py -e .md", "docs/x.md src/a.py src/deep/b.py"),
        ("fd -tf . src --max-depth 1", "src/a.py"),
        ("fd -t d", "docs/ src/ src/deep/"),
        ("fd -g 'b.*'", "src/deep/b.py"),
        ("fd '^[ab][.]py$'", "src/a.py src/deep/b.py"),
        ("fd -H yml", ".ci/y.yml"),
        ("fd -E deep -E '*.md' -t f", "src/a.py"),
        ("fd -p 'deep/b'", "src/deep/B.txt src/deep/b.py"),
        ("fd -a md", "/repo/docs/x.md"),
        ("cd src && fd py", "a.py deep/b.py"),
        ("fd nothing", ""),
        ("fd -0 py | tr '\\0' '\\n'", "src/a.py src/deep/b.py"),
        ("echo new > src/new.py; fd new", "src/new.py"),
        ("tree -i -f --noreport src", "src src/a.py src/deep src/deep/B.txt src/deep/b.py"),
        ("tree -i --noreport -L 1 --dirsfirst src", "src deep a.py"),
        ("tree -i --noreport -P '*.py' --prune .", ". src a.py deep b.py"),
        ("tree -i --noreport -d", ". docs src deep"),
        ("tree -i --noreport -a -I 'src|docs'", ". .ci y.yml"),
    ],
)
def test_fd_and_tree_list(command: str, lines: str) -> None:
    assert out(command, world(TREE)).split() == lines.split()


def test_tree_draws_and_counts() -> None:
    lines = out("tree src", world(TREE)).replace("\u00a0", " ").splitlines()
    assert lines[:4] == ["src", "├── a.py", "└── deep", "    ├── B.txt"]
    assert lines[-2:] == ["", "2 directories, 3 files"]
    assert out("tree docs | tail -1", world(TREE)) == "1 directory, 1 file\n"


@table(
    ("command", "words"),
    [
        ("fd '('", "unclosed group"),
        ("fd -t z", "-t takes f, d, l and x, not z"),
        ("fd x nowhere", "no folder nowhere here"),
        ("fd x ../nowhere", "no folder ../nowhere here"),
        ("fd -e py -x wc -l", "fd ... | xargs COMMAND"),
        ("fd --exec-batch rm", "fd ... | xargs COMMAND"),
        ("fd -d x", "-d needs a number"),
        ("tree -L x", "-L needs a number"),
        ("tree nowhere", "no folder nowhere here"),
        ("tree --fromfile", "no option --fromfile"),
        ("yq . bad.toml", "this is no TOML"),
        ("ask where is main", "nothing answers questions here: use symbols, refs, rg"),
    ],
)
def test_what_cannot_be_listed_says_why(command: str, words: str) -> None:
    assert words in error(command, world({"a": b"", "bad.toml": b"= 1\n"}))


def test_a_pattern_takes_no_longer_than_the_names() -> None:
    names = {"a" * 200 + str(n): b"" for n in range(200)}
    with cpu_seconds(5):
        assert shell.run("fd '(a+)+$'", world(names)).exit_code == 0


@table(
    ("command", "answer"),
    [
        ("yq -r .project.version p.toml", "1.2"),
        ("yq -p toml -r .project.version p.toml", "1.2"),
        ("yq --input-format=toml -r '.project.list[1]' p.toml", "b"),
        ("cat p.toml | yq -p toml -r .project.version", "1.2"),
        ("yq -r .project.at p.toml", "2024-05-01"),
        ("toml p.toml | jq -r .project.version", "1.2"),
        ("yq -r .a.b c.yaml", "3"),
        ("cat c.yaml | yq -r '.a.b'", "3"),
        ("while read l; do yq -r .a.b c.yaml; done", "3\n3"),
        ("bat c.yaml", "a:\n  b: 3"),
        ("bat -n c.yaml | tr -s ' \\t' ' ' | tail -1", " 2 b: 3"),
        ("bat --style=plain --paging=never -l yaml -r 2: c.yaml", "  b: 3"),
        ("bat -pp -r :1 < c.yaml", "a:"),
    ],
)
def test_yq_and_bat(command: str, answer: str) -> None:
    files = {
        "p.toml": b'[project]\nversion = "1.2"\nlist = ["a", "b"]\nat = 2024-05-01\n',
        "c.yaml": b"a:\n  b: 3\n",
    }
    assert out(command, world(files), stdin=b"1\n2\n").rstrip("\n") == answer


def test_rg_searches_the_tree_where_nothing_is_piped() -> None:
    here = world({"src/a.py": b"# word\nx = 1\n", ".hidden/b": b"word\n"})
    assert out("rg -n word", here) == "src/a.py:1:# word\n"
    assert (
        out("rg -l word | wc -l; rg -l --hidden word | sort", here)
        == "1\n.hidden/b\nsrc/a.py\n"
    )
    assert out("echo a word | rg word; cat src/a.py | rg -n x", here) == "a word\n2:x = 1\n"
    assert out("rg -c word", here, stdin=b"word\nword\n") == "2\n"
    assert out("true | rg word || echo none", here) == "none\n"


def test_two_stars_go_through_all_folders() -> None:
    here = world({"src/a.py": b"", "src/x/y/b.py": b""})
    assert out("echo src/**/*.py", here) == "src/a.py src/x/y/b.py\n"
    assert out("shopt -u globstar; echo src/**/*.py; true", here) == "src/**/*.py\n"


def test_symbols_name_code_before_tests_and_documents() -> None:
    here = world(
        {
            "a.md": b"# helper\n",
            "tests/test_a.py": b"def helper(): pass\n",
            "z.py": b"def helper(): pass\n",
            "b.json": b'{"helper": 1}\n',
        }
    )
    assert out("symbols | cut -d: -f1 | head -1", here) == "z.py\n"
    assert out("symbols helper", here).startswith(
        "z.py:1: function helper\ntests/test_a.py:"
    )


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("seq 9 | head 3", "1\n2\n3\n"),
        ("seq 9 | tail 2", "8\n9\n"),
        ("seq 9 > a; head 2 a; tail 1 a", "1\n2\n9\n"),
        ("seq 9 | head -n 2", "1\n2\n"),
        ("seq 9 | head -2", "1\n2\n"),
        ("echo named > 5; head 5", "named\n"),
        ("echo x | head", "x\n"),
        ("true | wc", "      0       0       0\n"),
        ("true | wc -l", "0\n"),
        ("write a/n two  words && cat a/n", "10 bytes written to a/n\ntwo words\n"),
        ("printf x | write n && cat n", "1 bytes written to n\nx"),
        ("write n && wc -c n", "0 bytes written to n\n0 n\n"),
    ],
)
def test_the_spellings_of_a_model(command: str, shown: str) -> None:
    assert out(command) == shown


def test_a_variable_that_grows_without_end_takes_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for command in (
        "x=aaaaaaaaaa; while true; do x=$x$x$x; done",
        "x=aaaaaaaaaa; for i in $(seq 40); do x=$x$x; done; echo ${#x}",
    ):
        assert "variable byte limit" in shell.run(command, world()).shown
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_hidden_files_are_hidden_in_the_history_too(repo: Repo) -> None:
    config = ModelSection(private=("docs/private/**", "*.key[x]"))
    password = "hunter" + "2-abcdefgh"
    line = "A1b2C3d4" * 8
    files = {
        ".env": f"A={password}\n",
        "docs/private/plan.md": f"{password}\n",
        "a.key[x]": f"{password}\n",
        "open.txt": f"open\n{line}\n",
    }
    repo.commit("First", files)
    repo.commit("Second", {path: text + "more\n" for path, text in files.items()})
    repo.commit("Third", {"other.txt": "other\n"})
    blob = repo.git("rev-parse", "HEAD:.env").strip()
    found = GitRepository.discover(repo.path, repo.env)
    here = replace(world(), repository=found, hides=config.private_patterns)
    shows = {
        "git log -p --all": "+open",
        "git log -p -- .": "+open",
        "git show HEAD~": "+more",
        "git diff HEAD~2 HEAD~1": "+more",
        "git diff HEAD~2..HEAD~1 --word-diff": "more",
        "git show HEAD:open.txt": "open",
        "git blame open.txt": "open",
        "git log -L 1,1:open.txt": "open",
        "git log --oneline --stat": "Second",
        "git ls-tree -r HEAD": ".env",
    }
    for command, shown in shows.items():
        ran = shell.run(command, here)
        assert shown in ran.shown, command
        assert password not in ran.stdout.decode() and line not in ran.stdout.decode()
    refused = [
        "git show HEAD:.env",
        "git show :.env",
        "git show :0:.env",
        "git show HEAD:./docs/../.env",
        f"git show {blob}",
        f"git show HEAD {blob}",
        f"git cat-file -p {blob}",
        f"git diff {blob} {blob}",
        f"git grep A {blob}",
        "git grep A HEAD:docs",
        "git grep more",
        f"git log -S {password}",
        f"git log -G{password}",
        "git log -L /open/,+1:open.txt",
        "git diff HEAD:.env HEAD:open.txt",
        "git blame .env",
        "git blame docs/private/plan.md",
        "git log -L 1,1:.env",
        "git log --follow -p open.txt",
        "git log -p -- .env",
        "git log -p -- docs/private/plan.md",
        "git show 'HEAD:a.key[x]'",
    ]
    for command in refused:
        ran = shell.run(command, here)
        assert ran.exit_code and password not in ran.stdout.decode(), (command, ran.shown)
