"""A repository with checks, a remote, and a place where a check leaves a trace of having run."""

import datetime
import io
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from in_process import Terminal, guard
from repositories import Done, Repo
from watching import eventually

from cli_guard.execution.checks.running import prepare_checks
from cli_guard.git.checkout import PREFIX
from cli_guard.model import RefUpdate
from cli_guard.review.push import PushPlan
from cli_guard.review.render.review import Review
from cli_guard.review.request import Push, Request, Staged
from cli_guard.review.run import ReviewOptions, review_request
from cli_guard.runtime import Invocation

PATIENCE = 60.0


@dataclass
class World:
    """The repository, its remote, the file that traces go to, and the folder for temporary files."""

    repo: Repo
    remote: Repo
    trace: Path
    room: Path
    told: io.StringIO = field(default_factory=io.StringIO)

    @classmethod
    def create(cls, committed: Repo, room: Path) -> "World":
        """A world around a repository with one commit, which the remote has."""
        remote = Repo.create(committed.path.parent / "origin.git", committed.env, "--bare")
        committed.git("remote", "add", "origin", str(remote.path))
        committed.git("push", "-q", "--no-verify", "origin", "main")
        return cls(committed, remote, committed.path.parent / "trace", room)

    @property
    def invocation(self) -> Invocation:
        """Where it is reviewed."""
        return Invocation(
            self.repo.path, self.repo.env, datetime.datetime.now(datetime.UTC)
        )

    @property
    def runs(self) -> list[str]:
        """What checks left behind outside of everything, in order."""
        return self.trace.read_text().split() if self.trace.exists() else []

    def leaves(self, word: str) -> str:
        """A command that leaves a trace."""
        return f"echo {word} >> {self.trace}"

    def check(
        self, toml: str = "", /, name: str = "t", trusted: bool = True, **table: str
    ) -> None:
        """Commits a configuration with one check, unless it is given whole."""
        body = "".join(f"{key} = {value}\n" for key, value in table.items())
        self.repo.commit(
            f"Check {name}", {"cli-guard.toml": toml or f"[checks.{name}]\n{body}"}
        )
        if trusted:
            self.trust()

    def trust(self, *options: str, answer: str = "yes") -> Done:
        """Somebody at a terminal looks at the checks and answers."""
        return guard(
            self.repo, "trust", "--checks", *options, stdin=Terminal(f"{answer}\n")
        )

    def review(
        self,
        *branches: str,
        request: Request | None = None,
        env: dict[str, str] | None = None,
    ) -> Review:
        """The review of a push of branches, as the hook makes it, which changes nothing and leaves nothing."""
        invocation = Invocation(
            self.repo.path, self.repo.env | (env or {}), datetime.datetime.now(datetime.UTC)
        )
        with self.repo.unchanged():
            done = review_request(
                request or self.push_of(*branches),
                invocation,
                ReviewOptions(partial(prepare_checks, progress=self.told)),
            )
        assert self.left == []
        return done

    def push_of(self, *branches: str) -> Push:
        """A push of branches to the remote's of the same names."""
        zero = "0" * len(self.repo.git("rev-parse", "HEAD"))
        updates = []
        for name in branches or ("main",):
            known = self.repo.try_git(
                "rev-parse", "-q", "--verify", f"refs/remotes/origin/{name}"
            ).out.strip()
            oid = self.repo.git("rev-parse", name)
            updates.append(
                RefUpdate(f"refs/heads/{name}", oid, f"refs/heads/{name}", known or zero)
            )
        return Push(PushPlan(tuple(updates)), "origin")

    def staged(self) -> Review:
        """The review of what is staged, as the hook makes it."""
        return self.review(request=Staged("pre-commit"))

    @property
    def left(self) -> list[str]:
        """The scratch folders that are left behind."""
        return [path.name for path in self.room.iterdir() if path.name.startswith(PREFIX)]


def rules(review: Review) -> list[str]:
    """The rules of the findings of a review about checks."""
    return [
        each.finding.rule
        for each in review.sort_findings()
        if each.finding.rule.startswith("push-check-")
    ]


def until(condition: object, *, what: str) -> None:
    """Waits until something is so."""
    assert callable(condition)
    assert eventually(condition, PATIENCE), f"never: {what}"
