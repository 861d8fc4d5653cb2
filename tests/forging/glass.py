"""Forged emergencies: a break-glass lets one commit pass a server, and nothing else."""

import json

from forging.pushes import Server, long_push, push, serve
from forging.world import (
    ADA,
    BOB,
    BOB_MAIL,
    KEY,
    MALLORY,
    MALLORY_MAIL,
    NOTES,
    SIGNERS,
    TOUCH,
    World,
    changed,
    security_key,
    signed,
    signer,
)
from in_process import RISKY
from repositories import Done, key

OPTION = ("-o", "cli-guard=break-glass")


@long_push
def a_push_option_without_a_statement(world: World) -> None:
    server = serve(world)
    world.change()
    for option in (
        "cli-guard=break-glass",
        "cli-guard=skip",
        "cli-guard",
        "cli-guard=0",
        "ci.skip",
        "cli-guard=break-glass\nx",
    ):
        server.refused("-o", option, "main")


def glass(world: World, *argv: str, by: str = "ada") -> Done:
    return world.by(by).approve(
        "--break-glass", "--note", "production is down, ticket 812", *argv
    )


def serve_broken(world: World) -> Server:
    """Serve a world, and sign a break-glass of the change that it would refuse."""
    server = serve(world)
    world.change()
    assert glass(world).code == 0
    return server


@push
def a_break_glass_of_somebody_who_is_not_enrolled(world: World) -> None:
    server = serve(world)
    statement = world.change()
    done = glass(world)
    assert done.code == 0, done.all
    payload = world.payload()
    world.repo.git("update-ref", "-d", NOTES)
    world.note(signed(payload, MALLORY))
    world.note(signed(changed(payload, principal=MALLORY_MAIL), MALLORY))
    world.note(
        signed(changed(statement, decision="break-glass", principal=MALLORY_MAIL), MALLORY)
    )
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_without_the_push_option(world: World) -> None:
    server = serve_broken(world)
    server.refused("main", NOTES)


@push
def a_break_glass_of_another_commit(world: World) -> None:
    """Signed for one; amended since."""
    server = serve_broken(world)
    [line] = world.lines()
    world.repo.git("commit", "-q", "--no-verify", "--amend", "-m", "Another message")
    world.note(
        line,
        world.repo.git("rev-parse", "HEAD^{tree}"),
        world.repo.git("rev-parse", "HEAD"),
    )
    server.refused(*OPTION, "main", NOTES)
    world.record("More", {"more.py": RISKY})
    world.note(
        line,
        world.repo.git("rev-parse", "HEAD^{tree}"),
        world.repo.git("rev-parse", "HEAD"),
    )
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_for_a_second_ref(world: World) -> None:
    """It lets one commit pass; another in the same push is judged."""
    server = serve_broken(world)
    world.repo.git("branch", "topic")
    world.repo.git("switch", "-q", "topic")
    world.record("More", {"more.py": RISKY.replace("render-report", "rm")})
    server.push(*OPTION, "main", "topic", NOTES)
    assert server.bare.try_git("rev-parse", "-q", "--verify", "refs/heads/topic").code != 0


def reglazed(world: World, **values: str) -> None:
    """Push with a break-glass that Ada signed by hand, with other values."""
    server = serve_broken(world)
    payload = world.payload()
    world.repo.git("update-ref", "-d", NOTES)
    world.note(signed(changed(payload, **values), ADA))
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_that_has_expired(world: World) -> None:
    reglazed(world, at="2026-10-02T12:00:00+00:00", expires="2026-10-03T12:00:00+00:00")


@push
def a_break_glass_without_an_end(world: World) -> None:
    """`approve --break-glass` gives it a day."""
    reglazed(world, at="2026-10-02T12:00:00+00:00", expires="")


@push
def a_break_glass_without_a_reason(world: World) -> None:
    """`approve --break-glass` wants one; what the server logs is empty."""
    reglazed(world, reason="")


@push
def an_approval_as_a_break_glass(world: World) -> None:
    """An approval of something harmless, with the option."""
    server = serve(world)
    statement = world.change()
    head = world.repo.git("rev-parse", "HEAD")
    forged = changed(statement, findings=[])
    forged["subject"] = [
        {"name": "content", "digest": {"gitCommit": head}},
        *statement["subject"][1:],
    ]
    world.note(signed(forged, ADA))
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_below_the_level_of_the_policy(world: World) -> None:
    """Policy wants a touch of everything; a plain key, or a device that was not touched, signs."""
    server = serve(world, TOUCH)
    world.change()
    assert glass(world).code == 0
    payload = world.payload()
    world.note(signed(payload, security_key(0x00)))
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_that_enrols_its_signer_again(world: World) -> None:
    """In an emergency nobody needs new signers: what loosens the guard does not pass by one key."""
    server = serve(world, KEY + 'threshold = {"**" = 2}\n')
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    world.record("Add Mallory", {SIGNERS: f"{text}\n{signer(MALLORY_MAIL, MALLORY)}\n"})
    assert glass(world).code == 0
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_of_a_revoked_signer(world: World) -> None:
    done = world.guard("signers", "revoke", BOB_MAIL)
    assert done.code == 0, done.all
    world.set_base({})
    server = serve(world)
    world.change()
    glass(world, "--key", str(world.key_file("bob")), by="bob")
    assert glass(world).code == 0
    line = world.lines()[-1]
    payload = json.loads(json.loads(line)["payload"])
    world.repo.git("update-ref", "-d", NOTES)
    world.note(signed(changed(payload, principal=BOB_MAIL), BOB))
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_for_what_is_denied(world: World) -> None:
    """A key that is pushed is known: no emergency makes it unknown."""
    server = serve(world)
    world.record("Add it", {"settings.py": f'aws_access_key_id = "{key()}"\n'})
    glass(world)
    server.refused(*OPTION, "main", NOTES)
