"""What a shell computes: a value that may hold code asks, a number does not (bash(1), ARITHMETIC EVALUATION)."""

from examples import examples, near_misses

from cli_guard.commands import judge
from cli_guard.model import Decision

CODE = "x='b[$(>made)]'; "


@examples(
    "command",
    [
        "echo ${b[x]}",
        "echo ${b[$x]:-1}",
        "b[x]=1",
        "b=([x]=1)",
        "y=abc; echo ${y:x}",
        "y=abc; echo ${y:0:x}",
        "echo ${@:x}",
        "echo $((x))",
        "echo $((1 + $x))",
        "echo $[x]",
        "((x))",
        "y=x; ((y))",
        "a=(1 x); ((a[1]))",
        "let x",
        "let(){ :; }; ((x))",
        "for ((i=x; i<2; i++)); do echo $i; done",
        "for ((i=0; i<x; i++)); do echo $i; done",
        "[[ x -gt 1 ]]",
        "[[ 1 -lt $x ]]",
        "[[ -v $x ]]",
        'test -v "$x"',
        "declare -i n=$x",
        "y='b[$(touch made)]'; declare -i n=$y",
        "declare -i n; n=$x",
        "f() { local -i n=$1; }; f $x",
        "f() { echo $(($1)); }; f $x",
        "declare -i n; for n in $x; do :; done",
        "declare -i n; read n <<< $x",
        "RANDOM=$x",
        'unset "$x"',
        'read "$x" <<< 1',
        'declare "$x"=1',
    ],
)
def test_a_value_that_is_computed_is_run(command: str) -> None:
    verdict = judge(CODE + command)
    assert verdict.verdict is Decision.REVIEW
    assert any(effect.target == "made" for effect in verdict.effects)


@examples(
    "command",
    [
        "while read n; do echo $((n+1)); done < numbers.txt",
        "while read i; do ((s+=i)); done < numbers.txt",
        "n=$(cat numbers.txt); [[ $n -gt 1 ]]",
        "n=$(cat numbers.txt); a=1; echo ${a:n}",
        "n=$(cat numbers.txt); b=(1 2); echo ${b[n]}",
        'n=$(cat numbers.txt); test -v "$n"',
        "n=$(cat numbers.txt); RANDOM=$n",
        "mapfile -t a < numbers.txt; echo $((a[0]))",
        "mapfile -t a < numbers.txt; echo $((${a[0]} + 1))",
        "for f in *; do echo $((f)); done",
        "echo $(($(cat numbers.txt) + 1))",
        "declare -A m; while read k; do ((m[$k]++)); done < words.txt",
    ],
)
def test_a_value_that_is_not_known_asks(command: str) -> None:
    verdict = judge(command)
    assert (verdict.verdict, verdict.coverage) == (Decision.REVIEW, "partial")
    assert "computes with" in verdict.reason


@near_misses(
    "command",
    [
        "n=$(wc -l < numbers.txt); echo $((n+1))",
        "i=0; while [ $i -lt 5 ]; do i=$((i+1)); done; echo $((i*2))",
        "s=0; for i in 1 2 3; do s=$((s+i)); done; echo $s",
        "for i in {1..3}; do ((t+=i)); done; echo $t",
        "for ((i=0; i<10; i++)); do echo $i; done",
        "start=$(date +%s); echo $(($(date +%s) - start))",
        "n=$(git rev-list --count HEAD); echo $((n))",
        "[[ $(git status --porcelain | wc -l) -gt 0 ]] && echo dirty",
        'n=$(cat version.txt); [ "$n" -gt 3 ] && echo big',
        "mapfile -t a < numbers.txt; echo $((${#a[@]} - 1)) ${#a[@]}",
        "a=(a b c); echo ${a[1]} ${a[-1]}; for ((i=0; i<${#a[@]}; i++)); do echo ${a[i]}; done",
        "declare -A m; while read k; do m[$k]=1; done < words.txt; echo ${#m[@]}",
        "declare -A m=([a]=1 [b]=2); echo ${m[a]}",
        "b=([2]=1); echo ${#b[@]} ${b[2]}",
        "echo $((COLUMNS - 1)) $(($FOO + 1)) $((16#ff + 0x1F))",
        "x=5; echo $((x > 3 ? 1 : 0)); ((x++)); echo ${x}",
        "s=hello; echo ${s:1:3} ${s: -2} ${s:0:${#s}-1}",
        "set -- a b c; echo ${@:2} $(($# - 1))",
        "f() { echo $(($1 + 1)); }; f 3",
        "declare -i n=3; n+=4; echo $n",
        "x=${1:-3}; echo $((x + 1))",
    ],
)
def test_a_number_does_not_ask(command: str) -> None:
    assert judge(command).verdict is Decision.ALLOW


@examples(
    "command",
    [
        'unset X; eval "${X-rm -rf /}"',
        'unset X; eval "${X=rm -rf /}"',
        'unset X; bash -c "${X-rm -rf /}"',
        'unset X; echo "${X-rm -rf /}" | sh',
    ],
)
def test_a_variable_that_was_unset_has_its_default(command: str) -> None:
    assert judge(command).verdict is Decision.DENY


@near_misses(
    "command",
    [
        'unset X; echo "${X-nothing}"',
        'X=ls; eval "${X-rm -rf /}"',
        'X=; eval "${X-rm -rf /}"',
        'unset IFS; x="a b"; echo $x',
        'IFS=; x="a b"; echo $x',
    ],
)
def test_what_is_set_has_its_value(command: str) -> None:
    assert judge(command).verdict is Decision.ALLOW
