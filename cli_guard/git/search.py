"""Search the index or a tree for words (git-grep(1)), not the work tree."""

import re
from collections.abc import Iterable
from functools import cached_property

from cli_guard.errors import GitError
from cli_guard.git.process import Git
from cli_guard.model import Hit, Hits
from cli_guard.repository.entries import decode_path

# Whole words, no text conversion, no submodule; and the form of the lines, which settings may change.
OPTIONS = (
    *("-z", "-n", "-I", "-E", "-w", "--no-textconv", "--no-recurse-submodules"),
    *("--no-column", "--no-color", "--full-name", "-f", "-"),
)
OUTPUT_BYTES = 1_000_000
# The names of some 40,000 files: Git reads these in about a second.
NAMES_BYTES = 2_000_000
# Git before 2.38 prints a colon after the number in spite of `-z`.
LINE = re.compile(rb"([^\0]+)\0(\d+)[\0:]([^\n]*)\n")
ESCAPED = re.compile(r"[][\\.{}()*+?^$|]")


class Search:
    """The search of one commit or tree ("": the index), whose names are listed once."""

    def __init__(self, git: Git, tree: str) -> None:
        self._git = git
        self._tree = tree

    def find(
        self, words: Iterable[str], patterns: tuple[str, ...], *, alone: bool = False
    ) -> Hits:
        """Return the lines that contain one of the words.

        `patterns` are path specifications (gitglossary(7), "pathspec") with `*`, never text of the repository.
        `alone`: the words themselves in place of the lines, each as often as it is there, in any case.
        """
        # One expression: for each of many fixed strings Git would go through every line again.
        asked = "|".join(
            ESCAPED.sub(r"\\\g<0>", word) for word in words if word and "\n" not in word
        )
        if not asked:
            return Hits()
        options = (*(("-o", "-i") if alone else ()), *OPTIONS)
        limits = (self._tree or "--cached", "--", *(f":(top){each}" for each in patterns))
        where = ("--no-literal-pathspecs", "grep", *options, *limits)
        stdin = asked.encode("utf-8", "surrogateescape")
        try:
            if self._has_too_many_names:
                return Hits(cut=f"the names of all files are over {NAMES_BYTES:,} bytes")
            # exit code 1: no line matches
            pieces = self._git.pieces(*where, limit=OUTPUT_BYTES, stdin=stdin, codes=(0, 1))
            out = b"".join(pieces)
        except GitError as error:
            return Hits(cut=str(error))
        start = len(self._tree) + 1 if self._tree else 0
        lines = (
            (decode_path(path)[start:], int(n), text.decode("utf-8", "replace"))
            for path, n, text in LINE.findall(out[: out.rfind(b"\n") + 1])
        )
        cut = (
            f"more than {OUTPUT_BYTES:,} bytes of lines match"
            if len(out) > OUTPUT_BYTES
            else ""
        )
        return Hits(tuple(Hit(*line) for line in lines), cut)

    @cached_property
    def _has_too_many_names(self) -> bool:
        in_tree = ("ls-tree", "-r", "-z", "--name-only", self._tree)
        listing = in_tree if self._tree else ("ls-files", "-z")
        return self._git.run_bounded(*listing, limit=NAMES_BYTES)[1]
