"""Forged pushes to a bare repository with the pre-receive hook: no protected ref may move by one of them."""

import subprocess
from dataclasses import dataclass

from authenticators import sshsig
from forging.table import forgery
from forging.world import (
    ADA,
    BOB_MAIL,
    MALLORY,
    MALLORY_MAIL,
    NAMESPACE,
    NOTES,
    SIGNERS,
    TOUCH,
    World,
    canonical,
    changed,
    envelope,
    signed,
    signer,
)
from in_process import RISKY, call
from preloaded import use_preloaded
from repositories import Done, Repo, key

# What is judged is the push itself: see `Server`.
push = forgery(at_server=True)
long_push = forgery(at_server=True, slow=True)


TRIES = 5


@dataclass(frozen=True)
class Server:
    """A bare repository that verifies what is pushed; it holds the base."""

    world: World
    bare: Repo

    def push(self, *words: str) -> Done:
        done = self.world.repo.try_git("push", "origin", *words)
        print(f"$ git push origin {' '.join(words)}\n{done.all}")
        assert "Traceback" not in done.all, done.all
        assert "internal error" not in done.all, done.all
        return done

    def refused(self, *words: str, ref: str = "refs/heads/main", says: str = "") -> None:
        """Push, which must leave a ref as it was."""
        before = self.bare.try_git("rev-parse", "-q", "--verify", ref).out
        done = self.push(*words)
        after = self.bare.try_git("rev-parse", "-q", "--verify", ref).out
        assert after == before, done.all
        assert done.code != 0, done.all
        assert says in " ".join(done.all.replace("remote:", "").split()), done.all

    def accepted(self, *words: str) -> None:
        for _ in range(TRIES):
            done = self.push(*words)
            # Beside many other tests a hook that loads everything may need longer than it has.
            if "the server is busy" not in done.all:
                break
        assert done.code == 0, done.all


def serve(
    world: World, policy: str = "", *, start: str = "main", preloaded: bool = True
) -> Server:
    """Push the base, with a policy, to a new bare repository with our hook."""
    if policy:
        world.set_policy(policy)
    bare = Repo.create(world.folder / "origin.git", world.repo.env, "--bare")
    bare.git("config", "receive.advertisePushOptions", "true")
    world.repo.git("remote", "add", "origin", str(bare.path))
    world.repo.git("push", "-q", "origin", f"HEAD:{start}")
    done = call(bare.path, bare.env, "install")
    assert done.code == 0, done.all
    if preloaded and world.preloaded:
        use_preloaded(bare.path / "hooks/pre-receive", world.preloaded)
    return Server(world, bare)


@push
def an_unapproved_push(world: World) -> None:
    server = serve(world, preloaded=False)
    world.change()
    server.refused("main")


@push
def forged_notes_in_the_same_push(world: World) -> None:
    server = serve(world)
    world.note(signed(changed(world.change(), principal=MALLORY_MAIL), MALLORY))
    server.refused("main", NOTES)


@push
def forged_notes_in_the_push_before(world: World) -> None:
    server = serve(world)
    world.note(signed(world.change(), MALLORY))
    server.push(NOTES)
    server.refused("main")


@push
def signers_of_ones_own_in_the_same_push(world: World) -> None:
    server = serve(world)
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    statement = world.change({SIGNERS: f"{text}\n{signer(MALLORY_MAIL, MALLORY)}\n"})
    world.note(signed(changed(statement, principal=MALLORY_MAIL), MALLORY))
    server.refused("main", NOTES)


@long_push
def signers_of_ones_own_on_another_branch_first(world: World) -> None:
    """If a new branch is not verified, its signers must not judge `main` later."""
    server = serve(world)
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    statement = world.change({SIGNERS: f"{text}\n{signer(MALLORY_MAIL, MALLORY)}\n"})
    world.note(signed(changed(statement, principal=MALLORY_MAIL), MALLORY))
    server.push("HEAD:refs/heads/topic", NOTES)
    server.refused("main", NOTES)
    world.record("Add the report", {"report.py": RISKY})
    server.push("HEAD:refs/heads/topic", NOTES)
    server.refused("main", NOTES)


