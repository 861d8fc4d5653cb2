"""Drift in every form of a review, with answers, with other changes, and with input of any kind."""

import pytest
from in_process import guard
from repositories import Repo
from watching import cpu_seconds

from cli_guard.model import Finding
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.review.render.review import Review
from cli_guard.review.request import Commit, Range, Staged, Worktree
from cli_guard.reviewers.drift import MOST_FINDINGS, MOST_NAMES, review
from cli_guard.reviewers.review_input import ReviewInput

CODE = "def load_items(path):\n    return open(path).read()\n"
NEW = CODE.replace("load_items", "read_items")
README = "# Shop\n\nCall `load_items` with a path.\n"


@pytest.fixture
def shop(committed: Repo) -> Repo:
    """A repository with a function and a page that names it."""
    committed.commit("Shop", {"shop/cart.py": CODE, "README.md": README})
    return committed


def drift(done: Review) -> list[Finding]:
    return [
        each.finding
        for each in done.sort_findings()
        if each.finding.rule.startswith("docs-drift-")
    ]


def places(done: Review) -> list[tuple[str, int | None]]:
    return [(each.path, each.line) for each in drift(done)]


def test_a_change_that_is_staged_in_the_work_tree_a_commit_and_a_range(shop: Repo) -> None:
    shop.write("shop/cart.py", NEW)
    assert places(shop.look(Worktree())) == [("README.md", 3)]
    shop.git("add", "-A")
    assert places(shop.look(Staged())) == [("README.md", 3)]
    assert places(shop.look(Staged(), at="shop")) == [("README.md", 3)]
    shop.commit("Rename it")
    assert places(shop.look(Commit("HEAD"))) == [("README.md", 3)]
    shop.commit("Say so", {"README.md": README.replace("load_items", "read_items")})
    assert places(shop.look(Range("HEAD~2", "HEAD~1"))) == [("README.md", 3)]
    assert places(shop.look(Range("HEAD~2", "HEAD"))) == []
    assert places(shop.look(Commit("HEAD~1"))) == [("README.md", 3)]


MOVES = [
    # What is moved where, and the lines that are no longer true.
    (("tests/data", "testdata"), [(".pre-commit-config.yaml", 1), ("README.md", 3)]),
    (("tests/data/cases", "samples/cases"), [("README.md", 3)]),
    (("tests/data/cases/0.txt", "tests/0.txt"), []),
]


@pytest.mark.parametrize(("moved", "stale"), MOVES)
def test_a_folder_that_moved(
    committed: Repo, moved: tuple[str, str], stale: list[tuple[str, int]]
) -> None:
    page = "# Tests\n\nPut a file into `tests/data/cases`.\n\nNot other/tests/data.\n"
    texts: dict[str, str | bytes] = {
        f"tests/data/{folder}/{number}.txt": f"{folder} {number}\n" * 3
        for folder in ("cases", "more")
        for number in range(3)
    }
    texts |= {"README.md": page, ".pre-commit-config.yaml": "exclude: ^(x/|tests/data/)\n"}
    committed.commit("Have tests", texts)
    old, new = moved
    (committed.path / new).parent.mkdir(parents=True, exist_ok=True)
    committed.git("mv", old, new)
    assert places(committed.look(Staged())) == stale
    committed.commit("Move them")
    assert places(committed.look(Commit("HEAD"))) == stale


def test_a_link_is_read_as_its_text(committed: Repo) -> None:
    said = "It needs [Go](https://go.example/) version [1.25](https://go.example/1.25) or newer"
    other = "See [Go 1.25 as we use it](https://go.example/1.25), and https://go.example/Go/1.25"
    page = f"# Shop\n\n{said}.\n\n{other}.\n"
    committed.commit("Shop", {"go.mod": "module a\n\ngo 1.25\n", "README.md": page})
    committed.write("go.mod", "module a\n\ngo 1.26\n")
    committed.git("add", "-A")
    (found,) = drift(committed.look(Staged()))
    assert found.line == 3 and "[1.26](https://go.example/1.25)" in str(found.suggestion)


def test_a_push(shop: Repo) -> None:
    shop.git("init", "-q", "--bare", "../remote")
    shop.git("remote", "add", "origin", "../remote")
    shop.git("push", "-q", "origin", "main")
    base = shop.git("rev-parse", "HEAD")
    tip = shop.commit("Rename it", {"shop/cart.py": NEW})
    line = f"refs/heads/main {tip} refs/heads/main {base}\n"
    done = guard(shop, "hook", "pre-push", "origin", "../remote", stdin=line)
    assert done.code == 0 and "README.md:3" in done.out and "`read_items`" in done.out


def test_a_patch_and_a_snapshot_say_that_no_document_was_read(shop: Repo) -> None:
    shop.write("shop/cart.py", NEW)
    patch = shop.git("diff") + "\n"
    done = guard(shop, "review", "--patch", "-", stdin=patch)
    assert "docs-drift" not in done.out and done.code == 0
    before = {"a.py": CODE}
    after = {"a.py": NEW}
    subject = ReviewInput(
        "changes", changes_between(before, after), SnapshotContents(before, after)
    )
    (skipped,) = review(subject).skipped
    assert skipped.reason == "drift: only a repository has them"


def test_all_that_is_false_in_a_line_is_one_finding_and_one_patch(shop: Repo) -> None:
    code = "def keep_items(items):\n    return items\n"
    shop.commit(
        "More",
        {"shop/kept.py": code, "README.md": "Call `load_items`, then `keep_items`.\n"},
    )
    shop.write("shop/cart.py", NEW)
    shop.write("shop/kept.py", code.replace("keep_items", "save_items"))
    shop.git("add", "-A")
    (found,) = drift(shop.look())
    assert "`load_items` is now `read_items`" in found.message
    assert "`keep_items` is now `save_items`" in found.message
    assert (
        found.suggestion and "\n+Call `read_items`, then `save_items`." in found.suggestion
    )


