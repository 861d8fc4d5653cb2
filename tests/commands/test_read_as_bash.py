"""The plain subset against bash itself: each call in a text is read with the words that bash passes."""

import shutil
import subprocess
from pathlib import Path

from examples import table

from cli_guard.commands.model import Context
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.plain import find_outside
from cli_guard.commands.scope import ShellScope
from cli_guard.commands.walk import new_shell

BASH = shutil.which("bash") or "/bin/bash"
# No program is found; `show` records its arguments, wherever its output goes, and succeeds.
PRELUDE = r"""
exec 9> record
show() { printf '%s\0' "$@" $'\1' >&9; }
"""
# Each calls `show` in a text of the plain subset: every call has to be read as bash reads it.
ON_ONE_LINE = r"""
show a b; show 'a b' "c d"; show a\ b
show a#b '#' \# "#" # show c
show a;# show b
show a && show b; ! show a || show c
! show a | show b || show c; show d && ! show e || show f
show a & show b
{ show a; show b; }
(show a; (show b)); ( (show c) )
show a | show b | show c
if show a; then show b; fi
if show a; then if show b; then show c; fi; fi
if ! show a; then :; else show b; fi
if ! show a; then :; elif show b; then show c; fi
while show a; do show b; break; done
until show a; do :; done; show b
for x in a 'b c' d; do show "$x" $x; done
for if in then fi; do show if "$if" done; done
for in in in; do show in; done
case a in a) show b;; esac; show c
case a in (b|a) show b;; esac
case esac in 'esac') show if then else elif fi do done esac in while until for { } ! [[ time;; esac
case "a b" in "a b") show a;; esac
case a in ?) show b;; esac; case ab in a*) show c;; esac
show if; show then a; show {; show }; show !; show [ ]; show [[ ]]; show time
show {} {a} a{}b {a,b} x{a,b}y {1..3} {a,b}{c,d} "{a,b}" '{a,b}' \{a,b} {,a}
show a{b c,d}e; show {a,b; show a,b}
show ~ ~/a a~ "~" \~ x=~ --x=~/y ~x:~
show a=b a=~ =a; x=~/a; show $x "$x"; y=a:~; show $y
x=1 y=2; show $x$y ${x}0 "$x" '$x' \$x $x-a $x.b
x='a b'; show $x "$x" c$x "c$x"d ${x} "${x}"
x=abc; show ${x%c} ${x%%bc} ${x#a} ${x##ab} ${x:-d} "${x%bc}"d ${x#b}
x=; show a$x "$x" $x b ${x:-c}
x=a; (x=b; show $x); show $x
x=a; x=b$x; show $x
show a 2>&1; show b >&2; show c > /dev/null; show d 2> /dev/null < /dev/null; > /dev/null show e
show 2 > /dev/null; show a2> /dev/null; show 12 2>&1; show a >&2 b 1>&2
show a>/dev/null b; show >/dev/null a
show a &> /dev/null; show b&>/dev/null; show c&
show a <<< "$x" b; show 'c' <<< 'd e'
[ a ] && show b; [ a = a ] && show c; [ -n "a b" ] && show d; [ ! a ] || show e
[[ a ]] && show b; [[ a == a* ]] && show c; [[ a < b && ( b > a ) ]] && show d; [[ ab =~ ^a ]] && show e
[[ -n a || -z b ]] && show ] "]]" [[
show $(printf a) "$(printf 'b c')" $(printf 'd e') x$(printf f)y "$(printf '%s' "g h")"
show "$(printf '(a)')" $(printf 'b)' ) "$(printf ')')"
x=$(case a in a) show b;; esac); show c
show a\\ 'b\' "c\\" "d\e" "f\$g" "h\"i" j\'k 'l"m' "n'o"
show "$" $ "a$" a$ $. "$ " $/ "$'" "$)"
show \-a -- -b "-c" '-'d
show é日本 'ü ö' "😀"
set -e; show a; set +e; set -euo pipefail; show b
show 'a'"b"c\d''""e
show '' "" ''a ""
show "a	b" a	b
""".strip().splitlines()
ON_SEVERAL = [
    "show a \\\n b\nshow c",
    "show a |\nshow b &&\n\nshow c",
    "show 'a\nb' \"c\nd\"",
    "show a # \\\nshow b",
    "show a <<'E'\nshow b\nE\nshow c",
    "show a <<E\nshow b 'c\nE\nshow d",
    "show a <<E b\nc\nE\nshow d",
    "show a <<'E' | show b\nshow c\nE\nshow d",
    "show a <<'E' <<\"F\"\nshow b\nE\nshow c\nF\nshow d",
    "show a <<E && show b\nE\nshow c",
    "show a <<'E F'\nshow b\nE F \nE F\nshow c",
    "show a <<'E'\nE \n E\n\tE\nE;\nEE\nE\nshow b",
    "show a <<''\nb\n\nshow c",
    "if show a <<E\nb\nE\nthen show c; fi",
    "for x in 1; do show a <<'E'\n$x\nE\ndone; show b",
    "(show a <<'E'\n)\nE\n); show b",
    "{ show a <<'E'\n}\nE\n}\nshow b",
    "x=$(show a <<'E'\n)\nE\n); show b",
    "x=$(printf a # )\n); show b",
    "# a 'b\nshow c # \"d\nshow e",
    "for x in a b\ndo\nshow $x\ndone",
    "case a in\n# b\na)\nshow c\n;;\nesac",
    "show a\r",
    "show a\u00a0b\u2028c \u00a0 d",
]


