"""Names of files as options: a hostile tree, an honest one, and where the judge cannot look."""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import pytest
from examples import examples, near_misses, table
from repositories import Repo

from cli_guard.commands import Context, judge
from cli_guard.commands.model import WorkTree
from cli_guard.execution.context import command_context
from cli_guard.model import Decision

ALLOW = Decision.ALLOW
REVIEW = Decision.REVIEW


@dataclass(frozen=True)
class Names(WorkTree):
    """A work tree of which only the names of files are asked."""

    paths: tuple[str, ...]

    def expand(self, pattern: str) -> tuple[str, ...]:
        return tuple(path for path in self.paths if fnmatchcase(path, pattern))

    def holds_odd_names(self) -> bool:
        return any(path.rpartition("/")[2].startswith("-") for path in self.paths)

    def exists(self, path: str) -> bool:
        return path in self.paths

    def is_folder(self, path: str) -> bool:
        return any(each.startswith(f"{path}/") for each in self.paths)

    def diff_holds_odd_names(self, revisions: tuple[str, ...]) -> bool:
        return self.holds_odd_names()


def place(*names: str) -> Context:
    """The context of a work tree with these files, some in the folder `sub`."""
    here = frozenset(name for name in names if "/" not in name)
    tree = Names(tuple(f"/w/{name}" for name in names))
    return Context(home="/home/ada", folder="/w", root="/w", names=here, tree=tree)  # type: ignore[arg-type]


HONEST = place("a.py", "notes.txt", "sub/b.py", "a-b.txt")
HOSTILE = place("a.py", "--pre=sh", "-e1etouch X", "sub/--output=X")
BELOW = place("a.py", "notes.txt", "sub/--output=X")

# They run or write where a file is named like an option of the program.
LOOSE = [
    *(
        "rg foo *",
        "sed -n 1p *",
        "tar cf - *",
        "tar cf - * | wc -c",
        "sort *",
        "git log *",
        "git diff HEAD *",
    ),
    *(
        "sed -n 1p ?*",
        'for f in *; do sed -n 1p "$f"; done',
        "for f in *; do sed -n 1p $f; done",
    ),
    *(
        "git grep -l x | xargs sed -n 1p",
        "rg -l x | xargs rg y",
        "git ls-files | xargs sed -n 1p",
    ),
    *('x=$(ls); sed -n 1p "$x"', "sed -n 1p $(git ls-files)"),
]
# The first character is fixed, or the word cannot be an option.
FIXED = [
    *(
        "rg foo ./*",
        "sed -n 1p -- *",
        "sed -n 1p a*",
        "sort -- *",
        "sort ./*",
        "sed -n 1p sub/*",
        "git log -- *",
    ),
    *(
        'for f in ./*; do sed -n 1p "$f"; done',
        'for f in *; do sed -n 1p "./$f"; done',
        "ls *",
        "cat *",
        "wc -l *",
    ),
    *('for f in *; do sed -n 1p -- "$f"; done', "git grep -l x | xargs sed -n 1p --"),
]


@examples("command", LOOSE)
def test_the_name_of_a_file_may_be_an_option(command: str) -> None:
    hostile = judge(command, HOSTILE)
    unseen = judge(command)
    assert (hostile.verdict, unseen.verdict) == (REVIEW, REVIEW)
    assert "may be an option" in " ".join(effect.reason for effect in hostile.effects)


@near_misses("command", LOOSE)
def test_where_no_name_begins_with_a_dash_it_is_none(command: str) -> None:
    verdict = judge(command, HONEST)
    assert verdict.verdict is ALLOW, verdict.reason


@near_misses("command", FIXED)
def test_a_word_whose_first_character_is_fixed_is_no_option(command: str) -> None:
    verdict = judge(command, HOSTILE)
    assert verdict.verdict is ALLOW, verdict.reason


def test_a_pattern_finds_the_names_of_its_folder_and_a_program_those_below() -> None:
    assert judge("sed -n 1p *", BELOW).verdict is ALLOW
    assert judge("cd sub && sed -n 1p *", BELOW).verdict is REVIEW
    assert judge("cd sub && sed -n 1p *", HONEST).verdict is ALLOW
    assert judge("git ls-files | xargs sed -n 1p", BELOW).verdict is REVIEW


@table(
    ("before", "verdict"),
    [
        ("ls", ALLOW),
        ("cd sub && cd ..", ALLOW),
        ('cd "$x"', REVIEW),
    ],
)
def test_where_the_judge_cannot_look_it_asks(before: str, verdict: Decision) -> None:
    assert judge(f"{before}; sed -n 1p *", HONEST).verdict is verdict
    assert judge("sed -n 1p *", replace(HONEST, names=None, tree=None)).verdict is REVIEW


@table(
    ("before", "loose"),
    [
        ("touch ./-e1etouch", True),
        ("touch -- -e1etouch", True),
        ("echo x > -e1etouch", True),
        ("tar xf a.tar", True),
        ("unzip a.zip", True),
        ("cp -r ../other .", True),
        ("git checkout other", True),
        ("make", True),
        ("touch new.txt", False),
        ("echo x > new.txt", False),
        ("rm a.py", False),
        ("git add a.py", False),
        ("git commit -m x", False),
        ("sed -i s/a/b/ a.py", False),
    ],
)
def test_a_name_that_the_same_text_may_create_counts_as_there(
    before: str, loose: bool
) -> None:
    def reasons(command: str) -> set[str]:
        found = {effect.reason for effect in judge(command, HONEST).effects}
        return {reason for reason in found if "may be an option" in reason}

    assert bool(reasons(f"{before}; sort *")) is loose
    assert not reasons(f"sort *; {before}")


@pytest.mark.parametrize("name", ["", "--pre=sh", "-e1etouch X", "sub/--output=X"])
def test_a_real_tree_is_looked_at(repo: Repo, name: str) -> None:
    repo.write("a.py", "x\n")
    repo.write("sub/b.py", "x\n")
    if name:
        repo.write(name, "x\n")
    repo.git("add", "--", ".")
    context = command_context(repo.path, repo.env)
    here = REVIEW if name and "/" not in name else ALLOW
    anywhere = REVIEW if name else ALLOW
    assert judge("sed -n 1p *", context).verdict is here
    assert judge("git ls-files | xargs sed -n 1p", context).verdict is anywhere
    assert judge("rg -l x | xargs rg y", context).verdict is anywhere
    assert judge("rg foo ./*", context).verdict is ALLOW
