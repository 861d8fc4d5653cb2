"""Read the syntax of a shell script (bash(1), SHELL GRAMMAR): commands, lists, compound commands, here-documents.

Each rule of the grammar is a function that begins at the cursor and stops behind what it has read. What is no shell
syntax is an error with its place, and reading goes on behind it.
"""

from collections.abc import Iterator

from cli_guard.commands.parse.cursor import Cursor, Grammar
from cli_guard.commands.parse.simple import (
    RESERVED,
    expect,
    find_reserved,
    read_bodies,
    read_redirects,
    read_simple,
    read_words,
    skip_blanks,
    skip_lines,
)
from cli_guard.commands.parse.tree import (
    AndOr,
    Case,
    CommandGroup,
    Compute,
    For,
    FunctionDefinition,
    If,
    Loop,
    Node,
    Nodes,
    Pipeline,
    Script,
    Test,
    Text,
    Word,
)
from cli_guard.commands.parse.words import (
    DEEPEST,
    find_computed,
    read_expression,
    read_word,
)
from cli_guard.lazy import regex

ENDS = frozenset("then elif else fi do done esac }".split())
NAMED_FUNCTION = regex(r"[ \t]*([^\s;&|()<>'\"\\$`]+)(?:[ \t]*\([ \t]*\))?")
TEST_OPERATOR = regex(r"&&|\|\||[&|()<>;]")
BODY = regex(r"[ \t]*[{(]")
CASE_END = regex(r";;&|;;|;&")


def parse(text: str) -> Script:
    """Parse a text. Never raises; what is no shell syntax is recorded in `errors`."""
    return read_all(Cursor(text, GRAMMAR))


def read_all(cursor: Cursor) -> Script:
    items = list[Node]()
    while not cursor.at_end:
        items += read_list(cursor, frozenset())
        if not cursor.at_end:
            # A closing parenthesis or word without what it closes.
            start = cursor.at
            if not (cursor.take(RESERVED) or cursor.take(CASE_END)):
                cursor.at += 1
            cursor.fail(start)
    read_bodies(cursor)
    return Script(tuple(items), tuple(cursor.errors))


def read_inner(cursor: Cursor) -> Script:
    """Read the commands behind an opening parenthesis, and step behind the closing one."""
    opening = cursor.at
    outer = cursor.pending
    cursor.pending = []
    items = read_nested(cursor, frozenset((")",)))
    read_bodies(cursor)
    if outer and "\n" in cursor.text[opening : cursor.at]:
        # Which line the body of the outer here-document begins at differs between shells.
        cursor.fail(opening)
    cursor.pending = outer
    expect(cursor, ")", opening - 1)
    return Script(items)


def read_apart(cursor: Cursor, text: str, start: int) -> Script:
    if cursor.depth > DEEPEST:
        cursor.fail(start)
        return Script()
    inner = cursor.inside(text, start)
    inner.depth += 1
    return Script(read_all(inner).items)


def read_nested(cursor: Cursor, ends: frozenset[str]) -> Nodes:
    """Read the commands inside of something, one level deeper."""
    if cursor.depth > DEEPEST:
        cursor.fail(cursor.at)
        cursor.at = len(cursor.text)
        return ()
    cursor.depth += 1
    items = tuple(read_list(cursor, ends))
    cursor.depth -= 1
    return items


def read_some(cursor: Cursor) -> Nodes:
    """Read the commands of a compound command, of which there has to be one."""
    items = read_nested(cursor, frozenset())
    if not items:
        cursor.fail(cursor.at)
    return items


def read_list(cursor: Cursor, ends: frozenset[str]) -> Iterator[Node]:
    """Read commands up to one of the words or characters in `ends`, or another that ends a list."""
    while True:
        skip_lines(cursor)
        if cursor.at_end or cursor.char in ends or ends_list(cursor):
            return
        start = cursor.at
        node = read_and_or(cursor)
        skip_blanks(cursor)
        if cursor.at > start and cursor.accept("&"):
            node = CommandGroup("background", (node,), cursor.span(start))
        elif cursor.has(";") and not cursor.match(CASE_END):
            cursor.at += 1
            if cursor.at == start + 1:
                cursor.fail(start)
                continue
        elif cursor.at == start:
            cursor.at += 1
            cursor.fail(start)
            continue
        elif not is_end(cursor):
            # `ls (`, or a word behind `fi`.
            cursor.fail(cursor.at)
        yield node


