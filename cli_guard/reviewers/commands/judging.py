"""From a snippet to findings: the engine judges it, rules name the notable effects and their severity."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from posixpath import basename
from typing import TYPE_CHECKING, Any

from cli_guard.code.dead import dead_code
from cli_guard.code.syntax import Trees, find_nodes
from cli_guard.commands import Context, Effect, EffectKind, Setting, judge_or_raise
from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract import Snippet

if TYPE_CHECKING:
    from ast_grep_py import SgNode
import re

from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import FileChange, Finding, Severity
from cli_guard.reviewers.commands.extract import Where
from cli_guard.rules.catalog import Rule, one, read_table

# The engine bounds its input, and its time grows with the text: a long script is judged in parts.
LONG = 40_000
PART = 20_000
SMALL_PART = 1_000
Files = Mapping[str, frozenset[str]]

# The reasons that the engine gives for text it cannot see; no rule covers them.
GAVE_UP = ("than are judged", "than is judged", "judged in full", "too deeply nested")
NOT_SHELL = "not understood as shell syntax"
UNREADABLE = "command-unreadable"
# In place of a rule: valid shell that the grammar does not understand, which is left out and reported as such.
LEFT_OUT = ""
HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*['\"\\]?([^\s'\"\\;|&<>()]+)")
QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|(?<![\w$&{])#[^\n]*", re.DOTALL)
SHELL_WORD = re.compile(r"[;&|()`\n{}]|[^\s;&|()`{}]+")
PAIRS = {"if": "fi", "case": "esac", "do": "done"}
BEGINNINGS = frozenset(
    "if then else elif do while until ! time ; & | ( ) { } `".split()
) | {"\n"}

# Nodes of the grammar with statements inside, each of which is a statement of its own, and those that hold such nodes.
STATEMENTS = read_table("commands.toml")["statements"]
HOLD_STATEMENTS = frozenset(STATEMENTS["hold"].split())
DIVISIBLE = frozenset(STATEMENTS["divisible"].split())
SEPARATORS = (";", "&", "\n", ";;")
DEEPEST = 50
EVIDENCE_CHARS = 120
SHOWN_CHARS = 2_000
CONTINUED = re.compile(r"[ \t]*\\\n\s*")
STEPS = list(Severity)


@frozen
class NotableEffect:
    """One notable effect: its rule, and the lines and text of its statement.

    `line` is that of the effect itself; `is_dead`: the statement follows an `exit`, or a condition that is false.
    """

    rule: str
    reason: str
    first: int
    last: int
    line: int
    statement: str
    is_dead: bool = False


@frozen
class CommandJudgement:
    """The acts of a snippet, the files it leaves behind, and why a part of it was not read."""

    acts: tuple[NotableEffect, ...]
    files: Files
    problem: str


def judge_snippet(snippet: Snippet, files: Files) -> CommandJudgement:
    """Judge a snippet given files that exist already; text beyond the engine's bound is judged in parts."""
    whole = _judge_once(snippet, files)
    pieces = list(parts(snippet, SMALL_PART)) if whole.problem else []
    if len(pieces) < 2:
        return whole
    each = [_judge_once(piece, files) for piece in pieces]
    acts = dict.fromkeys(act for judgement in (whole, *each) for act in judgement.acts)
    if not is_broken(snippet.text):
        # A piece may end within a command.
        acts = dict.fromkeys(
            replace(act, rule=LEFT_OUT) if act.rule == UNREADABLE else act for act in acts
        )
    left = {
        path: taints
        for judgement in (whole, *each)
        for path, taints in judgement.files.items()
    }
    return CommandJudgement(
        tuple(acts),
        left,
        next((judgement.problem for judgement in each if judgement.problem), ""),
    )


def _judge_once(snippet: Snippet, files: Files) -> CommandJudgement:
    verdict = judge_or_raise(snippet.text, Context(setting=Setting.CHANGE, files=files))
    problem = next((effect.reason for effect in verdict.effects if _gave_up(effect)), "")
    trees = Trees()
    acts = (
        _act(trees, snippet, effect, rule)
        for effect in verdict.effects
        if (rule := _rule(effect, snippet)) is not None
    )
    return CommandJudgement(tuple(dict.fromkeys(acts)), verdict.files, problem)


