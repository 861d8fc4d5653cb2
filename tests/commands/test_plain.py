"""The plain subset: each construct of it beside what is just outside, and what the outside has hidden."""

import pytest
from examples import examples, table

from cli_guard.commands import Context, EffectKind, Setting, judge, shell
from cli_guard.commands.model import Verdict
from cli_guard.model import Decision

ALLOW = Decision.ALLOW
REVIEW = Decision.REVIEW
DENY = Decision.DENY

# A text of the subset, one just outside of it, and the name of the construct.
CONSTRUCTS = [
    # Words.
    ("ls 'a b' \"c d\" e\\ f", "ls $'a b'", "$'...'"),
    ('echo "a"', 'echo $"a"', '$"..."'),
    ("ls a \\\n b", "ls a\\\nb", "a line end within a word"),
    ('echo "a\nb"', 'echo "a\\\nb"', "a line end within a word"),
    ("echo $(date)", "echo `date`", "backquotes"),
    ('echo "$(date)"', 'echo "`date`"', "backquotes"),
    (
        "diff <(ls) <(ls -a)",
        "diff <(ls) >(cat)",
        "a process substitution that is written to",
    ),
    ("cat <(ls)", "cat <(ls)b", "a process substitution within a word"),
    ("ls *.py ?.c [ab]*", "ls @(a|b).py", "an extended pattern"),
    ("ls {a,b}.py", "ls {a,{b,c}}.py", "these braces"),
    ("ls {1..3}", "ls {a..c}", "these braces"),
    ("ls {1..3}", "ls {1..9..2}", "these braces"),
    ("ls {1..3}", "ls {01..10}", "these braces"),
    ("x=a; echo {b,c}$x", "x=a; echo $x{b,c}", "these braces"),
    ("ls ~ ~/src", "ls ~+", "~+ or ~-"),
    ("ls ~ ~/src", "ls ~-/src", "~+ or ~-"),
    ("ls ~ ~/src", "ls ~1", "~+ or ~-"),
    # Parameters.
    ("echo $((1 + 2))", "echo $((x[1] + 2))", "arithmetic"),
    ("echo $((1 + 2))", "echo $((x = 2))", "arithmetic"),
    ("i=1; echo $((i + 1))", "i=1; echo $((i++))", "arithmetic"),
    ("i=1; echo $(( (i + 1) * 2 % $i ))", "i=1; echo $((a$i))", "arithmetic"),
    ("echo $((1 + 2))", "echo $(($(ls) + 2))", "arithmetic"),
    (
        "i=0; while ls; do i=$((i + 1)); echo $i; done",
        "i=0; while ls; do echo $((i + 1)); i='a[$(ls)]'; done",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "n=0; for f in *.py; do n=$((n + 1)); done; echo $n",
        "n=0; for f in *.py; do echo $((n + 1)); n=$f; done",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "i=0; n=0; while ls; do n=$((n + i)); i=$((i + 1)); done",
        "i=0; n=0; while ls; do echo $((n)); n=$i; i=$(ls); done",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "i=0; while ls; do i=$((i + 1)); if ls; then continue; fi; i=1; done",
        "i=0; while ls; do echo $((i)); i=a; if ls; then continue; fi; i=1; done",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "i=0; echo $((i + 1))",
        "ls && i=0; echo $((i + 1))",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "n=3; echo $((n - $n))",
        "read n; echo $((n + 1))",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "n=3; echo $((n + 1))",
        "echo $((n + $1))",
        "arithmetic on a value that is not known to be a number",
    ),
    ("echo $1 $2", "echo $0", "$0"),
    ('echo "$@"', "echo $@", "$@"),
    ('echo "$@"', 'echo "$*"', "$*"),
    ("echo $? $# $! $$", "echo $-", "$-"),
    ("echo $x", "echo $_", "$_"),
    ("echo ${x:-a}", "echo ${x:=a}", "${...:=...}"),
    ("echo ${x:-a}", "echo ${x-a}", "${...-...}"),
    ("echo ${x:-a}", "echo ${x:+a}", "${...:+...}"),
    ("echo ${x:-a}", "echo ${x:?a}", "${...:?...}"),
    ("echo ${x:-a}", "echo ${x:-'a'}", "quotes or a computed pattern within ${...}"),
    ('echo "${x:-a}"', 'echo "${x:-"a"}"', "quotes or a computed pattern within ${...}"),
    (
        "echo ${x%.c} ${x%%.c} ${x#a} ${x##a}",
        "echo ${x%$y}",
        "quotes or a computed pattern within ${...}",
    ),
    ("echo ${x%.c}", "echo ${x/a/b}", "${.../...}"),
    ("echo ${x%.c}", "echo ${x:1:2}", "${...:...}"),
    ("echo ${x%.c}", "echo ${x^^}", "${...^^...}"),
    ("echo $#", "echo ${#x}", "the length of a value (${#...})"),
    ("echo $x", "echo ${x@Q}", "a transformation (${...@...})"),
    ("echo $x", "echo ${!x}", "the value of a variable as a name (${!...})"),
    (
        "ls | cat; echo ${PIPESTATUS[0]}",
        "ls | cat; echo ${PIPESTATUS[$x]}",
        "an array subscript",
    ),
    (
        "ls | cat; echo ${PIPESTATUS[0]}",
        "ls | cat; echo ${PIPESTATUS[@]}",
        "an array subscript",
    ),
    ("ls | cat; echo ${PIPESTATUS[0]}", "echo ${x[0]}", "an array subscript"),
    # Assignments.
    ("x=a; echo $x", "x=(a); echo $x", "an array"),
    ("x=a; echo $x", "x[0]=a; echo $x", "an array subscript"),
    ("x=a; x=${x}b; echo $x", "x=a; x+=b; echo $x", "+="),
    ("x=a; ls", "X=a; ls", "X, which may mean something to a program"),
    ("X=a; echo $X", "IFS=,; echo $IFS", "IFS, which means something to bash"),
    (
        "while IFS= read -r x; do echo $x; done",
        "while IFS= ls; do ls; done",
        "IFS, which means something to bash",
    ),
    ("x=1; echo $x", "OPTIND=1; echo $OPTIND", "OPTIND, which means something to bash"),
    ("CI=1 ls", "POSIXLY_CORRECT=1 ls", "POSIXLY_CORRECT, which means something to bash"),
    ("export CI=1", 'export "$x"', "a name that is not plain"),
    ("export CI=1", "export -n CI", "export -n"),
    ("read -r x", "read -r X", "X, which may mean something to a program"),
    ("read -r x", "read -a x", "an option of read that is not plain"),
    ("read -r x", 'read -r "$x"', "a name of a variable that is not plain"),
    ("unset x", "unset X", "X, which may mean something to a program"),
    ("unset x", "unset -f x", "unset with options"),
    ("unset x", 'unset "$x"', "a name of a variable that is not plain"),
    ("printf %s a", "printf -v x a", "an option of printf"),
    # Redirections.
    ("ls > /dev/null 2>&1", "ls 3>&1", "descriptor 3"),
    ("ls 2> /dev/null", "ls 3> /dev/null", "descriptor 3"),
    ("cat < a.txt", "cat {x}< a.txt", "descriptor {x}"),
    ("cat < a.txt", "cat <> a.txt", "the redirection <>"),
    ("cat < a.txt", "cat <&0", "the redirection <&"),
    ("ls &> /dev/null", "ls >& /dev/null", "the redirection >&"),
    ("cat < a.txt", "cat < a*.txt", "a pattern as the target of a redirection"),
    ("cat <<< a", "cat 3<<< a", "descriptor 3"),
    (
        "cat <<E\na 'b\nE\n",
        "cat <<E\na $b\nE\n",
        "a here-document that bash expands or that does not end",
    ),
    (
        "cat <<'E'\n$b `c` \\d\nE\n",
        "cat <<E\n`c`\nE\n",
        "a here-document that bash expands or that does not end",
    ),
    (
        "cat <<'E'\na\nE",
        "cat <<E\na\\\nE\n",
        "a here-document that bash expands or that does not end",
    ),
    (
        "cat <<'E'\na\nE",
        "cat <<'E'\na\nE ",
        "a here-document that bash expands or that does not end",
    ),
    (
        "cat <<'E'\na\nE",
        "cat <<'E'\na\n",
        "a here-document that bash expands or that does not end",
    ),
    ("cat <<'E'\n\ta\nE\n", "cat <<-'E'\n\ta\nE\n", "the redirection <<-"),
    # Commands.
    ("ls | cat |& cat", "coproc ls", "coproc"),
    ("time ls", "time { ls; }", "time before a compound command"),
    ("! ls && ls || ls; ls & ls", "f() { ls; }; f", "a function"),
    ("{ ls; }; (ls; ls)", "function f { ls; }; f", "a function"),
    ("for x in a b; do ls $x; done", "for ((;;)); do ls; done", "a loop that counts"),
    (
        "for x in a b; do ls $x; done",
        "for x; do ls $x; done",
        "for without a list of words",
    ),
    ("for x in a b; do ls $x; done", "for x in a b; { ls $x; }", None),
    (
        "for x in a b; do ls $x; done",
        "for SECONDS in a; do ls; done",
        "SECONDS, which means something to bash",
    ),
    (
        "for x in a b; do ls $x; done",
        "for X in a; do ls; done",
        "X, which may mean something to a program",
    ),
    ("for x in a b; do ls $x; done", "select x in a b; do ls $x; done", "select"),
    ("while ls; do ls; done", "((1 + 2))", "arithmetic"),
    ("until ls; do ls; done", "let x=1", "let"),
    (
        "if ls; then ls; elif ls; then ls; else ls; fi",
        "if ((x)); then ls; fi",
        "arithmetic",
    ),
    (
        "case $1 in a|b*) ls;; 'c d') ls;; esac",
        "case $1 in $x) ls;; esac",
        "a computed pattern",
    ),
    ("case $1 in a) ls;; esac", "case $1 in a) ls;& b) ls;; esac", ";&"),
    ("case $1 in a) ls;; esac", "case $1 in a) ls;;& b) ls;; esac", ";;&"),
    # Tests.
    ("[[ -f a && $1 == b* ]]", "[[ -v a ]]", "an operator of [[ ]] that evaluates"),
    ("[[ -f a && $1 == b* ]]", "[[ ! -R a ]]", "an operator of [[ ]] that evaluates"),
    ("[[ -f a && $1 == b* ]]", "[[ -o errexit ]]", "an operator of [[ ]] that evaluates"),
    ("[[ $1 =~ ^a ]]", "[[ a =~ $1 ]]", "a computed regular expression"),
    (
        "[[ $? -eq 0 ]]",
        "[[ $x -eq 0 ]]",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "[[ 3 -gt $# ]]",
        "[[ x -gt $# ]]",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "x=1; [[ 3 -gt $x ]]",
        "x=a; [[ 3 -gt $x ]]",
        "arithmetic on a value that is not known to be a number",
    ),
    (
        "[ $? -eq 0 ]",
        '[ "$x" -eq 0 ]',
        "arithmetic on a value that is not known to be a number",
    ),
    ('[ "$x" = a ]', "[ -v x ]", "an operator of [ ] that is unknown or evaluates"),
    ('[ "$x" = a ]', '[ a "$x" b ]', "an operator of [ ] that is unknown or evaluates"),
    ('[ "$x" ]', "[ $x ]", "words in [ ] that may be operators"),
    ("test -f a", 'test -v "$x"', "an operator of [ ] that is unknown or evaluates"),
    # Builtins.
    (
        "set -e; set -euxo pipefail; set +x",
        "set -k",
        "set with other options than -e, -u, -x and pipefail",
    ),
    (
        "set -o pipefail",
        "set -o posix",
        "set with other options than -e, -u, -x and pipefail",
    ),
    ("set -e", "set -- a b", "set with other options than -e, -u, -x and pipefail"),
    ("set -e", 'set "$x"', "set with other options than -e, -u, -x and pipefail"),
    ("command -v ls", "command eval ls", "eval"),
    ("true; false; :; echo; printf a; pwd; type ls", "eval ls", "eval"),
    ("exec ls", "exec -a x ls", "exec"),
    ("exec ls", "exec > x", "exec"),
    ("ls", "trap ls EXIT", "trap"),
    ("ls", "alias", "alias"),
    ("ls", "unalias l", "unalias"),
    ("ls", "shopt -s extglob", "shopt"),
    ("ls", "declare x=a", "declare"),
    ("ls", "typeset x=a", "typeset"),
    ("ls", "local x", "local"),
    ("ls", "readonly x=a", "readonly"),
    ("ls", "mapfile x", "mapfile"),
    ("ls", "readarray x", "readarray"),
    ("ls", "getopts a x", "getopts"),
    ("ls", "hash -r", "hash"),
    ("ls", "enable -p", "enable"),
    ("ls", "bind -p", "bind"),
    ("ls", "compgen -c", "compgen"),
    ("ls", "complete -p", "complete"),
    ("ls", "compopt -o x", "compopt"),
]


