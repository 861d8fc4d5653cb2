"""What rules/languages/shapes.toml says of each language: the shapes of its nodes, and what it does otherwise."""

from collections.abc import Mapping
from functools import cache

from cli_guard.code.languages import FAMILY
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

TABLE = "languages/shapes.toml"


@frozen
class Language:
    """A row of the table, which describes the fields."""

    shapes: Mapping[str, str]
    sigils: str = "$&*@"
    own_field: str = ""
    joins: str = ""
    case_patterns: str = ""
    bare_texts: bool = False
    not_first: bool = False
    implicit_self: bool = False
    bare_calls: bool = False
    plain_fields: bool = False
    imports: str = ""
    import_form: str = ""
    requires: bool = False


@cache
def language_named(name: str) -> Language:
    """Return what is known of a language as ast-grep names it; one that is not listed has only what all share."""
    table = read_table(TABLE)
    rows = table["languages"]
    own = dict(rows.get(name) or rows.get(FAMILY.get(name), {}))
    shapes = {
        kind: shape
        for row in (table["shapes"], own.pop("shapes", {}))
        for shape, kinds in row.items()
        for kind in kinds.split()
    }
    return Language(shapes, **own)


@cache
def cases(name: str) -> frozenset[str]:
    """Return the kinds of node in a list of the table `cases`."""
    return frozenset(read_table(TABLE)["cases"][name].split())
