"""`cli-guard ask` on real repositories: answers, proposals, and the way from a patch to the work tree and back."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from in_process import approve, call, damaged, guard, records, waiting
from repositories import Done, Repo, key

FILES: dict[str, str | bytes] = {
    "README.md": "# Shop\n\nA shop.\n",
    "pyproject.toml": '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "Makefile": "lint:\n\truff check .\n",
    "src/config.py": 'import os\n\nDATABASE_URL = os.environ["DATABASE_URL"]\n'
    'DB_POOL_SIZE = int(os.environ.get("DB_POOL_SIZE", "5"))\n',
    "src/utils.py": "def slug(title: str) -> str:\n    return title.lower()\n",
    "src/page.py": "from src.utils import slug\n\n\ndef address(title: str) -> str:\n    return slug(title)\n",
    "tests/test_utils.py": "from src.utils import slug\n\n\ndef test_slug() -> None:\n    assert slug('A')\n",
}
RENAME = "Rename slug to slugify"


@pytest.fixture
def shop(committed: Repo) -> Repo:
    committed.commit("Shop", dict(FILES))
    return committed


def ask(repo: Repo, request: str, *options: str) -> Done:
    with repo.unchanged():
        return guard(repo, "ask", request, *options)


def proposed(repo: Repo, request: str = RENAME) -> str:
    done = ask(repo, request)
    assert done.code == 3, done.all
    [found] = waiting(repo)
    assert f"cli-guard approve {found}" in done.out
    return found


def test_answers_from_the_index(shop: Repo) -> None:
    done = ask(shop, "Where is database configuration defined?")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("src/config.py:")
    assert "DB_POOL_SIZE" in done.out


def test_three_worlds(shop: Repo) -> None:
    shop.write("src/config.py", "KAFKA_URL = 'staged'\n")
    shop.git("add", "-A")
    shop.write("src/config.py", "RABBIT_URL = 'lying there'\n")
    where = "Where is the {} url?"
    assert "src/config.py:1" in ask(shop, where.format("kafka")).out
    assert "src/config.py:1" in ask(shop, where.format("rabbit"), "--worktree").out
    assert "src/config.py:3" in ask(shop, where.format("database"), "--rev", "HEAD").out
    assert "Not found" in ask(shop, "Where is RABBIT_URL set?").out


def test_a_path_narrows(shop: Repo) -> None:
    assert (
        "Not found"
        in ask(shop, "Where is the database configuration?", "--path", "tests").out
    )
    assert (
        "src/config.py"
        in ask(shop, "Where is the database configuration?", "-p", "src").out
    )
    below = call(
        shop.path / "src",
        shop.env,
        "ask",
        "Where is the database configuration?",
        "-p",
        "config.py",
    )
    assert "src/config.py" in below.out
    for path, says in (("nope", "no text file nope"), ("../..", "outside the repository")):
        done = ask(shop, "Where is it?", "--path", path)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert says in done.err


def test_json_is_the_state(shop: Repo) -> None:
    done = ask(shop, RENAME, "--format", "json")
    state = json.loads(done.out)
    assert (done.code, state["status"], state["task_type"]) == (
        3,
        "needs_review",
        "refactor_plan",
    )
    assert state["requires_human_review"] is True
    for name in (
        "final_output",
        "plan",
        "tool_results",
        "blocked_actions",
        "review_reason",
        "action_log",
    ):
        assert state[name]
    assert state["review_id"] in waiting(shop)


EVERY_KIND = {
    "repo_qna": "Where is database configuration defined?",
    "doc_generation": "Document slug in src/utils.py",
    "command_help": "How do I lint it?",
    "test_workflow": "Which tests cover src/utils.py?",
    "refactor_plan": RENAME,
    "code_change": "Add a cache to address",
    "change_review": "Review my change",
    "unsupported": "Deploy it to production",
}


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_every_kind_of_request_in_every_format(shop: Repo, kind: str, staged: bool) -> None:
    if staged:
        shop.write(
            "src/new.py", "import os\n\n\ndef run(command):\n    os.system(command)\n"
        )
        shop.git("add", "-A")
    data = json.loads(ask(shop, EVERY_KIND[kind], "--format", "json").out)
    assert data["task_type"] == kind and data["final_output"]
    for options in ((), ("--explain",), ("--patch",)):
        done = ask(shop, EVERY_KIND[kind], *options)
        assert done.code in (0, 1, 2, 3) and "internal error" not in done.all, done.all


def test_explain_shows_plan_gate_and_log(shop: Repo) -> None:
    out = ask(shop, "Which command runs the linter?", "--explain").out
    assert "make lint" in out
    assert "plan:\n  advise_command [read_only]" in out
    assert "policy_gate: tool=suggest_command, decision=allow" in out


def test_a_patch_alone_is_for_git(shop: Repo) -> None:
    patch = ask(shop, RENAME, "--patch")
    assert patch.out.startswith("diff --git ")
    shop.git("apply", "--check", "-", stdin=patch.out)
    none = ask(shop, "Where is the slug?", "--patch")
    assert (none.code, none.out, len(none.err.splitlines())) == (2, "", 1)


def test_a_repair_is_shown_and_written_after_an_approval(shop: Repo) -> None:
    stale = '    """Make a slug.\n\n    Args:\n        name: the title\n    """\n'
    text = f"def slug(title: str) -> str:\n{stale}    return title.lower()\n"
    shop.commit("Document it", {"src/utils.py": text})
    shown = ask(shop, "Document slug in src/utils.py")
    assert (shown.code, waiting(shop)) == (0, [])
    assert "+        title: the title" in shown.out
    found = proposed(shop, "Write the corrected docstrings into src/utils.py")
    assert approve(shop, found).code == 0
    assert "        title: the title" in (shop.path / "src/utils.py").read_text()


def test_approved_written_and_taken_back(shop: Repo) -> None:
    found = proposed(shop)
    index = shop.git("write-tree")
    done = approve(shop, found[:6])
    assert (done.code, done.err) == (0, "")
    assert "+def slugify(title: str) -> str:" in done.out, "the person sees what is written"
    assert "def slugify(" in (shop.path / "src/utils.py").read_text()
    assert "slug(" not in (shop.path / "src/page.py").read_text()
    assert shop.git("write-tree") == index, "the index is the user's own"
    assert waiting(shop) == []
    back = guard(shop, "undo")
    assert (back.code, back.err) == (0, "")
    assert shop.git("status", "--porcelain") == ""
    again = guard(shop, "undo")
    assert (again.code, len(again.err.splitlines())) == (2, 1)
    events = [entry["event"] for entry in records(shop).audit.entries()]
    assert events == ["ask", "approve", "undo"]
    assert records(shop).audit.verify().problem is None


def test_in_another_process(shop: Repo) -> None:
    found = shop.guard("ask", RENAME, "--format", "json").json["review_id"]
    assert shop.guard("approve", found).code == 2, "not without a terminal"
    assert found in shop.guard("pending").out
    assert approve(shop, found).code == 0


@pytest.mark.parametrize("answer", ["no", ""])
def test_no_is_no(shop: Repo, answer: str) -> None:
    found = proposed(shop)
    with shop.unchanged():
        assert approve(shop, found, answer=answer).code == 1
    assert waiting(shop) == [found]


def test_rejected(shop: Repo) -> None:
    found = proposed(shop)
    with shop.unchanged():
        done = guard(shop, "approve", "--reject", found, "--reason", "the old name is fine")
    assert (done.code, done.err) == (0, "")
    assert waiting(shop) == []
    assert [entry["event"] for entry in records(shop).audit.entries()] == ["ask", "reject"]
    assert "no pending review matches" in approve(shop, found).err


def test_a_review_of_a_commit_can_be_rejected_too(committed: Repo) -> None:
    from in_process import RISKY, stage

    stage(committed, {"reports.py": RISKY})
    assert guard(committed, "hook", "pre-commit").code == 3
    [found] = waiting(committed)
    assert guard(committed, "approve", "--reject", found).code == 0
    assert guard(committed, "hook", "pre-commit").code == 3, "nothing was approved"


def test_ten_wait_and_none_serves_another(shop: Repo) -> None:
    ids = []
    for number in range(10):
        state = json.loads(
            ask(shop, f"Rename slug to slug{number}", "--format", "json").out
        )
        ids.append(state["review_id"])
    assert len(set(ids)) == 10
    assert sorted(waiting(shop)) == sorted(ids)
    assert approve(shop, ids[7]).code == 0
    assert "def slug7(" in (shop.path / "src/utils.py").read_text()
    late = approve(shop, ids[3])
    assert (late.code, len(late.err.splitlines())) == (2, 1)
    assert "changed since" in late.err
    assert "def slug7(" in (shop.path / "src/utils.py").read_text()
    shop.git("add", "-A")
    assert "changed since" in approve(shop, ids[3]).err


def test_what_is_not_staged_is_never_touched(shop: Repo) -> None:
    shop.write("src/page.py", str(FILES["src/page.py"]) + "# mine\n")
    done = ask(shop, RENAME)
    assert done.code == 3
    assert "src/page.py has unstaged changes" in done.out
    assert waiting(shop) == []


def test_it_waits_two_weeks(shop: Repo) -> None:
    found = proposed(shop)
    path = records(shop).folder / "waiting" / f"{found}.json"
    path.write_text(
        path.read_text().replace(json.loads(path.read_text())["at"][:4], "2020")
    )
    with shop.unchanged():
        done = approve(shop, found)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "14 days" in done.err
    assert "no pending reviews" in guard(shop, "pending").out


@pytest.mark.parametrize("damage", ["missing", "garbage", "locked"])
def test_a_checkpoint_that_cannot_be_read(shop: Repo, damage: str) -> None:
    found = proposed(shop)
    path = records(shop).checkpoint(found)
    with damaged(path, damage), shop.unchanged():
        done = approve(shop, found)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert guard(shop, "approve", "--reject", found).code == 0
    assert proposed(shop) == found
    assert approve(shop, found).code == 0


def test_a_secret_is_never_shown(shop: Repo) -> None:
    shop.commit(
        "Leak",
        {
            "src/utils.py": f'KEY = "{key()}"\ndef slug(title: str) -> str:\n    return title\n'
        },
    )
    for options in ((), ("--format", "json"), ("--patch",), ("--explain",)):
        assert key() not in ask(shop, RENAME, *options).all
    [found] = waiting(shop)
    done = approve(shop, found)
    assert done.code == 0
    assert key() not in done.all
    text = (shop.path / "src/utils.py").read_text()
    assert key() in text and "def slugify(" in text, "what is written is exact"


@pytest.mark.parametrize(
    "request_",
    [
        "",
        "   ",
        "?",
        "x",
        "\x1b[2J\x07 where is \x1b]0;title\x07 the slug",
        "Wo ist die Datenbank konfiguriert?",
        "データベースの設定はどこですか",
        "Where is src/nope.py?",
        "Show me ../../etc/passwd",
        "caf\udce9 where?",
        "Rename slug to slugify but do not change any file",
        "a" * 100_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_any_request_is_answered_in_a_controlled_way(shop: Repo, request_: str) -> None:
    done = ask(shop, request_)
    assert done.code in (0, 1, 3), done.all
    assert "Traceback" not in done.all
    assert "\x1b" not in done.all
    assert "root:" not in done.all
    assert done.out.strip()


def test_a_megabyte_of_text(shop: Repo) -> None:
    with shop.unchanged():
        done = guard(
            shop,
            "ask",
            "-",
            stdin="Where is the database configuration? " + "bla " * 260_000,
        )
    assert done.code in (0, 1)
    huge = guard(shop, "ask", "-", stdin="x" * 5_000_000)
    assert (huge.code, len(huge.err.splitlines())) == (2, 1)


def test_nothing_committed_and_nothing_staged(repo: Repo) -> None:
    done = ask(repo, "Where is it?")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "--worktree" in done.err
    repo.write("new.py", "DATABASE = 1\n")
    assert "new.py:1" in ask(repo, "Where is the database?", "--worktree").out
    assert "there is no commit 'HEAD'" in ask(repo, "Where is it?", "--rev", "HEAD").err


def test_binary_files_only(repo: Repo) -> None:
    repo.commit("Pictures", {"a.png": b"\x89PNG\0\0\0", "b.bin": bytes(range(256))})
    done = ask(repo, "Where is the database?")
    assert (done.code, done.out) == (1, "failed: no file here holds text\n")


def test_outside_a_repository(tmp_path: Path, isolated: dict[str, str]) -> None:
    (tmp_path / "plain").mkdir()
    done = guard(Repo(tmp_path / "plain", isolated), "ask", "Where is it?")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_bare_repository_answers_and_writes_nothing(shop: Repo) -> None:
    bare = shop.path.parent / "bare.git"
    subprocess.run(
        ("git", "clone", "-q", "--bare", str(shop.path), str(bare)),
        check=True,
        env=shop.env,
    )
    done = guard(
        Repo(bare, shop.env),
        "ask",
        "Where is database configuration defined?",
        "--rev",
        "HEAD",
    )
    assert done.code == 0
    assert "src/config.py" in done.out


def test_the_same_answer_twice(shop: Repo) -> None:
    for request in ("Where is the slug made?", RENAME, "Which tests cover src/utils.py?"):
        assert ask(shop, request).out == ask(shop, request).out


def test_review_is_the_review(shop: Repo) -> None:
    from in_process import RISKY, stage

    stage(shop, {"reports.py": RISKY})
    done = ask(shop, "Review my staged changes")
    assert done.code == 3
    assert "code-python-shell" in done.out


RISKY = "import os\n\n\ndef run(command):\n    os.system(command)\n"


@pytest.mark.parametrize(
    ("request_", "says", "code"),
    [
        ("Review my last commit", "Rename the shop\n  files: README.md", 0),
        ("anything risky in HEAD~1?", "src/new.py:5  code-python-os-command", 3),
        ("review the last two commits", "Run a command\n  files: src/new.py", 3),
        ("Review what changed since HEAD~2", "Run a command\n  files: src/new.py", 3),
        ("review HEAD~2..HEAD~1", "Run a command\n  files: src/new.py", 3),
        ("Review my branch", "Run a command\n  files: src/new.py", 3),
        ("Review my change", "what differs from HEAD in the work tree", 0),
        ("Review the commit HEAD~9", "there is no commit 'HEAD~9'", 2),
    ],
)
def test_a_review_of_what_the_words_say(
    shop: Repo, request_: str, says: str, code: int
) -> None:
    shop.git("switch", "-qc", "work")
    shop.commit("Run a command", {"src/new.py": RISKY})
    shop.commit("Rename the shop", {"README.md": "# The shop\n"})
    shop.write("README.md", "# My shop\n")
    done = ask(shop, request_)
    assert says in done.all and done.code == code, done.all


def test_running_tests_waits_for_a_person(shop: Repo) -> None:
    """What an approval of it does is in test_runs.py."""
    done = ask(shop, "Run the tests of src/utils.py")
    assert done.code == 3
    assert "Left to you" not in done.out
    assert "tests/test_utils.py" in done.out
    [found] = waiting(shop)
    assert f"cli-guard approve {found}" in done.out


def test_a_state_folder_that_cannot_be_written(shop: Repo) -> None:
    (shop.path / ".git" / "cli-guard").write_text("in the way")
    done = ask(shop, RENAME)
    assert done.code == 2
    assert "cli-guard should be a folder: remove it" in done.err
    assert len(done.err.splitlines()) == 1


def test_a_linked_work_tree(shop: Repo) -> None:
    linked = shop.path.parent / "linked"
    shop.git("worktree", "add", "-q", str(linked), "-b", "other")
    other = Repo(linked, shop.env)
    found = json.loads(ask(other, RENAME, "--format", "json").out)["review_id"]
    assert found in waiting(shop), "linked work trees share what waits"
    assert approve(other, found).code == 0
    assert "def slugify(" in (linked / "src/utils.py").read_text()
    assert "def slug(" in (shop.path / "src/utils.py").read_text()
    shutil.rmtree(linked)


def test_hostile_names_and_content(committed: Repo) -> None:
    committed.write(b"caf\xe9 database.py", "DATABASE_URL = 1\n")
    committed.write("new\nline database.py", "DATABASE_URL = 2\n")
    committed.write("deep.py", "(" * 20_000 + "database" + ")" * 20_000)
    committed.write("long.js", "var database=" + "x" * 2_000_000)
    os.symlink("/etc/passwd", committed.path / "database.txt")
    committed.git("add", "-A")
    done = ask(committed, "Where is the database url?")
    assert done.code == 0
    assert "root:" not in done.out
    assert all(line.isprintable() for line in done.out.splitlines())


def test_an_answer_is_remembered(shop: Repo) -> None:
    ask(shop, "Where is database configuration defined?")
    found = guard(shop, "shell", "memory search database configuration")
    assert "src/config.py:3" in found.out


def test_the_reason_of_a_suppression_is_remembered(shop: Repo) -> None:
    from in_process import stage

    marked = f'TOKEN = "{key()}"  # cli-guard: ignore[secret-aws-access-key] a key of the fixture server\n'
    stage(shop, {"fixture.py": marked})
    assert "policy-suppression-new" in guard(shop, "hook", "pre-commit").out
    found = guard(shop, "shell", "memory search fixture server")
    assert "is ignored: a key of the fixture server" in found.out
    assert key() not in found.all
