"""The reader of shell syntax: kinds of nodes, exact places, here-documents, comments, errors, other spellings."""

import subprocess

from cli_guard.commands.parse.joining import respell
from examples import examples, table

from cli_guard.commands import judge
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import (
    Arithmetic,
    Block,
    Command,
    For,
    Function,
    Node,
    Parameter,
    Pipeline,
    Text,
    Word,
)
from cli_guard.model import Decision


def word(given: Word | None) -> str:
    """A word in short: text as it is, `<name op>` for a parameter, `[commands]` for a substitution."""
    pieces = []
    for part in given.parts if given else ():
        if isinstance(part, Text):
            pieces.append(part.text)
        elif isinstance(part, Parameter):
            pieces.append(f"<{part.name}{part.operator}{word(part.argument)}>")
        else:
            mark = "" if part.kind == "$" else part.kind
            pieces.append(f"{mark}[{'; '.join(map(outline, part.script.items))}]")
    return "".join(pieces)


def outline(node: Node) -> str:
    """A node in short."""
    if isinstance(node, Pipeline):
        return " | ".join(map(outline, node.stages))
    if isinstance(node, For):
        over = "@" if node.words is None else " ".join(map(word, node.words))
        return f"for {node.name} in {over}: {outline(node.body)}"
    if isinstance(node, Arithmetic):
        return f"compute({word(node.expression).strip()})"
    if isinstance(node, Function):
        return f"{node.name}(): {outline(node.body)}"
    redirects = [f"{each.descriptor}{each.operator}{word(each.target)!r}" for each in node.redirects]
    if isinstance(node, Block):
        return "".join([f"{node.kind}({'; '.join(map(outline, node.items))})", *redirects])
    given = [
        f"{each.name}{'+' * each.append}={','.join(map(word, each.values))}" for each in node.assignments
    ]
    return " ".join([*given, *map(word, node.words), *redirects])


def shown(text: str) -> str:
    """A whole script in short."""
    script = parse(text)
    assert not script.errors
    return "; ".join(map(outline, script.items))


@table(
    ("text", "tree"),
    [
        ("ls -l 'a b'", "ls -l a b"),
        ("a; b", "a; b"),
        ("a\nb\n\nc", "a; b; c"),
        ("a & b", "background(a); b"),
        ("a &\nb &", "background(a); background(b)"),
        ("a | b |& c", "a | b | c"),
        ("a && b", "list(a; b)"),
        ("a && b || c", "list(list(a; b); c)"),
        ("a | b && c", "list(a | b; c)"),
        ("! a", "list(a)"),
        ("(a; b)", "subshell(a; b)"),
        ("{ a; b; }", "group(a; b)"),
        ("if a; then b; elif c; then d; else e; fi", "if(a; b; if(c; d); if(e))"),
        ("while a; do b; done", "loop(a; loop(b))"),
        ("until a; do b; done", "loop(a; loop(b))"),
        ("for x in 1 $y; do b; done", "for x in 1 <y>: loop(b)"),
        ("for x; do b; done", "for x in @: loop(b)"),
        ("for ((;;)); do b; done", "loop(compute(;;); loop(b))"),
        ("select x in a b; do c; done", "for x in a b: loop(c)"),
        ("case $x in a|b) c;; *) d; e;; esac", "case(: <x>; group(c); group(d; e))"),
        ("case x in esac", "case(: x)"),
        ("f() { a; }", "f(): group(group(a))"),
        ("function f { a; }", "f(): group(group(a))"),
        ("f() (a)", "f(): group(subshell(a))"),
        ("x=1", "x=1"),
        ("x=1 y=2 a", "x=1 y=2 a"),
        ("x+=1", "x+=1"),
        ("x=(a 'b c')", "x=a,b c"),
        ("x= a", "x= a"),
        ("a x=1", "a x=1"),
        ("export x=1 y", "export x=1 y"),
        ("declare -r x=1", "declare -r x=1"),
        ("unset x", "unset x"),
        ("[ -f x ]", ": -f x"),
        ("[[ -f x && $y == z ]]", ": -f x <y> z"),
        ("[[ $x -eq 1 ]]", "group(: <x> -eq 1; compute($x); compute(1))"),
        ("(( $(a) ))", "group(compute([a]))"),
        ("time a -b", "time a -b"),
        ("a > f", "a >'f'"),
        ("a >> f 2>&1", "a >>'f' 2>&'1'"),
        ("a < f", "a <'f'"),
        ("a <<< b", "a <<<'b'"),
        ("a &> f", "a &>'f'"),
        ("2> f a", "a 2>'f'"),
        ("> f", ">'f'"),
        ("a >f b", "a b >'f'"),
        ("{ a; } > f", "group(a)>'f'"),
        ("(a) 2> f", "subshell(a)2>'f'"),
        ("while a; do b; done < f", "loop(a; loop(b))<'f'"),
        ("a && b > f", "list(a; b >'f')"),
        ("a | b > f", "a | b >'f'"),
        ("a $(b | c) `d`", "a [b | c] [d]"),
        ('a "$(b "$(c)")"', "a [b [c]]"),
        ("a `b \\`c\\``", "a [b [c]]"),
        ("a <(b) >(c)", "a <[b] >[c]"),
        ("a $((1 + $(b)))", "a (([compute(1 + [b])]"),
        ("a ${x:-$y} ${x#y} ${#x}", "a <x:-<y>> <x#y> <x#>"),
        ("a ${x[0]} ${x[@]}", "a <x[0]> <x[@]>"),
        ("a {b,c} *", "a {b,c} *"),
        ("r\\m 'x'\"y\"$'z'", "rm xyz"),
        ("rm$IFS-rf", "rm<IFS>-rf"),
        ("!a }", "!a }"),
        ("", ""),
        (" \n\t\n", ""),
    ],
)
def test_a_text_becomes_a_tree(text: str, tree: str) -> None:
    assert shown(text) == tree


