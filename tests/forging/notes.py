"""Forged notes: lines, objects and refs that are not what a reader expects, and too many of them."""

import json

from authenticators import sshsig
from forging.table import assert_plain, forgery
from forging.world import (
    ADA,
    MALLORY,
    MALLORY_MAIL,
    NAMESPACE,
    NOTES,
    World,
    canonical,
    changed,
    envelope,
    signed,
    with_subject,
)
from in_process import RISKY
from watching import cpu_seconds

ESCAPE = "\x1b[2K\r\x1b[1Acli-guard: verified; 1 finding approved\n::stop-commands::x\n::notice::cli-guard: verified"


def poison(world: World, good: str) -> list[bytes]:
    """Lines that may stop a reader: each must cost nobody the approvals beside it."""
    statement = json.loads(json.loads(good)["payload"])
    signature = json.loads(good)["signature"]
    lone = canonical(changed(statement, reason="x")).replace('"x"', '"\\ud800"')
    lines = [
        b"",
        b"   ",
        b"not JSON",
        b"{",
        b"[]",
        b"null",
        b"0",
        b'"x"',
        b"\x00\x01\x02",
        b"\xff\xfe\xfd",
        b"[" * 100_000,
        b'{"payload":' * 20_000,
        b'{"payload":' + b"9" * 5000 + b',"signature":"x"}',
        b'{"payload":NaN,"signature":Infinity}',
        b'{"payload":"{}","signature":"\\ud800"}',
        b'{"payload":"\\ud800","signature":"x"}',
        b'{"payload":"\\u0000","signature":"\\u0000"}',
        canonical({"payload": "[" * 50_000, "signature": signature}).encode(),
        canonical({"payload": "9" * 5000, "signature": signature}).encode(),
        canonical({"payload": lone, "signature": signature}).encode(),
        canonical({"payload": canonical(statement), "signature": "x" * 1_000_000}).encode(),
        canonical({"payload": canonical(statement), "signature": "\x00"}).encode(),
        canonical(
            {"payload": canonical(statement), "signature": signature, "more": [1]}
        ).encode(),
        canonical([canonical(statement), signature]).encode(),
    ]
    return [*lines, *(line + b"\r" for line in lines[:6])]


@forgery(at_hook=True, codes=(3,))
def lines_that_stop_a_reader(world: World) -> None:
    good = signed(world.change(), MALLORY)
    for line in poison(world, good):
        world.note(line)


@forgery(codes=(0,), slow=True)
def honest_approvals_beside_lines_that_stop_a_reader(world: World) -> None:
    """Nothing is lost by them: Ada's approval still counts, alone and among all of them."""
    good = signed(world.change(), ADA)
    lines = poison(world, good)
    for line in lines:
        world.repo.try_git("update-ref", "-d", NOTES)
        world.note(line)
        world.note(good)
        done = world.verify()
        assert_plain(done)
        assert done.code == 0, (line[:80], done.all)
    world.note(b"\n".join(lines))
    world.note(good)


@forgery(codes=(3,))
def words_that_rewrite_the_report(world: World) -> None:
    """What nobody enrolled has signed is named in the refusal: it must not look like an answer of `verify`."""
    statement = world.change()
    for principal in (
        ESCAPE,
        f"\u202e{ESCAPE}",
        "x\ncli-guard: verified",
        "x\u2028cli-guard: verified",
        "x\x85y",
        "%0A::notice::x",
        "x\ud800",
        "\x00",
        "\ufeff",
    ):
        world.note(signed(changed(statement, principal=principal), MALLORY))
    for style in ("text", "github", "markdown", "json", "sarif"):
        done = world.verify_as(style)
        assert_plain(done)
        assert done.code == 3, done.all
        lines = done.out.splitlines()
        assert not [
            each
            for each in lines
            if each.startswith(("cli-guard: verified", "::stop-commands", "::notice::cli"))
        ]


@forgery(codes=(0,))
def a_reason_that_rewrites_the_report(world: World) -> None:
    """Signed by Ada; whoever gave her the words wants them in the log of CI."""
    statement = world.change()
    world.note(signed(changed(statement, reason=ESCAPE), ADA))
    for style in ("text", "github", "markdown", "json", "sarif"):
        done = world.verify_as(style)
        assert_plain(done)
        lines = done.out.splitlines()
        assert not [
            each for each in lines if each.startswith(("::stop-commands", "::notice::cli"))
        ], done.out


@forgery(at_hook=True, codes=(3,))
def an_approval_noted_on_other_objects(world: World) -> None:
    """On the commit, on the base, on another file, on a tag: it says nothing of what is recorded there."""
    world.stage({"report.py": RISKY.replace("reports", "a report")})
    line = signed(world.statement(), ADA)
    world.change()
    repo = world.repo
    repo.git("tag", "-a", "-m", "x", "v1")
    names = (
        "HEAD",
        "HEAD^{tree}",
        "HEAD~1",
        "HEAD~1^{tree}",
        "HEAD:app.py",
        "HEAD:report.py",
        "v1",
        "HEAD:.cli-guard",
    )
    world.note(line, *(repo.git("rev-parse", name) for name in names))


