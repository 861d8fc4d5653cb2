"""The tests that a request describes in words ("the trailing comma tests"), without a path or a name of the code."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from cli_guard.assistant.projects.running import CASE_CHARS, Cases
from cli_guard.assistant.request_question import Concept, leave_out, parse_question
from cli_guard.assistant.stems import stems_of
from cli_guard.code.test_files import list_test_files
from cli_guard.lazy import frozen

# How much a word counts by where it stands: in the name of a test or of its file, in a folder, in the lines of a test.
NAME = 1.0
FOLDER = 0.7
BODY = 0.3
# Less than this share of the words, and the tests are not those that are meant: all of them is the better answer.
ENOUGH = 0.55
NOWHERE = 0.5
# Tests that are nearly as good as the best are meant too.
NEARLY = 0.9
MOST_FILES = 3
MOST_CHOSEN = 12
MOST_TITLES = 500
# Words that say that tests are meant, not which.
GENERIC = frozenset(
    stems_of(
        "test spec suite run rerun only just single whole all every cover check fast quick quickly module package"
        " class file function around about something things one ones please"
    )
)
# The title of a test in JavaScript: `it("...")`, `t.test('...')`.
TITLE = re.compile(
    r"\b(?:it|test|describe|suite|context)(?:\.\w+)?\(\s{0,9}(['\"`])([^'\"`\n]{1,200})\1"
)
FUNCTION = re.compile(
    r"\b(?:func|fn|void|fun|def|public function)\s+([A-Za-z_]\w{2,100})\s*\("
)


@frozen
class _Unit:
    """A test, or a whole file (`name` ""), with the stems of its names, its folders and its lines."""

    path: str
    name: str
    named: frozenset[str]
    folders: frozenset[str]
    body: frozenset[str]

    def share_of(self, concept: Concept) -> float:
        """Return how well a word fits, itself or as a synonym."""
        places = ((NAME, self.named), (FOLDER, self.folders), (BODY, self.body))
        return max(
            (
                like * share
                for each, like in concept.stems.items()
                for share, own in places
                if each in own
            ),
            default=0.0,
        )

    def names(self, concepts: Collection[Concept]) -> bool:
        """Return whether a name of it has one of the words."""
        return any(
            not self.named.union(self.folders).isdisjoint(each.stems) for each in concepts
        )


def find_described(
    topic: str, texts: Mapping[str, str]
) -> Sequence[tuple[str, Sequence[str]]]:
    """Find (test file, names of its tests; none for all of them) for the words of a request, best first.

    Returns nothing where no test has most of the words, and one of them in a name.
    """
    wanted = parse_question(leave_out(topic, GENERIC)).concepts
    inner = (
        path for path in texts if path.endswith(".rs") and "#[cfg(test)]" in texts[path]
    )
    paths = dict.fromkeys((*list_test_files(texts), *inner)) if wanted else ()
    cases = Cases(texts)
    units = [unit for path in paths for unit in _units_of(path, cases)]
    if not units:
        return ()
    weights = [_weigh(each, units) for each in wanted]
    shares = [
        sum(
            weight * unit.share_of(each)
            for weight, each in zip(weights, wanted, strict=True)
        )
        / sum(weights)
        for unit in units
    ]
    scored = zip(shares, units, strict=True)
    good = [
        (share, unit) for share, unit in scored if share >= ENOUGH and unit.names(wanted)
    ]
    best = max((share for share, _ in good), default=0.0)
    chosen: dict[str, list[str]] = {}
    for share, each in sorted(
        good, key=lambda pair: (-pair[0], pair[1].name != "", pair[1].path)
    ):
        if share >= NEARLY * best and (each.path in chosen or len(chosen) < MOST_FILES):
            chosen.setdefault(each.path, []).append(each.name)
    return [
        (path, () if "" in names else names[:MOST_CHOSEN]) for path, names in chosen.items()
    ]


def _weigh(concept: Concept, units: Sequence[_Unit]) -> float:
    """Return the inverse document frequency of a word among the tests; of one that is nowhere, little is known."""
    having = sum(unit.share_of(concept) > 0 for unit in units)
    rarity = math.log(1 + len(units) / (having + 0.5))
    return concept.weight * rarity * (1.0 if having else NOWHERE)


def _units_of(path: str, every: Cases) -> Iterator[_Unit]:
    folder, _, file = path.rpartition("/")
    own = frozenset(
        stems_of(
            file.partition(".")[0] if path.endswith(".py") else file.rpartition(".")[0]
        )
    )
    folders = frozenset(stems_of(folder))
    text = every.texts[path][:CASE_CHARS]
    cases = every.of(path)
    lines = text.split("\n")
    for case in cases:
        body = frozenset(stems_of("\n".join(lines[case.line - 1 : case.end_line])))
        yield _Unit(path, case.name, frozenset(stems_of(case.name)) | own, folders, body)
    titles = (
        []
        if cases
        else [*(found[2] for found in TITLE.finditer(text)), *FUNCTION.findall(text)]
    )
    for title in titles[:MOST_TITLES]:
        # Elsewhere than in Python and Go the command runs the whole file.
        yield _Unit(path, "", frozenset(stems_of(title)) | own, folders, frozenset())
    yield _Unit(path, "", own, folders, frozenset(stems_of(text)))