@table(
    ("text", "tree"),
    [
        ("a <<E\nb\nE\n", "a <<'b\\n'"),
        ("a <<E\nE\n", "a <<''"),
        ("a <<E\n$b `c` $(d)\nE\n", "a <<'<b> [c] [d]\\n'"),
        ("a <<'E'\n$b `c` $(d)\nE\n", "a <<'$b `c` $(d)\\n'"),
        ('a <<"E"\n$b\nE\n', "a <<'$b\\n'"),
        ("a <<\\E\n$b\nE\n", "a <<'$b\\n'"),
        ("a <<'E F'\n$b\nE F\nc\n", "a <<'$b\\n'; c"),
        ("a <<-'E'\n\tb\n\tE\nc\n", "a <<'b\\n'; c"),
        ("a <<E\nb\\\nc\nE\n", "a <<'bc\\n'"),
        ("a <<E\nb \\$c \\\\ \\` \\d \"e\" 'f'\nE\n", "a <<'b $c \\\\ ` \\\\d \"e\" \\'f\\'\\n'"),
        ("a <<E > f\nb\nE\n", "a >'f' <<'b\\n'"),
        ("a > f <<E\nb\nE\n", "a >'f' <<'b\\n'"),
        ("a <<E | b\nx\nE\n", "a <<'x\\n' | b"),
        ("a <<E | b | c > f\nx\nE\n", "a <<'x\\n' | b | c >'f'"),
        ("a <<E\nb\nE\nc <<F\nd\nF\n", "a <<'b\\n'; c <<'d\\n'"),
        ("a <<A\nb\nA\na <<A\nc\nA\n", "a <<'b\\n'; a <<'c\\n'"),
        ("$(a <<E\nb\nE\n)", "[a <<'b\\n']"),
        ("(a <<E\nb\nE\n)", "subshell(a <<'b\\n')"),
        ("for i in x; do a <<E\n$i\nE\ndone", "for i in x: loop(a <<'<i>\\n')"),
        ("f() { a <<E\nb\nE\n}; f", "f(): group(group(a <<'b\\n')); f"),
        ("a <<E\nrm -rf /\n# b\n'\"\nE\nc", "a <<'rm -rf /\\n# b\\n\\'\"\\n'; c"),
    ],
)
def test_a_here_document_is_one_quoted_word(text: str, tree: str) -> None:
    assert shown(text) == tree


@table(
    ("text", "tree"),
    [
        ("a # b", "a"),
        ("# a", ""),
        ("a # b \\\nc", "a; c"),
        ("# a \\\nb", "b"),
        ("a # x\nb # y\nc", "a; b; c"),
        ("a;# b\nc", "a; c"),
        ("a &&# b\nc", "list(a; c)"),
        ("a b#c '# d' \\# e", "a b#c # d # e"),
        ("a \\\n b", "a b"),
        ("a '\n# b'", "a \n# b"),
        ('a "\nb"', "a \nb"),
        ("a |\nb", "a | b"),
        ("a &&\n\nb", "list(a; b)"),
        ("a -n\nb", "a -n; b"),
        ("a $x\nb", "a <x>; b"),
        ("x=1\nb", "x=1; b"),
        ("x=$y\nb c", "x=<y>; b c"),
        ("export x\nb", "export x; b"),
        ("unset x\nb c\nd", "unset x; b c; d"),
        ("a > f\nb", "a >'f'; b"),
        ("a 2>&1\nb", "a 2>&'1'; b"),
        ("a $x \\\n  b\nc", "a <x> b; c"),
    ],
)
def test_a_comment_and_a_command_end_with_their_line(text: str, tree: str) -> None:
    assert shown(text) == tree


