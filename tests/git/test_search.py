"""The search in the index and in trees: what is found, what is not read, and how it is bounded."""

import pytest
from examples import table
from repositories import Repo

from cli_guard.git.process import Git
from cli_guard.git.search import Search
from cli_guard.model import Hits

PAGES = ("*.md",)


def found(
    repo: Repo, *words: str, tree: str = "", at: str = "", patterns: tuple[str, ...] = PAGES
) -> Hits:
    return Search(Git(repo.path / at, repo.env), tree).find(words, patterns)


def places(hits: Hits) -> list[tuple[str, int]]:
    return [(hit.path, hit.line) for hit in hits.found]


def test_the_index_is_searched_and_never_the_work_tree(committed: Repo) -> None:
    committed.write("a.md", "use load_all here\n")
    committed.git("add", "a.md")
    committed.write("a.md", "gone\n")
    committed.write("b.md", "use load_all here\n")
    assert places(found(committed, "load_all")) == [("a.md", 1)]
    assert found(committed, "load_all").found[0].text == "use load_all here"


def test_a_commit_is_searched_whatever_is_staged(committed: Repo) -> None:
    commit = committed.commit("A page", {"docs/a.md": "one\nload_all\n"})
    committed.git("rm", "-q", "docs/a.md")
    assert places(found(committed, "load_all", tree=commit)) == [("docs/a.md", 2)]
    assert places(found(committed, "load_all")) == []


@table(
    ("word", "lines"),
    [
        ("load", [1]),
        ("--out", [2]),
        ("a.b", [4]),
        ("(x|y)", [5]),
        ("payload", []),
        ("", []),
        ("two\nlines", []),
    ],
)
def test_words_are_literal_and_whole(committed: Repo, word: str, lines: list[int]) -> None:
    text = "load it\n--out x --output y\nreload aXb\na.b\n(x|y) [z] $\n"
    committed.write("a.md", text)
    committed.git("add", "a.md")
    assert [hit.line for hit in found(committed, word).found] == lines


def test_odd_names_and_other_folders(committed: Repo) -> None:
    for name in ("sub/a b.md", "sub/\u00e4.md", "sub/line\nend.md", ":(top)x.md"):
        committed.write(name, "load_all\n")
    committed.write("sub/a.txt", "load_all\n")
    committed.git("add", "-A")
    expected = [":(top)x.md", "sub/a b.md", "sub/line\nend.md", "sub/\u00e4.md"]
    assert (
        sorted(hit.path for hit in found(committed, "load_all", at="sub").found) == expected
    )


def test_a_configuration_changes_neither_the_form_nor_what_runs(committed: Repo) -> None:
    settings = {
        "grep.column": "true",
        "color.ui": "always",
        "grep.fullName": "false",
        "grep.patternType": "perl",
    }
    settings |= {
        "diff.loud.textconv": "touch ran;cat",
        "submodule.recurse": "true",
        "grep.lineNumber": "false",
    }
    for name, value in settings.items():
        committed.git("config", name, value)
    committed.commit(
        "A page", {".gitattributes": "*.md diff=loud\n", "a.md": "x load_all\n"}
    )
    assert places(found(committed, "load_all")) == [("a.md", 1)]
    assert not (committed.path / "ran").exists()


def test_output_and_names_are_bounded(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed.write("a.md", "load_all and more words\n" * 100_000)
    committed.git("add", "-A")
    hits = found(committed, "load_all")
    assert "1,000,000 bytes" in hits.cut and 10_000 < len(hits.found) < 50_000
    # What is searched depends on the size of the tree, not on how busy the machine is.
    names = len(committed.git("ls-files", "-z"))
    for most, is_searched in ((names, True), (names - 1, False)):
        monkeypatch.setattr("cli_guard.git.search.NAMES_BYTES", most)
        for tree in ("", committed.git("write-tree")):
            hits = found(committed, "load_all", tree=tree)
            assert (hits.found != (), "names of all files" not in hits.cut) == (
                is_searched,
                is_searched,
            )


def test_a_tree_that_is_not_there_is_said(committed: Repo) -> None:
    assert found(committed, "x", tree="0" * 40).cut


def test_binary_files_are_left_out(committed: Repo) -> None:
    committed.write("a.md", b"load_all\0\x01\x02\n")
    committed.git("add", "-A")
    assert places(found(committed, "load_all")) == []