@push
def a_new_branch_and_then_a_fast_forward(world: World) -> None:
    server = serve(world)
    world.change()
    server.push("HEAD:refs/heads/topic")
    server.refused("main")


@push
def a_new_branch_is_not_verified_less(world: World) -> None:
    """What is on a branch of the server was verified, whatever its name."""
    server = serve(world)
    world.change()
    server.refused("HEAD:refs/heads/topic", ref="refs/heads/topic")


@push
def two_branches_in_one_push(world: World) -> None:
    """Neither is old because the other brings it."""
    server = serve(world)
    world.change()
    server.refused("HEAD:refs/heads/a", "HEAD:refs/heads/zz", "main")
    server.refused("main", "HEAD:refs/heads/a")


@long_push
def refs_outside_of_branches_first(world: World) -> None:
    server = serve(world)
    world.change()
    for ref in (
        "refs/x/y",
        "refs/for/main",
        "refs/pull/1/head",
        "refs/remotes/origin/main",
        "refs/keep-around/1",
        "refs/cli-guard/x",
        "refs/stash",
        "refs/notes/x",
    ):
        server.push(f"HEAD:{ref}")
    server.refused("main")


@push
def a_tag_first(world: World) -> None:
    server = serve(world)
    world.change()
    world.repo.git("tag", "light")
    world.repo.git("tag", "-a", "-m", "x", "heavy")
    world.repo.git("tag", "-a", "-m", "x", "nested", "heavy")
    server.push("light", "heavy", "nested")
    server.refused("main")


@push
def a_tag_that_carries_what_nobody_approved(world: World) -> None:
    """Releases are made of tags."""
    server = serve(world)
    world.change()
    world.repo.git("tag", "v1")
    server.refused("v1", ref="refs/tags/v1")


@push
def an_annotated_tag_that_carries_what_nobody_approved(world: World) -> None:
    server = serve(world)
    world.change()
    world.repo.git("tag", "-a", "-m", "x", "v1")
    world.repo.git("tag", "-a", "-m", "x", "v2", "v1")
    server.refused("v2", ref="refs/tags/v2")


@push
def a_tag_of_a_tree(world: World) -> None:
    """The content without a commit."""
    server = serve(world)
    world.change()
    world.repo.git("tag", "tree", "HEAD^{tree}")
    server.push("tree")
    server.refused("main")


@push
def the_commit_hides_in_the_notes_ref(world: World) -> None:
    """`refs/notes/cli-guard` itself is set to the commit, which the server then has."""
    server = serve(world)
    world.change()
    server.push(f"HEAD:{NOTES}")
    server.refused("main")


@push
def the_commit_hides_as_a_parent_of_the_notes(world: World) -> None:
    server = serve(world)
    world.note(signed(world.change(), MALLORY))
    tree = world.repo.git("rev-parse", f"{NOTES}^{{tree}}")
    world.repo.git(
        "update-ref",
        NOTES,
        world.repo.git("commit-tree", "-p", "HEAD", "-m", "Notes", tree),
    )
    server.push(NOTES)
    server.refused("main")


@push
def a_key_goes_to_the_server_as_notes(world: World) -> None:
    """The notes ref takes any commit: the key is on the server, and everybody fetches it."""
    server = serve(world)
    head = world.record("Add it", {"settings.py": f'aws_access_key_id = "{key()}"\n'})
    server.push(f"HEAD:{NOTES}")
    assert server.bare.try_git("cat-file", "-e", head).code != 0, (
        "the server has the commit"
    )


