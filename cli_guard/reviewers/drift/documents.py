"""The documents of a repository: which they are, and the section, the item and the sentence around a place."""

import re
from bisect import bisect_right
from functools import cache, cached_property
from itertools import accumulate

from cli_guard.code.classify import HEADER_CHARS, is_vendored, says_generated
from cli_guard.code.languages import ENDINGS, language_for
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import dataclass
from cli_guard.model import split_lines
from cli_guard.rules.catalog import read_table

TABLE = "languages/documents.toml"
MOST_AROUND = 12
MOST_LINES = 200
MOST_CHARS = 20_000


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Compile a pattern of the rule file at its first use."""
    return re.compile(read_table(TABLE)["patterns"][name])


@cache
def words(name: str) -> frozenset[str]:
    """Return a list of words of the rule file."""
    return frozenset(read_table(TABLE)["words"][name].split())


def is_page(path: str) -> bool:
    """Return whether a file is written to be read: prose, by its name."""
    return bool(pattern("page").search(path))


def is_of_sibling(page: str, path: str) -> bool:
    """Return whether a README is in one of several folders of packages, and a file in another one of them."""
    folder, _, name = page.rpartition("/")
    packages, _, _ = folder.rpartition("/")
    is_inside = path.startswith(f"{folder}/")
    is_beside = packages != "" and path.startswith(f"{packages}/")
    is_deep = path.count("/") >= page.count("/")
    return name.lower().startswith("readme") and is_beside and is_deep and not is_inside


def is_left_out(path: str) -> bool:
    """Return whether it says what was true at some time (history), or is not the project's own."""
    if is_vendored(path) or is_test_code(path) or pattern("left_out").search(path):
        return True
    return is_page(path) and bool(pattern("history_page").search(path))


@cache
def source_patterns() -> tuple[str, ...]:
    """Return the path specifications of sources with comments, and of scripts without an ending."""
    others = ("yaml", "json", "css", "bash")
    endings = (
        f"*{ending}" for ending, language in ENDINGS.items() if language not in others
    )
    return (*endings, "bin/*", "*/bin/*", "*init.d/*")