def pieces(text: str) -> list[str]:
    """What stands at the places of the words, in order."""
    found: list[str] = []

    def walk(node: Node) -> None:
        if isinstance(node, Command):
            assert text[node.span.start : node.span.end].strip()
            found.extend(text[each.span.start : each.span.end] for each in node.words)
            for each in node.redirects:
                if each.target:
                    found.append(text[each.target.span.start : each.target.span.end])
        for inner in getattr(node, "items", getattr(node, "stages", ())):
            walk(inner)

    for node in parse(text).items:
        walk(node)
    return found


@table(
    ("text", "words"),
    [
        ("ls  -l 'a b'", ["ls", "-l", "'a b'"]),
        ('é "日 本" 😀x; b', ["é", '"日 本"', "😀x", "b"]),
        ("# 日本\né😀 | b", ["é😀", "b"]),
        ("a 'é' && (b \"$ü\" 😀)", ["a", "'é'", "b", '"$ü"', "😀"]),
        ("é > ü", ["é", "ü"]),
        ("a é\nb ü\n", ["a", "é", "b", "ü"]),
        ("é <<E\nü\nE\nb", ["é", "ü\n", "b"]),
        ("a # é \\\nb", ["a", "b"]),
        ("a$x-é$y b", ["a$x-é$y", "b"]),
    ],
)
def test_a_word_knows_where_it_stands(text: str, words: list[str]) -> None:
    assert pieces(text) == words


@examples(
    "text",
    (
        "a 'b¦a \"b¦a `b¦a $(b¦a )¦(a¦{ a¦if a; then b¦if a then b; fi¦while a; do b¦for x in a; b; done¦case x in a) b"
        "¦a &&¦&& a¦a ; ;¦;; a¦a & ;¦a <<<¦a >¦a < > b¦f( { a; }¦function¦[[ a¦a ((b))¦${x¦a ${x¦a $((1¦x=(a"
        "¦if; then a; fi¦( )¦a (b)¦a b (c)¦fi¦done¦esac¦a; }¦a=(b¦then a¦do a; done¦else¦a || || b¦a && ; b¦(a))"
    ).split("¦"),
)
def test_what_bash_rejects_is_not_understood(text: str) -> None:
    done = subprocess.run(("/bin/bash", "-n"), input=text.encode(), capture_output=True, check=False)
    assert done.returncode != 0 or b"syntax error" in done.stderr, "bash takes it"
    verdict = judge(text)
    assert verdict.verdict is not Decision.ALLOW
    assert verdict.coverage == "partial"


@table(
    ("text", "near"),
    [
        ("[ x || ./evil ]", "[[ x || ./evil ]]"),
        ("[ -f x && ./evil ]", "[ -f x -a ./evil ]"),
        ("[ -n x | ./evil ]", '[ -n "$(echo x | wc -l)" ]'),
        ("[ x & ./evil ]", "[ x ] && echo y"),
        ("[ ! \n ./evil ]", "[ ! \\\n ./evil ]"),
        ("[ a = b\n./evil ]", "[[ a = b &&\n./evil ]]"),
        ("[ x # ]\n./evil ]", "[ $# -eq 0 ]"),
        ("[ # \\\n ./evil ]", "[ x ] # \\\n"),
        ("[ x ]# || ./evil", "[ x ] # || ./evil"),
        ("[ a > ~/.bashrc ]", "[[ a > ~/.bashrc ]]"),
        ("[ a >& b ]", "[ a == b ]"),
        ("[ a == x|./evil ]", "[[ a == @(x|y) ]]"),
        ("[ a =~ b||./evil ]", "[[ a =~ b|c ]]"),
        ("[ (x) ]", "[[ (x) ]]"),
        ("[[ ( ) ]]", "[[ ( -f x ) ]]"),
        ("[x]", "[ x ]"),
        ("[$x ]", "[ $x ]"),
    ],
)
def test_one_bracket_is_a_command_whose_operators_are_the_shells(text: str, near: str) -> None:
    assert judge(text).verdict is Decision.REVIEW
    assert judge(near).verdict is Decision.ALLOW


@table("text", ["rm -rf / )", "rm -rf /; (", "ls; fi; rm -rf /", "rm -rf / &&", "if x; rm -rf /"])
def test_a_danger_beside_an_error_is_still_seen(text: str) -> None:
    assert parse(text).errors or "fi" in text
    assert judge(text).verdict is Decision.DENY


@table(
    ("text", "plain"),
    [
        ("{rm,-rf,/}", "rm -rf /"),
        ("ls; {a,b} c", "ls; a b c"),
        ("a <> f", "a >  f"),
        ("a > f <<< b", "a <<< b > f"),
        ("a >f 2>&1 <<< 'b c'", "a <<< 'b c' >f 2>&1"),
        ("a {b}", "a {b}"),
        ("${x,y}", "${x,y}"),
        ("'{a,b}'", "'{a,b}'"),
    ],
)
def test_another_spelling_for_the_grammar(text: str, plain: str) -> None:
    assert respell(text) == plain
