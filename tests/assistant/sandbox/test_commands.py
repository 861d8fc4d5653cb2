"""The commands beside those of bash, and the three levels of help that are made from their one list."""

import struct
import zlib

import pytest
from examples import table
from repositories import Repo
from shell_worlds import of_repository, world

from cli_guard.assistant import sandbox as shell
from cli_guard.assistant.sandbox.commands import COMMANDS, TOOLS
from cli_guard.assistant.sandbox.execution import ABSENT
from cli_guard.errors import CliGuardError
from cli_guard.rules.catalog import read_table

# Builtins of bash, and tools that are rarely used or the same as another: there, and not listed to keep help short.
BESIDES = set(read_table("sandbox.toml")["besides"].split())


def out(command: str, here: shell.Shell | None = None, stdin: bytes = b"") -> str:
    """Standard output of a command that must succeed."""
    ran = shell.run(command, here or world(), stdin=stdin)
    assert ran.exit_code == 0, ran.shown
    return ran.stdout.decode()


def error(command: str, here: shell.Shell | None = None) -> str:
    """The error stream of a command that must fail."""
    ran = shell.run(command, here or world())
    assert ran.exit_code != 0, ran.shown
    return ran.stderr.decode()


def test_level_0_lists_every_command_from_the_one_list() -> None:
    for text in (shell.description(world()), out("help")):
        for name in (*COMMANDS, *TOOLS):
            assert any(name in line.partition(":")[0].split() for line in text.splitlines()), name
    assert "0 files" in shell.description(world())
    assert len(shell.description(world())) < 5_000


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
        ("memory fly", "there is no memory fly: it has search, recent, store, facts, forget"),
    ],
)
def test_level_2_missing_arguments_print_the_parameters(command: str, usage: str) -> None:
    assert usage in error(command)


