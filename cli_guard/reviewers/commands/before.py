"""What a file was before the change: its commands that ran are not new; copies of packages are not ours."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import accumulate

from cli_guard.model import FileChange
from cli_guard.repository.between import LinesBefore
from cli_guard.reviewers.commands import judging
from cli_guard.reviewers.commands.extract import Snippet, Unreadable, family_of, snippets
from cli_guard.reviewers.review_input import ReviewInput

# The list that a package manager keeps of what it copied into a folder, and how it names a package there.
COPIES = {
    "vendor": (("modules.txt", "# {} v"), ("composer/installed.json", '"{}"')),
    "node_modules": ((".package-lock.json", '"node_modules/{}"'),),
}


class Before:
    """The commands of one file before the change, read at the first question that the added lines do not answer."""

    def __init__(self, subject: ReviewInput, change: FileChange) -> None:
        self._subject = subject
        self._change = change

    @cached_property
    def is_copy(self) -> bool:
        """Whether the file is of a package that its manager copied here: nothing of ours runs its build files."""
        folders = self._change.path.split("/")[:-1]
        for at, folder in enumerate(folders):
            for name, form in COPIES.get(folder, ()):
                listed = self._subject.text_at("/".join((*folders[: at + 1], name))) or ""
                packages = accumulate(folders[at + 1 :], "{}/{}".format)
                if any(form.format(each) in listed for each in packages):
                    return True
        return False

    def is_new(self, snippet: Snippet) -> bool:
        """Return whether the change touches a snippet for a shell, or whether there was none such on its lines."""
        if not _is_for_shell(snippet):
            return False
        return self._is_touched(snippet) or self._place(snippet) not in self._places

    def new_parts(self, snippet: Snippet) -> Iterator[Snippet]:
        """Yield a snippet in parts that the engine accepts, without those of a long one that ran before."""
        for part in _parts(snippet):
            if part is snippet or self._is_touched(part) or not self._ran(part):
                yield part

    def did(self, act: judging.NotableEffect) -> bool:
        """Return whether an act off the added lines was one before, in a command that ran."""
        return _key(act, self._line(act.first)) in self._acts

    def _is_touched(self, snippet: Snippet) -> bool:
        return self._text is None or any(
            line in self._change.added for line in snippet.lines
        )

    def _place(self, snippet: Snippet) -> tuple[int, str]:
        return self._line(snippet.lines[0]), snippet.text

    def _ran(self, part: Snippet) -> bool:
        first = part.lines[0]
        last = part.lines[-1]
        is_whole = self._line(last) - self._line(first) == last - first
        return is_whole and self._line(first) in self._beginnings

    @cached_property
    def _text(self) -> str | None:
        return self._subject.contents.old(self._change)

    @cached_property
    def _line(self) -> LinesBefore:
        return LinesBefore(self._change)

    @cached_property
    def _snippets(self) -> tuple[Snippet, ...]:
        found: list[Snippet] = []
        path = self._change.old_path or self._change.path
        executable = self._change.old_mode == "100755"
        with suppress(Unreadable):
            every = snippets(path, self._text or "", executable=executable)
            found.extend(filter(_is_for_shell, every))
        return tuple(found)

    @cached_property
    def _places(self) -> frozenset[tuple[int, str]]:
        return frozenset((each.lines[0], each.text) for each in self._snippets)

    @cached_property
    def _beginnings(self) -> frozenset[int]:
        long = (each for each in self._snippets if len(each.text) > judging.LONG)
        return frozenset().union(*map(judging.live_lines, long))

    @cached_property
    def _acts(self) -> frozenset[tuple[str, str, int | str]]:
        acts: list[judging.NotableEffect] = []
        for snippet in self._snippets:
            for part in _parts(snippet):
                acts += judging.judge_snippet(part, {}).acts
        return frozenset(_key(act, act.first) for act in acts if not act.is_dead)


class RemovedLines:
    """The lines that the files of a change lose, each with its kind of file and the files that lose it."""

    def __init__(self, changes: Iterable[FileChange]) -> None:
        self._changes = changes

    @cached_property
    def _files(self) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        for change in self._changes:
            kind = family_of(change.old_path or change.path, "")
            for text in change.removed.values() if kind else ():
                found.setdefault((kind, text.strip()), set()).add(change.path)
        return found

    def hold(self, change: FileChange, act: judging.NotableEffect) -> bool:
        """Return whether the lines of an act went from another file of its kind, as when a workflow is split."""
        kind = family_of(change.path, "")
        numbers = range(act.first, act.last + 1)
        lost = [
            self._files.get((kind, change.added[number].strip()), set())
            for number in numbers
            if number in change.added
        ]
        return bool(kind and lost and set.intersection(*lost) - {change.path})


def _key(act: judging.NotableEffect, line: int) -> tuple[str, str, int | str]:
    # Where the grammar gives up depends on what is around the place.
    return act.rule, act.reason, act.statement if act.rule == judging.UNREADABLE else line


def _parts(snippet: Snippet) -> Iterator[Snippet]:
    if len(snippet.text) > judging.LONG:
        yield from judging.parts(snippet, judging.PART)
    else:
        yield snippet


def _is_for_shell(snippet: Snippet) -> bool:
    return snippet.language in ("sh", "mixed") and bool(snippet.text.strip())
