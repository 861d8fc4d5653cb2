"""A place keeps lines on objects, whatever it is; what counts of them is decided elsewhere, without any place."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from in_process import RISKY, records, stage
from repositories import Repo

from cli_guard.approvals.counting import Approval
from cli_guard.approvals.lookup import Approvals, Verifier
from cli_guard.approvals.statements import Statement
from cli_guard.approvals.storage import Notes, StateFolder, Storage
from cli_guard.git.repository import GitRepository
from cli_guard.policy.decisions import Policy
from cli_guard.review.load import gather
from cli_guard.review.request import Staged
from cli_guard.review.run import run
from cli_guard.runtime import Invocation

LINE = '{"payload":"{}","signature":"-"}'
NOW = datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)


@dataclass
class InMemory:
    """Approvals without a repository; whoever fills it vouches for the unsigned ones."""

    lines: list[str] = field(default_factory=list)
    confirmed: list[Approval] = field(default_factory=list)

    def read(
        self, objects: Iterable[str], *, more: bool = False
    ) -> tuple[set[str], list[str]]:
        return set(self.lines), []

    def read_unsigned(self) -> list[Approval]:
        return self.confirmed

    def add(self, line: str, objects: Iterable[str] = ()) -> None:
        self.lines.append(line)


def opened(repo: Repo) -> GitRepository:
    return GitRepository.discover(repo.path, repo.env)


def storage_of(name: str, repo: Repo) -> Storage:
    kept = records(repo)
    kept.prepare()
    return {
        "notes": Notes(opened(repo)),
        "state": StateFolder(kept),
        "memory": InMemory(),
    }[name]


@pytest.mark.parametrize("name", ["notes", "state", "memory"])
def test_what_is_added_is_read_again(name: str, committed: Repo) -> None:
    storage = storage_of(name, committed)
    tree = committed.git("rev-parse", "HEAD^{tree}")
    assert storage.read((tree,), more=True) == (set(), [])
    other = LINE.replace("{}", "{ }")
    storage.add(LINE, (tree, tree))
    storage.add(other, (tree,))
    assert storage.read((tree,)) == ({LINE, other}, [])
    assert storage.read((), more=True) == ({LINE, other}, [])
    assert storage.read_unsigned() == [], "nobody approved these at a terminal"


def test_notes_are_read_where_they_are(committed: Repo) -> None:
    notes = Notes(opened(committed))
    tree = committed.git("rev-parse", "HEAD^{tree}")
    notes.add(LINE, (tree,))
    assert notes.read((committed.git("rev-parse", "HEAD"),)) == (set(), [])
    elsewhere = Notes(opened(committed), ("refs/notes/other",))
    assert elsewhere.read((tree,), more=True) == (set(), [])


def test_an_approval_in_memory_counts_for_its_content_alone(committed: Repo) -> None:
    stage(committed, {"a.py": RISKY})
    repository = opened(committed)
    invocation = Invocation(committed.path, committed.env, NOW)
    with gather(Staged(), repository, invocation) as gathered:
        review, _ = run(gathered, None, NOW.date())
        [judged] = review.findings
        content = gathered.subject.changes.identity
        marks = {judged.finding.fingerprint: ""}
        made = Statement(content, Policy().identity, marks, "ada", NOW.isoformat(), ())
        for statement, counts in (
            (made, True),
            (Statement("0" * 64, made.policy, marks, "ada", made.at, ()), False),
            (Statement(content, "other", marks, "ada", made.at, ()), True),
            (Statement(content, made.policy, {"0": ""}, "ada", made.at, ()), False),
        ):
            look_up = Approvals(
                repository,
                (InMemory(confirmed=[Approval(statement)]),),
                Verifier(repository, repository.head, invocation),
                gathered.subject.changes,
                (),
                gathered.policy,
                repository.head,
            )
            found = look_up([judged.finding])
            assert bool(found) == counts, statement
            # Where only signatures count, it counts for nothing.
            look_up.local = False
            assert look_up([judged.finding]) == {}
