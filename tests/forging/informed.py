"""Forgeries by somebody who has read the code: the seams between what is shown, signed, bound and compared."""

import json
import subprocess
from contextlib import suppress
from typing import Any

import pytest
from authenticators import sshsig
from forging.glass import OPTION, glass, serve_broken
from forging.local_state import waiting
from forging.pushes import push, serve
from forging.signers import revoke_bob
from forging.statements import CHECKED
from forging.table import assert_plain, forgery
from forging.world import (
    ADA,
    ADA_MAIL,
    BOB,
    BOB_MAIL,
    CAROL,
    CAROL_MAIL,
    KEY,
    MALLORY,
    MALLORY_MAIL,
    NAMESPACE,
    NOTES,
    SIGNERS,
    World,
    canonical,
    changed,
    envelope,
    new_signers,
    security_key,
    sign_all,
    signed,
    signer,
    with_subject,
)
from in_process import RISKY, call
from repositories import GUARD, Repo
from watching import cpu_seconds

from cli_guard.answering import signing

PROGRAM = RISKY.replace(
    "import subprocess\n", 'import subprocess\n\nPROGRAM = "render-report "\n'
).replace('"render-report " + name', "PROGRAM + name")


@forgery(codes=(3,))
def a_later_commit_changes_what_an_approved_line_means(world: World) -> None:
    """The line stands as it did in the approved commit; the check above it is gone."""
    world.note(signed(world.change({"report.py": CHECKED}), ADA))
    assert world.verify().code == 0, world.verify().all
    world.record("Tidy up", {"report.py": RISKY})


@forgery(codes=(3,))
def a_later_commit_changes_the_program_that_an_approved_line_runs(world: World) -> None:
    world.note(signed(world.change({"report.py": PROGRAM}), ADA))
    assert world.verify().code == 0, world.verify().all
    world.record("Tidy up", {"report.py": PROGRAM.replace('"render-report "', '"sh -c "')})


@forgery(codes=(3,))
def an_approved_commit_is_made_again_inside_the_range(world: World) -> None:
    """A stranger makes the tree of the time before, the approved commit, and the tree of today but for one file."""
    repo = world.repo
    strict = repo.git("show", "HEAD:cli-guard.toml")
    loose = f'{strict}\n[rules]\n"code-python-*" = "advise"\n'
    before = repo.git("rev-parse", "HEAD^{tree}")
    sign_all(world, world.change({"cli-guard.toml": loose}), (ADA_MAIL, ADA))
    assert world.verify().code == 0, world.verify().all
    approved = repo.git("rev-parse", "HEAD^{tree}")
    world.set_base({"cli-guard.toml": f"{strict}\n", "app.py": "x = 2\n"})
    world.forget()
    make_again(world.by("mallory"), before, approved)


@forgery(codes=(3,))
def an_approved_signer_is_enrolled_again_inside_the_range(world: World) -> None:
    """As above: Carol was enrolled and removed; she makes the commit that enrolled her again, and signs."""
    repo = world.repo
    old = new_signers(world)
    with_carol = new_signers(world, signer(CAROL_MAIL, CAROL))
    before = repo.git("rev-parse", "HEAD^{tree}")
    sign_all(world, world.change({SIGNERS: with_carol}), (ADA_MAIL, ADA))
    approved = repo.git("rev-parse", "HEAD^{tree}")
    world.start_here()
    sign_all(world, world.change({SIGNERS: old}), (ADA_MAIL, ADA))
    assert world.verify().code == 0, world.verify().all
    world.set_base({"app.py": "x = 2\n"})
    world.forget()
    make_again(world.by("carol"), before, approved)


@forgery(codes=(3,))
def an_approved_commit_is_made_again_on_its_old_parent_and_merged(world: World) -> None:
    """The approval names the commit below it: a stranger forks there, and merges what has happened since."""
    repo = world.repo
    strict = repo.git("show", "HEAD:cli-guard.toml") + "\n"
    world.set_base({"cli-guard.toml": strict})
    loose = f'{strict}[rules]\n"code-python-*" = "advise"\n'
    parent = world.base
    approve_guard_change(world, {"cli-guard.toml": loose})
    approved = repo.git("rev-parse", "HEAD^{tree}")
    world.set_base({"cli-guard.toml": strict, "app.py": "x = 2\n"})
    merge_again(world.by("mallory"), parent, approved, {"cli-guard.toml": loose})