def named(verdict: Verdict) -> list[str]:
    """The constructs that a verdict names."""
    reasons = [
        effect.reason for effect in verdict.effects if effect.kind is EffectKind.UNKNOWN
    ]
    found = [
        reason.removeprefix("uses ")
        for reason in reasons
        if reason.endswith(": not judged")
    ]
    return [each.removesuffix(": not judged") for each in found]


@table(("plain", "outside", "construct"), CONSTRUCTS)
def test_a_construct_is_in_the_subset_and_its_near_miss_is_named(
    plain: str, outside: str, construct: str | None
) -> None:
    inside = judge(plain)
    assert (inside.verdict, inside.coverage) == (ALLOW, "full"), inside.reason
    verdict = judge(outside)
    assert (verdict.verdict, verdict.coverage) == (REVIEW, "partial")
    assert construct is None or construct in named(verdict), verdict.reason


@table(("plain", "outside", "construct"), CONSTRUCTS)
@table(
    "around",
    [
        "ls; {}\nls",
        "if ls; then {}\nfi",
        "({}\n)",
        "x=$({}\n); ls",
        "for y in a; do {}\ndone",
    ],
)
def test_the_subset_holds_wherever_a_text_stands(
    around: str, plain: str, outside: str, construct: str | None
) -> None:
    # A last line that lacks its end is not the same inside of something.
    if not outside.rstrip(" ").endswith(("E", "\n")):
        assert judge(around.format(plain)).verdict is ALLOW
        assert construct is None or construct in named(judge(around.format(outside)))


