"""Judge what a coding agent wants to do: one answer for one request, or none.

No answer leaves the decision to the agent's own rules: what is harmless here is not lifted there.
"""

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.agents.tool_inputs import find_reads, find_shapes
from cli_guard.agents.uses import AgentRequest, Fetch, Read, ShellKind, Use, Write
from cli_guard.agents.wording import ALLOWED, HookAnswer, name_secret
from cli_guard.commands import (
    Context,
    EffectKind,
    Verdict,
    judge,
    judge_or_raise,
    verdict_of_failure,
)
from cli_guard.commands.model import STRICTNESS, Pattern, Profile
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.context import (
    SHELL_ENDINGS,
    command_context,
    find_choice,
    read_commands,
    root_of,
)
from cli_guard.execution.verdicts import sentence, write_allow
from cli_guard.execution.work_tree import TrustedTree, follow_links
from cli_guard.git.process import Git
from cli_guard.git.repository import GitRepository
from cli_guard.lazy import frozen, regex
from cli_guard.model import Category, Decision, Disposition, Finding
from cli_guard.reviewers.agent_paths import MAYBE
from cli_guard.runtime import Invocation, read_plain, user_state

if TYPE_CHECKING:
    from cli_guard.policy.decisions import Policy
    from cli_guard.secrets import SecretHit

# Agents write files all day: only files that guard, run or grant access by themselves are judged by their path.
UNREMARKABLE = frozenset((EffectKind.READ, EffectKind.WRITE, EffectKind.CREDENTIAL))
# What a file is that a command may not write in a trusted work tree without a question; see `rules/workspace.toml`.
ASKED_FILES = {
    "new": "which CI runs",
    "never": "which tells an agent, an editor or Git what to run",
    "installed": "which belongs to an installed package",
}
# Where another folder holds what Git knows of a work tree (git(1)).
MOVED = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_REPLACE_REF_BASE")
HOMES = regex(r"/(?:home|Users)/(?!Shared\b)[^/]+|/root(?=/|\Z)")
# As large as a file of a commit may be by default.
MOST_CHARS = 5_000_000
DECISIONS = {Disposition.DENY: Decision.DENY, Disposition.REVIEW: Decision.REVIEW}


@frozen
class RequestPlace:
    """A path as the agent gives it and as links resolve it, judged as the operand of a command."""

    names: tuple[str, ...]
    verdict: Verdict
    kinds: frozenset[EffectKind]


def answer_request(
    request: AgentRequest, invocation: Invocation, agent: str
) -> HookAnswer | None:
    """Return the strictest answer to the uses of a request; None if the agent's own rules decide.

    Raises CliGuardError.
    """
    invocation = replace(invocation, cwd=invocation.cwd / request.folder)
    answers = [judge_or_ask(use, invocation, agent) for use in request.uses]
    answer = find_strictest(answers)
    if answer is None or answer.decision is Decision.ALLOW:
        return find_allow(request, answers, invocation, agent)
    if answer.decision is Decision.REVIEW:
        if answer.command:
            from cli_guard.state.questions import remember_question

            with suppress(CliGuardError, OSError):
                remember_question(invocation, agent, answer.folder, answer.command)
        if request.silent:
            return answer.deny_unasked(request.silent)
    return answer


def find_strictest(answers: Iterable[HookAnswer | None]) -> HookAnswer | None:
    return max(
        filter(None, answers),
        key=lambda each: STRICTNESS.index(each.decision),
        default=None,
    )


def find_allow(
    request: AgentRequest,
    answers: Sequence[HookAnswer | None],
    invocation: Invocation,
    agent: str,
) -> HookAnswer | None:
    """Return the allow to say about uses without a remark, None for silence. Raises CliGuardError.

    Unless the user wants it otherwise, it is said where the agent still applies the user's own rules, and all of the
    request stays in a work tree that a person trusts.
    """
    choice = find_choice(invocation.env, agent)
    wanted = choice.answer if choice else None
    if wanted == "allow":
        is_said = all(answers)
    elif wanted == "defer" or not request.keeps_rules:
        is_said = False
    else:
        is_said = all(
            stays_in_trusted_tree(use, answer, invocation, agent)
            for use, answer in zip(request.uses, answers, strict=True)
        )
    return HookAnswer(Decision.ALLOW, ALLOWED) if answers and is_said else None


def stays_in_trusted_tree(
    use: Use, answer: HookAnswer | None, invocation: Invocation, agent: str
) -> bool:
    """Return whether a command, or a write as by a command, stays in a trusted work tree. Raises CliGuardError."""
    if isinstance(use, ShellKind):
        return answer is not None and answer.is_trusted
    if not isinstance(use, Write) or answer is not None:
        return False
    context = command_context(invocation.cwd, invocation.env, agent=agent)
    if not is_trusted_by_a_person(context, invocation):
        return False
    verdict = judge_place("tee", use.path, invocation, context).verdict
    return verdict.verdict is Decision.ALLOW