def test_a_line_can_be_answered_where_it_is_and_a_finding_says_its_cause(
    shop: Repo,
) -> None:
    shop.write("shop/cart.py", NEW)
    shop.git("add", "-A")
    (found,) = drift(shop.look())
    assert "`load_items` is now `read_items` (shop/cart.py)" in found.message
    assert found.suggestion and "+Call `read_items` with a path." in found.suggestion
    answer = "<!-- cli-guard: ignore[docs-drift-name] the page is of the last version -->\n"
    shop.git("reset", "-q", "--hard")
    shop.commit("Answer", {"README.md": README.replace("Call", answer + "Call")})
    shop.write("shop/cart.py", NEW)
    shop.git("add", "-A")
    done = shop.look()
    assert drift(done) == [] and [each.by for each in done.suppressed] == ["inline"]


def test_what_the_change_touches_itself_is_not_told(shop: Repo) -> None:
    shop.write("shop/cart.py", NEW)
    shop.write("README.md", README.replace("with a path", "with the path"))
    shop.git("add", "-A")
    assert drift(shop.look()) == []


def test_few_findings_are_listed_and_the_others_counted(shop: Repo) -> None:
    pages = {f"docs/p{number}.md": README for number in range(9)}
    shop.commit("Pages", pages)
    shop.write("shop/cart.py", NEW)
    shop.git("add", "-A")
    done = shop.look()
    assert len(drift(done)) == MOST_FINDINGS
    reason = f"drift: {MOST_FINDINGS} of 10 lines are listed"
    assert any(each.reason == reason for each in done.skipped)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("a.py", "def broken(:\n  x = (\n" + CODE, "def broken(:\n  x = (\n" + NEW),
        ("a.py", CODE.encode() + b"# \xff\xfe \xe4\n", NEW.encode() + b"# \xff\xfe \xe4\n"),
        ("a.py", ("\ufeff" + CODE).encode("utf-16"), ("\ufeff" + NEW).encode("utf-16")),
        ("package.json", '{"scripts": [1], "exports": "x"}', '{"scripts": '),
        ("x.yaml", "a:\n" * 3 + "".join(f"{' ' * n}a:\n" for n in range(400)), "a: 1\n"),
        (
            "x.sc.scala",
            "".join(f"{' ' * n}def f{n} =\n" for n in range(300)),
            "def g = 1\n",
        ),
        ("min.js", "function a(b){return b};" * 5_000, "function c(b){return b};" * 5_000),
        ("Makefile", "a" * 1_000_000 + ":\n", "b:\n"),
        ("a.sh", "case $1 in\n" + "  --x) ;;\n" * 20_000, "exit 0\n"),
    ],
)
def test_any_input_is_reviewed_or_named(
    committed: Repo, name: str, old: str | bytes, new: str | bytes
) -> None:
    committed.commit(
        "Before",
        {name: old, "README.md": README, "shop.py": CODE.replace("items", "prices")},
    )
    committed.write(name, new)
    committed.write("shop.py", CODE.replace("load_items", "read_prices"))
    committed.git("add", "-A")
    done = committed.look()
    # A manifest that does not parse asks, and nothing else stops.
    assert {
        each.finding.rule for each in done.findings if each.disposition != "advise"
    } <= {"policy-not-reviewed"}


def test_many_names_long_lines_and_long_pages_take_no_long_time(committed: Repo) -> None:
    old = "".join(f"def load_part_{number}(x):\n    return x\n" for number in range(3_000))
    pages = {
        "docs/long.md": "load_part_1 " * 90_000 + "\n",
        "docs/lines.md": "see `load_part_2` and words\n" * 200_000,
        "docs/quotes.md": "`" * 100_000 + "\n" + "(" * 100_000 + " load_part_3\n",
        "docs/dots.md": "load_part_4 "
        + "a." * 300_000
        + "\n"
        + "a/" * 300_000
        + "\n"
        + "make -a " * 50_000
        + "\n",
        "docs/blanks.md": "load_part_5 Python"
        + " " * 500_000
        + "\n"
        + "." * 300_000
        + "\n",
        "calls.py": "option(\n" * 50_000 + "x.option(" * 20_000 + "\n" + "# load_part_6\n",
    }
    committed.commit("Before", {"parts.py": old, **pages})
    committed.write("parts.py", "def one(x):\n    return x\n")
    committed.write(
        "calls.py", "option(\n" * 49_999 + "x.option(" * 20_000 + "\n" + "# load_part_6\n"
    )
    committed.git("add", "-A")
    with cpu_seconds(30):
        done = committed.look()
    reason = f"drift: searched for {MOST_NAMES} of "
    assert any(each.reason.startswith(reason) for each in done.skipped)


def test_control_characters_and_keys_in_a_page_are_not_shown(shop: Repo) -> None:
    key = "ghp_" + "x7Kq2mZr9Tb4Wn8Yc3Vd6Hf1Jg5LsPaQe0R"
    shop.commit("Page", {"docs/a.md": f"Call `load_items` \x1b[31m with {key} now.\n"})
    shop.write("shop/cart.py", NEW)
    shop.git("add", "-A")
    done = guard(shop, "review", "--staged")
    assert "docs/a.md:1" in done.out
    assert "\x1b[31m" not in done.out and key not in done.out
