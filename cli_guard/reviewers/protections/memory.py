"""What holds the use of memory inside where nothing else does: sizes, ends of texts, pointers that are empty again."""

import re
from collections.abc import Iterator, Sequence

from cli_guard.code.changes.difference import FileDifference
from cli_guard.code.changes.facts import CodeFact, Looser

# Where nothing else holds an index inside, and an operand that does.
MEMORY = ("c", "cpp")
# What a size or an index is given to where nothing else holds it inside.
MEMORY_USE = (
    r"\b(?:mem(?:cpy|move|set)|str?n(?:cpy|cat)|\w*alloc|fread|read|recv)\([^;]{0,200}\bNAME\b[^;]{0,40}\)"
    r"|\w\[[^\]\n]{0,60}\bNAME\b[^\]\n]{0,40}\]"
)
SIZE_ASKED = re.compile(
    r"(?i)(?:len|size|count|remain|avail|capacity|limit|end|max)\w*[^<>]*(?<![-<>])[<>](?![<>])"
    r"|(?<![-<>])[<>](?![<>])[^<>]*(?:len|size|count|remain|avail|capacity|limit|end|max)"
    r"|(?<![-<>])[<>]=? ?(?-i:[A-Z][A-Z0-9_]{2,}\b)|^! ?[\w.>-]*(?:len|size|count)\w*$"
)
ASSIGNED = re.compile(r"\s*\*?([\w.>-]+)(?:\[(?!0\])[^\]]*\])? = ")
# What ends a text, or says that a pointer leads nowhere, and what it has to follow.
ENDINGS = (
    (
        r"'\\0'|0|L?'\\x00'",
        r"\b(?:str?n?(?:cpy|cat)|memcpy|memmove|read|recv|fread|snprintf)\([^;]{0,40}\bNAME\b",
        "nothing ends the text in",
    ),
    (
        r"NULL|nullptr",
        r"\b\w*(?:free|release|destroy|unref|delete)\w*\(\s*&?NAME\s*\)",
        "nothing empties",
    ),
)


def lost_endings(file: FileDifference, went: Sequence[CodeFact]) -> Iterator[Looser]:
    """Yield what no longer ends a text that is copied, or empties a pointer whose memory is given back."""
    for old in went if file.language in MEMORY else ():
        unit = file.new.unit_named(old.unit) if old.is_option else None
        name = name_assigned(old, file)
        is_again = any(each.is_option and each.name == old.name for each in file.came)
        if unit is None or is_again or not name:
            continue
        written = re.escape(name)
        for value, use, lost in ENDINGS:
            used = re.search(use.replace("NAME", written), unit.text)
            behind = unit.text[used.end() :] if used else ""
            # It may be given another value there.
            is_set = re.search(rf"{written}(?:\[[^\]]*\])? = ", behind) is not None
            if used and not is_set and re.fullmatch(value, old.detail):
                why = f"{lost} `{name}` any more after `{used[0]}`"
                yield Looser(old, old, "ended", why)


def name_assigned(option: CodeFact, file: FileDifference) -> str:
    """Return what a line that went assigns to, as it is written and without an index, "" for none."""
    hunk = file.hunk_of(option)
    line = hunk.removed[max(option.line - hunk.old_start, 0)] if hunk else ""
    match = ASSIGNED.match(line)
    return match[1] if match else ""


def memory_use_of(name: str, text: str) -> str:
    """Return where a size or an index is given to what does not hold it inside, "" for nowhere."""
    used = re.search(MEMORY_USE.replace("NAME", re.escape(name)), text)
    return used[0] if used else ""