@push
def notes_with_files_that_are_no_notes(world: World) -> None:
    server = serve(world)
    world.note(signed(world.change(), ADA))
    tree = world.repo.git("rev-parse", f"{NOTES}^{{tree}}")
    blob = world.repo.git(
        "hash-object", "-w", "--stdin", stdin=f'aws_access_key_id = "{key()}"\n'
    )
    listed = world.repo.git("ls-tree", tree)
    other = world.repo.git("mktree", stdin=f"{listed}\n100644 blob {blob}\tsettings.py\n")
    world.repo.git("update-ref", NOTES, world.repo.git("commit-tree", "-m", "Notes", other))
    server.push(NOTES)
    assert server.bare.try_git("cat-file", "-e", blob).code != 0, "the server has the file"


@push
def a_forced_push_of_an_older_commit(world: World) -> None:
    """To before the signers were enrolled, and from there on."""
    server = serve(world)
    world.repo.git("reset", "-q", "--hard", world.root())
    server.refused("-f", "main")
    world.record("Add the report", {"report.py": RISKY})
    server.refused("-f", "main")


@push
def a_forced_push_of_another_history(world: World) -> None:
    server = serve(world)
    world.repo.git("checkout", "-q", "--orphan", "other")
    world.record("Start anew", {"report.py": RISKY})
    server.refused("-f", "HEAD:main")


@push
def a_branch_of_another_history(world: World) -> None:
    """It is the first push of this branch, not of this repository."""
    server = serve(world)
    world.repo.git("checkout", "-q", "--orphan", "other")
    world.repo.git("rm", "-q", "-r", "-f", ".")
    world.record("Start anew", {"report.py": RISKY})
    server.refused("HEAD:refs/heads/other", ref="refs/heads/other")


@push
def a_branch_from_before_the_signers(world: World) -> None:
    server = serve(world)
    world.repo.git("switch", "-q", "-c", "old", world.root())
    world.record("Add the report", {"report.py": RISKY})
    server.refused("HEAD:refs/heads/old", ref="refs/heads/old")


@push
def a_branch_from_before_a_stricter_policy(world: World) -> None:
    start = world.base
    server = serve(world, TOUCH)
    world.repo.git("switch", "-q", "-c", "old", start)
    world.start_here()
    world.note(signed(world.change(), ADA))
    server.refused("HEAD:refs/heads/old", NOTES, ref="refs/heads/old")


@push
def the_branch_is_deleted_and_made_anew(world: World) -> None:
    server = serve(world)
    server.refused(":main")
    world.change()
    server.push(":main", "HEAD:refs/heads/main2")
    server.refused("-f", "main")


@push
def the_only_branch_is_deleted_where_it_is_not_protected(world: World) -> None:
    """Then the repository looks as empty as one that nothing was pushed to."""
    server = serve(world, start="trunk")
    world.change()
    server.push(":trunk")
    server.refused("HEAD:refs/heads/trunk", ref="refs/heads/trunk")
    server.refused("HEAD:refs/heads/main")


@long_push
def another_protected_name(world: World) -> None:
    """`master` was never there: is that a first push?"""
    server = serve(world)
    world.change()
    for name in ("master", "release/1", "Main", "main/x", "trunk"):
        server.push(f"HEAD:refs/heads/{name}")
    server.refused("HEAD:refs/heads/master", ref="refs/heads/master")


@push
def a_symbolic_ref_on_the_server(world: World) -> None:
    """An alias of `main` that nobody protected."""
    server = serve(world)
    server.bare.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    world.change()
    server.refused("HEAD:refs/heads/alias")
    world.repo.git("reset", "-q", "--hard", world.root())
    server.refused("-f", "HEAD:refs/heads/alias")


