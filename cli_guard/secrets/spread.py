"""Read a value that is not on the line of its name, or is written in pieces, as the parser of its language does.

The rule finds a name, an operator and how the value begins; from there the literals of one expression are read, the
items of a list, the lines of a block, or a word after a continued line.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from cli_guard.secrets import names, places, values
from cli_guard.secrets.assigned import is_echo, name_before, strength_of
from cli_guard.secrets.candidates import Candidate, CandidateJudgement, grade
from cli_guard.secrets.names import SecretKind, compile_once
from cli_guard.secrets.values import Strength

# How much of a text one value may take, and how many literals, items or lines.
REACH = 4_000
MOST_PARTS = 50
CONTINUED = r"\\\r?\n[ \t]*"
GAP = rf"(?P<gap>(?>(?:\s|{CONTINUED}|_\r?\n|//[^\n]*|#[^\n]*|/\*(?:(?!\*/)[\s\S])*\*/)*))"
LITERAL = (
    r"[rRbBuUfFL@$]{0,2}(?P<quote>\"{3}|'{3}|[\"'`])"
    r"(?P<value>(?>(?:\\\r?\n|\\.|(?!(?P=quote))[^\\\n])*))(?P=quote)"
)
# A dot before a name calls a method; between two literals it joins them, in Perl and PHP.
JOIN = r"(?P<join>\.\.|\.(?![A-Za-z_])|\+\+?|<>|\|\||[&~^])"
TOKEN = rf"{GAP}(?:(?P<open>\()|(?P<close>\))|{JOIN}|{LITERAL})"
ITEM = rf"{GAP}(?:(?P<comma>,)|{LITERAL})"
YAML = (".yaml", ".yml")
# An item of a YAML list that is one scalar: no mapping, no alias. Comments and empty lines may be above it.
YAML_EMPTY = r"(?:[ \t]*(?:#[^\n]*)?\n){0,20}"
YAML_ITEM = rf"{YAML_EMPTY}[ \t]*- +[\"']?(?P<value>[^\s\"'&*{{\[:]+)[\"']?[ \t]*(?:#[^\n]*)?\r?(?:\n|$)"
YAML_LINE = r"(?P<indent>[ \t]*)(?P<value>[^\r\n]*)\r?(?:\n|$)"
WORD = rf"(?P<value>(?:[^\s\"'`\\]|\\.|{CONTINUED})+)"
# Literals between brackets: Ruby, Perl, Lua; the here-string of PowerShell.
BRACKETED = (
    r"\s{0,40}(?:(?:%[qQ]?|qq?\s?)[({\[](?P<ruby>[^(){}\[\]\s]{4,200})[)}\]]|\[\[(?P<lua>[^\[\]\s]{4,200})\]\]"
    r"|@(?P<mark>[\"'])\r?\n(?P<shell>[^\n]{4,200}?)\r?\n(?P=mark)@)"
)
HEREDOC = r"<<[-~]?[\"']?(?P<mark>\w+)[\"']?"

# A value with its place: from its first piece to its last.
Part = tuple[int, int, str]


def find_values(candidate: Candidate) -> Iterator[CandidateJudgement]:
    """Yield the secrets among the values that a name is given further on."""
    name = _name(candidate)
    is_parameter = ")" in (
        candidate.groups["close"] or ""
    )  # a text follows the head of a function
    if is_parameter or places.is_lock(candidate.path):
        return
    if kind := names.kind_of(name):
        read = _reader_of(candidate)
        for start, end, value in read(candidate) if read else ():
            if not is_echo(name, value):
                strength = strength_of(kind, name, value, candidate.path)
                yield from filter(None, [grade(candidate, strength, start, end, name)])
    kind = kind or names.kind_of(name.rstrip("sS"))
    for start, end, value in _read_items(candidate) if kind else ():
        # Lists of passwords and of tokens are mostly of words: only what a machine made counts.
        strength = values.key_strength(value)
        if strength is Strength.STRONG and not _is_lone_token(kind, name):
            yield from filter(None, [grade(candidate, strength, start, end, name)])


def _name(candidate: Candidate) -> str:
    start = name_before(candidate.text, candidate.keyword_at)
    return candidate.text[start : candidate.name_end]


def _is_lone_token(kind: SecretKind | None, name: str) -> bool:
    return kind is SecretKind.TOKEN and len(names.words_of(name)) == 1


def _reader_of(candidate: Candidate) -> Callable[[Candidate], Sequence[Part]] | None:
    """Return the function that reads a value which begins like this one."""
    opening = candidate.value
    if not (candidate.groups["op"] or "").strip():
        if _is_defined(candidate):
            return _read_expression
        return _read_word if _name(candidate).startswith("--") else None
    if compile_once(BRACKETED).match(candidate.text, candidate.start):
        return _read_bracketed
    if opening.startswith("<<"):
        return _read_heredoc
    if places.ending(candidate.path) in YAML and opening[0] in "|>#\r\n":
        return _read_block
    if opening.endswith("\n") and places.is_settings(candidate.path) and "\\" in opening:
        return _read_word
    if opening[-1] in "(\n\"'`" and not opening[:-1].strip("rRbBuUfFL@$\\\r"):
        return _read_expression
    return None


def _is_defined(candidate: Candidate) -> bool:
    start = name_before(candidate.text, candidate.keyword_at)
    before = candidate.text[max(start - 40, 0) : start]
    return bool(compile_once(r"#\s*define\s+\Z").search(before))


def _read_bracketed(candidate: Candidate) -> Sequence[Part]:
    found = compile_once(BRACKETED).match(candidate.text, candidate.start)
    group = next((name for name in ("ruby", "lua", "shell") if found and found[name]), None)
    return [(*found.span(group), found[group])] if found and group else ()


def _read_expression(candidate: Candidate) -> Sequence[Part]:
    """Read literals in parentheses, side by side or with an operator between them; what computes is no value."""
    text = candidate.text
    at = candidate.start
    parts: list[re.Match[str]] = []
    depth = 0
    joined = False
    while len(parts) < MOST_PARTS and (
        token := compile_once(TOKEN).match(text, at, candidate.start + REACH)
    ):
        if token["join"] and (joined or not parts):
            return ()
        if token["open"] and parts and not joined:
            break
        if token["quote"]:
            if parts and not joined and not depth and _ends_line(token["gap"]):
                break
            parts.append(token)
        depth += bool(token["open"]) - bool(token["close"])
        if depth < 0:
            break
        joined = bool(token["join"])
        at = token.end()
    if joined or depth > 0:
        return ()
    return _join_literals(candidate, parts)


def _ends_line(gap: str) -> bool:
    return "\n" in compile_once(CONTINUED).sub("", gap)


def _join_literals(candidate: Candidate, parts: Sequence[re.Match[str]]) -> Sequence[Part]:
    """Return the joined value, unless the line of the name holds it as it is."""
    value = "".join(compile_once(CONTINUED).sub("", part["value"]) for part in parts)
    is_plain = len(parts) == 1 and value == parts[0]["value"]
    if not value or (is_plain and candidate.value[-1] not in "(\n"):
        return ()
    filled = [part for part in parts if part["value"]]
    return [(filled[0].start("value"), filled[-1].end("value"), value)]


def _read_word(candidate: Candidate) -> Sequence[Part]:
    """Read a word without quotes that goes on, or only begins, on the line after a backslash."""
    word = compile_once(WORD).match(candidate.text, candidate.start)
    if word is None:
        return ()
    value = compile_once(CONTINUED).sub("", word["value"])
    if not value:
        return ()
    first = compile_once(rf"(?:{CONTINUED})*").match(candidate.text, candidate.start)
    return [(first.end() if first else word.start(), word.end(), value)]


def _read_items(candidate: Candidate) -> Iterator[Part]:
    """Read the texts of a list, in brackets or of YAML."""
    is_list = candidate.value == "["
    in_yaml = places.ending(candidate.path) in YAML and candidate.value[-1] == "\n"
    pattern = ITEM if is_list else YAML_ITEM
    at = candidate.end
    for _ in range(2 * MOST_PARTS if is_list or in_yaml else 0):
        item = compile_once(pattern).match(candidate.text, at)
        if item is None:
            return
        if item["value"]:
            yield *item.span("value"), item["value"]
        at = item.end()


def _read_block(candidate: Candidate) -> Sequence[Part]:
    """Read the scalar of YAML on the lines that are further in than that of its name."""
    text = candidate.text
    line_start = text.rfind("\n", 0, candidate.keyword_at) + 1
    own = compile_once(YAML_LINE).match(text, line_start)
    found: list[Part] = []
    at = candidate.end
    while own and at < len(text) and len(found) < MOST_PARTS:
        line = compile_once(YAML_LINE).match(text, at)
        if line is None or (line["value"] and len(line["indent"]) <= len(own["indent"])):
            break
        if line["value"]:
            found.append((*line.span("value"), line["value"].rstrip()))
        at = line.end()
    return _join_lines(found, candidate.value)


def _join_lines(lines: Sequence[Part], opening: str) -> Sequence[Part]:
    """Return the lines as one value; without a mark of a block, a line may be a mapping, a list or quoted."""
    value = " ".join(line for _, _, line in lines)
    if opening[0] not in "|>":
        if re.search(r":(?:\s|$)|^[-&*!{\[|>]|\s#", value):
            return ()
        value = value.strip("\"'")
    if not value:
        return ()
    start = lines[0][0] + lines[0][2].find(value[0])
    end = start + len(value) if len(lines) == 1 else lines[-1][1]
    return [(start, end, value)]


def _read_heredoc(candidate: Candidate) -> Sequence[Part]:
    """Read the one line of a here-document."""
    text = candidate.text
    mark = compile_once(HEREDOC).match(candidate.value)
    line = compile_once(YAML_LINE).match(text, candidate.end)
    if not mark or not line or not line["value"]:
        return ()
    end = compile_once(YAML_LINE).match(text, line.end())
    is_whole = end is not None and end["value"] == mark["mark"]
    return [(*line.span("value"), line["value"])] if is_whole else ()
