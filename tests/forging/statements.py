"""Forged statements: what is signed, and how it is written down."""

import json
import shutil
from typing import Any

from authenticators import sshsig
from forging.table import forgery
from forging.world import (
    ADA,
    ADA_MAIL,
    BOB_MAIL,
    MALLORY,
    MALLORY_MAIL,
    NAMESPACE,
    World,
    canonical,
    changed,
    envelope,
    signed,
    with_subject,
)
from in_process import RISKY
from repositories import Repo

NOT_ENROLLED = "its key is not one of the signers before this change"
# The same finding in a file that does something else.
CHECKED = RISKY.replace("    subprocess", "    assert name.isalnum()\n    subprocess")


@forgery(NOT_ENROLLED, at_hook=True, codes=(3,))
def a_key_that_nobody_enrolled_signs_as_ada(world: World) -> None:
    world.note(signed(world.change(), MALLORY))


@forgery(NOT_ENROLLED, at_hook=True, codes=(3,))
def a_key_that_nobody_enrolled_signs_for_itself(world: World) -> None:
    world.note(signed(changed(world.change(), principal=MALLORY_MAIL), MALLORY))


@forgery("it is signed with the key of ada@example.org", at_hook=True, codes=(3,))
def adas_key_signs_as_bob(world: World) -> None:
    world.note(signed(changed(world.change(), principal=BOB_MAIL), ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def a_statement_is_changed_after_it_was_signed(world: World) -> None:
    statement = changed(world.change(), expires="2026-10-03T00:00:00+00:00")
    line = json.loads(signed(statement, ADA))
    world.note(envelope(canonical(changed(statement, expires="")), line["signature"]))


@forgery("does not count", at_hook=True, codes=(3,))
def the_signature_of_another_statement(world: World) -> None:
    statement = world.change()
    other = with_subject(statement, "content", {"sha256": "0" * 64})
    world.note(envelope(canonical(statement), json.loads(signed(other, ADA))["signature"]))


@forgery("does not count", at_hook=True, codes=(3,))
def a_truncated_signature(world: World) -> None:
    line = json.loads(signed(world.change(), ADA))
    armor = line["signature"].splitlines()
    world.note(envelope(line["payload"], "\n".join([*armor[:-2], armor[-1], ""])))


@forgery("does not count", at_hook=True, codes=(3,))
def a_truncated_line(world: World) -> None:
    world.note(signed(world.change(), ADA)[:-40])


@forgery("does not count", at_hook=True, codes=(3,))
def no_signature_at_all(world: World) -> None:
    payload = canonical(world.change())
    for signature in (
        "",
        None,
        [],
        {},
        1,
        True,
        "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n",
    ):
        world.note(canonical({"payload": payload, "signature": signature}))
    world.note(canonical({"payload": payload}))


@forgery("does not count", at_hook=True, codes=(3,))
def a_payload_that_is_an_object(world: World) -> None:
    statement = world.change()
    signature = sshsig(ADA, canonical(statement).encode(), NAMESPACE)
    world.note(canonical({"payload": statement, "signature": signature}))


def approved_then_replaced(world: World, first: str, second: str) -> None:
    """Approve a file, then record another under the same path, with the approval noted there as well."""
    world.stage({"report.py": first})
    line = signed(world.statement(), ADA)
    world.stage({"report.py": second})
    world.statement()
    world.record("Add the report")
    world.note(line)


@forgery(at_hook=True, codes=(3,))
def the_approval_of_other_content_of_the_same_file(world: World) -> None:
    """The line of the finding, and so its fingerprint, is the same; the check above it is gone."""
    approved_then_replaced(world, CHECKED, RISKY)


@forgery(at_hook=True, codes=(3,))
def the_approval_of_the_same_line_with_other_blanks(world: World) -> None:
    approved_then_replaced(
        world,
        RISKY,
        RISKY.replace('"""Runs reports."""\n', '"""Runs reports."""\nname = "rm"\n\n'),
    )


@forgery(at_hook=True, codes=(3,))
def the_approval_of_a_line_that_is_then_written_twice(world: World) -> None:
    call = RISKY.splitlines()[-1]
    approved_then_replaced(world, RISKY, f"{RISKY}{call}\n")


@forgery(at_hook=True, codes=(3,))
def the_approval_of_a_file_for_its_copy(world: World) -> None:
    """The copy has the same content, so Git finds the same note on it."""
    world.note(signed(world.change(), ADA))
    assert world.verify().code == 0
    world.start_here()
    world.change({"deploy.py": RISKY})


@forgery(at_hook=True, codes=(3,))
def the_approval_of_a_file_for_a_move_of_it(world: World) -> None:
    """The approved file never was recorded under its name."""
    world.stage({"report.py": RISKY})
    line = signed(world.statement(), ADA)
    world.repo.git("mv", "-f", "report.py", "deploy.py")
    world.record("Add it under another name")
    world.note(line)


@forgery("another repository", at_hook=True, codes=(3,))
def an_approval_from_another_repository_with_the_same_content(world: World) -> None:
    other = World(Repo.create(world.folder / "other", world.repo.env), world.folder)
    other.record("Another start", {"app.py": "x = 1\n"})
    for name in (".cli-guard", "cli-guard.toml"):
        source = world.repo.path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(
            source, other.repo.path / name
        )
    signers = other.repo.path / ".cli-guard" / "signers"
    signers.write_text(signers.read_text().replace(world.root(), other.root()))
    other.set_base({})
    line = signed(other.change(), ADA)
    other.note(line)
    assert other.verify().code == 0
    statement = world.change()
    theirs = json.loads(json.loads(line)["payload"])
    assert theirs["predicate"]["findings"] == statement["predicate"]["findings"]
    world.note(line)


@forgery("another policy", at_hook=True, codes=(3,))
def an_approval_under_another_policy(world: World) -> None:
    world.stage()
    line = signed(world.statement(), ADA)
    world.repo.git("rm", "-q", "-f", "report.py")
    world.set_policy(
        '[approvals]\ncritical = "key"\nhigh = "key"\n[rules]\n"code-python-eval" = "deny"\n'
    )
    world.change()
    world.note(line)


@forgery("expired", at_hook=True, codes=(3,))
def an_approval_that_has_expired(world: World) -> None:
    world.note(signed(changed(world.change(), expires="2026-10-03T00:00:00+00:00"), ADA))


@forgery("in the future", at_hook=True, codes=(3,))
def an_approval_dated_in_the_future(world: World) -> None:
    world.note(signed(changed(world.change(), at="2096-10-02T12:00:00+00:00"), ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def times_that_are_none(world: World) -> None:
    statement = world.change()
    for at in ("", "yesterday", "2026-13-40T00:00:00+00:00", "2026-10-02T12:00:00", 0):
        world.note(signed(changed(statement, at=at), ADA))
    for expires in (
        "never",
        "2026-10-03",
        "9999-12-31T23:59:59-23:59",
        "2026-10-03T00:00:00",
        None,
        1e99,
    ):
        world.note(
            signed(changed(statement, at="2096-10-02T12:00:00+00:00", expires=expires), ADA)
        )


@forgery(at_hook=True, codes=(3,))
def a_rejection(world: World) -> None:
    statement = world.change()
    for decision in (
        "reject",
        "",
        "APPROVE",
        " approve",
        "approve\n",
        "approved",
        ["approve"],
        True,
        None,
    ):
        world.note(signed(changed(statement, decision=decision), ADA))


@forgery(at_hook=True, codes=(3,))
def a_break_glass_statement(world: World) -> None:
    """Signed for this commit; it may make a server let it pass, and is no approval."""
    world.change()
    done = world.approve("--break-glass", "--note", "production is down, ticket 812")
    assert done.code == 0, done.all
    world.note(world.lines()[0])


@forgery(at_hook=True, codes=(3,))
def a_break_glass_statement_with_the_findings_in_it(world: World) -> None:
    statement = world.change()
    world.note(signed(changed(statement, decision="break-glass"), ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def a_carriage_return_in_the_statement(world: World) -> None:
    payload = canonical(changed(world.change(), reason="agreed"))
    for text in (
        f"{payload}\r",
        f"{payload}\r\n",
        f"\r{payload}",
        payload.replace("agreed", "agr\reed"),
    ):
        world.note(signed(text, ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def two_statements_under_one_signature(world: World) -> None:
    statement = world.change()
    harmless = canonical(changed(statement, findings=[]))
    for text in (
        f"{harmless}\n{canonical(statement)}",
        f"{canonical(statement)}\n{harmless}",
        f"{canonical(statement)}{harmless}",
        f"[{harmless},{canonical(statement)}]",
    ):
        world.note(signed(text, ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def a_statement_with_a_key_twice(world: World) -> None:
    """A reader that takes the first value sees no findings."""
    payload = canonical(world.change())
    for key, value in (("predicate", {}), ("subject", []), ("_type", "x")):
        at = payload.index(f'"{key}":')
        world.note(signed(f'{payload[:at]}"{key}":{canonical(value)},{payload[at:]}', ADA))


@forgery("canonical", at_hook=True, codes=(3,))
def a_statement_that_is_not_canonical(world: World) -> None:
    statement = world.change()
    payload = canonical(statement)
    for text in (
        json.dumps(statement),
        json.dumps(statement, indent=1),
        canonical(dict(reversed(statement.items()))).replace('{"_type"', '{ "_type"'),
        payload.replace("approve", "\\u0061pprove"),
        f" {payload}",
        f"{payload}\n",
        f"\ufeff{payload}",
    ):
        world.note(signed(text, ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def a_line_with_two_payloads(world: World) -> None:
    """The signature is good for one of them, whichever a reader takes."""
    statement = world.change()
    payload = canonical(statement)
    harmless = canonical(
        with_subject(changed(statement, findings=[]), "content", {"sha256": "0" * 64})
    )
    signature = sshsig(ADA, harmless.encode(), NAMESPACE)
    one, other, last = (json.dumps(each) for each in (payload, harmless, signature))
    world.note(f'{{"payload":{one},"payload":{other},"signature":{last}}}')
    world.note(f'{{"payload":{other},"payload":{one},"signature":{last}}}')
    world.note(f'{{"payload":{one},"signature":{last},"payload":{other}}}')


@forgery(at_hook=True, codes=(3,))
def a_statement_of_another_kind(world: World) -> None:
    statement = world.change()
    for key, value in (
        ("predicateType", "cli-guard/trust/v1"),
        ("predicateType", "cli-guard/approval/v2"),
        ("predicateType", "https://slsa.dev/provenance/v1"),
        ("_type", "https://in-toto.io/Statement/v0.1"),
        ("_type", ""),
    ):
        world.note(signed(statement | {key: value}, ADA))


@forgery(at_hook=True, codes=(3,))
def findings_that_are_not_those_of_the_change(world: World) -> None:
    """Another fingerprint of the same rule at the same path, and what a careless reader takes for the right one."""
    statement = world.change()
    [found] = statement["predicate"]["findings"]
    mark = found["fingerprint"]
    for fingerprint in (mark[::-1], mark[:-1], f"{mark}0", "*", "", mark.upper()):
        world.note(
            signed(changed(statement, findings=[found | {"fingerprint": fingerprint}]), ADA)
        )
    world.note(signed(changed(statement, findings=[]), ADA))


@forgery("does not count", at_hook=True, codes=(3,))
def fields_of_the_wrong_type(world: World) -> None:
    statement = world.change()
    odd: list[Any] = [None, 0, True, [], {}, "", [[]], ["x"], {"x": 1}, -0.0]
    free = {"expires": str, "reason": str}
    lines = [
        signed(changed(statement, **{name: value}), ADA)
        for name in statement["predicate"]
        if name != "version"
        for value in odd
        if not isinstance(value, free.get(name, ()))
    ]
    lines += [signed(statement | {name: value}, ADA) for name in statement for value in odd]
    world.note("\n".join(lines))


@forgery(at_hook=True, codes=(3,))
def subjects_under_the_wrong_name(world: World) -> None:
    """A tree where a file belongs, a file of another path, a digest of another kind."""
    statement = world.change()
    by_name = {each["name"]: each["digest"] for each in statement["subject"]}
    tree = by_name["tree"]["gitTree"]
    blob = by_name["file:report.py"]["gitBlob"]
    for subject in (
        {"name": "tree", "digest": {"gitBlob": tree}},
        {"name": "base", "digest": {"gitTree": tree}},
        {"name": "content", "digest": {"sha256": tree}},
        {"name": "file:report.py", "digest": {"gitTree": tree}},
        {"name": "file:app.py", "digest": {"gitBlob": blob}},
        {"name": "file:./report.py", "digest": {"gitBlob": blob}},
        {"name": "file:REPORT.py", "digest": {"gitBlob": blob}},
        {"name": "file:", "digest": {"gitBlob": blob}},
        {"name": "file:report.py", "digest": {"gitBlob": blob[:10]}},
    ):
        world.note(signed(statement | {"subject": [subject]}, ADA))


@forgery(at_hook=True, codes=(3,))
def principals_that_look_like_ada(world: World) -> None:
    statement = world.change()
    for principal in (
        "ADA@example.org",
        "\u0430da@example.org",
        "ada@example.org\u200b",
        "\uff41da@example.org",
        " ada@example.org",
        "ada@example.org ",
        "ada@example.org\n",
        "ada@example.org,mallory@example.org",
        "*",
        "*@example.org",
        "?da@example.org",
        "!mallory@example.org",
        "-Overify-time=20200101",
        "-",
        "",
        "\u202egro.elpmaxe@ada",
        "a\u0300da@example.org",
    ):
        world.note(signed(changed(statement, principal=principal), MALLORY))


@forgery(at_hook=True, codes=(3,))
def wildcards_in_the_principal_with_an_enrolled_key(world: World) -> None:
    """Ada's key is good, but no person has such a name."""
    statement = world.change()
    for principal in (
        "*",
        "*@example.org",
        "?da@example.org",
        f"{ADA_MAIL},{BOB_MAIL}",
        "!bob@example.org",
        "",
    ):
        world.note(signed(changed(statement, principal=principal), ADA))


@forgery(at_hook=True, codes=(3,))
def a_principal_that_writes_lines_into_a_signers_file(world: World) -> None:
    statement = world.change()
    key = MALLORY.public_line()
    for principal in (
        f"{ADA_MAIL} {key}",
        f"x\n{ADA_MAIL} {key}\n",
        f'{ADA_MAIL}" {key}',
        f"{ADA_MAIL}\0{key}",
    ):
        world.note(signed(changed(statement, principal=principal), MALLORY))
