"""Forged people: who is enrolled, since when, under how many names, and who counts as the second person."""

import json
import subprocess
from pathlib import Path
from typing import Any

from authenticators import PlainKey
from forging.signatures import assembled, to_sign
from forging.table import forgery
from forging.world import (
    ADA,
    ADA_MAIL,
    BOB,
    BOB_MAIL,
    BOUND,
    CAROL,
    CAROL_MAIL,
    MALLORY,
    MALLORY_MAIL,
    NAMESPACE,
    REVOKED,
    SIGNERS,
    World,
    canonical,
    changed,
    envelope,
    new_signers,
    security_key,
    seed,
    sign_all,
    signed,
    signer,
)
from in_process import RISKY

AFTER = 'valid-after="20990101"'
BEFORE = 'valid-before="20261001"'


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def somebody_enrols_himself_in_the_change(world: World) -> None:
    files = {SIGNERS: new_signers(world, signer(MALLORY_MAIL, MALLORY)), "report.py": RISKY}
    sign_all(world, world.change(files), (MALLORY_MAIL, MALLORY))


@forgery("policy-signers-changed", at_hook=False, codes=(3,))
def somebody_enrols_himself_in_the_first_commit_of_the_range(world: World) -> None:
    """In his own clone each commit is judged by the one before; the range is judged by its base."""
    statement = world.change({SIGNERS: new_signers(world, signer(MALLORY_MAIL, MALLORY))})
    sign_all(world, statement, (MALLORY_MAIL, MALLORY))
    world.stage()
    second = world.statement(MALLORY_MAIL)
    world.record("Add the report")
    sign_all(world, second, (MALLORY_MAIL, MALLORY))
    world.note(signed(second, MALLORY), world.repo.git("rev-parse", "HEAD^{tree}"))


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def somebody_takes_the_name_of_a_signer(world: World) -> None:
    """Ada's line with Mallory's key in it."""
    old = world.repo.git("show", f"{world.base}:{SIGNERS}")
    files = {
        SIGNERS: old.replace(ADA.public_line(), MALLORY.public_line()) + "\n",
        "report.py": RISKY,
    }
    sign_all(world, world.change(files), (ADA_MAIL, MALLORY))


@forgery(codes=(2, 3))
def the_first_signers_file_comes_with_the_change(world: World) -> None:
    world.repo.git("rm", "-q", "-r", ".cli-guard")
    world.set_base({})
    line = signer(MALLORY_MAIL, MALLORY)
    statement = world.change(
        {SIGNERS: f"{world.repository_line()}\n{line}\n", "report.py": RISKY}
    )
    sign_all(world, statement, (MALLORY_MAIL, MALLORY))


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_is_deleted(world: World) -> None:
    world.repo.git("rm", "-q", "-r", ".cli-guard")
    world.record("Nobody approves any more")


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_is_moved_away(world: World) -> None:
    world.repo.git("mv", SIGNERS, "signers")
    world.record("Move it")


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_folder_becomes_a_link(world: World) -> None:
    """To a folder whose content is no finding."""
    world.repo.git("mv", ".cli-guard", "people")
    (world.repo.path / ".cli-guard").symlink_to("people")
    world.record("Tidy up")


@forgery(codes=(2, 3))
def the_signers_file_is_broken(world: World) -> None:
    """Recorded, nothing could be verified any more."""
    world.record("Tidy up", {SIGNERS: new_signers(world, "who may approve: ask Ada")})


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_loses_the_name_of_the_repository(world: World) -> None:
    """Then a root commit more or less, or a shallow clone, decides which repository this is."""
    text = new_signers(world).replace(world.repository_line(), "# who may approve")
    world.record("Tidy up", {SIGNERS: text})


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_names_another_repository(world: World) -> None:
    world.record("Tidy up", {SIGNERS: new_signers(world).replace(world.root(), "1" * 40)})


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_becomes_a_link(world: World) -> None:
    world.repo.git("mv", SIGNERS, "people")
    (world.repo.path / SIGNERS).symlink_to("../people")
    world.record("Tidy up")


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_becomes_a_link_whose_text_is_a_signer(world: World) -> None:
    """Git stores the target of a link as the content of the file: whoever reads that reads Mallory's line."""
    (world.repo.path / SIGNERS).unlink()
    (world.repo.path / SIGNERS).symlink_to(signer(MALLORY_MAIL, MALLORY))
    world.record("Tidy up")