# Where a file cannot be opened, bash runs nothing; `<<` without a command prints nothing.
UNSURE_VALUES = [
    "x=$(<<'E'\nb\nE\n); show \"$x\"",
    "x=$(cat | <<'E'\nb\nE\n); show \"$x\"",
    'show "$(printf b < missing)"',
]
UNSURE_FOLDERS = [
    "cd sub < missing",
    "cd sub > missing/file",
    "cd sub other",
    "{ cd sub; } < missing",
]


def calls_in_bash(text: str, folder: Path) -> set[tuple[str, ...]]:
    """The arguments with which bash calls `show`."""
    done = subprocess.run(
        (BASH, "--norc", "--noprofile", "-c", f"{PRELUDE}\n{text}\nwait\n"),
        cwd=folder,
        env={"PATH": "/nowhere", "HOME": "/home/ada", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert not done.stderr, done.stderr
    recorded = (folder / "record").read_bytes().decode("utf-8").replace("/home/ada", "~")
    return {tuple(call.split("\0")[:-1]) for call in recorded.split("\1\0")[:-1]}


def calls_in_engine(text: str) -> set[tuple[str | None, ...]]:
    """The arguments with which the engine says that `show` is called, None for one that is not known."""
    shell = new_shell(ShellScope(Context()))
    shell.run_text(text)
    calls = [call.fields[1:] for call in shell.invocations if call.name == "show"]
    return {tuple(None if each.many else each.text for each in call) for call in calls}


@table("text", [*ON_ONE_LINE, *ON_SEVERAL])
def test_the_plain_subset_is_read_as_bash_reads_it(text: str, tmp_path: Path) -> None:
    script = parse(text)
    assert not script.errors
    assert [construct for _, construct in find_outside(script)] == []
    assert calls_in_engine(text) == calls_in_bash(text, tmp_path)


@table("text", UNSURE_VALUES)
def test_what_may_not_run_gives_no_known_value(text: str) -> None:
    assert calls_in_engine(text) == {(None,)}


@table("text", UNSURE_FOLDERS)
def test_a_change_of_folder_that_may_fail_is_not_known(text: str) -> None:
    shell = new_shell(ShellScope(Context()))
    shell.run_text(text)
    assert shell.scope.sure_folder is None