@table(("plain", "outside", "construct"), CONSTRUCTS)
def test_in_a_change_a_construct_is_no_finding(
    plain: str, outside: str, construct: str | None
) -> None:
    for text in (plain, outside):
        assert named(judge(text, Context(setting=Setting.CHANGE))) == []


@examples(
    "command",
    [
        "x=(rm -rf /); rm -rf /",
        "eval rm -rf /",
        "f() { rm -rf /; }",
        "echo $(($(rm -rf /)))",
    ],
)
def test_what_is_outside_is_searched_for_harm_nevertheless(command: str) -> None:
    assert judge(command).verdict is DENY
    assert judge(command, Context(setting=Setting.CHANGE)).verdict is DENY


P = "git commit --no-verify -qm x"
ESCAPED = P.replace(" ", "\\ ")
# Each ran P in bash 5.2, or may: what the judge read otherwise than bash, kind by kind.
KINDS = {
    "a line that only looks like the end of a here-document": [
        *(
            f"cat <<E\nhi\n{line}\nx='$({P})'"
            for line in ("E ", "E\t", "E &", "E ;", "E;", "E | cat", "E # end", " E")
        ),
        *(f"cat <<-E\nhi\n{line}\nx='$({P})'" for line in ("E ", "\tE ", "E &", " E")),
        f"cat <<E\nhi\nE \n`{P}`",
        f"cat <<E &&\nhi\nE \n$({P})\nE\nls",
        f"cat <<E | cat <<F\nhi\nE \nF\nE\n$({P})\nF ",
        f'cat <<"E"x\nhi\nE\nEx\n{P}',
        f"cat <<E\nhi\nE\\\n$({P})\nE",
    ],
    "a subscript of an array": [
        f"y='a[$({P})]'; z=([$y]=1)",
        f"y='a[$({P})]'; z+=([$y]=1)",
        f"y='a[$({P})]'; declare -a z=([$y]=1)",
        f"y='a[$({P})]'; declare -a \"z=([$y]=1)\"",
        f"y='a[$({P})]'; z[$y]=1",
        f"y='a[$({P})]'; echo ${{z[$y]}}",
        f"z[0]='a[$({P})]'; y=([$z]=1)",
        f"y='a[$({P})]'; unset \"z[$y]\"",
        f"y='a[$({P})]'; printf -v \"z[$y]\" x",
        f"y='a[$({P})]'; read -r \"z[$y]\" <<< 1",
        f"y='a[$({P})]'; [[ -v $y ]]",
        f"y='a[$({P})]'; [ -v \"$y\" ]",
        f"y='a[$({P})]'; echo ${{PIPESTATUS[y]}}",
    ],
    "a variable that bash computes": [
        *(
            f"{name}='a[$({P})]'"
            for name in ("OPTIND", "HISTCMD", "SRANDOM", "RANDOM", "SECONDS", "LINENO")
        ),
        *(
            f"w='a[$({P})]'; {name}=w; echo ${name}"
            for name in ("OPTIND", "HISTCMD", "SRANDOM")
        ),
        f"read -r OPTIND <<< 'a[$({P})]'; echo $OPTIND",
        f"for OPTIND in 'a[$({P})]'; do echo $OPTIND; done",
        f"OPTIND='a[$({P})]' ls",
        f"export OPTIND='a[$({P})]'",
        f": ${{OPTIND:='a[$({P})]'}}",
    ],
    "a value that is expanded once more": [
        f"y=\\`{ESCAPED}\\`; echo ${{y@P}}",
        f"y='$({P})'; echo \"${{y@P}}\"",
        f": ${{x=a\\[\\`{ESCAPED}\\`\\]}}; echo $[x]",
        f": ${{x=a\\[\\`{ESCAPED}\\`\\]}}; echo $((x))",
        f"x='a[$({P})]'; echo $((x))",
        f"x='a[$({P})]'; ((x))",
        f"x='a[$({P})]'; let x",
        f"x='a[$({P})]'; [[ $x -eq 1 ]]",
        f"x='a[$({P})]'; [[ 1 -lt x ]]",
        f"x='a[$({P})]'; echo ${{y:x}}",
        f"x='a[$({P})]'; for ((i=x;;)); do break; done",
        f"PS4='$({P})'; set -x; ls",
    ],
    "a value as a name": [
        f"z=('a[$({P})]'); q=${{!z}}",
        f"z='a[$({P})]'; q=${{!z}}",
        f"z='a[$({P})]'; declare -n q=$z; echo $q",
        f"set -- 'a[$({P})]'; echo ${{!1}} ${{!#}}",
    ],
    "a variable with attributes": [
        f"declare -i q; printf -v q %s 'a[$({P})]'",
        f"declare -i q; q='a[$({P})]'",
        f"declare -i q='a[$({P})]'",
        f"declare -i q; read -r q <<< 'a[$({P})]'",
        f"declare -ia q; read -ra q <<< 'a[$({P})]'",
        f"declare -i q; for q in 'a[$({P})]'; do ls; done",
        f"typeset -i q; mapfile q <<< 'a[$({P})]'",
        f"f() {{ local -i q=$1; }}; f 'a[$({P})]'",
    ],
    "the name of a file as an option": [
        "rg foo *",
        "sed -n 1p *",
        "tar cf - *",
        "tar cf - * | wc -l",
        "sort *",
        "git log *",
        "git diff HEAD *",
        'for f in *; do rg foo "$f"; done',
        "git grep -l x | xargs sed -n 1p",
        "rg -l x | xargs rg y",
        "ls | xargs sed -n 1p",
        "find . -name x -print0 | xargs -0 -n 1 jq .",
    ],
}