@forgery(codes=(2, 3))
def a_signers_file_that_is_a_link_before_the_change(world: World) -> None:
    (world.repo.path / SIGNERS).unlink()
    (world.repo.path / SIGNERS).symlink_to(signer(MALLORY_MAIL, MALLORY))
    world.set_base({})
    sign_all(world, world.change(), (MALLORY_MAIL, MALLORY))


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_becomes_executable_and_another(world: World) -> None:
    path = world.repo.path / SIGNERS
    path.write_text(new_signers(world, signer(MALLORY_MAIL, MALLORY)))
    path.chmod(0o755)
    world.record("Tidy up")


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_list_of_revoked_keys_becomes_a_link(world: World) -> None:
    revoke_bob(world)
    (world.repo.path / REVOKED).unlink()
    (world.repo.path / REVOKED).symlink_to("/dev/null")
    world.record("Tidy up")


@forgery("policy-weakened", at_hook=True, codes=(3,))
def the_policy_becomes_a_link(world: World) -> None:
    """The text of the link is a comment, so the policy is that of an empty file."""
    (world.repo.path / "cli-guard.toml").unlink()
    (world.repo.path / "cli-guard.toml").symlink_to("#")
    world.record("Tidy up")


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_signers_file_becomes_a_submodule(world: World) -> None:
    world.repo.git("rm", "-q", "--cached", SIGNERS)
    world.repo.git("update-index", "--add", "--cacheinfo", f"160000,{world.base},{SIGNERS}")
    world.repo.git("commit", "-q", "--no-verify", "-m", "Tidy up")


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def somebody_is_revoked_by_nobody(world: World) -> None:
    done = world.guard("signers", "revoke", BOB_MAIL)
    assert done.code == 0, done.all
    world.record("Bob has left")


def revoke_bob(world: World) -> None:
    """Before the change, Bob's key is revoked; his line stays."""
    old = world.repo.git("show", f"{world.base}:{SIGNERS}")
    done = world.guard("signers", "revoke", BOB_MAIL)
    assert done.code == 0, done.all
    world.set_base({SIGNERS: f"{old}\n"})


@forgery(at_hook=True, codes=(3,))
def a_revoked_key(world: World) -> None:
    revoke_bob(world)
    sign_all(world, world.change(), (BOB_MAIL, BOB))


@forgery(at_hook=True, codes=(3,))
def a_revoked_key_signs_with_an_earlier_date(world: World) -> None:
    revoke_bob(world)
    world.note(
        signed(
            changed(world.change(), principal=BOB_MAIL, at="2020-01-01T00:00:00+00:00"), BOB
        )
    )


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def a_revoked_key_is_taken_off_the_list_in_the_change(world: World) -> None:
    revoke_bob(world)
    world.repo.git("rm", "-q", REVOKED)
    sign_all(world, world.change(), (BOB_MAIL, BOB))


@forgery("policy-signers-changed", at_hook=True, codes=(3,))
def the_list_of_revoked_keys_is_emptied_in_the_change(world: World) -> None:
    revoke_bob(world)
    sign_all(world, world.change({REVOKED: b"", "report.py": RISKY}), (BOB_MAIL, BOB))


@forgery(codes=(2, 3))
def a_list_of_revoked_keys_that_nobody_can_read(world: World) -> None:
    """Broken before the change: then no key can be shown to be good."""
    start = world.base
    statement = world.change()
    world.repo.git("reset", "-q", "--hard", start)
    world.set_base({REVOKED: b"SSHKRL\n\0\0garbage"})
    world.record("Add the report", {"report.py": RISKY})
    world.note(signed(statement, ADA))


@forgery(at_hook=True, codes=(3,))
def a_branch_from_before_the_revocation(world: World) -> None:
    """Where the branch left, Bob still counted; on the branch it goes to, he does not."""
    start = world.base
    revoke_bob(world)
    judged = world.base
    world.repo.git("switch", "-q", "-c", "topic", start)
    world.start_here()
    statement = world.change()
    sign_all(world, statement, (BOB_MAIL, BOB))
    world.marks["base"] = judged


@forgery(at_hook=True, codes=(3,))
def a_branch_from_before_the_stricter_policy(world: World) -> None:
    start = world.base
    judged = world.set_policy('[approvals]\ncritical = "touch"\nhigh = "touch"\n')
    world.repo.git("switch", "-q", "-c", "topic", start)
    world.start_here()
    sign_all(world, world.change(), (ADA_MAIL, ADA))
    world.marks["base"] = judged


