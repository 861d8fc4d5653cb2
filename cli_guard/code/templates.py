"""Make text readable for a grammar or a rule before it is parsed; every line keeps its number.

What a template would fill in is replaced in Helm charts, and what the same file says it is in Terraform and workflows.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from cli_guard.rules.catalog import read_patterns

if TYPE_CHECKING:
    from cli_guard.code.syntax import Trees

PATTERNS = read_patterns("languages/patterns.toml", "templates")
# Their scripts are code; what TypeScript reads includes JavaScript.
PAGES = frozenset((".html", ".htm", ".vue", ".svelte"))
PAGE_LANGUAGE = "typescript"
LONGEST = 10_000
VISIBLE = re.compile(r"\S")
WORD = re.compile(r"\w")


def readable(topic: str, text: str) -> tuple[str, Mapping[int, int]]:
    """Return what to parse of a text of this topic: a language, or a kind of YAML.

    The mapping has the lines in which a value was filled in, with the line that gives it.
    """
    if topic == "hcl":
        return _fill_each(
            *_fill_in(_open_json(text), dict(_hcl_values(text)), PATTERNS["hcl_use"])
        )
    if topic == "workflow" and ("env." in text or "inputs." in text):
        values = dict((*_env_values(text), *_bounded_inputs(text)))
        return _fill_in(text, values, PATTERNS["env_use"])
    if topic in ("kubernetes", "yaml", "compose") and ("{{" in text or "{%" in text):
        return without_actions(text), {}
    return text, {}


def script_in(trees: "Trees", page: str) -> str:
    """Return the scripts of a page, HTML or a component of Vue or Svelte, with blank lines for the rest of it."""
    lines = [""] * (page.count("\n") + 1)
    for element in trees.root("html", page).find_all(kind="script_element"):
        start, *content = element.children()
        if PATTERNS["no_script"].search(start.text()):
            continue
        for part in content:
            if part.kind() == "raw_text":
                for number, line in enumerate(
                    part.text().split("\n"), part.range().start.line
                ):
                    lines[number] += f"{line};" if lines[number] else line
    text = "\n".join(lines)
    return without_actions(text) if "{{" in text or "{%" in text else text


def has_unclear_pages(text: str) -> bool:
    """Return whether PHP puts strings into a string: where its code ends cannot be told from what is in those."""
    first = PATTERNS["php_begin"].search(text)
    if first is None or "?>" not in text.rstrip()[:-2]:
        return False
    parts = PATTERNS["php_part"].finditer(text, first.end())
    strings = (each["filled"] or "" for each in parts)
    rests = (PATTERNS["php_filling"].sub("", each) for each in strings)
    return any("{$" in each or "${" in each for each in rests)


def without_pages(text: str) -> str:
    """Blank the pages around PHP, which its grammar often cannot read in a function; every position stays."""
    first = PATTERNS["php_begin"].search(text)
    if first is None or "?>" not in text.rstrip()[:-2] or has_unclear_pages(text):
        return text
    head = VISIBLE.sub(" ", text[: first.start()]) + first[0]

    def blank(passed: re.Match[str]) -> str:
        if not passed["page"]:
            return passed[0]
        blanks = VISIBLE.sub(" ", passed[0])
        written = "echo" if passed["tag"] == "<?=" else ""
        if written and WORD.match(passed.string, passed.end()):
            # Not one word with the next one, for which there may be no room.
            written = "echo " if len(blanks) > len("?><?=") else ""
        return f";{blanks[1 : len(blanks) - len(written)]}{written}"

    return head + PATTERNS["php_part"].sub(blank, text[first.end() :])


def without_actions(text: str) -> str:
    """Replace the actions of a template by letters, those that only control, and lines of nothing else, by blanks."""
    # Until the end a NUL stands for what controls and \1 for a value.
    marked = PATTERNS["action"].sub(_mark, text)
    return PATTERNS["alone"].sub("", marked).replace("\0", " ").replace("\1", "x")


def _mark(action: re.Match[str]) -> str:
    first, *others = action[0].split("\n")
    mark = "\0" if PATTERNS["control"].match(action[0]) else "\1"
    return "\n".join((mark * len(first), *("\0" * len(line) for line in others)))


def _env_values(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if "${{" in line and (found := PATTERNS["env_value"].match(line[:LONGEST])):
            yield f"env.{found[1]}", (number, found[2])


def _bounded_inputs(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the inputs that are a boolean, a number or one of a list: no text of anybody."""
    names: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        found = PATTERNS["input_line"].match(line[:LONGEST])
        if not found:
            continue
        depth = len(found[1])
        while names and names[-1][0] >= depth:
            names.pop()
        if found[3]:
            names.append((depth, found[3]))
        if names and (found[2] or found[4]):
            for prefix in ("inputs", "github.event.inputs"):
                yield f"{prefix}.{names[-1][1]}", (number, "0")


def _hcl_values(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the names of locals and of variables with a default on one line: the line, and the value as written."""
    block = None
    for number, line in enumerate(text.split("\n"), 1):
        if line[:1].isalpha():
            block = PATTERNS["hcl_block"].match(line[:LONGEST])
        elif not block or not (found := PATTERNS["hcl_value"].match(line[:LONGEST])):
            continue
        elif block[1] is None or found[1] == "default":
            yield f"var.{block[1]}" if block[1] else f"local.{found[1]}", (number, found[2])


def _fill_each(text: str, given_at: Mapping[int, int]) -> tuple[str, Mapping[int, int]]:
    """Fill in the list over which a block of Terraform is repeated, as far as it is written on one line."""
    lines = text.split("\n")
    repeated: tuple[int, str] | None = None
    found_at = dict(given_at)
    for number, line in enumerate(lines, 1):
        if line[:1].isalpha():
            repeated = None
        elif found := PATTERNS["hcl_each"].match(line[:LONGEST]):
            repeated = (found_at.get(number, number), found[1])
        elif repeated and PATTERNS["hcl_each_use"].search(line[:LONGEST]):
            found_at[number] = repeated[0]
            lines[number - 1] = line.replace("each.value", repeated[1], 1)
    return "\n".join(lines), found_at


def _open_json(text: str) -> str:
    """Make the object of a here-document that holds JSON part of the tree."""
    parts: list[str] = []
    position = 0
    while start := PATTERNS["hcl_json"].search(text, position):
        end = re.compile(rf"^[ \t]*{start[1]}[ \t]*$", re.MULTILINE).search(
            text, start.end()
        )
        if end is None:
            break
        parts += (
            text[position : start.start()],
            "jsonencode(\n",
            text[start.end() : end.start()],
            ")",
        )
        position = end.end()
    return "".join((*parts, text[position:]))


def _fill_in(
    text: str, values: Mapping[str, tuple[int, str]], use: re.Pattern[str]
) -> tuple[str, Mapping[int, int]]:
    given_at: dict[int, int] = {}

    def fill(number: int, found: re.Match[str]) -> str:
        known = values.get(".".join(filter(None, found.groups())), (number, found[0]))
        if known[0] != number:
            given_at[number] = known[0]
            return known[1]
        return found[0]

    lines = (
        use.sub(partial(fill, number), line)
        if "." in line and len(line) < LONGEST
        else line
        for number, line in enumerate(text.split("\n"), 1)
    )
    return "\n".join(lines), given_at