def _gave_up(effect: Effect) -> bool:
    return effect.kind is EffectKind.UNKNOWN and any(
        words in effect.reason for words in GAVE_UP
    )


def _rule(effect: Effect, snippet: Snippet) -> str | None:
    if effect.reason != NOT_SHELL:
        return effect.rule or None
    if snippet.language != "sh":
        return None
    return UNREADABLE if is_broken(snippet.text) else LEFT_OUT


def is_broken(text: str) -> bool:
    """Return whether a script lacks the end of a quotation, `if`, `case` or loop, so that no shell accepts it."""
    bare = QUOTED.sub("_", "\n".join(_without_heredocs(text)))
    counts: Counter[str] = Counter()
    before = ["\n", "\n"]
    for word in SHELL_WORD.findall(bare):
        if before[-1] in BEGINNINGS or (word == "do" and before[-2] in ("for", "select")):
            counts[word] += 1
        before = [before[-1], word]
    return (
        "'" in bare
        or '"' in bare
        or any(counts[first] != counts[last] for first, last in PAIRS.items())
    )


def _without_heredocs(text: str) -> Iterator[str]:
    ends: list[str] = []
    for line in text.split("\n"):
        if not ends:
            yield line
            ends = HEREDOC.findall(line)
        elif line.strip() == ends[0]:
            ends.pop(0)


def _act(trees: Trees, snippet: Snippet, effect: Effect, rule: str) -> NotableEffect:
    start, end = statement(trees, snippet.text, effect.span.start, effect.span.end)
    first, last = snippet.lines_of(start, end)
    line, _ = snippet.lines_of(effect.span.start, effect.span.end)
    is_dead = start in dead_code(trees, "bash", snippet.text)
    return NotableEffect(
        rule, effect.reason, first, last, line, snippet.text[start:end].strip(), is_dead
    )


def statement(trees: Trees, text: str, start: int, end: int) -> tuple[int, int]:
    """Return the pipeline around a place, from its first word to its last redirection.

    Where the grammar fails, it is the lines of the place.
    """
    node: SgNode | None = trees.root("bash", text)
    found = (start, end)
    while node:
        if node.kind() == "ERROR":
            last = text.find("\n", end)
            return text.rfind("\n", 0, start) + 1, last if last >= 0 else len(text)
        inside = node.kind() in HOLD_STATEMENTS
        node = next((child for child in node.children() if _holds(child, start, end)), None)
        if node and inside and node.is_named():
            found = _bounds(node)
            if node.kind() == "redirected_statement" and (last := _last_of_list(node)):
                found = (last, found[1])
    return found


def _last_of_list(node: "SgNode") -> int:
    """Return where the last command of a list begins: the grammar gives `a && b > c` the redirection of both."""
    begin = 0
    inner = node.child(0)
    while inner and inner.kind() == "list":
        inner = inner.children()[-1]
        begin = _bounds(inner)[0]
    return begin


def _holds(node: "SgNode", start: int, end: int) -> bool:
    first, last = _bounds(node)
    return first <= start and end <= last


def _bounds(node: "SgNode") -> tuple[int, int]:
    where = node.range()
    return where.start.index, where.end.index


def parts(snippet: Snippet, size: int) -> Iterator[Snippet]:
    """Cut the text between commands into pieces of about one size; a larger command is cut inside."""
    for begin, end in _pieces(Trees().root("bash", snippet.text), size, 0):
        yield part(snippet, begin, end)


def live_lines(snippet: Snippet) -> frozenset[int]:
    """Return the lines on which a statement begins, without those that never run."""
    trees = Trees()
    dead = dead_code(trees, "bash", snippet.text)
    root = trees.root("bash", snippet.text)
    holders = (root, *find_nodes(root, HOLD_STATEMENTS))
    begins = {
        _bounds(child)[0]
        for node in holders
        for child in node.children()
        if child.is_named()
    }
    return frozenset(snippet.line_at(begin) for begin in begins if begin not in dead)


