"""What the forgeries forge is accepted where it is honest: otherwise their refusal would prove nothing."""

import json

import pytest
from forging.glass import OPTION, glass
from forging.pushes import serve
from forging.world import (
    ADA,
    ADA_MAIL,
    BOB,
    BOB_MAIL,
    CAROL,
    CAROL_MAIL,
    KEY,
    NOTES,
    SECOND,
    SIGNERS,
    TOUCH,
    TWO,
    VERIFIED,
    World,
    changed,
    needs_ssh_keygen,
    new_signers,
    security_key,
    sign_all,
    signed,
    signer,
)
from in_process import RISKY

pytestmark = needs_ssh_keygen


def assert_verified(world: World) -> None:
    done = world.verify()
    assert done.code == 0, done.all
    assert "verified; 1 finding approved" in done.all


def test_a_statement_by_hand_is_that_of_approve(world: World) -> None:
    world.stage()
    by_hand = world.statement()
    done = world.approve()
    assert done.code == 0, done.all
    [line] = world.lines()
    by_approve = json.loads(json.loads(line)["payload"])
    assert changed(by_approve, at=by_hand["predicate"]["at"]) == by_hand
    assert signed(by_approve, ADA) == line
    world.record("Add the report")
    assert_verified(world)


def test_a_statement_by_hand_counts_at_the_hook_and_in_verify(world: World) -> None:
    world.note(signed(world.change(), ADA))
    assert_verified(world)
    assert world.hook().code == 0


@pytest.mark.parametrize(
    ("policy", "flags"), [(TOUCH, 0x01), (TOUCH, 0x05), (VERIFIED, 0x05), (KEY, 0x00)]
)
def test_a_security_key_counts_for_what_its_flags_say(
    world: World, policy: str, flags: int
) -> None:
    world.set_policy(policy)
    world.note(signed(world.change(), security_key(flags)))
    assert_verified(world)
    assert world.hook().code == 0


def test_approve_signs_with_a_security_key_of_an_agent(world: World) -> None:
    world.set_policy(VERIFIED)
    world.stage()
    done = world.approve_with(security_key(0x05))
    assert done.code == 0, done.all
    assert "(verified)" in done.all
    world.record("Add the report")
    assert_verified(world)


@pytest.mark.parametrize("policy", [SECOND, TWO, f"{KEY}author_may_approve = false\n"])
def test_two_people_count(world: World, policy: str) -> None:
    world.set_policy(policy)
    sign_all(world, world.change(), (ADA_MAIL, ADA), (BOB_MAIL, BOB))
    assert_verified(world)


def test_a_new_signer_is_approved_and_counts_from_then_on(world: World) -> None:
    sign_all(
        world,
        world.change({SIGNERS: new_signers(world, signer(CAROL_MAIL, CAROL))}),
        (ADA_MAIL, ADA),
    )
    assert_verified(world)
    world.start_here()
    sign_all(world, world.change(), (CAROL_MAIL, CAROL))
    assert_verified(world)


def test_an_approval_survives_an_amended_message_and_a_rebase(world: World) -> None:
    world.note(signed(world.change(), ADA))
    world.repo.git("commit", "-q", "--no-verify", "--amend", "-m", "Say it better")
    assert_verified(world)
    head = world.repo.git("rev-parse", "HEAD")
    world.repo.git("reset", "-q", "--hard", world.base)
    world.set_base({"other.py": "x = 1\n"})
    world.repo.git("cherry-pick", head)
    assert_verified(world)


def test_a_push_with_its_approvals_is_taken(world: World) -> None:
    server = serve(world)
    world.note(signed(world.change(), ADA))
    server.accepted("main", NOTES)


def test_a_break_glass_lets_its_commit_pass(world: World) -> None:
    server = serve(world)
    world.record("Add the report", {"report.py": RISKY})
    assert glass(world).code == 0
    server.accepted(*OPTION, "main", NOTES)
