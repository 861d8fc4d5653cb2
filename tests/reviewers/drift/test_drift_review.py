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


LINKS = [
    # A page, what the change does to it, and the lines of others that are false afterwards.
    ("README.md", "[x](docs/guide.md)", "move", True),
    ("docs/more.md", "[x](./guide)", "move", True),
    ("docs/more.md", "[x]: guide.md 'A title'", "move", True),
    ("docs/more.rst", "Read :doc:`guide` first.", "move", True),
    ("docs/more.rst", "Read :doc:`the guide <guide>`.", "move", True),
    ("docs/more.adoc", "See xref:guide.md[the guide].", "move", True),
    ("README.md", '<a href="docs/guide.md#set-up">x</a>', "move", True),
    ("README.md", "[x](https://host.example/docs/guide.md)", "move", False),
    ("README.md", "[x](other/guide)", "move", False),
    ("README.md", "Read the guide.", "move", False),
    ("README.md", "[x](docs/guide.md#set-up)", "rename heading", True),
    ("docs/more.md", "[x](guide.html#set-up)", "rename heading", True),
    ("README.md", "[x](docs/guide.md#use-it)", "rename heading", False),
    ("README.md", "[x](docs/other.md#set-up)", "rename heading", False),
    ("README.md", "[x](docs/guide.md#set-up)", "change case", False),
]


def test_links_to_pages_and_headings_that_move(committed: Repo) -> None:
    guide = "# Guide\n\n## Set up\n\nFirst text.\n\n## Use it\n\nMore text.\n"
    for number, (path, said, done, is_false) in enumerate(LINKS):
        committed.git("rm", "-rqf", "--ignore-unmatch", ".")
        committed.commit(
            f"Begin {number}", {"docs/guide.md": guide, path: f"Text.\n\n{said}\n"}
        )
        if done == "move":
            committed.git("mv", "docs/guide.md", "docs/tour.md")
        elif done == "rename heading":
            committed.write("docs/guide.md", guide.replace("Set up", "Install"))
        else:
            committed.write("docs/guide.md", guide.replace("Set up", "Set Up"))
        committed.git("add", "-A")
        told = [(path, 3)] if is_false else []
        assert places(committed.look(Staged())) == told, (said, done)


IMPORTS = [
    # A file that imports, and whether the import is told when `is_split` and, then, its module get other names.
    ("src/shelf/a.py", "from shelf.brackets import (\n    is_split,\n)\n", True, True),
    ("src/shelf/a.py", "from .brackets import is_split as split\n", True, True),
    ("src/shelf/a.py", "from . import brackets\n", False, True),
    ("src/shelf/a.py", "import shelf.brackets\n", False, True),
    ("src/shelf/a.py", "from .brackets import other\n", False, True),
    ("src/shelf/a.py", "from other.brackets import is_split\n", False, False),
    (
        "src/shelf/a.py",
        "try:\n    from .brackets import is_split\nexcept ImportError:\n    pass\n",
        False,
        False,
    ),
]


def test_imports_that_are_left(committed: Repo) -> None:
    code = "def is_split(x):\n    return x\n\n\ndef other(x):\n    return [x, x]\n"
    for path, text, with_name, with_module in IMPORTS:
        committed.git("rm", "-rqf", "--ignore-unmatch", ".")
        before = {"src/shelf/brackets.py": code, path: text, "src/shelf/__init__.py": ""}
        committed.commit(f"Begin with {text}", before)
        committed.write("src/shelf/brackets.py", code.replace("is_split", "is_cut"))
        committed.git("add", "-A")
        assert bool(places(committed.look(Staged()))) is with_name, text
        committed.write("src/shelf/brackets.py", code)
        committed.git("add", "-A")
        committed.git("mv", "src/shelf/brackets.py", "src/shelf/braces.py")
        assert bool(places(committed.look(Staged()))) is with_module, text


def test_imports_of_what_is_ignored_now_are_of_what_a_program_makes(
    committed: Repo,
) -> None:
    user = 'import { list } from "./list.gen";\n'
    committed.commit(
        "Begin", {"src/list.gen.ts": "export const list = 1;\n", "src/a.ts": user}
    )
    committed.git("rm", "-q", "src/list.gen.ts")
    assert places(committed.look(Staged())) == [("src/a.ts", 1)]
    committed.write(".gitignore", "*.gen.ts\n")
    committed.git("add", "-A")
    assert places(committed.look(Staged())) == []


def test_one_function_of_several_with_a_name_is_not_gone(committed: Repo) -> None:
    code = "auto format_as(film f) -> int {\n  return f.kind;\n}\n"
    page = "# Shop\n\nUse `format_as` for a type of yours.\n"
    committed.commit("Begin", {"src/film.h": f"int a;\n{code}", "README.md": page})
    committed.write("src/film.h", "int a;\n")
    committed.git("add", "-A")
    assert places(committed.look(Staged())) == [("README.md", 3)]
    committed.write("src/show.h", "int show(film f) {\n  return format_as(f);\n}\n")
    committed.git("add", "-A")
    assert places(committed.look(Staged())) == []


CAUSES = [
    # A file before and after, a page, and whether its third line is told.
    (
        "a.go",
        'const Weight = "shop.example/hookWeight"\n',
        'const Weight = "shop.example/hook-weight"\n',
        'Set `shop.example/hookWeight: "5"` or\n"shop.example/hookWeight"',
        True,
    ),
    ("a.py", "EXIT_BROKEN = 3\n", "EXIT_BROKEN = 66\n", "It exits with code 3.", True),
    ("a.py", "WORDS_BROKEN = 3\n", "WORDS_BROKEN = 66\n", "It exits with code 3.", False),
    (
        "a.py",
        "def load_all(path, mode):\n    return path\n",
        "def load_all(source, mode):\n    return source\n",
        "`load_all(path, mode)` loads.",
        True,
    ),
    (
        "a.py",
        "def load_all(path, mode):\n    return path\n",
        "def load_all(source, mode):\n    return source\n",
        "`load_all(a.path, 'path')` loads.",
        False,
    ),
    ("Dockerfile", "FROM x\nEXPOSE 8080\n", None, "It listens on port 8080.", False),
    ("a/hello.py", "print(1)\n", None, "Create a file `a/hello.py` first.", False),
    ("a/hello.py", "print(1)\n", None, "Run `a/hello.py` first.", True),
    (
        "Cargo.toml",
        '[package]\nname = "shop"\n\n[features]\nquick-sort = []\n',
        '[package]\nname = "shop"\n',
        "Run `cargo run -p shop --features quick-sort`.",
        True,
    ),
    (
        "Cargo.toml",
        '[package]\nname = "shop"\n\n[features]\nquick-sort = []\n',
        '[package]\nname = "shop"\n',
        "Run `cargo run -p shop-bench --features quick-sort`.",
        False,
    ),
]


def test_causes_of_other_kinds(committed: Repo) -> None:
    for path, before, after, said, is_false in CAUSES:
        committed.git("rm", "-rqf", "--ignore-unmatch", ".")
        said = said.replace("\n", " ")
        committed.commit("Begin", {path: before, "README.md": f"# Shop\n\n{said}\n"})
        if after is None:
            committed.git("rm", "-q", path)
        else:
            committed.write(path, after)
        committed.git("add", "-A")
        told = [("README.md", 3)] if is_false else []
        assert places(committed.look(Staged())) == told, (path, said)