def _pieces(node: "SgNode", size: int, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of statements below a node, none across a keyword such as `then`."""
    if node.kind() not in HOLD_STATEMENTS:
        bodies = (child for child in node.children() if child.kind() in DIVISIBLE)
        yield from (bounds for body in bodies for bounds in _pieces(body, size, depth + 1))
        return
    open_at = open_to = -1
    for child in node.children():
        begin, end = _bounds(child)
        is_unread = child.kind() == "ERROR"
        may_divide = is_unread or child.kind() in DIVISIBLE
        divided = end - begin > size and may_divide and depth < DEEPEST
        goes_on = child.is_named() or child.text() in SEPARATORS
        if node.kind() == "case_item" and child.text() == ")":
            open_at = -1  # the patterns came before
        if open_at >= 0 and (divided or not goes_on or end - open_at > size):
            yield open_at, open_to
            open_at = -1
        if divided and is_unread:
            yield from _runs_of_lines(child, size)
        elif divided:
            yield from _pieces(child, size, depth + 1)
        elif child.is_named():
            open_at = begin if open_at < 0 else open_at
            open_to = end
    if open_at >= 0:
        yield open_at, open_to


def _runs_of_lines(node: "SgNode", size: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces of what the grammar does not read, each from a line that is not indented."""
    begin, end = _bounds(node)
    at = begin
    for line in node.text().splitlines(keepends=True):
        if at - begin >= size and line[:1].isalnum():
            yield begin, at
            begin = at
        at += len(line)
    yield begin, end


def part(snippet: Snippet, begin: int, end: int) -> Snippet:
    first = max(bisect_right(snippet.starts, begin) - 1, 0)
    last = bisect_right(snippet.starts, end)
    starts = tuple(max(start - begin, 0) for start in snippet.starts[first:last])
    return Snippet(
        snippet.text[begin:end],
        starts,
        snippet.lines[first:last],
        snippet.where,
        snippet.language,
    )


def severity(
    rule: Rule, act: NotableEffect, where: Where, path: str, *, is_copy: bool = False
) -> Severity:
    """Return the severity of an act: the first of the rule's `grades` that fits, one step lower in tests and copies.

    Where it runs with every test, it is not lower: whoever tests a change runs it.
    """
    grades = rule.extra.get("grades", ())
    fitting = (Severity(each["severity"]) for each in grades if fits(each, act, where))
    weight = next(fitting, rule.severity)
    is_aside = is_test_or_example(path) and basename(path) != "conftest.py"
    if not (is_aside or is_copy):
        return weight
    return STEPS[min(STEPS.index(weight) + 1, len(STEPS) - 1)]


def applies(act: NotableEffect, where: Where) -> bool:
    """Return whether to report the act, given the rule's `unless`."""
    harmless = one("commands", act.rule).extra.get("unless", ())
    return not any(fits(each, act, where) for each in harmless)


def fits(words: Mapping[str, Any], act: NotableEffect, where: Where) -> bool:
    """Return whether all holds that a grade, or an entry of `unless`, says of an act."""
    return (
        where in words.get("where", (where,))
        and re.search(words.get("pattern", ""), act.statement) is not None
        and re.search(words.get("reason", ""), act.reason) is not None
    )


def remark(
    change: FileChange, act: NotableEffect, where: Where, *, is_copy: bool = False
) -> Finding:
    """Build the finding about an act, on an added line: its own, or one that it depends on."""
    rule = one("commands", act.rule)
    line = act.line
    message = act.reason
    if not change.added:
        message = f"{message}, by what the change removes"
    elif line not in change.added:
        near = [number for number in change.added if act.first <= number <= act.last]
        line = (
            near[0]
            if near
            else max((n for n in change.added if n < line), default=min(change.added))
        )
        message = f"{message}, at line {act.line}"
    return rule.finding(
        path=change.path,
        line=line,
        message=message,
        severity=severity(rule, act, where, change.path, is_copy=is_copy),
        evidence=CONTINUED.sub(" ", act.statement[:SHOWN_CHARS]).strip()[:EVIDENCE_CHARS],
        content=act.statement,
    )