@forgery(codes=(3,))
def an_approved_signer_is_enrolled_again_on_the_old_parent_and_merged(world: World) -> None:
    repo = world.repo
    old = new_signers(world)
    with_carol = new_signers(world, signer(CAROL_MAIL, CAROL))
    world.set_base({SIGNERS: old})
    parent = world.base
    approve_guard_change(world, {SIGNERS: with_carol})
    approved = repo.git("rev-parse", "HEAD^{tree}")
    world.set_base({SIGNERS: old, "app.py": "x = 2\n"})
    merge_again(world.by("carol"), parent, approved, {SIGNERS: with_carol})


def make_again(stranger: World, before: str, approved: str) -> None:
    """The tree of the time before, the approved one, and that of today but for one file, as commits on the base."""
    one = stranger.repo.git("commit-tree", "-p", stranger.base, "-m", "Tidy up", before)
    two = stranger.repo.git("commit-tree", "-p", one, "-m", "Tidy up", approved)
    stranger.repo.git("reset", "-q", "--hard", two)
    stranger.repo.commit("Tidy up", {"app.py": "x = 2\n"})


def approve_guard_change(world: World, files: dict[str, str | bytes]) -> None:
    """Ada approves with `cli-guard approve`, commits, and the range is verified."""
    world.stage(files)
    done = world.approve()
    assert done.code == 0, done.all
    world.record("Change the guard")
    assert world.verify().code == 0, world.verify().all


def merge_again(
    stranger: World, parent: str, approved: str, files: dict[str, str | bytes]
) -> None:
    """The approved tree on its old parent, merged with the base so that its files win."""
    repo = stranger.repo
    stranger.forget()
    again = repo.git("commit-tree", "-p", parent, "-m", "Tidy up", approved)
    repo.git("reset", "-q", "--hard", stranger.base)
    stranger.stage(files)
    tree = repo.git("write-tree")
    for parents in ((again, stranger.base), (stranger.base, again)):
        words = [word for each in parents for word in ("-p", each)]
        repo.git(
            "reset", "-q", "--hard", repo.git("commit-tree", *words, "-m", "Merge", tree)
        )
        done = stranger.verify()
        assert done.code != 0, done.all


@forgery(codes=(3,))
def a_policy_is_loosened_restored_and_loosened_again(world: World) -> None:
    """To the byte the same change, from the same tree: it was approved once, not for good."""
    strict = world.repo.git("show", "HEAD:cli-guard.toml") + "\n"
    world.set_base({"cli-guard.toml": strict})
    loose = f'{strict}[rules]\n"code-python-*" = "advise"\n'
    sign_all(world, world.change({"cli-guard.toml": loose}), (ADA_MAIL, ADA))
    assert world.verify().code == 0, world.verify().all
    world.set_base({"cli-guard.toml": strict})
    world.forget()
    world.record("Tidy up", {"cli-guard.toml": loose})


@forgery(codes=(3,))
def a_toy_that_names_this_repository_as_its_own(world: World) -> None:
    """Its signers file says so in a comment; Ada approves there what looks like nothing here."""
    toy = World(Repo.create(world.folder / "toy", world.repo.env), world.folder)
    toy.record(
        "A toy",
        {
            name: (world.repo.path / name).read_bytes()
            for name in (SIGNERS, "cli-guard.toml")
        },
    )
    toy.start_here()
    toy.stage()
    done = toy.approve()
    assert_plain(done)
    world.change()
    for line in toy.lines():
        world.note(line)


def two_pending(world: World) -> tuple[dict[str, Any], dict[str, Any]]:
    """A pending review of a file with a check, and one of it without, which is also the commit `evil`."""
    world.stage({"report.py": RISKY})
    evil = waiting(world)
    world.repo.git("commit", "-q", "--no-verify", "-m", "Evil")
    world.repo.git("branch", "evil")
    world.repo.git("reset", "-q", "--hard", world.base)
    world.forget()
    world.stage({"report.py": CHECKED})
    return waiting(world), evil


def approve_edited(world: World, shown: dict[str, Any], **values: Any) -> None:
    """Edit the file of a pending review, have Ada approve it, and put what she signed beside the evil commit."""
    path = world.state / "waiting" / f"{shown['id']}.json"
    path.write_text(json.dumps(shown | values))
    done = world.approve(shown["id"])
    assert_plain(done)
    print(done.all)
    world.repo.git("reset", "-q", "--hard", "evil")
    for line in world.lines():
        world.note(line)


@forgery(codes=(3,))
def a_pending_review_is_bound_to_another_commit(world: World) -> None:
    """`bound` names the commit whose files are signed; what Ada sees is what she has staged."""
    shown, _ = two_pending(world)
    commit = world.repo.git("rev-parse", "evil")
    approve_edited(world, shown, bound=json.dumps([[commit], []]))