class Page:
    """One document with its text: prose, a file with commands, or a source with comments."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = split_lines(text)
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.is_prose = is_page(path)
        self.is_source = not self.is_prose and not pattern("command_file").search(path)
        self.is_generated = says_generated(text[:HEADER_CHARS])
        self.fences: dict[int, int] = {}  # line -> the line with which its fence begins
        self.history: set[int] = set()  # lines in sections about the past
        self.sections = [1]  # lines with a heading
        if self.is_prose:
            self._read_sections()

    def _read_sections(self) -> None:
        fence = 0
        mark = ""
        past = 0
        literal = -1
        directive = -1
        for number, line in enumerate(self.lines, 1):
            opened = pattern("fence").match(line)
            indent = len(line) - len(line.lstrip())
            if (
                opened
                and line[0] in "-+"
                and re.match(r"[^\s\[.]", (self.lines[number - 2 : number - 1] or [""])[0])
            ):
                opened = None  # it underlines a heading
            if fence:
                self.fences[number] = fence
                fence = 0 if line.strip() == mark else fence
            elif opened:
                fence = number
                mark = opened["mark"]
                self.fences[number] = number
            elif literal >= 0 and (indent > literal or not line.strip()):
                self.fences[number] = self.fences.get(number - 1, number)
            else:
                literal = indent if pattern("literal").search(line) else -1
                if level := self._heading_level(number):
                    self.sections.append(number)
                    if not past or level <= past:
                        past = level if pattern("history_heading").search(line) else 0
            if line.strip() and indent <= directive:
                directive = -1
            if pattern("history_directive").search(line):
                directive = indent
            if past or directive >= 0:
                self.history.add(number)

    def _heading_level(self, number: int) -> int:
        line = self.lines[number - 1]
        if found := pattern("heading").match(line):
            return len(found["marks"])
        below = self.lines[number] if number < len(self.lines) else ""
        if line.strip() and len(below) >= 3 and pattern("underline").match(below):
            return 1 + "=-~^\"'".find(below[0])
        return 1 if pattern("man_section").match(line) else 0

    def spot(self, index: int) -> "Spot":
        """Return the place of an index into the text."""
        number = bisect_right(self.starts, index)
        return Spot(self, number, index - self.starts[number - 1])

    @cached_property
    def programs(self) -> frozenset[str]:
        """Return the programs that the command lines of the page call."""
        form = pattern("command")
        plain = not self.is_prose
        lines = (
            each
            for n, each in enumerate(self.lines, 1)
            if plain or n in self.fences or each[:4] == " " * 4
        )
        return frozenset(match["program"] for line in lines if (match := form.match(line)))

    def begins_item(self, number: int) -> bool:
        line = self.lines[number - 1]
        return bool(
            pattern("item").match(line.lstrip(" \t*/#") if self.is_source else line)
        )

    def joins(self, number: int) -> bool:
        """Return whether a line may continue a paragraph."""
        line = self.lines[number - 1].strip(" \t#*/;-")
        return bool(line) and number not in self.fences and not line.startswith("|")


@dataclass(frozen=True)
class Spot:
    """A place in a page: its line from 1, its column from 0."""

    page: Page
    number: int
    column: int

    @property
    def line(self) -> str:
        return self.page.lines[self.number - 1]

    @property
    def before(self) -> str:
        """Return what stands before it in its line."""
        return self.line[: self.column]

    @property
    def is_link(self) -> bool:
        """Return whether it is the target of a link, which leads on from its own page."""
        return self.before.endswith(("](", "<", '="'))

    @property
    def is_fenced(self) -> bool:
        return self.number in self.page.fences

    @property
    def is_row(self) -> bool:
        """Return whether its line is a row of a table."""
        return self.line.lstrip().startswith("|")

    @cached_property
    def section(self) -> str:
        """Return the text from the heading above to the next one; of a source some lines around."""
        page = self.page
        number = self.number
        if not page.is_prose:
            return "\n".join(
                page.lines[max(0, number - 1 - MOST_AROUND) : number + MOST_AROUND]
            )
        at = bisect_right(page.sections, number)
        end = page.sections[at] - 1 if at < len(page.sections) else len(page.lines)
        first = max(page.sections[at - 1], number - MOST_LINES)
        last = min(end, number + MOST_LINES)
        return "\n".join(page.lines[first - 1 : last])[:MOST_CHARS]

    @cached_property
    def _item(self) -> tuple[int, int]:
        page = self.page
        first = self.number
        last = self.number
        if self.is_row or self.is_fenced:
            return first, last
        while (
            first > max(1, self.number - MOST_AROUND)
            and not page.begins_item(first)
            and page.joins(first - 1)
        ):
            first -= 1
        end = min(len(page.lines), self.number + MOST_AROUND)
        while last < end and page.joins(last + 1) and not page.begins_item(last + 1):
            last += 1
        return first, last

    @property
    def item(self) -> str:
        """Return the paragraph, list item or row around it."""
        return "\n".join(self.page.lines[self._item[0] - 1 : self._item[1]])

    @cached_property
    def sentence(self) -> str:
        """Return the sentence around it; in a fence or a table the line."""
        first = self._item[0]
        text = self.item
        at = self.page.starts[self.number - 1] - self.page.starts[first - 1] + self.column
        if len(text) > MOST_CHARS:
            return self.line[max(0, self.column - MOST_AROUND) : self.column + MOST_AROUND]
        start = max((m.end() for m in pattern("stop").finditer(text, 0, at)), default=0)
        end = pattern("stop").search(text, at)
        return text[start : end.start() + 1 if end else len(text)]

    @property
    def is_code(self) -> bool:
        """Return whether it is in code form: in a fence, in an indented block, between backticks."""
        page = self.page
        line = self.line
        if self.is_fenced or not (page.is_prose or page.is_source):
            return True
        if (
            page.is_prose
            and line.startswith(("    ", "\t"))
            and not page.begins_item(self.number)
        ):
            above = page.lines[self.number - 2] if self.number > 1 else ""
            if not above.strip() or above.startswith(("    ", "\t")):
                return True
        return len(re.findall("`+", self.before)) % 2 == 1 and "`" in line[self.column :]

    @property
    def is_read(self) -> bool:
        """Return whether, in a source, it is text for people: a comment, a docstring, a help text."""
        page = self.page
        line = self.line
        found = pattern("comment").search(line)
        if found is not None and found.start("mark") < self.column:
            return not pattern("no_comment").fullmatch(line, found.end("mark"))
        above = page.text[: page.starts[self.number - 1]]
        if language_for(page.path) == "python":
            if any(
                above.count(q) % 2 or line.strip(" rRfFuU").startswith(q)
                for q in ('"""', "'''")
            ):
                return True
        elif above.rfind("/*") > above.rfind("*/"):
            return True
        return is_in_sentence(line, self.column)


def is_in_sentence(line: str, column: int) -> bool:
    """Return whether a place of a line is in a string that holds a sentence."""
    quoted = next(
        (m for m in pattern("string").finditer(line) if m.start() <= column < m.end()), None
    )
    return quoted is not None and bool(pattern("sentence").search(quoted[0]))