@examples("kind", KINDS)
def test_none_of_the_seven_kinds_is_allowed(kind: str) -> None:
    allowed = [command for command in KINDS[kind] if judge(command).verdict is ALLOW]
    assert allowed == []


def test_the_command_of_the_seven_kinds_is_denied_by_itself() -> None:
    assert judge(P).verdict is DENY
    assert judge(f"y='a[$({P})]'; echo \"$y\"").verdict is ALLOW


# With a value that may be code, what bash computes runs it; and with one that is not known, it may.
CODE = "x='b[$(>made)]'; "
COMPUTED = [
    *(
        "echo ${b[x]}",
        "echo ${b[$x]:-1}",
        "b[x]=1",
        "b=([x]=1)",
        "y=abc; echo ${y:x}",
        "y=abc; echo ${y:0:x}",
    ),
    *(
        "echo ${@:x}",
        "echo $((x))",
        "echo $((1 + $x))",
        "echo $[x]",
        "((x))",
        "y=x; ((y))",
        "a=(1 x); ((a[1]))",
    ),
    *(
        "let x",
        "let(){ :; }; ((x))",
        "for ((i=x; i<2; i++)); do echo $i; done",
        "[[ x -gt 1 ]]",
        "[[ 1 -lt $x ]]",
    ),
    *(
        "for ((i=0; i<x; i++)); do echo $i; done",
        "[[ -v $x ]]",
        'test -v "$x"',
        "declare -i n=$x",
    ),
    *(
        "declare -i n; n=$x",
        "f() { local -i n=$1; }; f $x",
        "f() { echo $(($1)); }; f $x",
        "RANDOM=$x",
    ),
    *(
        "declare -i n; for n in $x; do :; done",
        "declare -i n; read n <<< $x",
        'unset "$x"',
        'read "$x" <<< 1',
    ),
    'declare "$x"=1',
]
UNKNOWN = [
    "while read n; do echo $((n+1)); done < numbers.txt",
    "while read i; do ((s+=i)); done < numbers.txt",
    "n=$(cat numbers.txt); [[ $n -gt 1 ]]",
    'n=$(cat numbers.txt); [ "$n" -gt 3 ]',
    "n=$(cat numbers.txt); a=1; echo ${a:n}",
    "n=$(cat numbers.txt); b=(1 2); echo ${b[n]}",
    'n=$(cat numbers.txt); test -v "$n"',
    "n=$(cat numbers.txt); RANDOM=$n",
    "mapfile -t a < numbers.txt; echo $((a[0]))",
    "for f in *; do echo $((f)); done",
    "echo $(($(cat numbers.txt) + 1))",
    "declare -A m; while read k; do ((m[$k]++)); done < words.txt",
]


@examples("command", [*(CODE + each for each in COMPUTED), *UNKNOWN])
def test_what_computes_with_a_value_is_not_allowed(command: str) -> None:
    assert judge(command).verdict is not ALLOW


@examples(
    "command",
    [
        'unset X; eval "${X:-rm -rf /}"',
        'unset X; bash -c "${X:-rm -rf /}"',
        'unset X; echo "${X:-rm -rf /}" | sh',
    ],
)
def test_a_variable_that_was_unset_has_its_default(command: str) -> None:
    assert judge(command).verdict is DENY
    assert judge(command.replace(":-", "-")).verdict is not ALLOW


def test_the_variables_of_a_text_are_collected_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each assignment asks for them, so the work of a long script would grow with the square."""
    calls = []
    collect = shell.find_names
    monkeypatch.setattr(shell, "find_names", lambda node: calls.append(1) or collect(node))
    text = "".join(f"NAME{n}=a; echo $NAME{n}\n" for n in range(50))
    assert judge(text, Context(setting=Setting.CHANGE)).verdict is ALLOW
    assert len(calls) == 1