def test_help_of_what_there_is_not_lists_what_there_is() -> None:
    assert "Available: awk," in error("help nothing")
    assert out("help mv") == "mv: works as in bash; its own help: mv --help\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


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
        *((PNG, "png"), (JPEG, "jpeg"), (GIF, "gif"), (BMP, "bmp"), (ICO, "x-icon"), (WEBP, "webp")),
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
    assert "use cat to read text files" in error("see a.txt", world({"a.txt": b"text <svg"}))
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
    assert [" ".join(line.split(": ")[:2]) for line in out("refs helper", here).splitlines()] == [
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
    assert [line.split(": ")[1] for line in out("log --oneline", here).splitlines()] == [
        "Change app",
        "Begin",
    ]
    assert "    Because of tests." in out("log -n 1", here)
    assert out("log --oneline -1 | wc -l", here) == "1\n"
    assert out("log --oneline -- docs | wc -l", here) == "1\n"
    assert out("cd docs && log --oneline -- x.md | wc -l", here) == "1\n"
    assert out("log --grep BECAUSE --oneline | wc -l", here) == "1\n"
    assert out("log --author nobody --oneline | wc -l", here) == "0\n"
    assert out("log --author '' --oneline | wc -l", here) == "2\n"
    assert out("log -pn1 | grep -c ^diff", here) == "1\n"
    assert "+b = 2" in out("show", here) and "+b = 3" not in out("show", here)
    assert out("show HEAD~1:app.py", here) == "a = 1\n"
    assert "+b = 3" in out("diff", here) and "two" not in out("diff", here)
    assert "+b = 2" in out("diff HEAD~1..HEAD", here)
    assert "app.py | 2 +-" in out("diff --stat", here)
    assert out("diff -- docs", here) == ""
    assert "Ada" in out("blame app.py -L 2,2", here) and "b = 2" in out("blame app.py", here)
    assert out("status", here) == "## main\nM  app.py\n M docs/x.md\n?? new.txt\n"


@table(
    ("command", "words"),
    [
        ("log nosuch", "no commit 'nosuch'"),
        ("log --output=x", "no option --output=x"),
        ("log -n x", "-n needs a number"),
        ("log -n", "-n needs a number"),
        ("show HEAD:nope", "no file nope in HEAD"),
        ("blame nope", "no such path"),
        ("blame app.py -L x", "-L needs START,END"),
        ("log -- ../../etc", "outside the repository"),
        ("diff --ext-diff", "no option --ext-diff"),
        ("log --exec=x", "no option"),
        ("log -px", "no option -x"),
        ("log --stat=x", "--stat takes no value"),
        ("status -v", "no option -v"),
        ("diff nope app.py", "nope: No such file"),
        ("show --textconv", "no option"),
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
    for command in ("log -p", "show", "diff", "diff --staged", "blame app.py", "status", "log --stat"):
        assert "\x1b" not in out(command, here)
    assert not mark.exists()


def test_without_history_each_command_says_so(repo: Repo) -> None:
    for command in ("log", "show", "blame x", "status", "diff --staged"):
        assert "held in memory" in error(command)
    here = of_repository(repo)
    assert "there is no commit yet" in error("log", here)
    assert "there is no commit yet" in error("show", here)
    assert out("diff", here) == ""


class Servers:
    """One server with one tool, which repeats what it is given."""

    def list(self) -> tuple[shell.McpTool, ...]:
        return (shell.McpTool("echo", "say", "Says it.", {"type": "object"}),)

    def call(self, name: str, arguments: str) -> str:
        if name != "echo.say":
            raise CliGuardError(f"no tool {name}: see mcp list")
        return f"said {arguments}\x1b[0m"


def test_mcp_lists_shows_and_calls() -> None:
    here = world(mcp=Servers())
    assert out("mcp list", here) == "echo.say  Says it.\n"
    assert '"type": "object"' in out("mcp show echo.say", here)
    assert out("""mcp call echo.say '{"a": 1}' | cut -c1-13""", here) == 'said {"a": 1}\n'
    assert out("""echo '{"b": 2}' | mcp call echo.say | cut -c1-13""", here) == 'said {"b": 2}\n'
    assert "\x1b" not in shell.run("mcp call echo.say", here).shown
    assert "see mcp list" in error("mcp call echo.fly", here)
    assert "[mcp.NAME]" in error("mcp list")


def test_our_commands_stand_in_pipes_and_leave_the_input_of_others_alone(storied: Repo) -> None:
    here = of_repository(storied)
    assert out("log --oneline | wc -l", here) == "2\n"
    assert (
        out("for f in app.py nope; do blame $f > /dev/null 2>&1 && echo $f; done; true", here) == "app.py\n"
    )
    loop = "while read l; do status > /dev/null; ls > /dev/null; echo $l; done"
    assert out(loop, here, stdin=b"one\ntwo\n") == "one\ntwo\n"
    assert out("x=$(log --oneline -1); echo ${#x} | grep -c .", here) == "1\n"
    assert out("echo app.py | xargs blame | wc -l", here) == "2\n"


def test_a_reader_that_ends_early_is_no_error() -> None:
    here = world({"a": b"x\n" * 200_000, "b": b"y\n" * 200_000})
    ran = shell.run("diff -u a b | head -1; ls nope | head -1; set -o pipefail; diff a b | true", here)
    assert ran.stdout == b"--- a\n" and ran.exit_code in (1, 141)
    assert ran.stderr.count(b"\n") == 1 and b"Pipe" not in ran.stderr


def test_diff_of_files_and_of_the_repository_are_told_apart(storied: Repo) -> None:
    here = of_repository(storied)
    assert "3c3" not in out("diff", here)
    ran = shell.run("diff app.py docs/x.md", here)
    assert ran.exit_code == 1 and ran.stdout.startswith(b"1,2c1\n< a = 1\n")
    assert shell.run("diff -u app.py docs/x.md | head -1", here).stdout.startswith(b"--- app.py\n")
