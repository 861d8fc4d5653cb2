"""What a script has set, defined or entered before: where it holds, where it does not, and where that is not known."""

from examples import examples, near_misses, table

from cli_guard.commands import judge
from cli_guard.model import Decision

ALLOW = Decision.ALLOW
REVIEW = Decision.REVIEW
DENY = Decision.DENY


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


def check(command: str, verdict: Decision) -> None:
    answer = judge(command)
    assert answer.verdict is verdict, answer.reason


# What holds where it is used: each of these deletes the root, or may.
HOLDS = rows(r"""
x=rm; $x -rf /
x=rm; y=$x; $y -rf /
x='rm -rf /'; $x
x='rm -rf'; $x /
x=r; x+=m; $x -rf /
x=/; rm -rf $x
x=/; rm -rf "$x"
x=/; rm -rf ${x}etc
x=build; x=/; rm -rf $x
rm -rf "${x:-/}"
${x:=rm} -rf /
: ${x:=/}; rm -rf $x
printf -v x /; rm -rf $x
declare x=/; rm -rf $x
export x=/; rm -rf $x
readonly x=/; rm -rf $x
x=build; export x=/; rm -rf $x
x=echo; unset x; $x rm -rf /
x=-rf; rm $x /
if a; then x=/; fi; rm -rf $x
if true; then x=/; rm -rf $x; fi
case a in a) x=/; rm -rf $x;; esac
while true; do x=/; rm -rf $x; done
x=/; while true; do rm -rf $x; done
x=/; true && rm -rf $x
true && x=/ && rm -rf $x
x=/ || rm -rf $x
x=/; echo | rm -rf $x
(x=/; rm -rf $x)
x=/; (rm -rf $x)
{ x=/; }; rm -rf $x
x=/; y=$(rm -rf $x)
y=$(x=/; rm -rf $x)
x=/; echo "$(rm -rf $x)"
x=/; (x=build); rm -rf $x
x=/; x=build & rm -rf $x
x=/; echo | x=build; rm -rf $x
x=/; y=$(x=build); rm -rf $x
x='rm -rf /'; eval $x
x='rm -rf /'; bash -c "$x"
x='rm -rf /'; echo "$x" | sh
x='rm -rf /'; bash <<< "$x"
x='$(rm -rf /)'; eval "echo $x"
trap 'rm -rf /' EXIT
alias ll='rm -rf /'; ll
alias r='rm -rf'; r /
alias rm='rm -i'; rm -rf /
for x in a /; do rm -rf $x; done
for x in rm ls; do $x -rf /; done
for x in /*; do rm -rf "$x"; done
for x in a; do y=/; done; rm -rf $y
for x in /; do :; done; rm -rf $x
select x in /; do rm -rf $x; done
set -- /; rm -rf $1
set -- a /; rm -rf "$@"
set -- a /; rm -rf "$2"
set -- a; rm -rf "$2/"
set -- rm -rf /; "$@"
set -- /; for x; do rm -rf "$x"; done
set rm -rf /; $@
set -e; set -- /; rm -rf "$1"
read x <<< /; rm -rf $x
echo / | while read x; do rm -rf $x; done
while read x; do rm -rf "$x"; done <<< /
exec <<< 'rm -rf /'; sh
exec <<< 'rm -rf /'; read x; $x
exec rm -rf /
exec -a ls rm -rf /
exec 3> /dev/sda; echo x >&3
cd /; rm -rf *
cd / && rm -rf .
cd; rm -rf *
cd ~; rm -rf .
(cd / && rm -rf *)
pushd /; rm -rf *
cd / || exit; rm -rf ./*
cd /tmp && cd .. && rm -rf *
""")

# What was set elsewhere, or is another value by then: a person has to look, and nothing says that it is the root.
ELSEWHERE = rows(r"""
x=build; rm -rf $x
x=/; x=build; rm -rf $x
x=/tmp/a; rm -rf "$x/"
rm -rf "$x/"
rm -rf "${x:?}/"
(x=/); rm -rf $x
{ x=/; } & rm -rf $x
x=/ | rm -rf $x
y=$(x=/); rm -rf $x
x=build; (x=/); rm -rf $x
x=build; x=/ ls; rm -rf $x
if a; then x=/; else x=build; fi; rm -rf $x
x=/; if a; then x=build; fi; rm -rf $x
x=build; if a; then x=build; fi; rm -rf $x
x=rm; if a; then x=ls; fi; $x -r /
f() { local x=/; }; x=build; f; rm -rf $x
f() { x=/; }; x=build; f; rm -rf $x
f() { rm -rf $1; }; f build
f() { rm -rf "$2"; }; f / a
set -- / a; rm -rf "$2"
for x in a b; do rm -rf $x; done
read x; rm -rf $x
echo / | read x; rm -rf $x
while read x; do $x; done
while read x; do rm -rf "$x"; done < list
while read -r x; do cat "$x"; done < list
exec < list; read x; cat "$x"
exec > log; ls
x='rm,-rf,/'; $x
IFS=,; x=rm,-rf,/; $x
cd /; rm -rf build
cd build; rm -rf *
(cd /; ls); rm -rf *
cd "$x"; rm -rf *
x=$(pwd); rm -rf "$x"
x=push; git $x
git $x
find . $x
sort $x
cat $x
trap "$x" EXIT
eval "rm $x"
alias ll='ls -l'; ll
alias ll="$x"
set -k
""")

