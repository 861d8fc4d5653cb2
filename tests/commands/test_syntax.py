"""The reader of shell syntax: kinds of nodes, exact places, here-documents, comments, errors."""

import re
import shutil
import subprocess
from functools import singledispatch

from examples import examples, table

from cli_guard.commands import judge
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import (
    AndOr,
    Assignment,
    Case,
    CommandGroup,
    Computation,
    Compute,
    For,
    FunctionDefinition,
    If,
    Loop,
    Node,
    Nodes,
    ParameterExpansion,
    ParsedCommand,
    Part,
    Pipeline,
    Redirect,
    Substitution,
    Text,
    Word,
)
from cli_guard.commands.parse.tree import Test as DoubleBrackets
from cli_guard.model import Decision

BASH = shutil.which("bash") or "/bin/bash"


def word(given: Word | None) -> str:
    """A word in short: see `piece`."""
    return "".join(map(piece, given.parts)) if given else ""


def piece(part: Part) -> str:
    """Text as it is, `<name op>` for a parameter, `[commands]` for a substitution, `(( ))` for a computation."""
    if isinstance(part, Text):
        return part.text
    if isinstance(part, ParameterExpansion):
        return f"<{part.name}{part.operator}{word(part.argument)}>"
    if isinstance(part, Computation):
        return f"(({word(part.expression)}))"
    mark = "" if part.kind == "$" else part.kind
    return f"{mark}[{several(part.script.items)}]"


def several(nodes: Nodes) -> str:
    return "; ".join(map(outline, nodes))


def setting(given: Assignment) -> str:
    return f"{given.name}{'+' * given.append}={word(given.value)}"


def moved(given: tuple[Redirect, ...]) -> list[str]:
    """Redirections: a here-document that is loose has a question mark."""
    return [
        f"{each.descriptor}{each.operator}{'?' * each.loose}{word(each.target)!r}"
        for each in given
    ]


def outline(node: Node) -> str:
    """A node in short, with its redirections behind it."""
    if isinstance(node, ParsedCommand):
        return " ".join(
            [
                *map(setting, node.assignments),
                *map(word, node.words),
                *moved(node.redirects),
            ]
        )
    return "".join([inner(node), *moved(getattr(node, "redirects", ()))])


@singledispatch
def inner(node: Node) -> str:
    """A compound command without its redirections."""
    raise TypeError(node)


@inner.register
def _(node: Pipeline) -> str:
    return " | ".join(map(outline, node.stages))


@inner.register
def _(node: AndOr) -> str:
    rest = zip(node.operators, map(outline, node.items[1:]), strict=True)
    return f"list({outline(node.items[0])}{''.join(f' {operator} {item}' for operator, item in rest)})"


@inner.register
def _(node: CommandGroup) -> str:
    return f"{node.kind}({several(node.items)})"


@inner.register
def _(node: If) -> str:
    branches = [
        f"{several(condition)}: {several(body)}" for condition, body in node.branches
    ]
    return f"if({' | '.join(branches)} | {several(node.otherwise)})"


@inner.register
def _(node: Loop) -> str:
    return f"{node.kind}({several(node.condition)}: {several(node.body)})"


@inner.register
def _(node: For) -> str:
    over = "@" if node.words is None else " ".join(map(word, node.words))
    return f"{node.kind} {node.name} in {over}({several(node.body)})"


@inner.register
def _(node: Case) -> str:
    branches = [
        f"{','.join(map(word, patterns))}: {several(body)}{end}"
        for patterns, body, end in node.branches
    ]
    return f"case {word(node.word)}({' | '.join(branches)})"


@inner.register
def _(node: DoubleBrackets) -> str:
    return f"test({' '.join(map(word, node.words))})"


@inner.register
def _(node: Compute) -> str:
    return f"compute({word(node.expression).strip()})"


@inner.register
def _(node: FunctionDefinition) -> str:
    return f"{node.name}(): {outline(node.body)}"