@push
def replace_refs_that_are_pushed(world: World) -> None:
    """The tip of the server, replaced by a commit with other signers; then the change itself by a harmless one."""
    server = serve(world)
    text = world.repo.git("show", f"HEAD:{SIGNERS}")
    other = world.record("x", {SIGNERS: f"{text}\n{signer(MALLORY_MAIL, MALLORY)}\n"})
    world.repo.git("reset", "-q", "--hard", world.base)
    statement = world.change()
    world.note(signed(changed(statement, principal=MALLORY_MAIL), MALLORY))
    head = world.repo.git("rev-parse", "HEAD")
    world.repo.git("update-ref", f"refs/replace/{world.base}", other)
    harmless = world.repo.git(
        "commit-tree", "-p", world.base, "-m", "x", f"{world.base}^{{tree}}"
    )
    world.repo.git("update-ref", f"refs/replace/{head}", harmless)
    server.push("refs/replace/*:refs/replace/*")
    server.refused(f"{head}:main", NOTES)


@push
def notes_are_deleted(world: World) -> None:
    """They are the approvals of others."""
    server = serve(world, preloaded=False)
    world.note(signed(world.change(), ADA))
    server.accepted("main", NOTES)
    server.refused(f":{NOTES}", ref=NOTES)


@push
def notes_are_rewritten(world: World) -> None:
    server = serve(world)
    world.note(signed(world.change(), ADA))
    server.accepted("main", NOTES)
    world.repo.git("update-ref", "-d", NOTES)
    world.note("nothing")
    server.refused("-f", NOTES, ref=NOTES)


@push
def a_merge_on_the_server_branch_takes_a_revocation_back(world: World) -> None:
    world.repo.git("branch", "topic")
    done = world.guard("signers", "revoke", BOB_MAIL)
    assert done.code == 0, done.all
    world.set_base({})
    server = serve(world)
    world.repo.git("switch", "-q", "topic")
    world.repo.git("merge", "-q", "-s", "ours", "-m", "Merge main", "main")
    server.refused("HEAD:main")


@long_push
def a_push_with_many_forged_lines(world: World) -> None:
    server = serve(world)
    statement = world.change()
    signature = sshsig(ADA, b"something else", NAMESPACE)
    world.note(
        "\n".join(
            envelope(canonical(changed(statement, reason=f"{one}")), signature)
            for one in range(50)
        )
    )
    server.refused("main", NOTES)


@push
def a_push_from_a_shallow_clone(world: World) -> None:
    """Its first commit is not the first of the repository; the statement names it."""
    server = serve(world)
    clone = world.folder / "clone"
    command = ("git", "clone", "-q", "--depth", "1", server.bare.path.as_uri(), str(clone))
    subprocess.run(command, env=world.repo.env, check=True, timeout=60, capture_output=True)
    shallow = World(Repo(clone, world.repo.env), world.folder, world.marks)
    statement = shallow.change()
    shallow.note(signed(changed(statement, repository=[world.base]), ADA))
    shallow.note(signed(statement, MALLORY))
    Server(shallow, server.bare).refused("main", NOTES)


@push
def lines_for_the_hook_that_git_would_not_write(world: World) -> None:
    """Whatever is on standard input, the hook refuses or says that there is nothing; it never breaks."""
    server = serve(world)
    world.change()
    head = world.repo.git("rev-parse", "HEAD")
    base = world.base
    zero = "0" * 40
    for line in (
        f"{base} {head}\n",
        f"{base} {head} refs/heads/main extra\n",
        f"{base} nonsense refs/heads/main\n",
        f"x {base} refs/heads/main\n",
        f"{zero} {zero} refs/heads/main\n",
        f"{base} {'1' * 40} refs/heads/main\n",
        f"{base} {zero} refs/heads/main\n",
        "\n",
        "\0\n",
        "\xff\n",
    ):
        done = call(server.bare.path, server.bare.env, "hook", "pre-receive", stdin=line)
        assert "Traceback" not in done.all, (line, done.all)
        assert done.code in (0, 1, 2, 3), (line, done.all)
        assert done.code != 0 or line in ("\n", f"{zero} {zero} refs/heads/main\n"), (
            line,
            done.all,
        )