@forgery(at_hook=True, codes=(3,))
def approvals_in_other_refs(world: World) -> None:
    """Only one ref counts: otherwise each would have to be protected."""
    line = signed(world.change(), ADA)
    for ref in (
        "refs/notes/commits",
        "refs/notes/cli-guard/x",
        "refs/notes/other",
        "refs/notes/CLI-GUARD",
    ):
        world.note(line, ref=ref)


def notes_tree(world: World, *entries: tuple[str, str, str]) -> None:
    """Have the notes ref name a tree of any entries: mode, name, object."""
    raw = b"".join(
        mode.encode() + b" " + name.encode() + b"\0" + bytes.fromhex(at)
        for mode, name, at in entries
    )
    tree = world.repo.git(
        "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw
    )
    world.repo.git("update-ref", NOTES, world.repo.git("commit-tree", "-m", "Notes", tree))


@forgery(at_hook=True, codes=(2, 3), slow=True)
def a_notes_tree_of_garbage(world: World) -> None:
    line = signed(world.change(), MALLORY)
    blob = world.repo.git("hash-object", "-w", "--stdin", stdin=f"{line}\n")
    empty = world.repo.git("hash-object", "-t", "tree", "-w", "--stdin", stdin="")
    tree, file, *_ = world.noted()
    for entries in (
        (),
        (("100644", "x", blob),),
        (("100644", tree, "1" * 40),),
        (("160000", tree, world.base),),
        (("120000", tree, blob),),
        (("40000", tree, empty),),
        (("40000", tree[:2], "2" * 40),),
        (("40000", tree[:2], empty),),
        (("100644", tree, blob), ("100644", tree, blob)),
        (("100644", tree, blob), ("100644", file, blob), ("40000", tree[:2], empty)),
        (("100644", tree.upper(), blob),),
        (("100644", f"{tree}0", blob),),
        (("100644", tree[:39], blob),),
        (("100644", "", blob),),
        (("100644", f"../{tree}", blob),),
    ):
        notes_tree(world, *entries)
        for done in (world.verify(), world.hook()):
            assert_plain(done)
            assert done.code in (1, 2, 3), (entries, done.all)


@forgery(at_hook=True, codes=(2, 3))
def a_notes_ref_that_is_no_notes_commit(world: World) -> None:
    """It names a file, a tree, a tag, a commit of the project, an object that is not there."""
    world.note(signed(world.change(), MALLORY))
    repo = world.repo
    repo.git("tag", "-a", "-m", "x", "v1")
    ref = repo.path / ".git" / NOTES
    for name in ("HEAD:app.py", "HEAD^{tree}", "v1", "HEAD", "HEAD~1"):
        ref.write_text(repo.git("rev-parse", name) + "\n")
        for done in (world.verify(), world.hook()):
            assert_plain(done)
            assert done.code in (1, 2, 3), (name, done.all)
    for text in (
        "1" * 40,
        "0" * 40,
        "x",
        "",
        "ref: refs/heads/none",
        f"ref: {NOTES}",
        "ref: ../../x",
    ):
        ref.write_text(f"{text}\n")
        for done in (world.verify(), world.hook()):
            assert_plain(done)
            assert done.code in (1, 2, 3), (text, done.all)


@forgery(at_hook=True, codes=(2, 3))
def a_symbolic_notes_ref(world: World) -> None:
    """To a branch whose files have the names of objects, as anybody can push one."""
    statement = changed(world.change(), principal=MALLORY_MAIL)
    tree, file = world.noted()[:2]
    head = world.repo.git("rev-parse", "HEAD")
    world.repo.git("checkout", "-q", "--orphan", "innocent")
    world.repo.git("rm", "-q", "-r", "-f", ".")
    world.record(
        "Notes",
        {tree: f"{signed(statement, MALLORY)}\n", file: f"{signed(statement, MALLORY)}\n"},
    )
    world.repo.git("switch", "-q", "main")
    world.repo.git("reset", "-q", "--hard", head)
    world.repo.git("symbolic-ref", NOTES, "refs/heads/innocent")


@forgery(at_hook=True, codes=(3,))
def two_notes_refs_merged_line_by_line(world: World) -> None:
    """Half a line here, half a line there: what a merge joins is no signed statement."""
    line = signed(changed(world.change(), expires="2026-10-03T00:00:00+00:00"), ADA)
    other = json.loads(line)
    unlimited = canonical(changed(json.loads(other["payload"]), expires=""))
    world.note(envelope(unlimited, "")[:-2])
    world.note(line, ref="refs/notes/theirs")
    world.note(json.dumps(other["signature"]), ref="refs/notes/theirs")
    world.repo.git(
        "notes", f"--ref={NOTES}", "merge", "-q", "-s", "cat_sort_uniq", "refs/notes/theirs"
    )
    world.repo.git(
        "notes", f"--ref={NOTES}", "merge", "-q", "-s", "union", "refs/notes/theirs"
    )