def shown(text: str) -> str:
    """A whole script in short."""
    script = parse(text)
    assert not script.errors
    return several(script.items)


@table(
    ("text", "tree"),
    [
        ("ls -l 'a b'", "ls -l a b"),
        ("a; b", "a; b"),
        ("a\nb\n\nc", "a; b; c"),
        ("a & b", "background(a); b"),
        ("a &\nb &", "background(a); background(b)"),
        ("a && b &", "background(list(a && b))"),
        ("a | b |& c", "a | b | c"),
        ("a && b", "list(a && b)"),
        ("a && b || c", "list(a && b || c)"),
        ("a | b && c", "list(a | b && c)"),
        ("! a", "a"),
        ("! a | b", "a | b"),
        ("! ! a", "a"),
        ("(a; b)", "subshell(a; b)"),
        ("( (a) )", "subshell(subshell(a))"),
        ("{ a; b; }", "group(a; b)"),
        ("{ a\n}", "group(a)"),
        ("{ { a; } }", "group(group(a))"),
        ("if a; then b; fi", "if(a: b | )"),
        ("if a; then b; elif c; then d; else e; fi", "if(a: b | c: d | e)"),
        ("if a; b\nthen\nc; fi", "if(a; b: c | )"),
        ("while a; do b; done", "while(a: b)"),
        ("until a; do b; done", "until(a: b)"),
        ("for x in 1 $y; do b; done", "for x in 1 <y>(b)"),
        ("for x in; do b; done", "for x in (b)"),
        ("for x\nin 1\ndo b; done", "for x in 1(b)"),
        ("for x; do b; done", "for x in @(b)"),
        ("for x do b; done", "for x in @(b)"),
        ("for x in 1; { b; }", "for { x in 1(b)"),
        ("for ((i=0;;)); do b; done", "for(compute(i=0;;): b)"),
        ("for ((;;)) { b; }", "for(compute(;;): b)"),
        ("select x in a b; do c; done", "select x in a b(c)"),
        ("case $x in a|b) c;; *) d; e;; esac", "case <x>(a,b: c;; | *: d; e;;)"),
        ("case x in (a) b;& c) d;;& e) f; esac", "case x(a: b;& | c: d;;& | e: f)"),
        ("case x in esac", "case x()"),
        ("case x in a) ;; esac", "case x(a: ;;)"),
        ("case x\nin a)\nb\n;;\nesac", "case x(a: b;;)"),
        ("f() { a; }", "f(): group(a)"),
        ("f ()\n{ a; }", "f(): group(a)"),
        ("function f { a; }", "f(): group(a)"),
        ("function f() (a)", "f(): subshell(a)"),
        ("f() (a)", "f(): subshell(a)"),
        ("coproc a b", "coproc(a b)"),
        ("coproc N { a; }", "coproc(group(a))"),
        ("time a -b", "time a -b"),
        ("time { a; }", "time(group(a))"),
        ("x=1", "x=1"),
        ("x=1 y=2 a", "x=1 y=2 a"),
        ("x+=1", "x+=1"),
        ("x=(a 'b c')", "x=<(ab c>"),
        ("x[1]=2", "x=((1))=2"),
        ("x= a", "x= a"),
        ("a x=1", "a x=1"),
        ("'x'=1", "x=1"),
        ("export x=1 y", "export x=1 y"),
        ("declare -r x=1", "declare -r x=1"),
        ("declare x=(a b)", "declare x=<(ab>"),
        ("unset x", "unset x"),
        ("[ -f x ]", "[ -f x ]"),
        ("[[ -f x && $y == z ]]", "test(-f x && <y> == z)"),
        ("[[ a < b || ! (c > d) ]]", "test(a < b || ! ( c > d ))"),
        ("[[ a\n&& b ]]", "test(a && b)"),
        ("[[ $x -eq 1 ]]", "test(<x> -eq 1)"),
        ("(( $(a) ))", "compute([a])"),
        ("((x++)) > f", "compute(x++)>'f'"),
        ("a > f", "a >'f'"),
        ("a >> f 2>&1", "a >>'f' 2>&'1'"),
        ("a 2>&-", "a 2>&'-'"),
        ("a2>f", "a2 >'f'"),
        ("a {x}>f", "a {x}>'f'"),
        ("a < f", "a <'f'"),
        ("a <> f", "a <>'f'"),
        ("a >| f", "a >|'f'"),
        ("a <<< b", "a <<<'b'"),
        ("a &> f", "a &>'f'"),
        ("a &>> f", "a &>>'f'"),
        ("2> f a", "a 2>'f'"),
        ("> f", ">'f'"),
        ("a >f b", "a b >'f'"),
        ("a > >(b)", "a >'>[b]'"),
        ("{ a; } > f", "group(a)>'f'"),
        ("(a) 2> f < g", "subshell(a)2>'f'<'g'"),
        ("while a; do b; done < f", "while(a: b)<'f'"),
        ("if a; then b; fi > f", "if(a: b | )>'f'"),
        ("for x in a; do b; done > f", "for x in a(b)>'f'"),
        ("case x in a) b;; esac > f", "case x(a: b;;)>'f'"),
        ("[[ a ]] > f", "test(a)>'f'"),
        ("f() { a; } > f", "f(): group(a)>'f'"),
        ("a && b > f", "list(a && b >'f')"),
        ("a | b > f", "a | b >'f'"),
        ("a $(b | c) `d`", "a [b | c] `[d]"),
        ('a "$(b "$(c)")"', "a [b [c]]"),
        ("a $(case x in y) b;; esac) d", "a [case x(y: b;;)] d"),
        ("a $(b # )\n) c", "a [b] c"),
        ("a `b \\`c\\``", "a `[b `[c]]"),
        ("a <(b) >(c)", "a <[b] >[c]"),
        ("a $((1 + $(b)))", "a ((1 + [b]))"),
        ("a $[1+2]", "a ((1+2))"),
        ("a ${x:-$y} ${x#y} ${#x}", "a <x:-<y>> <x#y> <x#name>"),
        ("a ${x:-'}'} ${x:-\"}\"}b", "a <x:-}> <x:-}>b"),
        ('a "${x:-\'}"', "a <x:-'>"),
        (
            "a ${x[0]} ${x[@]} ${!x} ${#x[@]} ${x[0]:-b}",
            "a <x[((0))> <x[((@))> <x!name> <x[?((@))> <x[?((0)):-b>",
        ),
        ("a ${x/b/c} ${x^^} ${x@P} ${x:1:2}", "a <x/b/c> <x^^> <x@P> <x:1:2>"),
        ("a $x$1$@$?$# $10", "a <x><1><@><?><#> <1>0"),
        ("a {b,c} *", "a {b,c} *"),
        ("r\\m 'x'\"y\"$'z'", "rm xyz"),
        ("rm$IFS-rf", "rm<IFS>-rf"),
        ("a\\\nb c\\\n d", "ab c d"),
        ("a ?(b|c) *(d)", "a ?(b|c) *(d)"),
        ("a if then fi }", "a if then fi }"),
        ("!a }", "!a }"),
        ("a#b {c", "a#b {c"),
        ('a $ $\'b\' $"c" "$"', "a $ b c $"),
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
        ("a <<E\nb\nE", "a <<'b\\n'"),
        ("a <<E\n$b `c` $(d)\nE\n", "a <<?'<b> `[c] [d]\\n'"),
        ("a <<'E'\n$b `c` $(d)\nE\n", "a <<'$b `c` $(d)\\n'"),
        ('a <<"E"\n$b\nE\n', "a <<'$b\\n'"),
        ("a <<\\E\n$b\nE\n", "a <<'$b\\n'"),
        ("a <<'E F'\n$b\nE F\nc\n", "a <<'$b\\n'; c"),
        ("a <<-'E'\n\tb\n\tE\nc\n", "a <<-'b\\n'; c"),
        ("a <<E\nb\\\nc\nE\n", "a <<?'bc\\n'"),
        (
            "a <<E\nb \\$c \\\\ \\` \\d \"e\" 'f'\nE\n",
            "a <<?'b $c \\\\ ` \\\\d \"e\" \\'f\\'\\n'",
        ),
        ("a <<E > f\nb\nE\n", "a <<'b\\n' >'f'"),
        ("a > f <<E\nb\nE\n", "a >'f' <<'b\\n'"),
        ("a <<E | b\nx\nE\n", "a <<'x\\n' | b"),
        ("a <<E | b | c > f\nx\nE\n", "a <<'x\\n' | b | c >'f'"),
        ("a <<E &&\nx\nE\nb", "list(a <<'x\\n' && b)"),
        ("a <<E\nb\nE\nc <<F\nd\nF\n", "a <<'b\\n'; c <<'d\\n'"),
        ("a <<A <<'B'\nx\nA\n$y\nB\nc", "a <<'x\\n' <<'$y\\n'; c"),
        ("a <<A\nb\nA\na <<A\nc\nA\n", "a <<'b\\n'; a <<'c\\n'"),
        ("$(a <<E\nb\nE\n)", "[a <<'b\\n']"),
        ("(a <<E\nb\nE\n)", "subshell(a <<'b\\n')"),
        ("{ a; } <<E\nb\nE\n", "group(a)<<'b\\n'"),
        ("for i in x; do a <<E\n$i\nE\ndone", "for i in x(a <<?'<i>\\n')"),
        ("f() { a <<E\nb\nE\n}; f", "f(): group(a <<'b\\n'); f"),
        ("a <<E\nrm -rf /\n# b\n'\"\nE\nc", "a <<'rm -rf /\\n# b\\n\\'\"\\n'; c"),
    ],
)
def test_a_here_document_is_one_quoted_word(text: str, tree: str) -> None:
    assert shown(text) == tree


