"""Words against bash itself: where the engine claims to know a word, it is the word that bash makes of it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from examples import near_misses, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_guard.commands import judge
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.model import Context
from cli_guard.commands.scope import ShellScope
from cli_guard.commands.walk import new_shell

BASH = shutil.which("bash") or "/bin/bash"
HOME = "/home/ada"
# No program is found, and no built-in command is left that could reach beyond this one shell.
PRELUDE = r"""
enable -n kill suspend exit logout exec
show() { for each; do printf '%s\0' "$each"; done; }
"""

OLD = subprocess.run((BASH, "-c", "((BASH_VERSINFO[0] < 5))"), check=False).returncode == 0
pytestmark = pytest.mark.skipif(OLD, reason="the words of bash 5 are compared")


def in_bash(given: str, folder: Path) -> list[str]:
    """The fields that bash makes of `setup @@ words` in an empty folder, in the engine's spelling of home."""
    setup, _, words = given.rpartition("@@")
    done = subprocess.run(
        (BASH, "--norc", "--noprofile", "-c", f"{PRELUDE}\n{setup}\nshow {words}\n"),
        cwd=folder,
        env={"PATH": "/nowhere", "HOME": HOME, "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert not done.stderr, done.stderr
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    return [each.replace(str(folder), ".").replace(HOME, "~") for each in fields]


def in_engine(given: str) -> tuple[Field, ...]:
    """The fields that the engine makes of them."""
    setup, _, words = given.rpartition("@@")
    shell = new_shell(ShellScope(Context()))
    shell.run_text(f"{setup}\nshow {words}\n")
    (met,) = (each for each in shell.invocations if each.name == "show")
    return met.fields[1:]


def claimed(field: Field) -> str | None:
    """What the engine says that the word is; in an empty folder a pattern stands for itself."""
    return None if field.text is None or field.many or field.assumed else field.text


def agrees(fields: tuple[Field, ...], truth: list[str]) -> bool:
    """Is everything that the engine claims true? What is not known may be any number of words."""
    known = [claimed(field) for field in fields]
    if None not in known:
        return known == truth
    first = known.index(None)
    last = known[::-1].index(None)
    before = truth[:first]
    after = truth[len(truth) - last :]
    return (
        len(truth) >= first + last
        and before + after == known[:first] + known[len(known) - last :]
    )


# What the engine has to know: `setup @@ words`, the words of one row one by one.
KNOWN = r"""
plain - -n -- +x a=b /usr/bin/x ./y a.b,c:d@e %f ^g é日本 a#b "#"
'a b' "a b" a\ b 'a'"b"c a'b'"c"d "a'b" 'a"b' "a\"b" "a\\b" "a\nb" "a\$b" "a\`b" 'a\nb' '' "" '' 'é b'
\rm r''m r""m 'r'm "r"'m' r\m \r\m a\\b a\'b \"a\" \$x \* \~ \# -\-x \{a,b\} "\*" '*'
$'a' $'a\nb' $'\x72\x6d' $'\162\155' $'\u00e9' $'\U0001F600' $'a\'b' $'a\\b' $'\t\e\a' $'\cA' $'\q' $'\"\?' $'\1234'
$'a\0b' $'a\x00b'c $'\xc3\xa9' $'\x' r$'\x6d' $'\x2d'rf "$'a'" $'a'$'b' a$'\x20'b
{a,b} {a,b}c x{a,b} {rm,-rf,/} {a,b}{c,d} {a,} {,a} {,} {,}x
{a} {} x{}y {a,b a,b} {a b,c} "{a,b}" '{a,b}' {a\,b} {'a,b'} {a"," b} a{b\}c,d}
{a,'b c'} {a,"b,c"} {"a b",c}d {é,日}本 {a,$'b'} {\*,x} -{a,b} --x={a,b}
{1..3} {3..1} {-1..1} {1...3} {a..3} x{1..2}y{a,b} {1..2}{1..2} {0..0} "{1..3}"
x=1 @@ {$x,b} {1..$x} ${x}{a,b}
x= @@ $x "$x" end
x=a @@ $x ${x} "$x" ${x}b $x.b $x-b '$x' \$x "\$x" "${x}b" b"$x"c b'$x'c $x$x "$x$x" "$x"'$x'
x="a b" @@ $x "$x" c$x ${x}c c${x}d "c${x}d" c"$x"d $x$x "$x"$x
x=" a b " @@ $x c$x ${x}c c${x}d "$x" ''$x $x''
x=" " @@ $x c${x}d ''$x "$x"
x="a  b" @@ $x "$x"
x=$'a\tb\nc' @@ $x "$x" c${x}d
x='*' @@ "$x" '*' \*
x='a\ b' @@ $x "$x"
x="'a b'" @@ $x "$x"
x='{a,b}' @@ $x "$x" c${x}d
x='$y' y=z @@ $x "$x" $y
x='~' @@ $x "$x"
x=a y=b @@ $x$y "$x-$y" $y$x
x=a; y=$x; z="$x b"; v='$x b'; w=$x$y @@ $y $z "$z" $v $w
x=a; x=${x}b; x+=c; y+=d @@ $x $y
x=a; x="$x$x"; x="$x$x" @@ $x
x=a; unset x @@ $x end
x=a y=$x @@ $y
x= @@ ${x:-y} "${x:-y}" ${x:-a b} "${x:-a b}"
x=a @@ ${x:-y} "${x-y}" ${x:?no} "${x:-$(echo b)}"
x="a b" @@ ${x:-y} "${x:-y}"
x=abc @@ ${x#a} ${x##a} ${x#b} ${x%c} ${x%%c} ${x%b} "${x#a}" ${x#abc}end ${x%abcd}
x=abc y=a @@ ${x#"$y"}
x="a'b" @@ ${x#"a'"} ${x%"b"}
x='a#b%c/d' @@ ${x#a#} ${x%/d} ${x%%/d} ${x%d} ${x#a}
x=a/b/c @@ ${x%/c} ${x#a/}
x=abcdef @@ ${x:-2}
set -- a b @@ $1 "$1" "$2" $@ "$@" $* "$*" ${1}0 "${*}" $1$2
set -- 'a b' c @@ "$@" $@ $* "$*" x"$*"y "$1" $1
set -- '' a @@ "$@" $@ "$1"
set -- @@ "$@" $@ $1 "${2}" "$*" end
set -- a b c d e f g h i j @@ ${10} ${1} "$9"
set -- a b; set -- "$@" c @@ "$@"
set -- $'a\nb' -x @@ $1 $2
set a b @@ "$@"
set -e a b @@ "$@"
set -eu; set -- -x; set -u @@ $1
set a; set - b @@ $1
x='a,b'; IFS=, true @@ $x
@@ rm$IFS-rf${IFS}x rm${IFS}-rf ${IFS}a
readonly x=a; export y="a b"; declare z=c; declare "v=a b" @@ $x $y "$z" "$v"
printf -v x %s a; read y <<< 'a b'; read -r z <<< 'a\b' @@ $x "$y" "$z"
@@ ~ ~/a ~/ "~" '~' \~ a~ --x=~/a $HOME "$HOME/a" ${HOME}/a $HOME.x $PWD "$PWD/x"
x=~ y=~/a z="~" @@ $x "$y" $z
@@ $(echo a) "$(echo a)" $(echo a b) "$(echo a b)" $(echo 'a b')
@@ `echo a` "`echo a`" $(echo $(echo a)) `echo \`echo a\``
@@ $(echo a; echo b) "$(echo a; echo b)" $(echo -n a)b
@@ $(echo -n) $(echo -e) $(echo -x a) $(echo -- a) $(echo "-n" a)
@@ $(x=1) end
@@ $(printf 'a\n\n')b $(printf %s a b) $(printf '%s-%s\n' a b c d)
@@ $(printf -- '-a')
x=$(echo a) y=`echo "a b"` @@ $x "$y" $(echo "$y") "$(echo $y)"
x=b; (x=c); y=$(x=c; echo $x) @@ $x $y
f() { echo "$@"; }; g() { echo $1; } @@ $(f a b) $(g x y)
f() { x=$1; }; f a; g() { local y=b; }; y=c; g @@ $x
f() { set -- z; }; set -- a; f @@ $1
f() { x=b; }; x=a; (f) @@ $x
""".strip().splitlines()
# What it need not know, and about which it must never be wrong.
OPEN = r"""
set -- a b @@ "${@}"
@@ $(echo a >/dev/null)
f() { x=$1; }; f a; g() { local y=b; }; y=c; g @@ $y
@@ $(echo -e 'a\x41') $(echo 'a\x41') $(echo "a\nb") $(echo -E a)
@@ $(echo -ne 'a\tb')
@@ $(printf '%d' 5)
@@ $(printf 'a\x41\101%%')
x=a @@ $unset "$unset" ${unset}{a,b} {$unset,b} $xb
@@ ${x:-y} ${x-y} "${x:-y}" "${x:-}" ${x:-a b} "${x:-"a b"}" ${x:-'a b'} "${x:-'a b'}"
@@ ${x:-a\ b} ${x:-{a,b}} ${x:-~} ${x:-${y:-z}}
@@ ${x:-$y} ${x:=y} "${z:=y z}"
x=a.b.c @@ ${x#?} ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${x#[ab]} ${x/#a/X} ${x/%c/X} ${x/?/X} ${x/a*/X}
x='a*c' @@ ${x#'a*'} ${x#a\*}
x=abcdef n=1 @@ ${x:1+1} ${x:n} ${x:(-2)} ${x: 1 : 2} ${x:1: 2} ${x::2} ${#x} "${#x}" ${#unset}
x=aBc @@ ${x^} ${x,} ${x^^a} ${x^^[ab]} ${x/b/[&]}
x=y y=z xa=1 @@ ${!x} "${!x}" ${!xa*}
a=(1 2 3) i=1 @@ ${a[-1]} ${#a[@]} "${a[@]:1}" "${a[@]:1:1}" "${a[@]/1/x}" "${!a[@]}" "${a[i]}" "${a[$i]}"
a=(1 2); a+=3 @@ "${a[@]}"
a[0]=x; a[1]=y @@ "${a[@]}" "${a[1]}"
a=(1 2); a[1]=y @@ "${a[@]}" "${a[1]}"
declare -A m=([k]=v); m[l]=w @@ "${m[k]}" "${m[l]}"
set -- a b @@ $# ${#}
n=4 @@ $((1+2)) "$((n*2))" a$((1))b $[1+2]
x=$((1+2)) @@ $x "$x"
read x y <<< 'a b' @@ "$x" "$y"
IFS=, read x y <<< 'a,b' @@ "$x" "$y"
read -a x <<< 'a b' @@ "${x[@]}"
mapfile -t a <<< $'x\ny' @@ "${a[@]}"
@@ $(true) end "$(true)" $(:) $(pwd) $(false) end $(printf %q 'a b')
f() { echo $#; } @@ $(f a b)
x=a; if true; then x=b; fi @@ $x "$x"
x=a; for x in b c; do :; done @@ $x
x=a; false || x=b @@ $x
x=a; case $x in a) x=b;; esac @@ $x
x=a; while true; do x=b; break; done @@ $x
""".strip().splitlines()

# What is outside of the plain subset and has a value: it is not followed.
UNFOLLOWED = r"""
x= @@ ${x:+y}
x=a @@ ${x:+y} "${x:+y z}" ${x:+y z}
x="a b" @@ ${x:+y}
x=abcabc @@ ${x/b/X} ${x//b/X} ${x/b} ${x//b} ${x/b/} ${x//} ${x/} ${x/d/X} ${x/abc/} ${x//bc/-}
x=a/b/c @@ ${x/b/x/y}
x='a b' @@ ${x/ /_} "${x/ /  }" ${x/b/c d}
x=abc y=X @@ ${x/b/$y} ${x/b/"$y"}
x=abcdef @@ ${x:1} ${x:1:2} ${x:0:1} ${x: -2} ${x: -3:2} ${x:1:-2} ${x:2:9} "${x:9}" "${x:0:0}" ${x:0}
x=ébcd @@ ${x:1:1} ${x:0:1} ${x: -3}
x=aBc @@ ${x^^} ${x,,} "${x^^}" ${x^^}$x
a=(1 2 3) @@ $a ${a[0]} ${a[1]} ${a[@]} "${a[@]}" ${a[*]} ${a[9]} "${a[2]}"x
a=('x y' z) @@ "${a[@]}" "${a[0]}" "${a[1]}" c${a[@]}d
a=() @@ "${a[@]}" ${a[0]}
a=(1); a+=(2 3) @@ "${a[@]}"
a=({x,y} $'z\n' "u v") @@ "${a[@]}"
x=1 @@ ${x[0]} "${x[@]}"
a=(1 2); b=("${a[@]}" 3); c=${a[@]}; d=("$a") @@ "${b[@]}" "$c" "${d[@]}"
x=${IFS:0:1} @@ "a${x}b"
a=(1 2 3) i=1 @@ ${a[-1]} "${a[i]}" "${a[$i]}" ${a[@]:1} ${!a[@]}
i=1+2 @@ $((i)) $[i] a$((i))b
x=y y=z @@ ${!x} "${!x}" ${x@Q} ${x@A}
""".strip().splitlines()


@table("row", KNOWN)
def test_a_word_is_known_and_right(row: str, tmp_path: Path) -> None:
    assert [claimed(field) for field in in_engine(row)] == in_bash(row, tmp_path)


@near_misses("row", OPEN)
def test_a_word_is_not_known_rather_than_wrong(row: str, tmp_path: Path) -> None:
    fields = in_engine(row)
    truth = in_bash(row, tmp_path)
    assert agrees(fields, truth), (
        f"{[claimed(field) for field in fields]}, in truth {truth}"
    )


@table("row", UNFOLLOWED)
def test_what_is_outside_of_the_plain_subset_is_not_followed(
    row: str, tmp_path: Path
) -> None:
    fields = in_engine(row)
    assert fields
    assert not any(field.known for field in fields)
    assert agrees(fields, in_bash(row, tmp_path))


@table("given", ["*", "a*", "?", "[ab]", "x/*.py", "a'b'*"])
def test_a_pattern_is_one_and_quoted_it_is_not(given: str) -> None:
    plain, masked = in_engine(f"@@ {given} '{given.replace(chr(39), '')}'")
    assert (plain.pattern, masked.pattern) == (True, False)
    assert not plain.known
    assert masked.known


@table("given", ["$unset", "$(ls)", "${x:-y}", '"$@"', "$((1))", "*.py", "`date`"])
def test_what_is_not_known_before_it_runs_is_never_called_known(given: str) -> None:
    assert not any(field.known for field in in_engine(f"@@ {given}"))


safe = st.text("ab-./_=:é #,%+", min_size=1, max_size=4)
bare = st.text("ab-./_:é%+", min_size=1, max_size=3)
operand = st.text("abc", min_size=1, max_size=2)
pieces = st.one_of(
    bare,
    safe.map("'{}'".format),
    safe.map('"{}"'.format),
    safe.map("$'{}'".format),
    st.sampled_from(
        [r"\a", r"\\", r"\*", r"\"", r"\'", r"$'\x61'", r"$'\n'", r'"\$x"', r'"\\"']
    ),
    st.sampled_from(
        [
            "$x",
            "${x}",
            '"$x"',
            '"a${x}b"',
            "$y",
            '"$y"',
            "${y}",
            "$z",
            '"$z"',
            "$1",
            '"$2"',
            '"$*"',
        ]
    ),
    st.sampled_from(
        ["{a,b}", "{,x}", "{1..3}", "{3..1}", "{a}", "{}", '{"a b",c}', "{a,'b,c'}"]
    ),
    st.builds(
        "$({} {})".format,
        st.sampled_from(["echo", "echo -n", "printf %s"]),
        bare.filter(lambda t: t[0] != "-"),
    ),
    st.builds(
        "${{{}{}{}}}".format,
        st.sampled_from("xyz"),
        st.sampled_from(["#", "##", "%", "%%", ":-", ":+"]),
        operand,
    ),
    st.builds(
        '"${{{}{}{}}}"'.format,
        st.sampled_from("xyz"),
        st.sampled_from(["#", "%", ":-", ":+", "/a/", "//b/"]),
        operand,
    ),
    st.builds(
        "${{{}:{}:{}}}".format, st.sampled_from("xy"), st.integers(0, 3), st.integers(0, 3)
    ),
)
words = st.lists(pieces, min_size=1, max_size=4).map("".join)
# `$x{a,b}` is `$xa $xb` in bash.
words = words.filter(lambda word: not re.search(r"\$\w\{", word))
values = st.sampled_from(
    ["a", "'a b'", "abcabc", "' a'", "'b '", "aBc", '"a  c"', "'a=b'", "é"]
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(x=values, y=values, given=st.lists(words, min_size=1, max_size=5))
def test_words_of_any_make_are_never_wrong(
    tmp_path: Path, x: str, y: str, given: list[str]
) -> None:
    row = f"x={x} y={y} z=; set -- {x} {y} @@ {' '.join(given)}"
    fields = in_engine(row)
    truth = in_bash(row, tmp_path)
    assert agrees(fields, truth), (
        f"{[claimed(field) for field in fields]}, in truth {truth}"
    )


@table("value", ["$!", "$(git ls-files)"])
def test_what_is_known_of_a_default_is_kept(value: str) -> None:
    effects = judge(f'rm "${{A:-{value}}}"').effects
    assert [each.kind for each in effects] == [
        each.kind for each in judge(f'rm "{value}"').effects
    ]