HARMLESS = rows(r"""
x=ls; $x -l
x=log; git $x
x='rm -rf /'; echo "$x"
x='$(rm -rf /)'; echo $x
x=a; y="$x.txt"; cat "$y"
for x in a b; do cat $x; done
for x in *; do cat "$x"; done
for x in *.py; do wc -l "$x"; done
for x in $(git ls-files); do cat "$x"; done
ls | while read x; do cat $x; done
while IFS= read -r x; do echo "$x"; done < list
set -euo pipefail; ls
cd src && ls
pushd src; ls; popd
if [ -f a ]; then cat a; else ls; fi
case $x in a) ls;; *) cat b;; esac
unset x; ls
ls "$x"
grep "$x" f
echo $x
""")

# The values of an array are not followed, whatever they are.
ARRAYS = rows(r"""
a=(rm -rf /); "${a[@]}"
a=(rm -rf); "${a[@]}" /
a=(a /); rm -rf "${a[@]}"
a=(a /); rm -rf "${a[1]}"
a=(/ a); rm -rf "$a"
a=(a); a+=(/); rm -rf "${a[@]}"
a=(a /); for x in "${a[@]}"; do rm -rf "$x"; done
a=(a /); rm -rf "${a[0]}"
a=(a /); rm -rf "$a"
a=(ls -l); "${a[@]}"
a=(a b); for x in "${a[@]}"; do cat "$x"; done
""")

# Nothing in it does harm, as far as it is understood, but it is outside of the plain subset.
OUTSIDE = rows(r"""
x=$((x=1)); head -n $x f
set -- ls; "$@"
set -- a b; cat "$@"
f() { ls; }; f
f() { echo "$@"; }; f rm -rf /
f() { "$@"; }; f ls -l
f() { local x=$1; cat "$x"; }; f a
eval ls
trap 'ls' EXIT
trap - EXIT
exec -a x ls
exec 2>&1; ls
shopt -s nullglob; ls
f() { rm -rf /; }; f() { ls; }; f
f() { ls; }; g() { f; }; g
ls() { command ls -l; }; ls
f() { x=/; }; x=build; cat $x
""")

# A definition counts where it may be in force; a program of the same name counts beside it.
FUNCTIONS = [
    ("f() { rm -rf $1; }; f /", DENY),
    ('f() { rm -rf "$@"; }; f a /', DENY),
    ('f() { rm -rf "$2"; }; f a /', DENY),
    ("f() { $1 -rf /; }; f rm", DENY),
    ("f() { local x=/; rm -rf $x; }; f", DENY),
    ("f() { x=/; }; f; rm -rf $x", DENY),
    ("f() { rm -rf $x; }; x=/; f", DENY),
    ("f() { rm -rf $x; }; x=/ f", DENY),
    ("f() { local x=/; g; }; g() { rm -rf $x; }; f", DENY),
    ("f() { g; }; g() { rm -rf /; }; f", DENY),
    ("f() { rm -rf /; }", DENY),
    ("f() ( rm -rf / ); f", DENY),
    ('function f { rm -rf "$1"; }; f /', DENY),
    ("f() { eval \"$1\"; }; f 'rm -rf /'", DENY),
    ("f() { echo 'rm -rf /'; }; f | sh", DENY),
    ("if a; then f() { rm -rf /; }; fi; f", DENY),
    ("(ls() { rm -rf /; }); ls", DENY),
    ("ls() { rm -rf /; }; ls", DENY),
    ('rm() { echo "$@"; }; rm -rf /', DENY),
    ('rm() { echo "$@"; }; command rm -rf /', DENY),
    ("rm() { echo; }; (rm -rf /)", DENY),
    ("f() { f | f & }; f", DENY),
    ("f() { f; }; f", REVIEW),
    ("f() { g; }; g() { f; }; f", REVIEW),
    ("f() { ls; }; f() { rm -rf build; }; f", REVIEW),
    ("f() { ls; }; unset -f f; f", REVIEW),
]


@table("command", HOLDS)
def test_what_was_set_before_is_followed(command: str) -> None:
    check(command, DENY)


@examples("command", ELSEWHERE)
def test_what_may_be_another_value_is_asked_about(command: str) -> None:
    check(command, REVIEW)


@near_misses("command", HARMLESS)
def test_everyday_scripts_stay_harmless(command: str) -> None:
    check(command, ALLOW)


@examples("command", ARRAYS)
def test_an_array_is_asked_about(command: str) -> None:
    verdict = judge(command)
    assert verdict.verdict is REVIEW, verdict.reason
    assert "uses an array: not judged" in [effect.reason for effect in verdict.effects]


@examples("command", OUTSIDE)
def test_a_harmless_script_outside_of_the_plain_subset_is_asked_about_for_that_alone(
    command: str,
) -> None:
    decisive = [effect for effect in judge(command).effects if effect.decision is not ALLOW]
    assert decisive
    assert [
        effect for effect in decisive if not effect.reason.endswith(": not judged")
    ] == []


@examples(
    "command",
    [
        "x=a; while ls; do cat $x; x=/etc/shadow; done",
        "x=a; while ls; do cat $x; x=/etc/shadow; if ls; then continue; fi; x=b; done",
    ],
)
def test_a_later_round_of_a_loop_has_the_values_of_the_one_before(command: str) -> None:
    check(command, REVIEW)
    check(command.replace("/etc/shadow", "c"), ALLOW)


@table(("command", "verdict"), FUNCTIONS)
def test_a_function_does_what_its_body_does(command: str, verdict: Decision) -> None:
    check(command, verdict)


@table("before", ["", "x=a; ", "if true; then x=b; fi; ", "(x=/); ", "{ x=/; }; "])
def test_a_value_set_last_is_the_one_that_counts(before: str) -> None:
    check(f"{before}x=build; cat $x", ALLOW)
    check(f"{before}x=/; rm -rf $x", DENY)