@forgery(codes=(3,))
def a_pending_review_says_that_it_is_a_range(world: World) -> None:
    shown, _ = two_pending(world)
    commit = world.repo.git("rev-parse", "evil")
    approve_edited(world, shown, bound=json.dumps([[commit], [world.base]]), event="range")


@forgery(codes=(3,))
def a_pending_review_with_the_content_of_another(world: World) -> None:
    shown, evil = two_pending(world)
    approve_edited(world, shown, content=evil["content"])


@forgery(codes=(3,))
def a_pending_range_is_bound_to_another_commit(world: World) -> None:
    """Ada approves the review of a branch; the file names the commit of another one with the same finding."""
    world.repo.git("switch", "-q", "-c", "good")
    world.record("Good", {"report.py": CHECKED})
    world.repo.git("switch", "-q", "-c", "evil", world.base)
    world.record("Evil", {"report.py": RISKY})
    world.guard("review", "--range", f"{world.base}..good")
    [name] = world.pending()
    shown = json.loads((world.state / "waiting" / f"{name}.json").read_text())
    good, evil = (world.repo.git("rev-parse", each) for each in ("good", "evil"))
    assert good in shown["bound"]
    approve_edited(world, shown, bound=shown["bound"].replace(good, evil))


@forgery(codes=(3,))
def a_pending_review_under_another_policy(world: World) -> None:
    """`shared` is the policy that is signed: here that of a branch which Ada has never seen."""
    world.repo.git("switch", "-q", "-c", "other")
    world.set_policy(f'{KEY}[rules]\n"code-python-eval" = "deny"\n')
    world.stage({"report.py": RISKY})
    evil = waiting(world)
    world.repo.git("commit", "-q", "--no-verify", "-m", "Evil")
    world.repo.git("branch", "evil")
    judged = world.base
    world.repo.git("switch", "-q", "main")
    world.start_here()
    world.forget()
    world.stage({"report.py": RISKY})
    shown = waiting(world)
    assert shown["shared"] != evil["shared"]
    approve_edited(world, shown, shared=evil["shared"])
    world.marks["base"] = judged


@forgery(codes=(3,))
def a_pending_review_with_the_files_of_another(world: World) -> None:
    """`blobs`, if the file names them, are those that are signed."""
    shown, evil = two_pending(world)
    blob = world.repo.git("rev-parse", "evil:report.py")
    values = {name: evil[name] for name in ("blobs", "tree", "files") if name in evil}
    approve_edited(world, shown, **(values | {"blobs": {"report.py": blob}}))


@forgery(codes=(2, 3))
def a_tag_with_the_name_of_the_remote_branch_and_a_suffix(world: World) -> str:
    """Whatever is written behind the name, it is the tag that is read."""
    world.repo.git("update-ref", "refs/remotes/origin/main", world.base)
    world.change()
    world.repo.git("tag", "origin/main", "HEAD")
    for suffix in ("~0", "^0", "^{commit}", "^{}", "@{0}"):
        done = world.verify(f"origin/main{suffix}..HEAD")
        assert_plain(done)
        assert done.code != 0, (suffix, done.all)
    for name in ("remotes/origin/main", "refs/remotes/origin/main"):
        world.repo.git("update-ref", f"refs/tags/{name}", "HEAD")
        done = world.verify(f"{name}..HEAD")
        assert_plain(done)
        assert done.code != 0, (name, done.all)
    return "origin/main..HEAD"


@forgery(codes=(2, 3))
def a_tag_with_the_name_of_the_head(world: World) -> str:
    """The other end of the range: `topic` is a harmless tag, the branch is what is merged."""
    world.repo.git("switch", "-q", "-c", "topic")
    world.change()
    world.repo.git("tag", "topic", world.base)
    return f"{world.base}..topic"


@forgery(codes=(2, 3))
def a_link_in_place_of_the_signers_seen_from_a_folder(world: World) -> None:
    """`git ls-tree` takes its paths from where it runs."""
    (world.repo.path / SIGNERS).unlink()
    (world.repo.path / SIGNERS).symlink_to(signer(MALLORY_MAIL, MALLORY))
    world.set_base({"deep/app.py": "x = 1\n"})
    sign_all(world, world.change(), (MALLORY_MAIL, MALLORY))
    done = call(
        world.repo.path / "deep", world.repo.env, "verify", "--range", f"{world.base}..HEAD"
    )
    assert_plain(done)
    assert done.code != 0, done.all