@forgery(at_hook=True, codes=(3,))
def a_key_that_is_out_of_date(world: World) -> None:
    world.set_signers(signer(ADA_MAIL, ADA, f"{BOUND},{BEFORE}"))
    sign_all(world, world.change(), (ADA_MAIL, ADA))


@forgery(at_hook=True, codes=(3,))
def a_key_that_is_out_of_date_signs_with_an_earlier_date(world: World) -> None:
    """Who finds the key of somebody who left writes the date himself."""
    world.set_signers(signer(ADA_MAIL, ADA, f"{BOUND},{BEFORE}"))
    world.note(signed(changed(world.change(), at="2026-09-01T12:00:00+00:00"), ADA))


@forgery(at_hook=True, codes=(3,))
def a_key_that_is_not_valid_yet(world: World) -> None:
    world.set_signers(signer(ADA_MAIL, ADA, f"{BOUND},{AFTER}"))
    statement = world.change()
    world.note(signed(statement, ADA))
    world.note(signed(changed(statement, at="2099-02-01T12:00:00+00:00"), ADA))


@forgery(codes=(3,))
def a_change_of_signers_below_the_highest_level(world: World) -> None:
    """Findings are approved with a key, but what loosens the guard needs more."""
    world.set_policy('[approvals]\ncritical = "verified"\nhigh = "key"\n')
    statement = world.change({SIGNERS: new_signers(world, signer(MALLORY_MAIL, MALLORY))})
    sign_all(
        world, statement, (ADA_MAIL, ADA), (ADA_MAIL, security_key(0x01)), (BOB_MAIL, BOB)
    )


@forgery("policy-signers-changed", codes=(3,))
def an_old_signers_file_comes_back_with_its_old_approval(world: World) -> None:
    """Carol was enrolled once, and approved; then her line was removed. The old file still has its note."""
    old = new_signers(world)
    with_carol = new_signers(world, signer(CAROL_MAIL, CAROL))
    sign_all(world, world.change({SIGNERS: with_carol}), (ADA_MAIL, ADA))
    assert world.verify().code == 0
    world.start_here()
    sign_all(world, world.change({SIGNERS: old}), (ADA_MAIL, ADA))
    assert world.verify().code == 0
    world.set_base({"app.py": "x = 2\n"})
    world.forget()
    world.record("Tidy up", {SIGNERS: with_carol})


@forgery("policy-signers-changed", codes=(3,))
def an_old_list_of_revoked_keys_comes_back_with_its_old_approval(world: World) -> None:
    """Each list was approved when it was written: the one with fewer keys does not come back by that."""
    for mail in (CAROL_MAIL, BOB_MAIL):
        lines = (
            new_signers(world, signer(CAROL_MAIL, CAROL))
            if mail == CAROL_MAIL
            else new_signers(world)
        )
        if mail == CAROL_MAIL:
            world.set_base({SIGNERS: lines})
        done = world.guard("signers", "revoke", mail)
        assert done.code == 0, done.all
        signers = (world.repo.path / SIGNERS).read_bytes()
        revoked = (world.repo.path / REVOKED).read_bytes()
        sign_all(world, world.change({SIGNERS: signers, REVOKED: revoked}), (ADA_MAIL, ADA))
        assert world.verify().code == 0, world.verify().all
        world.marks[mail] = world.start_here()
    world.set_base({"app.py": "x = 2\n"})
    world.forget()
    world.repo.git("checkout", world.marks[CAROL_MAIL], "--", REVOKED)
    world.record("Tidy up")


@forgery("policy-weakened", codes=(3,))
def an_old_policy_comes_back_with_its_old_approval(world: World) -> None:
    """Loosened once with an approval, then strict again for good."""
    strict = '[approvals]\ncritical = "key"\nhigh = "key"\n'
    loose = f'{strict}[rules]\n"code-python-*" = "advise"\n'
    sign_all(world, world.change({"cli-guard.toml": loose}), (ADA_MAIL, ADA))
    assert world.verify().code == 0
    world.set_policy(strict)
    world.set_base({"app.py": "x = 2\n"})
    world.forget()
    world.record("Tidy up", {"cli-guard.toml": loose})


def certificate(world: World, authority: str, principal: str) -> tuple[PlainKey, bytes]:
    """A certificate that a key of the world gives to a new key."""
    key = PlainKey(seed("certified"))
    public = world.folder / "certified.pub"
    public.write_text(f"{key.public_line()}\n")
    command = (
        "ssh-keygen",
        "-q",
        "-s",
        str(world.key_file(authority)),
        "-I",
        "x",
        "-n",
        principal,
        str(public),
    )
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    text = Path(f"{world.folder}/certified-cert.pub").read_text().split()[1]
    import base64

    return key, base64.b64decode(text)


