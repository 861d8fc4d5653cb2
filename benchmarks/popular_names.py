"""Write a list of popular names, and the established names that resemble one of them, from a table with a ranking.

    python -m benchmarks.popular_names npm TABLE --downloads 3 --first 8000 --established 51000 --source TEXT

TABLE has a name in its first column, tabs between columns, and in the column of `--downloads` (or `--rank`) how
often it is installed in a month (or its place). Nothing is downloaded. The first names go to
`cli_guard/rules/dependencies/<registry>-popular.txt`. Of those behind them, as far as they are established, the ones
that the rule on similar names would report go to `similar.txt`, where they are added to what others have there. Names
that are often misspelt are installed some 40,000 times a month: what is established has more.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from cli_guard.reviewers.dependencies.names import read_names, similar_name
from cli_guard.reviewers.dependencies.reading import normalise

FOLDER = Path(__file__).parent.parent / "cli_guard/rules/dependencies"
LONGEST = 100
SIMILAR_HEAD = """# Established projects whose name is one edit from a popular one of the same registry.
# Sources and dates: those of pypi-popular.txt and npm-popular.txt, and lock files of 340 public projects, 2026-11-30.
"""


def read_ranking(table: Path, registry: str, column: int, *, is_rank: bool) -> list[str]:
    """Return the names of a table, the most installed first."""
    found: list[tuple[int, str]] = []
    for line in table.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if len(cells) >= column and cells[column - 1].isdigit():
            number = int(cells[column - 1])
            key = number if is_rank else -number
            found.append((key, normalise(cells[0], registry)))
    return list(dict.fromkeys(name for _, name in sorted(found)))


def find_similar(registry: str, established: list[str]) -> Iterator[str]:
    """Yield the established names that would be reported, as the lists stand now."""
    for name in established:
        if len(name) <= LONGEST and similar_name(registry, name):
            yield name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("registry", choices=("npm", "pypi"))
    parser.add_argument("table", type=Path)
    column = parser.add_mutually_exclusive_group(required=True)
    column.add_argument("--downloads", type=int)
    column.add_argument("--rank", type=int)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--established", type=int, required=True)
    parser.add_argument("--source", required=True, help="what the list is and its date")
    options = parser.parse_args(arguments)
    is_rank = options.rank is not None
    number = options.rank if is_rank else options.downloads
    ranking = read_ranking(options.table, options.registry, number, is_rank=is_rank)
    popular = sorted(ranking[: options.first])
    head = f"# {len(popular):,} names.\n# Source: {options.source}.\n"
    file = FOLDER / f"{options.registry}-popular.txt"
    file.write_text(head + "\n".join((*popular, "")), encoding="utf-8")
    read_names.cache_clear()
    known = read_names("similar.txt")
    found = find_similar(options.registry, ranking[: options.established])
    similar = sorted(known.union(found))
    (FOLDER / "similar.txt").write_text(
        SIMILAR_HEAD + "\n".join((*similar, "")), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
