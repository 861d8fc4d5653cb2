"""Approvals of what was tampered with, of what has changed since, and by two at once: nothing is written then."""

import json
import os
import pty
import sqlite3
import subprocess
import threading
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from examples import table
from in_process import Terminal, approve, guard, records, state_values, waiting
from repositories import GUARD, Done, Repo

from benchmarks.runner.reading import read_task
from cli_guard.approvals.storage import StateFolder
from cli_guard.errors import ConfigError

FILES: dict[str, str | bytes] = {
    "src/utils.py": "def slug(title: str) -> str:\n    return title.lower()\n",
    "src/page.py": "from src.utils import slug\n\n\ndef address(title: str) -> str:\n    return slug(title)\n",
}
RENAME = "Rename slug to slugify"
OTHER = "diff --git a/src/utils.py b/src/utils.py\n--- a/src/utils.py\n+++ b/src/utils.py\n@@ -1,1 +1,1 @@\n"


@pytest.fixture
def shop(committed: Repo) -> Repo:
    committed.commit("Shop", dict(FILES))
    return committed


def proposed(repo: Repo) -> str:
    done = guard(repo, "ask", RENAME)
    assert done.code == 3, done.all
    [found] = waiting(repo)
    return found


def refused(shop: Repo, found: str, *, code: int = 2) -> str:
    with shop.unchanged():
        done = approve(shop, found)
    assert (done.code, len(done.err.splitlines())) == (code, 1), done.all
    assert "Traceback" not in done.all
    return done.err


@pytest.mark.parametrize("what", ["patch", "path", "tool", "bases"])
def test_a_changed_checkpoint_is_another_question(shop: Repo, what: str) -> None:
    found = proposed(shop)

    def change(values: dict[str, Any]) -> dict[str, Any]:
        requests = deepcopy(values["tool_requests"])
        arguments = requests[0]["arguments"]
        if what == "patch":
            arguments["patch"] = arguments["patch"].replace("slugify", "evil")
        elif what == "path":
            arguments["patch"] = arguments["patch"].replace("src/page.py", ".git/config")
        elif what == "tool":
            requests[0] |= {"tool": "run_command", "arguments": {"command": "touch pwned"}}
        else:
            arguments["bases"]["src/page.py"] = None
        return {"tool_requests": requests}

    state_values(records(shop).checkpoint(found), change)
    assert "is not what was asked about" in refused(shop, found)


def test_what_is_shown_is_what_is_written(shop: Repo) -> None:
    """Beside the checkpoint lies what `reviews` tells: nothing of it is shown as the patch."""
    found = proposed(shop)
    path = records(shop).folder / "waiting" / f"{found}.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"findings": ["writes nothing"]}))
    done = approve(shop, found)
    assert done.code == 0
    assert (
        "+def slugify(title: str) -> str:" in done.out
        and "-from src.utils import slug\n" in done.out
    )


def test_what_changes_while_a_person_reads(shop: Repo) -> None:
    found = proposed(shop)

    class Reader(Terminal):
        def readline(self, size: int = -1) -> str:  # type: ignore[override]
            def change(values: dict[str, Any]) -> dict[str, Any]:
                requests = deepcopy(values["tool_requests"])
                arguments = requests[0]["arguments"]
                arguments["patch"] = arguments["patch"].replace("slugify", "evil")
                return {"tool_requests": requests}

            state_values(records(shop).checkpoint(found), change)
            return "yes\n"

    with shop.unchanged():
        done = guard(shop, "approve", found, stdin=Reader(""))
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "not the one that was shown" in done.err


