"""Which runs of statements have a name: those that a comment announces, that build one value, or that are one case."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cli_guard.rules.catalog import read_table

_TABLE = read_table("languages/english.toml")
VERBS, EMPTY, VAGUE, NO_SUBJECT = (
    frozenset(_TABLE[name].split()) for name in ("verbs", "empty", "vague", "no_subject")
)
COMMENT = re.compile(r"\s*(?:#|//)\s*(?:\d+[.)]\s*)?([A-Za-z][\w' -]*)")
GROWS = (
    r"(?:\s*\[[^\]]*\]\s*(?:[-+|]?=[^=]|\+\+)|\.(?:add|addAll|append|extend|insert|pop|push|put|remove|set|setdefault"
    r"|unshift|update)\()"
)
COUNTS = r"\s*(?:[-+*/|&]=|\+\+|--)"
CASES = tuple(
    map(
        re.compile,
        (
            r"isinstance\([^,]+, (?:\w+\.)*(\w+)\)",
            r"\binstanceof (\w+)",
            r"""(?:==|\.equals\(|\bcase|\bis)\s*["']([A-Za-z]\w+)["']""",
            r"(?:==|\bis|\bcase)\s+(?:\w+\.)+(\w\w+)",
            r"^\W*(?:\w+\.)*(?:is|has|should|use|with)_(\w+)(?:\(.*\))?\W*$",
        ),
    )
)
LOOP = re.compile(r"\s*(?:async )?for\b.*?(?:\b(?:in|of|range)\b| : )(.+)")
LOOPS = re.compile(r"\s*(?:async )?(?:for|while|loop)\b")
CALL = re.compile(r"^\s*(?:await )?(?:[\w.]*\.)?(\w+)\(", re.MULTILINE)
MOST_WORDS = 4
MOST_STATEMENTS = 20
# The last call says less of a longer loop.
LONG_LOOP = 20
Statement = tuple[str, int, int]


def spans(
    statements: Sequence[Statement], lines: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the runs (start, end) of a suite; a statement is the name it gives its first value, and its lines.

    A run begins below a comment that names an act, and ends with the paragraph, or begins with the first value of a
    name, and ends with a statement of the paragraph that builds it; first values of other names may be between.
    """
    edges = [
        n
        for n, (_, first, _) in enumerate(statements)
        if not re.match(r"\s*[^\s#/]", lines[first - 2])
    ]
    yield from (
        pair
        for pair in pairwise([*edges, len(statements)])
        if _act(lines, statements[pair[0]][1])
    )
    for start, (name, _, _) in enumerate(statements):
        built = looped = False
        builds = (
            re.compile(rf"\b{re.escape(name)}(?:{GROWS}|{COUNTS}|\s*=[^=])")
            if name
            else None
        )
        for at, (other, first, last) in enumerate(
            statements[start + 1 : start + MOST_STATEMENTS], start + 2
        ):
            found = builds and builds.search("\n".join(lines[first - 1 : last]))
            is_loop = LOOPS.match(lines[first - 1]) is not None
            if (
                not (found or (name and other))
                or (built and not lines[first - 2].strip())
                or (looped and not is_loop)
            ):
                break
            looped = is_loop
            built = built or last > first
            if found:
                yield start, at


def name_of_run(
    run: str,
    above: Sequence[str],
    function: str,
    result: str = "",
    taken: bool = False,
    guard: str = "",
) -> str:
    """Name the statements `run`, in snake case; empty if they yield nothing that has a name.

    `above` are the two lines above them, `result` the value that they give back (`taken`: and get), `guard` the
    condition under which they run.
    """
    said = _act([*above, run], len(above) + 1)
    if said or result:
        return "_".join(said) or _by_result(run, result, taken)
    if guard:
        negative = (
            re.match(r"\W*(?:not\b|!)", guard) or "!=" in guard or " is not " in guard
        )
        found = (
            match[1] for case in CASES if not negative and (match := case.search(guard))
        )
        verb = snake(function).partition("_")[0]
        return "".join(
            f"{verb if verb in VERBS else 'handle'}_{snake(word)}"
            for word in list(found)[:1]
        )
    loop = LOOP.match(run.split("\n", 1)[0]) if run.count("\n") < LONG_LOOP else None
    calls = CALL.findall(run)
    over = (
        [word for word in re.findall(r"\w+\b(?!\()", loop[1]) if word not in NO_SUBJECT]
        if loop
        else []
    )
    verb = snake(calls[-1]).partition("_")[0] if calls else ""
    return (
        f"{verb}_{snake(over[-1])}"
        if over and verb in VERBS and _is_telling(over[-1])
        else ""
    )


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_$")


def _act(lines: Sequence[str], line: int) -> list[str]:
    """Return the first words of the comment on the one line above a line if they name an act."""
    continues = line > 2 and COMMENT.match(lines[line - 3])
    match = COMMENT.match(lines[line - 2]) if line > 1 and not continues else None
    words = (
        re.findall("[a-z]+", match[1].split(" - ")[0].lower())
        if match and "'" not in match[1]
        else []
    )
    telling = [word for word in words if word not in EMPTY]
    is_act = (
        telling[:1] == words[:1]
        and words[:1]
        and words[0] in VERBS
        and 2 <= len(telling) <= MOST_WORDS
    )
    return telling if is_act else []


def _is_telling(name: str) -> bool:
    """Return whether a variable's name says what it holds."""
    return len(name) > 2 and name.lower().strip("_") not in VAGUE


def _by_result(run: str, result: str, taken: bool) -> str:
    if not _is_telling(result):
        return ""
    if result.startswith(("is_", "has_", "can_", "should_")):
        return result
    name = rf"\b{re.escape(result)}"
    cases = re.match(r"\s*(?:if|switch|match|select)\b", run)
    if re.search(rf"{name}{GROWS}|{name} = append\({name}\b", run):
        verb = "collect"
    elif re.search(name + COUNTS, run):
        verb = "compute"
    elif (
        re.search(r"\b(?:for|while)\b", run)
        and re.search(r"\bbreak\b", run)
        and " case " not in run
    ):
        verb = "find"
    elif taken:
        return ""
    else:
        verb = "choose" if cases else "make"
    return f"{verb}_{snake(result)}"
