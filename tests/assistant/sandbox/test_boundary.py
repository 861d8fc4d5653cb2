"""Nothing outside the snapshot can be named, nothing is changed, and no limit is passed in silence."""

import os
from pathlib import Path

import pytest
from examples import table
from repositories import Repo
from shell_worlds import of_repository, world
from watching import cpu_seconds

from cli_guard.assistant import sandbox as shell
from cli_guard.repository.snapshot import Snapshot, TreeEntry, entry_of

MARK = "outside-7f3a"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file and a variable of the machine that no command may see."""
    path = tmp_path / "outside.txt"
    path.write_text(MARK)
    monkeypatch.setenv("CLI_GUARD_TEST_SECRET", MARK)
    monkeypatch.setenv("HOME", str(tmp_path))
    return path


@table(
    "command",
    [
        "cat {path}",
        "cat ../../../../../../../..{path}",
        "cat /proc/self/environ",
        "cat /proc/1/environ /proc/self/cmdline /proc/self/maps",
        "ls {folder}",
        "env; set; export -p; declare -p; printenv",
        "echo $CLI_GUARD_TEST_SECRET ${{CLI_GUARD_TEST_SECRET}} $HOME ~ ~root ~+ ~-",
        "cat ~/outside.txt $HOME/outside.txt",
        "ln -s {path} l; cat l; cp l m; cat m",
        "ln -s {folder} d; ls d; cat d/outside.txt; cd d; cat outside.txt",
        "cat < {path}; read x < {path}; echo $x",
        "source {path}; . {path}; bash {path}",
        "find / -name outside.txt",
        "grep -r outside- / 2>/dev/null",
        "while read l; do echo $l; done < {path}",
        "awk '{{print}}' {path}; sed -n p {path}; head {path}; tac {path}; od -c {path}",
        "awk 'BEGIN {{while ((getline l < \"{path}\") > 0) print l}}'",
        "awk 'BEGIN {{print ENVIRON[\"CLI_GUARD_TEST_SECRET\"]}}'",
        "awk 'BEGIN {{\"cat {path}\" | getline x; print x}}'",
        "sed 's/^/x/;r {path}' f; sed '1e cat {path}' f",
        "diff f {path}; cmp f {path}; ls -la {path}; zcat {path}; bc {path}",
        "see {path}; symbols {path}; blame {path}; diff -- {path}; log -- {path}; show HEAD:{path}",
        "tar cf - {path} | cat; patch {path} < f; tee {path} < f",
        "jq -n 'env' ; jq -n '$ENV'; jq -n 'input' {path}",
        "rg outside- {path}; rg outside- /",
        "cat /dev/fd/3 /dev/fd/0 /dev/tty /dev/mem",
        "exec 3<{path}; cat <&3",
        "cat <(cat {path}); mapfile a < {path}; echo ${{a[@]}}",
        "echo x > /dev/tcp/127.0.0.1/80; cat /dev/tcp/127.0.0.1/80",
        "cd {folder} && ls; pushd {folder}; CDPATH={folder} cd .",
        "bash -c 'cat {path}'; sh -c 'cat {path}'; eval cat {path}; command cat {path}; busybox cat {path}",
        "xargs -a {path}; find f -exec cat {path} \\;; timeout 1 cat {path}; env cat {path}; nohup cat {path}",
        "hostname; whoami; id; uname -a; nproc; getconf -a; ulimit -a; df; mount",
    ],
)
def test_nothing_outside_is_seen(command: str, outside: Path) -> None:
    text = command.format(path=outside, folder=outside.parent)
    ran = shell.run(text, world({"f": b"x\n"}))
    seen = ran.stdout + ran.shown.encode()
    assert MARK.encode() not in seen.replace(str(outside).encode(), b"")
    for word in (
        os.uname().nodename,
        os.environ.get("USER", ""),
        os.environ.get("LOGNAME", ""),
    ):
        assert (
            not word
            or word in ("user", "sandbox", "root")
            or word.encode() not in ran.stdout
        )
    assert outside.read_text() == MARK


@table(
    "target",
    [
        "/etc/passwd",
        "../../../etc/passwd",
        "..",
        "/",
        "../../outside",
        "/proc/self/environ",
        "loop",
        "",
    ],
)
def test_a_link_that_leads_outside_leads_nowhere(target: str) -> None:
    entries = [
        TreeEntry("loop", "120000", len(target), "1"),
        entry_of("a.txt", b"inside\n"),
    ]
    here = shell.CommandWorld(
        Snapshot("memory", entries, {"loop": target.encode(), "a.txt": b"inside\n"})
    )
    ran = shell.run("cat loop/passwd loop/x loop; head -1 loop", here)
    assert ran.exit_code and b"root" not in ran.stdout
    assert ran.stdout in (b"", b"inside\n")


def test_a_link_inside_works() -> None:
    raw = {"l": b"src/a.txt", "d": b"src", "src/a.txt": b"inside\n"}
    entries = [TreeEntry(p, "120000", 3, p) for p in ("l", "d")] + [
        entry_of("src/a.txt", raw["src/a.txt"])
    ]
    ran = shell.run(
        "cat l d/a.txt; readlink l", shell.CommandWorld(Snapshot("memory", entries, raw))
    )
    assert ran.stdout == b"inside\ninside\nsrc/a.txt\n"


def test_hostile_names_and_modules() -> None:
    raw = {
        "caf\udce9.txt": b"latin\n",
        "a\nb": b"line end\n",
        "-rf": b"dash\n",
        "$(touch x)": b"text\n",
        "sub/x": b"1\n",
        "../evil": b"evil\n",
        "/abs": b"evil\n",
        "a//b": b"evil\n",
    }
    entries = [entry_of(path, data) for path, data in raw.items()] + [
        TreeEntry("module", "160000", 0, "f" * 40)
    ]
    here = shell.CommandWorld(Snapshot("memory", entries, raw))
    assert shell.run(r"cat 'caf\xe9.txt'", here).stdout == b"latin\n"
    assert shell.run(
        "ls module; ls -d module; cat ./-rf '$(touch x)' 'a\\nb'", here
    ).stdout == (b"module\ndash\ntext\nline end\n")
    assert (
        b"evil" not in shell.run("grep -r evil / 2>/dev/null; cat /abs /evil", here).stdout
    )
    assert shell.run(r"echo new > 'caf\xe9.txt'", here).changes == {
        "caf\udce9.txt": b"new\n"
    }


def test_what_is_written_ends_with_the_call() -> None:
    here = world({"a.txt": b"one\n", "b.txt": b"two\n", "d/c.txt": b"three\n"})
    ran = shell.run(
        "echo x >> a.txt; rm b.txt; mkdir n; echo y > n/new; mv d/c.txt d/e.txt; echo t > /tmp/t",
        here,
    )
    assert ran.changes == {
        "a.txt": b"one\nx\n",
        "b.txt": None,
        "n/new": b"y\n",
        "d/c.txt": None,
        "d/e.txt": b"three\n",
    }
    assert shell.run("cat a.txt b.txt; ls /tmp/t", here).stdout == b"one\ntwo\n"
    assert (
        shell.run("touch a.txt; cp b.txt /tmp/x; cat a.txt > /dev/null", here).changes == {}
    )
    shell.run("rm -rf ../repo /repo/* / 2>/dev/null", here)
    assert shell.run("ls", here).stdout == b"a.txt\nb.txt\nd\n"


def test_a_repository_is_never_changed(committed: Repo) -> None:
    committed.write("staged.py", "def f():\n    return 1\n")
    committed.git("add", "-A")
    with committed.unchanged():
        for command in (
            "rm -rf /repo",
            "echo x > app.py",
            "status",
            "diff",
            "log -p",
            "blame app.py",
            "symbols",
            "refs f",
        ):
            shell.run(command, of_repository(committed))


@table(
    ("command", "limits", "said"),
    [
        ("while true; do :; done", {"commands": 500}, "command count"),
        ("while true; do :; done", {"loop_iterations": 50}, "loop iteration"),
        ("sleep 60", {"seconds": 0.3}, "timeout"),
        ("x=aaaaaaaa; while true; do x=$x$x; done", {"memory_bytes": 1_000_000}, "memory"),
        ("cat f f f", {"output_bytes": 1_000}, "1,000 bytes of output"),
        ("f() { f; }; f", {}, "depth"),
        ("seq 200000 > out; false", {}, "seq: line limit (100000) exceeded"),
        (":() { : | : & }; :", {"seconds": 2.0}, ""),
    ],
)
def test_every_limit_ends_the_call_and_is_named(
    command: str, limits: dict[str, float], said: str
) -> None:
    with cpu_seconds(10):
        ran = shell.run(command, world({"f": b"x" * 900}, limits=shell.RunLimits(**limits)))  # type: ignore[arg-type]
    assert said in " ".join(ran.limits) and (
        not said or f"[limit] {ran.limits[0]}" in ran.shown
    )
    assert not said or ran.exit_code


@table(
    "command",
    [
        "",
        " ",
        "\n",
        "#",
        "\0",
        "a\0b",
        "\udcff",
        "((((((",
        "$(" * 5_000,
        "{" * 5_000,
        '"' * 99_999,
        "echo " + "a" * 300_000,
        "[[ " + "( " * 3_000,
        "echo " + "${x:-" * 3_000,
        "if true; then " * 2_000,
        "<<E" * 3_000,
        "`" * 1_001,
    ],
    ids=range(17),
)
def test_no_text_breaks_the_tool(command: str) -> None:
    ran = shell.run(command, world({"f": b"x\n"}))
    assert isinstance(ran.exit_code, int) and ran.shown.rstrip().endswith("]")
    assert len(ran.shown) < 70_000


def test_five_thousand_files_stay_in_bounds() -> None:
    files = {f"d{n % 50}/f{n}.txt": b"hello world\nfoo bar\n" * 40 for n in range(5_000)}
    with cpu_seconds(8):
        ran = shell.run(
            "grep -r foo . | wc -l; find . -type f | wc -l; rm d1/f1.txt",
            world(files, limits=shell.RunLimits(seconds=300)),
        )
    assert ran.stdout == b"200000\n5000\n" and ran.changes == {"d1/f1.txt": None}


def test_a_caller_may_have_an_event_loop() -> None:
    import asyncio

    async def main() -> bytes:
        return shell.run("echo inside", world()).stdout

    assert asyncio.run(main()) == b"inside\n"


def test_texts_of_any_size_are_compared_in_bounds() -> None:
    big = b"".join(b"%d\n" % (n * 7919 % 10_007) for n in range(60_000))
    other = b"".join(b"%d\n" % (n * 104_729 % 10_007) for n in range(60_000))
    with cpu_seconds(6):
        ran = shell.run("diff a b | tail -1", world({"a": big, "b": other}))
    assert ran.exit_code == 0