@examples(
    "line",
    [
        "E ",
        "E\t",
        "E &",
        "E;",
        "E ; c",
        "E | c",
        "E # x",
        " E",
        "\tE",
        "E)",
        "EE",
        "E\\",
        "'E'",
        "e",
        "E\r",
    ],
)
@table("operator", ["<<E", "<<'E'"])
def test_a_line_that_is_not_the_delimiter_does_not_end_a_here_document(
    operator: str, line: str
) -> None:
    (node,) = parse(f"a {operator}\nb\n{line}\nc").items
    assert isinstance(node, ParsedCommand)
    (redirect,) = node.redirects
    assert redirect.loose
    assert word(redirect.target).startswith("b\n")
    assert word(redirect.target).endswith("c")


@table(
    ("text", "tree"),
    [
        ("a # b", "a"),
        ("# a", ""),
        ("a # b \\\nc", "a; c"),
        ("# a \\\nb", "b"),
        ("a # x\nb # y\nc", "a; b; c"),
        ("a;# b\nc", "a; c"),
        ("a &&# b\nc", "list(a && c)"),
        ("(# b\na)", "subshell(a)"),
        ("a b#c '# d' \\# e", "a b#c # d # e"),
        ("a \\\n b", "a b"),
        ("a '\n# b'", "a \n# b"),
        ('a "\nb"', "a \nb"),
        ("a |\nb", "a | b"),
        ("a &&\n\nb", "list(a && b)"),
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
        assert text[node.span.start : node.span.end].strip()
        if isinstance(node, ParsedCommand):
            found.extend(text[each.span.start : each.span.end] for each in node.words)
            found.extend(
                text[each.target.span.start : each.target.span.end]
                for each in node.redirects
            )
        for below in getattr(node, "items", getattr(node, "stages", ())):
            walk(below)

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
        ("é <<E\nü\nE\nb", ["é", "ü\nE\n", "b"]),
        ("a # é \\\nb", ["a", "b"]),
        ("a$x-é$y b", ["a$x-é$y", "b"]),
    ],
)
def test_a_word_knows_where_it_stands(text: str, words: list[str]) -> None:
    assert pieces(text) == words


