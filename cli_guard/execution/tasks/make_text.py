"""The text of a Makefile: its lines, the brackets of references, and what the functions of make return."""

import re
from collections.abc import Callable, Iterator, Mapping

CLOSING = {"(": ")", "{": "}"}


def join_lines(text: str) -> Iterator[str]:
    """Yield each line with those that it goes on to behind a backslash."""
    begun = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        begun += line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun += "\n"
            continue
        yield begun
        begun = ""
    yield begun


def find_outside(text: str, sign: str) -> int:
    """Return where a character first stands outside of references and behind no backslash; the end if nowhere."""
    position = 0
    while found := re.compile(rf"\\.|\$[({{]|{re.escape(sign)}", re.DOTALL).search(
        text, position
    ):
        if found[0] == sign:
            return found.start()
        position = find_end(text, found.end()) if found[0][0] == "$" else found.end()
    return len(text)


def find_end(text: str, start: int) -> int:
    """Return the end of the reference whose bracket is in front of `start`."""
    opening = text[start - 1]
    depth = 1
    for found in re.compile(rf"[{opening}{CLOSING[opening]}]").finditer(text, start):
        depth += 1 if found[0] == opening else -1
        if not depth:
            return found.end()
    return len(text) + 1


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside of references."""
    at = find_outside(text, ",")
    return [text[:at], *(split_arguments(text[at + 1 :]) if at < len(text) else ())]


def substitute(pattern: str, new: str, text: str) -> str:
    """Return the words of a text with those that a pattern fits replaced."""
    start, _, end = pattern.partition("%")
    found = []
    for word in text.split():
        fits = (
            word.startswith(start) and word.endswith(end) and len(word) >= len(start + end)
        )
        stem = word[len(start) : len(word) - len(end)]
        found.append(new.replace("%", stem) if fits else word)
    return " ".join(found)


FUNCTIONS: Mapping[str, Callable[..., str]] = {
    **dict.fromkeys(("info", "warning", "error"), lambda *_: ""),
    **dict.fromkeys(("strip", "sort"), str.strip),
    "subst": lambda old, new, text: text.replace(old, new),
    "patsubst": lambda old, new, text: substitute(old.strip(), new, text),
    "addprefix": lambda start, text: substitute("%", f"{start}%", text),
    "addsuffix": lambda end, text: substitute("%", f"%{end}", text),
}