def test_a_checkpoint_calls_nothing(tmp_path: Path) -> None:
    """By default the library calls what a file names, with the arguments that stand there."""
    import ormsgpack
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    from cli_guard.graph.run import saver

    def pwned(name: str) -> tuple[str, bytes]:
        argument = ormsgpack.packb(("os", "mkdir", str(tmp_path / name)))
        return "msgpack", ormsgpack.packb({"input": ormsgpack.Ext(0, argument)})

    JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(pwned("near miss"))
    assert (tmp_path / "near miss").exists(), "the attack is one"
    saver(sqlite3.connect(":memory:")).serde.loads_typed(pwned("here"))
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../config"},
        {"id": 5},
        {"reason": ["x"]},
        {"root": None},
        {"findings": [1]},
        {"event": {}},
        {"fingerprints": "abc"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_record_of_another_form_is_none(shop: Repo, change: dict[str, object]) -> None:
    found = proposed(shop)
    path = records(shop).folder / "waiting" / f"{found}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    config = (shop.path / ".git" / "config").read_bytes()
    for command in (
        ("pending",),
        ("approve", "--reject", found),
        ("approve", "--reject", "../../config"),
        ("approve", found),
    ):
        done = guard(shop, *command, stdin=Terminal("yes\n"))
        assert "Traceback" not in done.all and "please report" not in done.all, done.all
    assert (shop.path / ".git" / "config").read_bytes() == config


def test_a_review_of_another_content_cannot_be_slipped_in(shop: Repo) -> None:
    from in_process import RISKY, stage

    stage(shop, {"reports.py": RISKY})
    assert guard(shop, "hook", "pre-commit").code == 3
    [found] = waiting(shop)
    path = records(shop).folder / "waiting" / f"{found}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"content": "0" * 64}))
    assert "does not match its id" in refused(shop, found)
    assert StateFolder(records(shop)).read_unsigned() == []


def hidden(shop: Repo) -> None:
    shop.git("update-index", "--assume-unchanged", "src/page.py")
    shop.write("src/page.py", str(FILES["src/page.py"]) + "# mine\n")


def parent_linked(shop: Repo) -> None:
    (shop.path / "src").rename(shop.path.parent / "elsewhere")
    (shop.path / "src").symlink_to(shop.path.parent / "elsewhere")


def linked(shop: Repo) -> None:
    (shop.path / "src/page.py").rename(shop.path.parent / "page.py")
    (shop.path / "src/page.py").symlink_to(shop.path.parent / "page.py")


def edited(shop: Repo) -> None:
    shop.write("src/page.py", str(FILES["src/page.py"]) + "# mine\n")


def staged(shop: Repo) -> None:
    edited(shop)
    shop.git("add", "-A")


def gone(shop: Repo) -> None:
    (shop.path / "src/page.py").unlink()


def filtered(shop: Repo) -> None:
    shop.git("config", "filter.f.clean", "touch pwned; cat")
    shop.git("config", "filter.f.smudge", "touch pwned; cat")
    shop.write(".gitattributes", "*.py filter=f\n")


def policy(shop: Repo) -> None:
    shop.commit("Policy", {"cli-guard.toml": '[rules]\n"docs-*" = "off"\n'})


def branch(shop: Repo) -> None:
    shop.git("switch", "-q", "-c", "other")
    shop.commit(
        "Other", {"src/page.py": "from src.utils import slug\n\nprint(slug('x'))\n"}
    )


@pytest.mark.parametrize(
    "change",
    [hidden, parent_linked, linked, edited, staged, gone, filtered, policy, branch],
)
def test_what_has_changed_since(shop: Repo, change: object) -> None:
    found = proposed(shop)
    assert callable(change)
    change(shop)
    refused(shop, found)
    assert not (shop.path / "pwned").exists()
    assert found in waiting(shop)


def test_another_mode_is_kept(shop: Repo) -> None:
    found = proposed(shop)
    (shop.path / "src/page.py").chmod(0o755)
    assert approve(shop, found).code == 0
    assert (shop.path / "src/page.py").stat().st_mode & 0o111
    assert guard(shop, "undo").code == 0
    assert (shop.path / "src/page.py").read_text() == FILES["src/page.py"]


def test_a_patch_for_an_old_revision_is_not_written_over_a_new_one(shop: Repo) -> None:
    shop.commit("More", {"src/page.py": "import os\n" + str(FILES["src/page.py"])})
    with shop.unchanged():
        done = guard(shop, "ask", RENAME, "--rev", "HEAD~1")
    assert done.code == 3
    assert "differs between the index and HEAD~1" in done.out
    assert waiting(shop) == []
    assert guard(shop, "ask", RENAME, "--rev", "HEAD").code == 3
    assert len(waiting(shop)) == 1, "a near miss: the same files"


def test_another_work_tree_and_another_clone(shop: Repo, tmp_path: Path) -> None:
    found = proposed(shop)
    linked_tree = shop.path.parent / "linked"
    shop.git("worktree", "add", "-q", str(linked_tree), "-b", "other")
    other = Repo(linked_tree, shop.env)
    assert "another work tree" in refused(other, found)
    shop.git("clone", "-q", str(shop.path), str(tmp_path / "clone"))
    assert "no pending review" in refused(Repo(tmp_path / "clone", shop.env), found)
    assert approve(shop, found).code == 0
    done = guard(other, "undo")
    assert (done.code, "nothing to revert" in done.err) == (2, True)
    assert guard(shop, "undo").code == 0
    done = guard(shop, "undo")
    assert (done.code, "nothing to revert" in done.err) == (2, True)


def test_two_at_once(shop: Repo) -> None:
    found = proposed(shop)
    results: list[Done] = []
    threads = [
        threading.Thread(target=lambda: results.append(approve(shop, found)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.code for each in results) == [0, 2, 2, 2]
    assert "def slugify(" in (shop.path / "src/utils.py").read_text()
    assert [each.id for each in records(shop).applied_patches()] == [found]


@pytest.mark.parametrize("name", ["applied", "audit.jsonl"])
def test_what_cannot_be_recorded_is_not_written(shop: Repo, name: str) -> None:
    """It could not be taken back later."""
    found = proposed(shop)
    place = records(shop).folder / name
    if place.is_dir():
        place.rmdir()
        place.write_text("in the way")
    else:
        place.unlink()
        place.mkdir()
    with shop.unchanged():
        done = approve(shop, found)
    assert done.code in (1, 2) and len(done.err.splitlines()) == 1, done.all
    assert "def slug(" in (shop.path / "src/utils.py").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"patch": OTHER + "-def slugify(title: str) -> str:\n+import evil\n"},
        {"left": {}},
        {"left": [1]},
        {"patch": 5},
        {"id": "../waiting/x"},
        {"at": None},
    ],
    ids=str,
)
def test_a_changed_record_of_what_was_written_takes_nothing_back(
    shop: Repo, change: dict[str, object]
) -> None:
    found = proposed(shop)
    assert approve(shop, found).code == 0
    path = records(shop).folder / "applied" / f"{found}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    before = (shop.path / "src/utils.py").read_text()
    done = guard(shop, "undo")
    assert (done.code, len(done.err.splitlines())) == (2, 1), done.all
    assert (shop.path / "src/utils.py").read_text() == before