@table(
    ("text", "inner"),
    [
        ("é $(b 'ü') c", "b 'ü'"),
        ('é "$(b ü)"', "b ü"),
        ("é <(b ü)", "b ü"),
        ('é ${x:-$(b "ü")}', 'b "ü"'),
        ("cat <<E\né $(b ü)\nE\n", "b ü"),
    ],
)
def test_a_command_in_a_word_knows_its_place_in_the_whole_text(
    text: str, inner: str
) -> None:
    def scripts(given: Word | None) -> list[Substitution]:
        below = (
            [part for part in given.parts if isinstance(part, Substitution)]
            if given
            else []
        )
        arguments = (
            [part.argument for part in given.parts if isinstance(part, ParameterExpansion)]
            if given
            else []
        )
        return [*below, *(found for each in arguments for found in scripts(each))]

    (node,) = parse(text).items
    assert isinstance(node, ParsedCommand)
    (found,) = [
        each
        for given in (*node.words, *(r.target for r in node.redirects))
        for each in scripts(given)
    ]
    span = found.script.items[0].span
    assert text[span.start : span.end] == inner


@examples(
    "text",
    (
        "a 'b¦a \"b¦a `b¦a $(b¦a )¦(a¦{ a¦if a; then b¦if a then b; fi¦while a; do b¦for x in a; b; done¦case x in a) b"
        "¦a &&¦&& a¦a ; ;¦;; a¦a & ;¦a <<<¦a >¦a < > b¦f( { a; }¦function¦[[ a¦a ((b))¦${x¦a ${x¦a $((1¦x=(a"
        "¦if; then a; fi¦( )¦a (b)¦a b (c)¦fi¦done¦esac¦a; }¦a=(b¦then a¦do a; done¦else¦a || || b¦a && ; b¦(a))"
        "¦if a; then fi¦while do a; done¦{ }¦for x y; do a; done¦case x a) b;; esac"
        "¦a | | b¦| a¦a |¦! &&¦(a) b¦{ a; } b¦if a; then b; fi c¦[[ a ]] b¦((1)) b¦f() a¦a 2>¦a <¦f() }¦in) a"
        "¦for x in a do b; done¦while a; done¦case x in a b) c;; esac¦case x in) a;; esac¦a & && b¦a ;& b"
    ).split("¦"),
)
def test_what_bash_rejects_is_not_understood(text: str) -> None:
    # With programs that are allowed by themselves, so that only the syntax can need review.
    text = re.sub(r"\b[abc]\b", "ls", text)
    done = subprocess.run(
        (BASH, "-n"), input=text.encode(), capture_output=True, check=False
    )
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
        ("[ a == x|./evil ]", "[[ a == x ]]"),
        ("[ a =~ b||./evil ]", "[[ a =~ b ]]"),
        ("[ (x) ]", "[[ (x) ]]"),
        ("[[ ( ) ]]", "[[ ( -f x ) ]]"),
        ("[x]", "[ x ]"),
        ("[$x ]", '[ "$x" ]'),
    ],
)
def test_one_bracket_is_a_command_whose_operators_are_the_shells(
    text: str, near: str
) -> None:
    assert judge(text).verdict is Decision.REVIEW
    assert judge(near).verdict is Decision.ALLOW


@table(
    "text",
    [
        "rm -rf / )",
        "rm -rf /; (",
        "ls; fi; rm -rf /",
        "rm -rf / &&",
        "if x; rm -rf /",
        "rm -rf / \\",
    ],
)
def test_a_danger_beside_an_error_is_still_seen(text: str) -> None:
    assert parse(text).errors
    assert judge(text).verdict is Decision.DENY
