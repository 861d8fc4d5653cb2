"""Forged people: one key under several names, and who counts as the second person."""

from typing import Any

from authenticators import PlainKey
from forging.table import forgery
from forging.world import (
    ADA,
    ADA_MAIL,
    BOB,
    BOB_MAIL,
    CAROL_MAIL,
    KEY,
    MALLORY,
    MALLORY_MAIL,
    SECOND,
    SIGNERS,
    TWO,
    World,
    changed,
    new_signers,
    security_key,
    seed,
    sign_all,
    signed,
    signer,
)
from in_process import RISKY


@forgery(codes=(2, 3))
def a_signer_for_every_name(world: World) -> None:
    """One key, enrolled with a pattern, signs as two people."""
    world.set_base(
        {
            SIGNERS: new_signers(world, signer("*@example.org", MALLORY)),
            "cli-guard.toml": TWO,
        }
    )
    sign_all(
        world,
        world.change(),
        (ADA_MAIL, MALLORY),
        (BOB_MAIL, MALLORY),
        (CAROL_MAIL, MALLORY),
    )


@forgery(codes=(2, 3))
def a_signer_with_two_names_in_one_line(world: World) -> None:
    lines = (
        signer(f"{MALLORY_MAIL},{CAROL_MAIL}", MALLORY),
        signer(f"{ADA_MAIL},!{BOB_MAIL}", ADA),
    )
    world.set_base({SIGNERS: new_signers(world, lines[0]), "cli-guard.toml": TWO})
    sign_all(
        world,
        world.change(),
        (MALLORY_MAIL, MALLORY),
        (CAROL_MAIL, MALLORY),
        (f"{MALLORY_MAIL},{CAROL_MAIL}", MALLORY),
    )


@forgery(codes=(2, 3))
def one_key_under_two_names(world: World) -> None:
    lines = (signer(MALLORY_MAIL, MALLORY), signer(CAROL_MAIL, MALLORY))
    world.set_base({SIGNERS: new_signers(world, *lines), "cli-guard.toml": TWO})
    sign_all(world, world.change(), (MALLORY_MAIL, MALLORY), (CAROL_MAIL, MALLORY))


@forgery(codes=(2, 3))
def one_key_under_two_names_as_the_second_person(world: World) -> None:
    lines = (signer(ADA_MAIL, ADA), signer("ada@home.example", ADA))
    world.set_base({SIGNERS: new_signers(world, *lines), "cli-guard.toml": SECOND})
    sign_all(world, world.change(), (ADA_MAIL, ADA), ("ada@home.example", ADA))


@forgery(at_hook=False, codes=(3,))
def one_person_with_two_keys(world: World) -> None:
    world.set_policy(TWO)
    statement = world.change()
    sign_all(world, statement, (ADA_MAIL, ADA), (ADA_MAIL, security_key(0x05)))
    world.note(signed(changed(statement, reason="once more"), ADA))


@forgery(codes=(2, 3))
def one_person_with_two_ways_to_write_the_name(world: World) -> None:
    """Mail addresses are the same in capitals."""
    other = PlainKey(seed("ada at home"))
    world.set_base(
        {
            SIGNERS: new_signers(world, signer("Ada@Example.org", other)),
            "cli-guard.toml": TWO,
        }
    )
    sign_all(world, world.change(), (ADA_MAIL, ADA), ("Ada@Example.org", other))


@forgery(codes=(3,))
def the_author_alone_where_policy_wants_a_second_person(world: World) -> None:
    world.set_policy(SECOND)
    sign_all(world, world.change(), (ADA_MAIL, ADA), (ADA_MAIL, security_key(0x05)))


def commit_as(world: World, author: str, committer: str) -> dict[str, Any]:
    """Commit the risky change under other names; return its statement."""
    world.stage()
    statement = world.statement()
    names = {
        "GIT_AUTHOR_NAME": author.partition("@")[0],
        "GIT_AUTHOR_EMAIL": author,
        "GIT_COMMITTER_NAME": committer.partition("@")[0],
        "GIT_COMMITTER_EMAIL": committer,
    }
    world.repo.git("commit", "-q", "--no-verify", "-m", "Add the report", env=names)
    return statement


@forgery(codes=(3,))
def the_author_writes_another_name_into_the_commit(world: World) -> None:
    """So that his own key is that of somebody who is neither author nor committer."""
    world.set_policy(SECOND)
    sign_all(
        world,
        commit_as(world, CAROL_MAIL, CAROL_MAIL),
        (ADA_MAIL, ADA),
        (ADA_MAIL, security_key(0x05)),
    )


@forgery(codes=(3,))
def the_author_writes_the_name_of_the_other_signer(world: World) -> None:
    world.set_policy(SECOND)
    sign_all(world, commit_as(world, BOB_MAIL, BOB_MAIL), (ADA_MAIL, ADA))


