"""Every forgery is refused: by `verify`, and by the hook at the level that policy demands."""

import json

import pytest
from forging import (
    glass,
    histories,
    informed,
    local_state,
    loosened,
    notes,
    people,
    pushes,
    signatures,
    signers,
    statements,
    surroundings,
)
from forging.table import FORGERIES, Forgery, assert_plain, assert_refused
from forging.world import NOTES, World, needs_ssh_keygen
from sampling import choose_rows

pytestmark = needs_ssh_keygen

MODULES = (
    statements,
    signatures,
    signers,
    people,
    loosened,
    histories,
    local_state,
    surroundings,
    notes,
    pushes,
    glass,
    informed,
)


SUBMODULE = "a submodule is reviewed in its own repository; the report names it"
# What is not closed, and why: each must still succeed, so that a mend is noticed.
KNOWN = {
    "histories.a_submodule_comes_with_the_change": SUBMODULE,
    "histories.a_submodule_moves_to_another_commit": SUBMODULE,
    "informed.a_protected_branch_of_an_old_commit": "the signers of a branch are its own",
}


def marks_of(forgery: Forgery) -> list[pytest.MarkDecorator]:
    known = KNOWN.get(forgery.name)
    open_ = (
        [pytest.mark.xfail(reason=known, strict=True, raises=AssertionError)]
        if known
        else []
    )
    return open_ + ([pytest.mark.slow] if forgery.slow else [])


def kinds_of(forgery: Forgery) -> list[object]:
    """What is forged and how it is refused; each function that it is forged with; what is not closed."""
    topic = forgery.name.partition(".")[0]
    refusal = (forgery.says, forgery.codes, forgery.at_hook, forgery.at_server)
    means = forgery.act.__code__.co_names
    return [(topic, refusal), *means, KNOWN.get(forgery.name)]


CHOSEN = choose_rows(FORGERIES, kinds_of, lambda forgery: forgery.name)
TABLE = [pytest.param(each, id=each.name, marks=marks_of(each)) for each in CHOSEN]


@pytest.mark.parametrize("forgery", TABLE)
def test_a_forgery_is_refused(world: World, forgery: Forgery) -> None:
    where = forgery.act(world)
    if forgery.at_server:
        return
    done = world.verify(where or "")
    assert (
        done.code != 0
        or 0 in forgery.codes
        or not (accepted := each_accepted(world, where or ""))
    ), "\n".join(accepted)
    print(done.all)
    assert_refused(done, forgery.says, forgery.codes)
    if forgery.at_hook:
        stopped = world.hook()
        assert_plain(stopped)
        assert stopped.code in (1, 2, 3), stopped.all


def each_accepted(world: World, where: str) -> list[str]:
    """The lines of notes that are accepted, where more than one was forged: alone, each is."""
    lines = world.lines()
    accepted = []
    for line in lines if len(lines) > 1 else ():
        world.repo.git("update-ref", "-d", NOTES)
        world.note(line)
        if world.verify(where).code == 0:
            accepted.append(json.loads(line)["payload"])
    return accepted