@forgery(codes=(3,))
def something_else_is_staged_between_the_review_and_the_signature(world: World) -> None:
    """A program that waits for the moment: the files that are signed are read from the index once more."""
    world.stage({"report.py": CHECKED})
    original = signing.statement_of

    def hurried(*arguments: Any, **options: Any) -> Any:
        world.stage({"report.py": RISKY})
        return original(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signing, "statement_of", hurried)
        done = world.approve()
    assert_plain(done)
    world.stage({"report.py": RISKY})
    world.record("Evil")
    for line in world.lines():
        world.note(line)


@forgery(codes=(3,))
def a_path_that_begins_like_the_one_that_is_approved(world: World) -> None:
    """`--for infra` is a folder, not the beginning of a name."""
    files = dict.fromkeys(("infra/a.py", "infra2/b.py", "infra.py", "x/infra/c.py"), RISKY)
    world.stage(files)
    done = world.approve("--for", "infra")
    assert done.code == 0, done.all
    world.record("Add them")
    payload = world.payload()
    assert [
        each["name"] for each in payload["subject"] if each["name"].startswith("file:")
    ] == ["file:infra/a.py"]


@forgery(codes=(3,))
def an_id_of_which_only_the_beginning_is_typed(world: World) -> None:
    """Two reviews wait under it: none may be taken for the other."""
    world.stage({"report.py": CHECKED})
    shown = waiting(world)
    world.stage({"report.py": RISKY})
    world.guard("hook", "pre-commit")
    [other] = [name for name in world.pending() if name != shown["id"]]
    same = 0
    while shown["id"][: same + 1] == other[: same + 1]:
        same += 1
    done = world.approve(shown["id"][:same])
    assert_plain(done)
    assert done.code != 0, done.all
    world.record("Add the report")


@forgery(codes=(3,))
def signatures_with_blanks_that_are_not_ascii(world: World) -> None:
    """One reader strips them, the next writes them to a file of ASCII: anybody could stop `verify` for all."""
    statement = world.change()
    payload = canonical(statement)
    other = sshsig(ADA, b"something else", NAMESPACE)
    for blank in ("\u2003", "\u2028", "\x85", "\xa0", "\x1c", "\f"):
        world.note(envelope(payload, f"{other}{blank}"))
        world.note(envelope(payload, f"{blank}{other}"))
        world.note(envelope(payload, other.replace("\n", blank)))


@forgery(codes=(0,))
def honest_approvals_beside_blanks_that_are_not_ascii(world: World) -> None:
    statement = world.change()
    other = sshsig(ADA, b"something else", NAMESPACE)
    world.note(envelope(canonical(statement), f"{other}\u2003"))
    world.note(signed(statement, ADA))


@forgery(codes=(0,))
def half_a_character_in_a_reason(world: World) -> None:
    """Signed by Ada, and canonical; a terminal cannot show it."""
    world.note(signed(changed(world.change(), reason="agreed \ud83d"), ADA))
    for style in ("text", "github", "markdown", "json", "sarif"):
        done = world.verify_as(style)
        assert_plain(done)
        assert done.code == 0, done.all
        done.all.encode("utf-8")


@forgery(codes=(1, 2, 3))
def a_line_of_signers_that_takes_for_ever_to_read(world: World) -> None:
    """In the change: whoever may push could stop CI and the server."""
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    world.record(
        "Add somebody",
        {SIGNERS: f"{text}\nmallory@example.org {'a' * 60}! ssh-ed25519 x\n"},
    )
    assert_ends(world, "verify", "--range", f"{world.base}..HEAD")


@forgery(codes=(1, 2, 3))
def a_line_of_signers_at_the_base_that_takes_for_ever_to_read(world: World) -> None:
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    world.set_base({SIGNERS: f"{text}\nmallory@example.org {'a-' * 40}! ssh-ed25519 x\n"})
    world.record("Add the report", {"report.py": RISKY})
    assert_ends(world, "signers", "list")