def is_end(cursor: Cursor) -> bool:
    """Return whether a command may end here without a separator."""
    return cursor.at_end or cursor.has("\n") or ends_list(cursor)


def ends_list(cursor: Cursor) -> bool:
    """Return whether something stands here that ends a list of commands."""
    if cursor.has(")") or find_reserved(cursor) in ENDS:
        return True
    return cursor.match(CASE_END) is not None


def read_and_or(cursor: Cursor) -> Node:
    start = cursor.at
    items = [read_pipeline(cursor)]
    operators = list[str]()
    while True:
        skip_blanks(cursor)
        operator = cursor.peek(2)
        if operator not in ("&&", "||"):
            break
        cursor.at += 2
        skip_lines(cursor)
        operators.append(operator)
        items.append(read_operand(cursor))
    if not operators:
        return items[0]
    return AndOr(tuple(items), tuple(operators), cursor.span(start))


def read_operand(cursor: Cursor) -> Node:
    """Read the pipeline behind an operator, which cannot be missing."""
    start = cursor.at
    node = read_pipeline(cursor)
    if cursor.at == start:
        cursor.fail(start)
    return node


def read_pipeline(cursor: Cursor) -> Node:
    start = cursor.at
    word = find_reserved(cursor)
    if word == "!":
        cursor.at += 1
        skip_blanks(cursor)
        return read_operand(cursor)
    if word == "time" and (compound := read_timed(cursor, start)):
        return compound
    stages = [read_command(cursor)]
    if cursor.at == start and cursor.has(("|", "&")):
        cursor.fail(start)
    while cursor.has("|") and not cursor.has("||"):
        cursor.at += 2 if cursor.has("|&") else 1
        skip_lines(cursor)
        before = cursor.at
        stages.append(read_command(cursor))
        if cursor.at == before:
            cursor.fail(before)
    return Pipeline(tuple(stages), cursor.span(start)) if len(stages) > 1 else stages[0]


def read_timed(cursor: Cursor, start: int) -> Node | None:
    """Read `time` before a compound command; before a simple one it is read as a program."""
    cursor.at += 4
    skip_blanks(cursor)
    word = find_reserved(cursor)
    if cursor.has("(") or (word and word not in ENDS):
        inner = read_pipeline(cursor)
        return CommandGroup("time", (inner,), cursor.span(start))
    cursor.at = start
    return None


def read_command(cursor: Cursor) -> Node:
    start = cursor.at
    word = find_reserved(cursor)
    if cursor.has("((") and (closed := find_computed(cursor, start + 1)):
        cursor.at = closed + 2
        expression = read_expression(cursor, start + 2, closed)
        return Compute(expression, cursor.span(start), read_redirects(cursor))
    if cursor.has("("):
        if cursor.has("(("):
            cursor.fail(start)
        cursor.at += 1
        items = read_inner(cursor).items
        if not items:
            cursor.fail(start)
        return CommandGroup("subshell", items, cursor.span(start), read_redirects(cursor))
    if word in COMPOUND:
        cursor.at += len(word)
        return COMPOUND[word](cursor, start)
    return read_simple(cursor)


def read_group(cursor: Cursor, start: int) -> Node:
    items = read_some(cursor)
    expect(cursor, "}", start)
    return CommandGroup("group", items, cursor.span(start), read_redirects(cursor))


def read_if(cursor: Cursor, start: int) -> Node:
    branches = []
    otherwise = Nodes()
    while True:
        condition = read_some(cursor)
        expect(cursor, "then", start)
        branches.append((condition, read_some(cursor)))
        if find_reserved(cursor) != "elif":
            break
        cursor.at += 4
    if find_reserved(cursor) == "else":
        cursor.at += 4
        otherwise = read_some(cursor)
    expect(cursor, "fi", start)
    return If(tuple(branches), otherwise, cursor.span(start), read_redirects(cursor))


def read_while(cursor: Cursor, start: int) -> Node:
    kind = cursor.text[start : cursor.at]
    condition = read_some(cursor)
    body = read_body(cursor, start)
    return Loop(kind, condition, body, cursor.span(start), read_redirects(cursor))


def read_body(cursor: Cursor, start: int) -> Nodes:
    """Read `do ... done`, or `{ ... }` in its place."""
    skip_lines(cursor)
    closing = "}" if find_reserved(cursor) == "{" else "done"
    expect(cursor, "{" if closing == "}" else "do", start)
    body = read_some(cursor)
    expect(cursor, closing, start)
    return body


