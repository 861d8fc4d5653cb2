"""Scripts to try: corners, real commands, scripts by a grammar, and all of them with a little damage.

The same seed gives the same scripts.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from bash_oracle.corners import list_corners
from bash_oracle.grammar import Maker, fill_payload

ROOT = Path(__file__).parents[2]
REAL = "shared/cases/real_commands.jsonl"

# What a little damage puts into a script; a blank separates, `␠` is one, `⏎` a line end.
BITS = r"""
' " \ ` $ $( ) ( { } # ␠# ; ;; & | < > <<E⏎ ⏎E⏎ ⏎ \⏎ ␠ ! * ? [ ] ~ = += - -- $' $" ${ $(( )) [[␠ ␠]] <( >( <<< <<'E'⏎
<<-E⏎ 2> >& &> in␠ do␠ done fi esac case␠x␠in␠x)␠ if␠ then␠ time␠ !␠ coproc␠ function␠f␠ f()␠ x= x+=( a[0]= '' "" ${x@P}
$_ $- {a,b} é set␠-f; set␠-k⏎ shopt␠-s␠extglob⏎ IFS=:; '$(PAYLOAD)'
`PAYLOAD` \' \" \` \$( '\'' ;& |& <&- 0 1> !! {n}> ;;&
"""
BLANKS = (
    "\t",
    "\r",
    "\r\n",
    "\v",
    "\f",
    "\u00a0",
    "\u2028",
    "\x7f",
    "\x01",
    "\u200b",
    "\u3000",
)


def list_bits() -> list[str]:
    return [each.replace("␠", " ").replace("⏎", "\n") for each in BITS.split()] + list(
        BLANKS
    )


def damage(script: str, rng: random.Random) -> str:
    """Put a bit in, take one out or double one, in one to three places."""
    bits = list_bits()
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randint(0, len(script))
        way = rng.randrange(5)
        if way < 3:
            script = script[:at] + rng.choice(bits) + script[at:]
        elif way == 3:
            script = script[:at] + script[at + rng.randint(1, 3) :]
        else:
            script = script[:at] + script[at : at + rng.randint(1, 8)] + script[at:]
    return script


def damage_corner(corner: tuple[str, str], rng: random.Random) -> tuple[str, str]:
    """Damage a corner, or put it among other commands."""
    kind, script = corner
    if rng.random() < 0.6:
        script = damage(script, rng)
    if rng.random() < 0.4:
        parts = [script, Maker(rng, is_tame=True).line()]
        rng.shuffle(parts)
        script = rng.choice(("\n", "\n", "; ", " && ")).join(parts)
    return f"{kind}, damaged", script


def read_commands(files: Iterable[Path]) -> list[str]:
    rows = (
        json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()
    )
    return [row["command"] for row in rows if "command" in row]


def read_real() -> list[str]:
    """Return commands that agents ran; none where the file is not at hand."""
    found = [folder / REAL for folder in ROOT.parents if (folder / REAL).exists()]
    return read_commands(found[:1])


def list_seeds(more: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return the corners, each twice in a row so that it meets both trees, real commands and `more`."""
    corners = [
        (kind, fill_payload(script)) for kind, script in list_corners() for _ in range(2)
    ]
    return [*corners, *(("real", script) for script in (*read_real(), *more))]


def make_scripts(
    seed: int, count: int, more: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield new scripts, each with its kind; `more` are scripts to damage, too."""
    rng = random.Random(seed)
    corners = list_corners()
    labelled = read_commands(sorted((ROOT / "fixtures/commands").glob("*.jsonl")))
    others = [*read_real(), *more] or labelled
    sources: list[tuple[int, Callable[[], tuple[str, str]]]] = [
        (4, lambda: ("grammar", Maker(rng).script())),
        (5, lambda: ("tame grammar", Maker(rng, is_tame=True).script())),
        (2, lambda: ("grammar, damaged", damage(Maker(rng).script(), rng))),
        (
            4,
            lambda: (
                "tame grammar, damaged",
                damage(Maker(rng, is_tame=True).script(), rng),
            ),
        ),
        (5, lambda: damage_corner(rng.choice(corners), rng)),
        (1, lambda: ("labelled, damaged", damage(rng.choice(labelled), rng))),
        (1, lambda: ("real, damaged", damage(rng.choice(others), rng))),
    ]
    weights = [weight for weight, _ in sources]
    for _ in range(count):
        kind, script = rng.choices(sources, weights)[0][1]()
        yield kind, fill_payload(script, rng)