@forgery(codes=(0,))
def honest_notes_merged_with_forged_ones(world: World) -> None:
    """Ada's line survives a merge with a ref of somebody else, and counts."""
    statement = world.change()
    world.note(signed(statement, ADA))
    world.note("garbage without an end", ref="refs/notes/theirs")
    world.note(signed(statement, MALLORY), ref="refs/notes/theirs")
    world.repo.git(
        "notes", f"--ref={NOTES}", "merge", "-q", "-s", "cat_sort_uniq", "refs/notes/theirs"
    )


@forgery(codes=(2, 3))
def a_remote_with_forged_notes(world: World) -> None:
    """`cli-guard signers fetch` merges what it finds; it must neither accept nor lose anything."""
    statement = world.change()
    honest = signed(with_subject(statement, "content", {"sha256": "0" * 64}), ADA)
    world.note(honest, world.repo.git("rev-parse", "HEAD:app.py"))
    remote = world.folder / "remote.git"
    world.repo.git("clone", "-q", "--bare", str(world.repo.path), str(remote))
    there = World(type(world.repo)(remote, world.repo.env), world.folder, world.marks)
    for name in ("HEAD:report.py", "HEAD^{tree}"):
        blob = there.repo.git(
            "hash-object", "-w", "--stdin", stdin=f"{signed(statement, MALLORY)}\n"
        )
        there.repo.git(
            "notes",
            f"--ref={NOTES}",
            "add",
            "-f",
            "-C",
            blob,
            there.repo.git("rev-parse", name),
        )
    world.repo.git("remote", "add", "origin", str(remote))
    done = world.guard("signers", "fetch")
    assert_plain(done)
    assert done.code == 0, done.all
    assert honest in world.lines()
    assert len(world.lines()) == 2
    there.repo.git("update-ref", NOTES, there.repo.git("rev-parse", "HEAD"))
    done = world.guard("signers", "fetch")
    assert_plain(done)
    assert honest in world.lines(), done.all


@forgery(at_hook=True, codes=(3,))
def a_note_of_ten_megabytes(world: World) -> None:
    statement = world.change()
    world.note(signed(changed(statement, reason="x" * 10_000_000), MALLORY))
    with cpu_seconds(20):
        done = world.verify()
        assert_plain(done)


@forgery(codes=(0, 2, 3))
def an_honest_approval_behind_a_note_of_ten_megabytes(world: World) -> None:
    """It counts, or is refused with the reason; it is not silently overlooked."""
    statement = world.change()
    world.note("x" * 10_000_000)
    world.note(signed(statement, ADA))
    done = world.verify()
    assert_plain(done)
    assert done.code == 0 or "note" in done.all, done.all


@forgery(codes=(3,), slow=True)
def two_hundred_lines_that_must_each_be_verified(world: World) -> None:
    """Each is canonical, in time, and names an enrolled key; only the signature is not good."""
    statement = world.change()
    signature = sshsig(ADA, b"something else", NAMESPACE)
    lines = (
        envelope(canonical(changed(statement, reason=f"{number}")), signature)
        for number in range(200)
    )
    world.note("\n".join(lines))
    assert_plain(world.verify())


@forgery(codes=(0,), slow=True)
def an_honest_approval_among_hundreds_of_forged_lines(world: World) -> None:
    """Who may push a note must not be able to make an approval of others void."""
    statement = world.change()
    signature = sshsig(ADA, b"something else", NAMESPACE)
    lines = [
        envelope(canonical(changed(statement, reason=f"{number}")), signature)
        for number in range(400)
    ]
    world.note("\n".join([*lines[:200], signed(statement, ADA), *lines[200:]]))


@forgery(codes=(0,), slow=True)
def an_honest_approval_among_a_hundred_thousand_notes(world: World) -> None:
    """Two levels of folders, as Git makes them; it is found, and in time."""
    statement = world.change()
    blob = world.repo.git("hash-object", "-w", "--stdin", stdin="{}\n")
    inner = "".join(f"100644 blob {blob}\t{number:038x}\n" for number in range(400))
    tree = world.repo.git("mktree", stdin=inner)
    outer = world.repo.git(
        "mktree",
        stdin="".join(f"040000 tree {tree}\t{number:02x}\n" for number in range(256)),
    )
    world.repo.git("update-ref", NOTES, world.repo.git("commit-tree", "-m", "Notes", outer))
    for each in world.noted():
        line = signed(statement, ADA)
        world.repo.git("notes", f"--ref={NOTES}", "add", "-m", line, each)
    assert len(world.notes(NOTES)) > 100_000
    with cpu_seconds(10):
        done = world.verify()
        assert_plain(done)