def is_trusted_by_a_person(context: Context, invocation: Invocation) -> bool:
    """Return whether a person trusts the work tree, in records that come with no repository.

    The settings of a project may move the state folder, or Git's folder with the audit log, by a variable.
    """
    state = user_state(invocation.env)
    if context.profile is not Profile.WORKSPACE or context.root is None or state is None:
        return False
    is_moved = any(invocation.env.get(name) for name in MOVED)
    return not is_moved and not Path(follow_links(str(state))).is_relative_to(
        follow_links(context.root)
    )


def judge_or_ask(use: Use, invocation: Invocation, agent: str) -> HookAnswer | None:
    """Judge one use of a tool; an error of our own is a question, in each profile. Raises CliGuardError."""
    try:
        return judge_use(use, invocation, agent)
    except CliGuardError:
        raise
    except Exception as error:
        return HookAnswer(Decision.REVIEW, sentence(verdict_of_failure("", error)))


def judge_use(use: Use, invocation: Invocation, agent: str) -> HookAnswer | None:
    """Judge one use of a tool; None if there is nothing to say. In the floors profile only denials are said."""
    if isinstance(use, ShellKind):
        return judge_shell(use, invocation, agent)
    if isinstance(use, Write):
        answer = judge_write(use, invocation, agent)
    elif isinstance(use, Read):
        answer = judge_read(use, invocation)
    else:
        # What only these need takes a tenth of the time of the others.
        from cli_guard.agents.remote import judge_call, judge_fetch

        if isinstance(use, Fetch):
            answer = judge_fetch(use)
        else:
            try:
                inner = (*find_reads(use.given), *find_shapes(use.given))
            except ValueError as error:
                words = f"cli-guard: the input of the tool could not be judged: {error}"
                return HookAnswer(Decision.REVIEW, words)
            answers = [judge_inner(each, invocation, agent) for each in inner]
            answer = find_strictest([judge_call(use, invocation), *answers])
    if (
        answer
        and answer.decision is not Decision.DENY
        and command_context(invocation.cwd, invocation.env, agent=agent).profile
        is Profile.FLOORS
    ):
        return None
    return answer


def judge_inner(use: Use, invocation: Invocation, agent: str) -> HookAnswer | None:
    """Judge what the input of an MCP tool says. Its command may be one of the server: only a denial counts."""
    answer = judge_use(use, invocation, agent)
    is_said = not isinstance(use, ShellKind) or (
        answer and answer.decision is Decision.DENY
    )
    return answer if is_said else None


def judge_shell(use: ShellKind, invocation: Invocation, agent: str) -> HookAnswer | None:
    """Judge a shell command; one that records or sends a change gets the review of that change."""
    invocation = replace(invocation, cwd=invocation.cwd / use.folder)
    context = command_context(invocation.cwd, invocation.env, agent=agent)
    verdict = judge_or_raise(use.command, context)
    # A sentence is searched for secrets: not for nothing, as most commands are allowed.
    reason = sentence(verdict) if verdict.verdict is not Decision.ALLOW else ALLOWED
    answer = HookAnswer(
        verdict.verdict, reason, command=use.command, folder=str(invocation.cwd)
    )
    if verdict.verdict is not Decision.DENY:
        answer = review_recorded_change(use.command, verdict, context, invocation) or answer
    if context.profile is Profile.FLOORS and answer.decision is not Decision.DENY:
        return None
    if answer.decision is Decision.ALLOW:
        return replace(answer, is_trusted=is_trusted_by_a_person(context, invocation))
    if answer.decision is Decision.REVIEW and answer.command:
        return replace(answer, ways=find_ways(verdict, context, invocation, agent))
    return answer


def find_ways(
    verdict: Verdict, context: Context, invocation: Invocation, agent: str
) -> tuple[str, ...]:
    """Return the commands with which the user allows a reviewed command from now on."""
    ways = {}
    if verdict.savable and (words := write_allow(verdict)):
        kept = Pattern(verdict.savable, Decision.ALLOW)
        ways[words] = replace(context, patterns=(*context.patterns, kept))
    if context.profile is Profile.STRICT:
        choice = find_choice(invocation.env, agent)
        if choice is None or choice.profile != "strict":
            ways["cli-guard trust --agents"] = replace(context, profile=Profile.WORKSPACE)
    found = (
        words
        for words, then in ways.items()
        if judge(verdict.command, then).verdict is Decision.ALLOW
    )
    return tuple(found)