def assert_ends(world: World, *argv: str) -> None:
    """In a process of its own, which can be ended."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            (GUARD, *argv),
            cwd=world.repo.path,
            env=world.repo.env,
            capture_output=True,
            timeout=20,
        )
        return
    raise AssertionError("it takes more than 20 s")


@forgery(codes=(3,))
def a_statement_that_is_good_and_a_policy_that_wants_more(world: World) -> None:
    """The tip's policy is stricter than the base's: both count."""
    stricter = '[approvals]\ncritical = "touch"\nhigh = "touch"\n'
    world.stage({"cli-guard.toml": stricter, "report.py": RISKY})
    statement = world.statement()
    world.record("Add the report")
    world.note(signed(statement, ADA))


@push
def a_protected_branch_of_an_old_commit(world: World) -> None:
    """Made where Bob was not revoked yet, then moved: its signers are those of the old commit."""
    start = world.base
    revoke_bob(world)
    server = serve(world)
    world.repo.git("switch", "-q", "-c", "release/9", start)
    server.push("HEAD:refs/heads/release/9")
    world.start_here()
    sign_all(world, world.change(), (BOB_MAIL, BOB))
    server.refused("HEAD:refs/heads/release/9", NOTES, ref="refs/heads/release/9")


@push
def the_first_branch_by_name_where_the_default_one_is_missing(world: World) -> None:
    """HEAD of the server names a branch that is not there: then a branch of an old commit must not be the judge."""
    start = world.base
    revoke_bob(world)
    server = serve(world, start="main")
    server.bare.git("symbolic-ref", "HEAD", "refs/heads/none")
    world.repo.git("switch", "-q", "-c", "aaa", start)
    server.push("HEAD:refs/heads/aaa")
    world.start_here()
    sign_all(world, world.change(), (BOB_MAIL, BOB))
    server.refused("HEAD:refs/heads/zzz", NOTES, ref="refs/heads/zzz")


@push
def a_break_glass_that_rewrites_a_protected_branch(world: World) -> None:
    """It lets a commit pass; the commits that it throws away are those of others."""
    server = serve(world)
    world.repo.git("checkout", "-q", "--orphan", "other")
    world.record("Start anew")
    done = glass(world)
    assert done.code == 0, done.all
    server.refused("-f", *OPTION, "HEAD:main", NOTES)


@push
def a_break_glass_where_policy_wants_a_second_person(world: World) -> None:
    server = serve(world, '[approvals]\ncritical = "second"\nhigh = "second"\n')
    world.change()
    assert glass(world).code == 0
    payload = world.payload()
    world.note(signed(payload, security_key(0x05)))
    server.refused(*OPTION, "main", NOTES)


@push
def a_break_glass_for_another_branch(world: World) -> None:
    """Signed to get `main` going; the same commit on a release branch is another decision."""
    server = serve_broken(world)
    server.accepted(*OPTION, "main", NOTES)
    world.repo.git("branch", "release/1")
    server.push(*OPTION, "release/1", NOTES)


@push
def a_tag_that_names_the_default_branch(world: World) -> None:
    """`refs/tags/refs/heads/main` and the like: what is judged is the ref that moves."""
    server = serve(world)
    world.change()
    for name in (
        "refs/tags/main",
        "refs/tags/refs/heads/main",
        "refs/heads/refs/heads/main",
        "refs/heads/HEAD",
    ):
        server.push(f"HEAD:{name}")
    server.refused("main")


@push
def notes_that_are_pushed_to_the_branch(world: World) -> None:
    """The commit of the notes as the new tip of `main`."""
    server = serve(world)
    world.note(signed(changed(world.change(), principal=MALLORY_MAIL), MALLORY))
    server.refused("-f", f"{NOTES}:main")


@push
def forged_notes_as_a_second_parent(world: World) -> None:
    """The notes of the push are read beside those of the server: neither makes the other good."""
    server = serve(world)
    statement = world.change()
    world.note(signed(with_subject(statement, "content", {"sha256": "0" * 64}), MALLORY))
    server.refused("main", f"{NOTES}:{NOTES}", f"{NOTES}:refs/notes/other")


@push
def the_default_branch_is_rewritten_where_nobody_protects_it(world: World) -> None:
    """To a commit from before the revocation, whose signers then judge what follows."""
    start = world.base
    revoke_bob(world)
    server = serve(world, start="trunk")
    server.bare.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    world.repo.git("reset", "-q", "--hard", start)
    server.push("-f", "HEAD:trunk")
    world.start_here()
    sign_all(world, world.change(), (BOB_MAIL, BOB))
    server.refused("HEAD:trunk", NOTES, ref="refs/heads/trunk")


@push
def a_push_of_a_line_that_takes_for_ever_to_read(world: World) -> None:
    """The hook ends in its time, whatever is pushed."""
    server = serve(world)
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    world.record(
        "Add somebody",
        {SIGNERS: f"{text}\nmallory@example.org {'a' * 60}! ssh-ed25519 x\n"},
    )
    with cpu_seconds(20):
        server.refused("main")