@forgery(codes=(3,))
def author_and_committer_sign(world: World) -> None:
    """Two people, and neither is a second pair of eyes."""
    world.set_policy(SECOND)
    sign_all(world, commit_as(world, ADA_MAIL, BOB_MAIL), (ADA_MAIL, ADA), (BOB_MAIL, BOB))


@forgery(codes=(3,))
def author_and_committer_sign_and_are_written_in_capitals(world: World) -> None:
    world.set_policy(SECOND)
    sign_all(
        world,
        commit_as(world, "Ada@Example.org", "BOB@EXAMPLE.ORG"),
        (ADA_MAIL, ADA),
        (BOB_MAIL, BOB),
    )


@forgery(codes=(3,))
def author_and_committer_sign_and_a_mailmap_renames_them(world: World) -> None:
    world.set_policy(
        SECOND,
        **{
            ".mailmap": "X <x@example.org> <ada@example.org>\nY <y@example.org> <bob@example.org>\n"
        },
    )
    sign_all(world, commit_as(world, ADA_MAIL, BOB_MAIL), (ADA_MAIL, ADA), (BOB_MAIL, BOB))


@forgery(codes=(3,))
def the_authors_of_two_commits_approve_each_other(world: World) -> None:
    """Ada writes the risk, Bob touches the file after her: the range has no second person."""
    world.set_policy(SECOND)
    world.record("Add the report", {"report.py": RISKY})
    world.repo.write("report.py", RISKY.replace("Runs reports", "Runs a report"))
    world.repo.git("add", "-A")
    names = {"GIT_AUTHOR_EMAIL": BOB_MAIL, "GIT_COMMITTER_EMAIL": BOB_MAIL}
    world.repo.git("commit", "-q", "--no-verify", "-m", "Say it better", env=names)
    world.repo.git("reset", "-q", "--soft", world.base)
    statement = world.statement()
    world.repo.git("reset", "-q", "--soft", "ORIG_HEAD")
    sign_all(world, statement, (ADA_MAIL, ADA), (BOB_MAIL, BOB))


@forgery(codes=(3,))
def a_commit_with_two_authors(world: World) -> None:
    """A hand-made commit object: a reader takes the first author or the last."""
    world.set_policy(SECOND)
    statement = world.change()
    text = world.repo.git("cat-file", "-p", "HEAD")
    author = next(line for line in text.splitlines() if line.startswith("author "))
    for first, last in (
        (author, author.replace("ada@", "x@")),
        (author.replace("ada@", "x@"), author),
    ):
        forged = text.replace(author, f"{first}\n{last}").replace(
            "committer Ada <ada@", "committer X <x@"
        )
        commit = world.repo.git(
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--literally",
            "--stdin",
            stdin=f"{forged}\n",
        )
        world.repo.git("reset", "-q", "--soft", commit)
    sign_all(world, statement, (ADA_MAIL, ADA), (ADA_MAIL, security_key(0x05)))


@forgery(codes=(3,))
def the_author_where_authors_may_not_approve(world: World) -> None:
    world.set_policy(f"{KEY}author_may_approve = false\n")
    sign_all(world, world.change(), (ADA_MAIL, ADA), (ADA_MAIL, security_key(0x05)))


@forgery(codes=(3,))
def the_author_under_another_name_where_authors_may_not_approve(world: World) -> None:
    world.set_policy(f"{KEY}author_may_approve = false\n")
    sign_all(world, commit_as(world, CAROL_MAIL, CAROL_MAIL), (ADA_MAIL, ADA))


@forgery(codes=(3,))
def one_of_two_people(world: World) -> None:
    world.set_policy(f'{KEY}threshold = {{"infra/**" = 2}}\n')
    sign_all(
        world,
        world.change({"infra/report.py": RISKY}),
        (ADA_MAIL, ADA),
        (MALLORY_MAIL, MALLORY),
    )


@forgery(codes=(3,))
def two_people_of_whom_each_saw_another_content(world: World) -> None:
    world.set_policy(TWO)
    world.stage({"report.py": RISKY.replace("reports", "a report")})
    first = signed(world.statement(), ADA)
    statement = world.change()
    world.note(first)
    sign_all(world, statement, (BOB_MAIL, BOB))


@forgery(codes=(3,))
def two_people_of_whom_one_is_below_the_level(world: World) -> None:
    """Ada touched her device, Bob has a plain key."""
    world.set_policy(
        '[approvals]\ncritical = "touch"\nhigh = "touch"\nthreshold = {"**" = 2}\n'
    )
    sign_all(world, world.change(), (ADA_MAIL, security_key(0x01)), (BOB_MAIL, BOB))