def review_recorded_change(
    command: str, verdict: Verdict, context: Context, invocation: Invocation
) -> HookAnswer | None:
    """Review what a plain `git commit` or `git push` would record or send; None for any other command."""
    # Most commands are something else: what follows loads the table of Git, and more.
    if "git" not in command or not ("commit" in command or "push" in command):
        return None
    from cli_guard.agents.git_requests import find_reviewed_change

    request = find_reviewed_change(command, context, invocation)
    if request is None:
        return None
    from cli_guard.review.render.text import render
    from cli_guard.review.request import Staged
    from cli_guard.review.run import review_request

    review = review_request(request, invocation)
    asked = [
        effect.kind for effect in verdict.effects if effect.decision is Decision.REVIEW
    ]
    if review.decision is not Decision.ALLOW:
        return HookAnswer(review.decision, render(review).strip())
    if isinstance(request, Staged) and asked == [EffectKind.GIT_WRITE]:
        return HookAnswer(Decision.ALLOW, ALLOWED)
    return HookAnswer(
        verdict.verdict, sentence(verdict), command=command, folder=str(invocation.cwd)
    )


def judge_place(
    command: str, path: str, invocation: Invocation, context: Context
) -> RequestPlace:
    """Judge a path as the operand of a command that reads or writes it. Raises UsageError for one that is none."""
    if not path or "\0" in path:
        raise UsageError("the path is empty or holds a NUL character")
    home = invocation.env.get("HOME", "")
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    given = str(invocation.cwd / path.removeprefix("file://"))
    names = tuple(dict.fromkeys((given, follow_links(given))))
    # Patterns are about commands; here the engine only classifies a path.
    context = replace(context, patterns=())
    verdicts = [
        judge_or_raise(f"{command} -- {shlex.quote(each)}", context) for each in names
    ]
    strict = max(verdicts, key=lambda verdict: STRICTNESS.index(verdict.verdict))
    return RequestPlace(
        names,
        strict,
        frozenset(effect.kind for each in verdicts for effect in each.effects),
    )


def simple_context(invocation: Invocation) -> Context:
    """Return what classifies a path, without asking Git."""
    root = root_of(invocation.cwd)
    return Context(
        home=invocation.env.get("HOME"),
        folder=str(invocation.cwd),
        root=str(root) if root else None,
        follow=follow_links,
    )


def judge_read(use: Read, invocation: Invocation) -> HookAnswer | None:
    """Ask about keys, credentials and other people's homes."""
    context = simple_context(invocation)
    place = judge_place("cat", use.path, invocation, context)
    if not place.kinds <= {EffectKind.READ}:
        more = (
            "; instead: ask your user what it holds, or work with its name"
            if not place.verdict.alternative
            else ""
        )
        return HookAnswer(place.verdict.verdict, sentence(place.verdict) + more)
    own = [folder for folder in (context.home, context.root) if folder]
    own += [os.path.realpath(folder) for folder in own]
    for name in place.names:
        if HOMES.match(name) and not any(
            name == each or name.startswith(f"{each}/") for each in own
        ):
            return HookAnswer(
                Decision.REVIEW, f"cli-guard: reads {name}, in the home of another user"
            )
    return None


def judge_write(use: Write, invocation: Invocation, agent: str) -> HookAnswer | None:
    """Judge a write to a file by its name, the one that links lead to, and the secrets in what is new."""
    place = judge_place("tee", use.path, invocation, simple_context(invocation))
    answers = [judge_secrets(use, place, invocation)]
    surface = None
    if any(map(MAYBE.search, place.names)):
        # Most writes are to other files, and need nothing of what reads these.
        from cli_guard.agents.surface import judge_surface

        root = root_of(Path(place.names[-1]).parent)
        if root:
            policy = policy_in(replace(invocation, cwd=root))
            given = partial(find_approved, root, invocation)
            surface = judge_surface(use, place.names, root, policy, given)
            answers.append(surface)
    answers.append(find_new_commands(use, place, invocation, agent))
    # That it runs is what a person has approved; what else its name means is asked about.
    is_approved = surface is not None and surface.decision is Decision.ALLOW
    usual = UNREMARKABLE | {EffectKind.PERSISTENCE} if is_approved else UNREMARKABLE
    if not place.kinds <= usual or any(".git" in Path(name).parts for name in place.names):
        context = command_context(invocation.cwd, invocation.env, agent=agent)
        verdict = judge_place("tee", use.path, invocation, context).verdict
        answers.append(HookAnswer(verdict.verdict, sentence(verdict)))
    elif not is_approved and (asked := find_asked_file(place, invocation, agent)):
        answers.append(
            HookAnswer(Decision.REVIEW, f"cli-guard: writes {use.path}, {asked}")
        )
    answer = find_strictest(answers)
    return answer if answer and answer.decision is not Decision.ALLOW else None