def read_for(cursor: Cursor, start: int) -> Node:
    kind = cursor.text[start : cursor.at]
    skip_blanks(cursor)
    if cursor.has("((") and (closed := find_computed(cursor, cursor.at + 1)):
        expression = read_expression(cursor, cursor.at + 2, closed)
        cursor.at = closed + 2
        skip_separator(cursor)
        test = Compute(expression, cursor.span(start))
        body = read_body(cursor, start)
        return Loop(kind, (test,), body, cursor.span(start), read_redirects(cursor))
    name = read_word(cursor)
    if not is_bare(name):
        cursor.fail(start)
    skip_lines(cursor)
    words = None
    if find_reserved(cursor) == "in":
        cursor.at += 2
        words = read_words(cursor)
    skip_separator(cursor)
    text = "".join(part.text for part in name.parts if isinstance(part, Text))
    # Braces in place of `do` and `done` are not in the manual.
    if find_reserved(cursor) == "{":
        kind = f"{kind} {{"
    body = read_body(cursor, start)
    return For(kind, text, words, body, cursor.span(start), read_redirects(cursor))


def skip_separator(cursor: Cursor) -> None:
    skip_blanks(cursor)
    cursor.accept(";")
    skip_lines(cursor)


def read_case(cursor: Cursor, start: int) -> Node:
    skip_blanks(cursor)
    word = read_word(cursor)
    expect(cursor, "in", start)
    branches = []
    while True:
        skip_lines(cursor)
        if cursor.at_end or find_reserved(cursor) == "esac":
            break
        before = cursor.at
        patterns = read_patterns(cursor)
        body = read_nested(cursor, frozenset())
        end = cursor.take(CASE_END)
        branches.append((patterns, body, end[0] if end else ""))
        if cursor.at == before:
            break
    expect(cursor, "esac", start)
    return Case(word, tuple(branches), cursor.span(start), read_redirects(cursor))


def read_patterns(cursor: Cursor) -> tuple[Word, ...]:
    start = cursor.at
    patterns = list[Word]()
    cursor.accept("(")
    while True:
        skip_blanks(cursor)
        patterns.append(read_word(cursor))
        if not patterns[-1].parts:
            cursor.fail(start)
        skip_blanks(cursor)
        if not cursor.accept("|"):
            break
    expect(cursor, ")", start)
    return tuple(patterns)


def read_test(cursor: Cursor, start: int) -> Node:
    """Read `[[ ... ]]`; behind `=~`, parentheses and bars belong to the expression."""
    words = list[Word]()
    while not cursor.at_end:
        skip_lines(cursor)
        before = cursor.at
        if cursor.has("]]") and cursor.peek(1, 2) in ENDING:
            break
        if not cursor.has(("<(", ">(")) and (found := cursor.take(TEST_OPERATOR)):
            if found[0] == ")" and words and words[-1].parts == OPENED:
                cursor.fail(before)
            words.append(Word((Text(found[0], "operator"),), cursor.span(before)))
        else:
            words.append(read_word(cursor))
        if cursor.at == before:
            break
    expect(cursor, "]]", start)
    return Test(tuple(words), cursor.span(start), read_redirects(cursor))


def read_function(cursor: Cursor, start: int) -> Node:
    found = cursor.take(NAMED_FUNCTION)
    skip_lines(cursor)
    return FunctionDefinition(
        found[1] if found else "", read_command(cursor), cursor.span(start)
    )


def read_coproc(cursor: Cursor, start: int) -> Node:
    skip_blanks(cursor)
    found = cursor.match(NAMED_FUNCTION)
    if found and not find_reserved(cursor) and BODY.match(cursor.text, found.end()):
        cursor.at = found.end()
        skip_blanks(cursor)
    return CommandGroup("coproc", (read_command(cursor),), cursor.span(start))


def is_bare(word: Word) -> bool:
    """Return whether a word is one run of unquoted text."""
    return (
        len(word.parts) == 1
        and isinstance(word.parts[0], Text)
        and not word.parts[0].quoted
    )


OPENED = (Text("(", "operator"),)
ENDING = ("", "\\", " ", "\t", "\n", ";", "&", "|", ")", "<", ">")
COMPOUND = {
    "{": read_group,
    "if": read_if,
    "while": read_while,
    "until": read_while,
    "for": read_for,
    "select": read_for,
    "case": read_case,
    "[[": read_test,
    "function": read_function,
    "coproc": read_coproc,
}
GRAMMAR = Grammar(read_command, read_inner, read_apart)
