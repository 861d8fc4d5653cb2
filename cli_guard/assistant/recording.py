"""Answers a request to commit, to push or to open a pull request: the commands and a drafted message, nothing is done.

request -> Recording (what it wants recorded) -> review -> the stop of the review, or commands with the message
"""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from cli_guard.assistant import Proposal
from cli_guard.assistant.drafting import MessageDraft, draft_message
from cli_guard.assistant.replies import first_of
from cli_guard.assistant.request import UserRequest
from cli_guard.assistant.request_git import Recording
from cli_guard.errors import UsageError
from cli_guard.lazy import dataclass
from cli_guard.model import Decision
from cli_guard.repository.protocol import Repository
from cli_guard.review.load import gather
from cli_guard.review.render import text as review_text
from cli_guard.review.render.review import Review
from cli_guard.review.request import Range, Staged, Worktree
from cli_guard.review.run import review_request, run
from cli_guard.reviewers.cache import Cache
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact

SUBJECTS = 30
LISTED = 6
NAMED_PATHS = 8
LEFT = "Left to you: nothing is committed, pushed or opened from here. "


@dataclass
class Recorder:
    """Writes the lines of the answer for one repository."""

    wanted: Recording
    repository: Repository
    invocation: Invocation
    commands: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    stop: Proposal | None = None

    def git(self, *words: str) -> str:
        """Return what a Git command prints, "" where it fails."""
        return self.repository.git.optional(*words) or ""

    def lines(self) -> Iterator[str]:
        """Say what there is to record, then the commands."""
        branch = self.git("symbolic-ref", "--quiet", "--short", "HEAD")
        if self.wanted.branch:
            branch = self.wanted.branch
            self.commands.append(f"git switch -c {shlex.quote(branch)}")
        if "git_commit" in self.wanted.tools:
            yield from self.commit_lines()
        if not self.stop and set(self.wanted.tools) - {"git_commit"}:
            yield from self.push_lines(branch)
        if self.commands and not self.stop:
            yield "Commands (not run):"
            yield from (f"  {each}" for each in self.commands)

    def commit_lines(self) -> Iterator[str]:
        """Yield the files of the commit; `git add` for what is not staged, and `git commit` with a message."""
        wanted = self.wanted
        staged = self.repository.has_staged()
        from_index = staged and not (wanted.everything or wanted.paths)
        with gather(
            Staged() if from_index else Worktree(), self.repository, self.invocation
        ) as gathered:
            changed = gathered.subject.changes
            changes = [
                each for each in changed if not wanted.paths or each.path in wanted.paths
            ]
            if not staged:
                yield "Nothing is staged."
            if not changes and not (
                wanted.everything or wanted.paths or wanted.message or wanted.branch
            ):
                yield "There is nothing to commit."
                return
            if not changes:
                yield (
                    "Nothing has changed in the work tree either."
                    if not wanted.paths
                    else "Not changed."
                )
            elif not from_index:
                named = [c.path + ("" if c.old_blob else " (new)") for c in changes]
                yield f"Changed in the work tree: {first_of(named, LISTED)}."
            tracked = [each for each in changes if each.old_blob] or changes
            added = changes if wanted.everything or wanted.paths else tracked
            chosen = replace(changed, files=tuple(changes if from_index else added))
            subject = replace(gathered.subject, changes=chosen)
            if changes:
                # With the cache, the hook of the commit itself has little left to examine.
                cache = Cache(self.repository.state_folder)
                today = self.invocation.now.date()
                done, _ = run(replace(gathered, subject=subject), None, today, cache)
                if from_index and done.decision is not Decision.ALLOW:
                    # Approvals count, and what waits for one is recorded.
                    done = review_request(Staged(), self.invocation)
                if done.decision is not Decision.ALLOW:
                    self.stop_at(done)
                    return
            if not from_index:
                self.commands.append(self.add_command([each.path for each in added]))
            draft = (
                self.draft(subject)
                if changes
                else MessageDraft("<what the change does>", ())
            )
        only = f" -- {quote(wanted.paths)}" if staged and wanted.paths else ""
        self.commands.append(f"git commit {self.message_options('-m', draft)}{only}")

    def add_command(self, paths: Sequence[str]) -> str:
        """Return the command that stages what is to be committed."""
        if self.wanted.everything:
            return "git add -A"
        paths = self.wanted.paths or paths
        return f"git add {quote(paths)}" if 0 < len(paths) <= NAMED_PATHS else "git add -u"

    def push_lines(self, branch: str) -> Iterator[str]:
        """Yield the commits that are not on the remote; `git push`, and a pull request where that is wanted."""
        remotes = self.git("remote").split()
        remote = self.repository.config(f"branch.{branch}.remote") or next(
            (each for each in ("origin", *remotes) if each in remotes), ""
        )
        opens = "open_pull_request" in self.wanted.tools
        base = self.wanted.base or self.default_branch(remote)
        upstream = self.git(
            "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"
        )
        start = upstream if upstream and not opens else self.start_of(remote, base)
        start = "" if start == branch else start
        commits = self.subjects(f"{start}..HEAD") if start else []
        if not self.repository.head:
            yield "There is no commit yet."
        elif not branch or (opens and branch == base):
            what = f"This is {branch} itself" if branch else "HEAD is detached"
            yield f"{what}: make a branch first."
            self.commands.append("git switch -c <name>")
            branch = ""
        if commits:
            more = "" if len(commits) < SUBJECTS else " or more"
            yield f"Commits that {start} does not have: {len(commits)}{more}."
            yield from (f"  {each}" for each in commits[:LISTED])
            done = review_request(Range(start, "HEAD"), self.invocation)
            if done.decision is not Decision.ALLOW:
                self.stop_at(done)
                return
        elif start and "git_commit" not in self.wanted.tools:
            yield f"{start} has every commit of {branch or 'HEAD'} already."
        if not remote:
            yield "No remote is configured."
            self.commands.append("git remote add origin <url>")
        name = shlex.quote(branch) if branch else "<name>"
        is_tracked = upstream and branch and not self.wanted.branch
        options = "" if is_tracked else f" -u {shlex.quote(remote or 'origin')} {name}"
        self.commands.append(f"git push{options}")
        if opens:
            yield from self.pull_request_lines(
                base, branch, start, commits, has_origin="origin" in remotes
            )

    def pull_request_lines(
        self,
        base: str,
        branch: str,
        start: str,
        commits: Sequence[str],
        *,
        has_origin: bool,
    ) -> Iterator[str]:
        """Yield the title and the text of a pull request, from its commits."""
        draft = MessageDraft("<what the branch does>", ())
        if commits:
            with gather(Range(start, "HEAD"), self.repository, self.invocation) as gathered:
                draft = self.draft(gathered.subject)
                listed = tuple(f"- {each}" for each in commits[:LISTED])
                draft = (
                    MessageDraft(draft.subject, listed)
                    if len(commits) > 1
                    else MessageDraft(commits[0], draft.body)
                )
        yield f"Then open it from {branch or '<name>'} into {base or '<base>'} on the host, with this text:"
        yield from (f"  {line}".rstrip() for line in (draft.subject, *draft.body))
        if has_origin:
            options = self.message_options("--title", draft, body="--body")
            self.commands.append(
                f"gh pr create --base {quote([base])} {options}   # if its host is GitHub"
            )

    def draft(self, subject: ReviewInput) -> MessageDraft:
        """Draft a message in the style of the last commits."""
        return draft_message(subject, self.subjects("--no-merges"))

    def subjects(self, which: str) -> list[str]:
        """Return the first lines of the last messages, none before the first commit."""
        return self.git(
            "log", "-n", str(SUBJECTS), "--no-show-signature", "--format=%s", which
        ).splitlines()

    def message_options(self, option: str, draft: MessageDraft, body: str = "") -> str:
        """Return the options of a command that give it a message; one that the request names comes first."""
        given = self.wanted.message if option == "-m" else ""
        subject = redact(given or draft.subject)
        text = redact("" if given else "\n".join(draft.body))
        self.messages.append("\n\n".join(filter(None, (subject, text))))
        return f"{option} {shlex.quote(subject)}" + (
            f" {body or option} {shlex.quote(text)}" if text else ""
        )

    def start_of(self, remote: str, base: str) -> str:
        """Return the branch that the commits are counted from, "" if there is none."""
        verify = ("rev-parse", "--quiet", "--verify", "--end-of-options")
        names = (f"{remote}/{base}", base) if remote else (base,)
        return next((name for name in names if self.git(*verify, f"{name}^{{commit}}")), "")

    def default_branch(self, remote: str) -> str:
        """Return the branch that others start from: what the remote names, else main or master."""
        named = self.git(
            "symbolic-ref", "--quiet", "--short", f"refs/remotes/{remote}/HEAD"
        )
        found = (each for each in ("main", "master") if self.start_of(remote, each))
        return named.partition("/")[2] or next(found, "main")

    def stop_at(self, done: Review) -> None:
        """Answer with what stops the review."""
        shown = f"{LEFT}The review stops it:\n{review_text.render(done, color=False)}"
        self.stop = Proposal(done.status, shown, {})


def draft_recording(
    said: UserRequest,
    repository: Repository,
    invocation: Invocation,
) -> Proposal:
    """Answer a request to record something. Raises UsageError in a bare repository, GitError, ConfigError."""
    if repository.bare:
        raise UsageError(
            "a bare repository has no work tree: ask in one that has, for a commit or a push"
        )
    recorder = Recorder(Recording.of(said), repository, invocation)
    lines = (LEFT.rstrip(), *recorder.lines())
    text = redact("\n".join(lines))
    proposal = recorder.stop or Proposal("ok", text, {})
    data: dict[str, object] = {
        "input": redact(said.text),
        "status": proposal.status,
        "task_type": said.kind,
        "final_output": proposal.text,
        "messages": [] if recorder.stop else recorder.messages,
        "commands": [] if recorder.stop else list(map(redact, recorder.commands)),
        **dict.fromkeys(("plan", "tool_results", "blocked_actions"), ()),
        "action_log": (),
        "requires_human_review": proposal.status == "needs_review",
    }
    return replace(proposal, data=data)


def quote(paths: Sequence[str]) -> str:
    """Return paths as words of a shell command."""
    return " ".join(map(shlex.quote, paths))
