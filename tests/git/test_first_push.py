"""The first push to an empty remote, by people who sign: what was approved for a commit is not asked again."""

import shutil
from pathlib import Path

import pytest
from forging.honest import (
    NOTES,
    Person,
    commit_approved,
    needs_ssh_keygen,
    pending,
    risky,
    start,
)
from in_process import approve, guard
from repositories import Done, Repo

pytestmark = needs_ssh_keygen
ZERO = "0" * 40


@pytest.fixture
def people(tmp_path: Path) -> tuple[Person, Person]:
    return Person.create("Ada", tmp_path), Person.create("Mallory", tmp_path)


@pytest.fixture
def signed(people: tuple[Person, Person], tmp_path: Path) -> Repo:
    """A repository without a remote, where Ada may approve."""
    ada, _ = people
    repo = Repo.create(tmp_path / "signed", ada.env)
    start(repo, ada)
    return repo


def first_push(repo: Repo, remote: str = "origin") -> Done:
    """The hook of a push of `main` to a remote that has nothing."""
    tip = repo.git("rev-parse", "main")
    line = f"refs/heads/main {tip} refs/heads/main {ZERO}\n"
    return guard(repo, "hook", "pre-push", remote, "../origin.git", stdin=line)


def approve_push(repo: Repo) -> None:
    """Approve what the first push asks about: who may sign is asked once."""
    assert first_push(repo).code == 3
    done = approve(repo, pending(repo))
    assert done.code == 0, done.all


def test_a_good_signature_counts(signed: Repo) -> None:
    commit_approved(signed, "Add the report", {"report.py": risky()})
    asked = first_push(signed)
    assert "policy-signers-changed" in asked.out and "report.py" not in asked.out, asked.all
    approve_push(signed)
    for remote in ("origin", "backup"):
        done = first_push(signed, remote)
        assert done.code == 0, done.all
    signed.git("update-ref", "-d", NOTES)
    shutil.rmtree(signed.path / ".git/cli-guard")
    assert first_push(signed).code == 3


def enroll(repo: Repo, person: Person) -> None:
    """Commit a key of a person to the signers, without a hook."""
    added = ("signers", "add", str(person.public_key), "--principal", person.mail)
    assert guard(repo, *added).code == 0
    repo.commit("Add a signer")


def test_a_signer_of_ones_own_in_the_same_push(
    signed: Repo, people: tuple[Person, Person]
) -> None:
    """Nothing on the remote tells who was there first: then nobody counts."""
    _, mallory = people
    enroll(signed, mallory)
    hers = mallory.at(signed)
    commit_approved(hers, "Add the report", {"report.py": risky()})
    done = first_push(hers)
    assert done.code == 3
    assert "nothing before this change says who may sign" in " ".join(done.all.split())
    assert "report.py" in done.all
    # Cut off before her own line, the history would begin with it.
    (signed.path / ".git/shallow").write_text(f"{hers.git('rev-parse', 'HEAD~1')}\n")
    done = first_push(hers)
    assert done.code == 3 and "report.py" in done.all, done.all


def test_a_key_that_is_no_signer(signed: Repo, people: tuple[Person, Person]) -> None:
    """Mallory signs on a branch of her own, where she is one."""
    _, mallory = people
    signed.git("checkout", "-q", "-b", "hers")
    enroll(signed, mallory)
    hers = mallory.at(signed)
    commit_approved(hers, "Add the report", {"report.py": risky()})
    signed.git("checkout", "-q", "main")
    signed.git("cherry-pick", "hers")
    done = first_push(signed)
    assert done.code == 3 and "report.py" in done.all, done.all
    # A merge that keeps our signers alone does not make her one.
    signed.git("reset", "-q", "--hard", "HEAD~1")
    signed.git("merge", "-q", "-s", "ours", "--no-edit", "hers")
    signed.git("checkout", "-q", "hers", "--", "report.py")
    signed.commit("Take the report")
    done = first_push(signed)
    assert done.code == 3 and "report.py" in done.all, done.all