def test_folders_that_the_environment_names(shop: Repo) -> None:
    """Seen from a folder below, and not from the top of the work tree."""
    env = shop.env | {"GIT_DIR": "../.git", "GIT_WORK_TREE": ".."}
    below = Repo(shop.path / "src", env)
    done = guard(below, "ask", RENAME)
    assert done.code == 3, done.all
    [found] = waiting(shop)
    assert approve(below, found).code == 0
    assert "def slugify(" in (shop.path / "src/utils.py").read_text()
    assert "Shop" in guard(below, "shell", "log --oneline").out
    assert guard(below, "undo").code == 0
    assert shop.git("status", "--porcelain") == ""


def test_what_was_too_much_to_read_is_named(shop: Repo) -> None:
    """An answer that says nothing is there must say where it has not looked."""
    shop.commit("Large", {"large.py": "x = 1\n" * 400_000 + "def needle() -> None: ...\n"})
    done = guard(shop, "ask", "Where is needle defined?")
    assert "Not looked at: large.py: over the limit of 2,000,000 bytes" in done.out
    assert (
        "Not looked at"
        not in guard(shop, "ask", "Where is slug defined?", "-p", "src/utils.py").out
    )


def test_the_configuration_of_a_repository_reads_nothing_outside(
    shop: Repo, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("words of another file\n")
    for setting in ("blame.ignoreRevsFile", "diff.orderFile", "mailmap.file"):
        shop.git("config", setting, str(outside))
    shop.git("config", "diff.orderFile", str(tmp_path / "missing"))
    for command in ("blame src/utils.py", "log -p", "show", "git diff HEAD"):
        done = guard(shop, "shell", command)
        assert (done.code, "another" in done.all) == (0, False), done.all
    done = guard(shop, "shell", "show HEAD:../../outside")
    assert "is outside the repository, which is /repo" in done.out
    assert str(tmp_path) not in done.all


def test_kept_output_that_is_a_link_or_a_pipe(shop: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("words of another file\n")
    folder = records(shop).folder / "cmd-output"
    folder.mkdir(parents=True)
    (folder / "cmd-1.txt").symlink_to(tmp_path / "outside")
    os.mkfifo(folder / "cmd-2.txt")
    (folder / "cmd-3.txt").write_text("kept\n")
    done = guard(shop, "shell", "cat /tmp/cmd-output/*")
    assert "kept" in done.out and "another" not in done.all


@pytest.mark.parametrize(
    "command",
    ["memory forget ²", "memory recent ²", "memory forget " + "9" * 30, "log -n ²"],
)
def test_numbers_that_are_none(shop: Repo, command: str) -> None:
    done = guard(shop, "shell", command)
    assert done.code == 1
    assert "Error:" not in done.out and "[error] " in done.out


def test_a_patch_at_a_terminal_is_made_visible(shop: Repo) -> None:
    shop.commit(
        "Escape",
        {"src/utils.py": "# \x1b[2J\ndef slug(title: str) -> str:\n    return title\n"},
    )
    process = run_at_a_terminal(shop, "ask", RENAME, "--patch")
    assert b"\\x1b[2J" in process and b"\x1b" not in process
    assert b"\x1b" not in run_at_a_terminal(
        shop, "shell", "sed -i s/slug/slugs/ src/utils.py", "--diff"
    )
    piped = shop.guard("ask", RENAME, "--patch")
    assert "\x1b[2J" in piped.out, "for `git apply` it is exact"
    assert shop.try_git("apply", "--check", "-", stdin=piped.out).code == 0


def run_at_a_terminal(repo: Repo, *arguments: str) -> bytes:
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        (GUARD, *arguments),
        cwd=repo.path,
        env=repo.env,
        stdin=other,
        stdout=other,
        stderr=other,
    )
    os.close(other)
    shown = b""
    with suppress(OSError):
        while part := os.read(terminal, 65_536):
            shown += part
    os.close(terminal)
    process.wait(60)
    return shown


@table("kind", ["pipe", "link", "endless", "large"])
def test_task_files_of_anybody(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "task.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "large":
        path.write_bytes(b"#" * 3_000_000)
    else:
        path.symlink_to("/dev/zero" if kind == "endless" else tmp_path / "other.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_task(path)