@forgery(at_hook=True, codes=(2, 3))
def a_certificate_of_somebody_who_is_enrolled(world: World) -> None:
    """Bob may approve; he may not appoint others."""

    key, blob = certificate(world, "bob", ADA_MAIL)
    statement = world.change()
    for principal in (ADA_MAIL, BOB_MAIL):
        payload = canonical(changed(statement, principal=principal))
        world.note(envelope(payload, assembled(blob, key.sign(to_sign(payload)))))


@forgery(codes=(2, 3))
def a_certificate_of_an_authority_in_the_signers_file(world: World) -> None:

    key, blob = certificate(world, "mallory", ADA_MAIL)
    world.set_signers(
        signer(BOB_MAIL, BOB), signer("*", MALLORY, f"cert-authority,{BOUND}")
    )
    payload = canonical(world.change())
    world.note(envelope(payload, assembled(blob, key.sign(to_sign(payload)))))


@forgery(codes=(2, 3))
def an_authority_signs_itself(world: World) -> None:
    world.set_signers(signer(ADA_MAIL, MALLORY, f"cert-authority,{BOUND}"))
    sign_all(world, world.change(), (ADA_MAIL, MALLORY))


@forgery(codes=(2, 3))
def a_signer_of_another_namespace(world: World) -> None:
    """Enrolled to sign files, not approvals."""
    world.set_signers(signer(BOB_MAIL, BOB), signer(ADA_MAIL, ADA, 'namespaces="file,git"'))
    sign_all(world, world.change(), (ADA_MAIL, ADA))


@forgery(codes=(2, 3))
def a_signer_that_is_commented_out(world: World) -> None:
    lines = (
        f"# {signer(ADA_MAIL, ADA)}",
        f" # {signer(ADA_MAIL, ADA)}",
        f"#{signer(ADA_MAIL, ADA)}",
    )
    world.set_signers(signer(BOB_MAIL, BOB), *lines)
    sign_all(world, world.change(), (ADA_MAIL, ADA), (f"#{ADA_MAIL}", ADA), ("#", ADA))


@forgery(codes=(2, 3))
def a_signers_file_in_the_folder_where_verify_runs(world: World) -> None:
    """Where the work tree, and not the base, is read: in a folder below the top, and at the top."""
    line = f"{world.repository_line()}\n{signer(MALLORY_MAIL, MALLORY)}\n"
    statement = world.change()
    sign_all(world, statement, (MALLORY_MAIL, MALLORY))
    for name in (f"deep/{SIGNERS}", SIGNERS):
        world.repo.write(name, line)
    from in_process import call

    done = call(
        world.repo.path / "deep", world.repo.env, "verify", "--range", f"{world.base}..HEAD"
    )
    assert done.code == 3, done.all


@forgery(codes=(2, 3))
def a_signers_file_under_another_name(world: World) -> None:
    files = {
        ".CLI-GUARD/signers": f"{world.repository_line()}\n{signer(MALLORY_MAIL, MALLORY)}\n",
        ".cli-guard/signers.d/mallory": f"{signer(MALLORY_MAIL, MALLORY)}\n",
        ".git-signers": f"{signer(MALLORY_MAIL, MALLORY)}\n",
        "allowed_signers": f"{signer(MALLORY_MAIL, MALLORY)}\n",
        "report.py": RISKY,
    }
    sign_all(world, world.change(files), (MALLORY_MAIL, MALLORY))


def notes_of(world: World) -> list[dict[str, Any]]:
    """The statements that are noted."""
    return [json.loads(json.loads(line)["payload"]) for line in world.lines()]


@forgery(at_hook=True, codes=(3,))
def approve_signs_with_a_key_that_is_not_enrolled(world: World) -> None:
    """`--key` names Mallory's; what comes of it is at most a `tty` approval."""
    world.stage()
    world.approve("--key", str(world.key_file("mallory")))
    world.record("Add the report")


@forgery(codes=(3,))
def the_seal_of_a_trusted_tree(world: World) -> None:
    """What Ada signed to trust her work tree is no approval, and not one of any statement."""
    statement = world.change()
    for namespace in ("cli-guard-trust@v1", f"{NAMESPACE} "):
        world.note(signed(statement, ADA, namespace))