def find_new_commands(
    use: Write, place: RequestPlace, invocation: Invocation, agent: str
) -> HookAnswer | None:
    """Judge the commands that a write adds to a file which runs them; None for any other file."""
    name = place.names[-1]
    root = root_of(Path(name).parent)
    if root is None or not use.added:
        return None
    inside = os.path.relpath(name, os.path.realpath(root))
    if not inside.endswith(SHELL_ENDINGS) and read_commands(inside, "") is None:
        return None
    # Most writes are to other files, and need nothing of what judges these.
    from cli_guard.agents.command_files import judge_commands

    context = command_context(root, invocation.env, agent=agent)
    return judge_commands(use, inside, root, context)


def find_approved(root: Path, invocation: Invocation) -> frozenset[str]:
    """Return the fingerprints of what was approved at a terminal for the repository at a folder."""
    from cli_guard.approvals.storage import StateFolder
    from cli_guard.state.records import Records

    with suppress(CliGuardError, OSError):
        folder = GitRepository.discover(root, invocation.env).state_folder
        given = StateFolder(Records(folder)).read_unsigned()
        return frozenset(mark for each in given for mark in each.made.findings)
    return frozenset()


def find_asked_file(place: RequestPlace, invocation: Invocation, agent: str) -> str:
    """Return why a file of a work tree is asked about, as for a command that writes it; "" if it is not."""
    from cli_guard.commands.trust.place import Place

    for name in place.names:
        root = root_of(Path(name).parent)
        # Written credentials are searched for secrets, and asked about when they are recorded.
        if root is None or Path(name).name.startswith(".env"):
            continue
        context = simple_context(replace(invocation, cwd=root))
        tree = Place(context, str(root), TrustedTree(root, Git(root, invocation.env)))
        inside = tree.relative(name) or ""
        kind = next((each for each in ASKED_FILES if tree.matches(each, inside)), "")
        if kind and (
            not tree.may_write(name)
            or command_context(root, invocation.env, agent=agent).profile is Profile.STRICT
        ):
            return ASKED_FILES[kind]
    return ""


def judge_secrets(
    use: Write, place: RequestPlace, invocation: Invocation
) -> HookAnswer | None:
    """Judge the secrets that a file does not hold yet, by the policy that would judge them in a commit."""
    # A file that holds credentials by its name is where they belong; recording it is what a commit is asked about.
    if not use.added or EffectKind.CREDENTIAL in place.kinds:
        return None
    from cli_guard.secrets import scan

    root = root_of(invocation.cwd)
    inside = root and place.names[0].startswith(f"{root}/")
    path = os.path.relpath(place.names[0], root) if inside else place.names[0]
    found = scan(use.added, path) if len(use.added) <= MOST_CHARS else None
    if found is None or found.stopped_at is not None:
        return HookAnswer(
            Decision.REVIEW,
            f"cli-guard: writes {use.path}, too much to search it for secrets",
        )
    if not found.hits:
        return None
    before = use.removed
    with suppress(OSError):
        before += read_plain(Path(place.names[-1])).decode("utf-8", "replace")
    new = [
        hit
        for hit in found.hits
        if hit.value not in before and not is_answered(hit, use.added)
    ]
    decided = [(decide_secret(hit, path, invocation), hit) for hit in new]
    worst = max(decided, key=lambda each: STRICTNESS.index(each[0]), default=None)
    if worst is None or worst[0] is Decision.ALLOW:
        return None
    instead = "let the program read it from the environment or a secret store"
    return HookAnswer(
        worst[0],
        f"cli-guard: writes {name_secret(worst[1])} to {use.path}; instead: {instead}",
    )


def is_answered(hit: "SecretHit", text: str) -> bool:
    """Return whether the line has a suppression: the commit is asked about it."""
    start = text.rfind("\n", 0, hit.start) + 1
    return "cli-guard: ignore[" in text[start : (text + "\n").index("\n", hit.end)]


def policy_in(invocation: Invocation) -> "Policy":
    """Return the policy in force in a folder. Raises CliGuardError."""
    from cli_guard.policy.recorded import policy_at_head

    repository = (
        GitRepository.discover(invocation.cwd, invocation.env)
        if root_of(invocation.cwd)
        else None
    )
    return policy_at_head(repository, invocation.env)[0]


def decide_secret(hit: "SecretHit", path: str, invocation: Invocation) -> Decision:
    """Return what the policy in force decides about a secret in a file. Raises CliGuardError."""
    policy = policy_in(invocation)
    finding = Finding(
        hit.rule, Category.RISK, hit.severity, hit.confidence, path, None, "", ""
    )
    if policy.ignore_for(finding, invocation.now.date()):
        return Decision.ALLOW
    return DECISIONS.get(policy.disposition(finding), Decision.ALLOW)
