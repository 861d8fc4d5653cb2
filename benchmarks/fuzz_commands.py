"""Judge a great many random strings; report exceptions and slow ones.

    python benchmarks/fuzz_commands.py [--count N] [--seed S]

The strings are noise, pieces of shell put together, and labelled commands of fixtures/commands that were damaged or
mixed. The same seed gives the same strings. Printed: strings a second, the slowest one, the exceptions, and how often
each verdict was given. The exit code is 1 if there was an exception.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from cli_guard.commands import judge

FOLDER = Path(__file__).parent.parent / "fixtures" / "commands"
SHOWN = 5
MARKS = "'\"`$(){}[]<>|&;\\#*?~!-=/ \n\t"
PIECES = (
    "ls cat rm -rf / ~ $HOME git commit -n --no-verify echo curl sh bash -c eval sudo env xargs find . -exec {} + \\; "
    "awk sed -i python3 if then else fi for x in do done while case esac ;; function f() [[ ]] (( )) $( ` ${ } <( >( "
    "<<E <<'E' <<< > >> 2>&1 &> | || && ; & ! ' \" $' \\ # * ? {a,b} {1..3} x=1 x= $x ${x} ${x:-y} ${x//a/b} $((1+1)) "
    "-- - = .git/hooks .env /dev/sda /dev/tcp/h/1"
).split()


def noise(rng: random.Random) -> str:
    """Return characters of all kinds, lone surrogates and NUL among them."""
    top = rng.choice((0x7F, 0xFF, 0xFFFF, 0x10FFFF))
    return "".join(chr(rng.randint(0, top)) for _ in range(rng.randint(0, 60)))


def marks(rng: random.Random) -> str:
    """Return the shell's special characters, with a few letters between."""
    return "".join(rng.choice(MARKS + "abrm") for _ in range(rng.randint(1, 60)))


def pieces(rng: random.Random) -> str:
    """Return words and marks of the shell in any order."""
    joint = rng.choice((" ", " ", "", "\n"))
    return joint.join(rng.choice(PIECES) for _ in range(rng.randint(1, 25)))


def damage_command(rng: random.Random, commands: list[str]) -> str:
    """Remove, add or double something in a few places of a labelled command."""
    text = rng.choice(commands)
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.randint(0, 6))
        text = (
            text[:start]
            + rng.choice(("", text[start:end] * 2, rng.choice(PIECES), rng.choice(MARKS)))
            + text[end:]
        )
    return text


def mix_commands(rng: random.Random, commands: list[str]) -> str:
    """Join halves of two labelled commands, or several commands in a list."""
    one = rng.choice(commands)
    other = rng.choice(commands)
    if rng.random() < 0.5:
        return one[: rng.randint(0, len(one))] + other[rng.randint(0, len(other)) :]
    joint = rng.choice(("; ", " && ", " | ", "\n", " $(", ' "'))
    return joint.join(rng.choice(commands) for _ in range(rng.randint(2, 5)))


def make_string(rng: random.Random, commands: list[str]) -> str:
    """Make one string of one of the kinds."""
    kind = rng.randrange(6)
    if kind < 3:
        return (noise, marks, pieces)[kind](rng)
    return mix_commands(rng, commands) if kind == 3 else damage_command(rng, commands)


def main() -> None:
    """Judge them all and print the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    lines = [
        line
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    commands = [json.loads(line)["command"] for line in lines]
    rng = random.Random(chosen.seed)
    verdicts: Counter[str] = Counter()
    broken: list[tuple[str, Exception]] = []
    slowest = 0.0
    what = ""
    spent = 0.0
    for _ in range(chosen.count):
        text = make_string(rng, commands)
        started = time.perf_counter()
        try:
            verdicts[judge(text).verdict.value] += 1
        except Exception as error:  # any exception is a finding
            broken.append((text, error))
        took = time.perf_counter() - started
        spent += took
        if took > slowest:
            slowest = took
            what = text
    print(
        f"{chosen.count:,} strings of seed {chosen.seed}, {chosen.count / spent:,.0f} a second"
    )
    print("  ".join(f"{verdict} {count:,}" for verdict, count in sorted(verdicts.items())))
    print(f"slowest {slowest * 1000:.1f} ms, {len(what):,} characters: {what[:200]!r}")
    print(f"exceptions {len(broken):,}")
    for text, reason in broken[:SHOWN]:
        print(f"    {type(reason).__name__}: {reason} of {text!r}")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
