"""`cli-guard explain`: a rule in full; the assistant explains a file, a folder, a name, a commit or a command."""

import fnmatch
from collections.abc import Mapping
from itertools import islice
from textwrap import fill, indent
from typing import Any

import click

from cli_guard.cli.app import Command, flag, option
from cli_guard.cli.io import Io
from cli_guard.cli.rules import rules_here, table_of
from cli_guard.errors import UsageError
from cli_guard.graph import half
from cli_guard.policy.config import unknown_rule
from cli_guard.policy.decisions import default_disposition
from cli_guard.policy.globs import USERS_RULE, nearest
from cli_guard.policy.suppressions import UNANSWERABLE
from cli_guard.repository.unified import file_diff
from cli_guard.reviewers.code.remarks import effects_of
from cli_guard.rules.catalog import Rule, flow_languages, load_all, read_table
from cli_guard.rules.data import is_firing, names
from cli_guard.rules.examples import show_example
from cli_guard.secrets.printable import printable

WIDTH = 78


def paragraph(label: str, text: str) -> str:
    words = " ".join(text.split())
    return f"{label}\n" + fill(words, WIDTH, initial_indent="  ", subsequent_indent="  ")


def examples(label: str, texts: tuple[str, ...]) -> str:
    """Format examples, each indented."""
    shown = [
        indent(
            printable(show_example(text), keep_newlines=True).strip("\n") or "(empty)",
            "    ",
        )
        for text in texts[:3]
    ]
    return f"{label}\n" + "\n  --\n".join(shown)


def show_change(example: Mapping[str, Any]) -> str:
    """Return an example of a change: each file's path, and the lines that go, come and stay."""
    before = example.get("before", {})
    after = example.get("after", {})
    if "path" in example:
        before = {example["path"]: before} if before else {}
        after = {example["path"]: after or ""}
    deleted = example.get("deleted", ())
    parts = []
    for path in {**after, **before}:
        old = before.get(path)
        new = None if path in deleted else after.get(path, old)
        diff = file_diff(path, old, new) or indent(old or "", " ")
        lines = (line for line in diff.split("\n") if line[:1] in ("-", "+", " "))
        kept = (line for line in lines if not line.startswith(("--- ", "+++ ")))
        parts.append(show_example(f"<<path:{path}>>\n" + "\n".join(kept)))
    return "\n".join(parts)


def flow_example(kind: str) -> Mapping[str, Any]:
    """Return the entry of the sink that shows what is followed to this kind of call, Python's if there is one."""
    for language in ("python", *flow_languages()):
        for name in names(f"flow/{language}"):
            for sink in read_table(f"flow/{language}/{name}")["sink"]:
                if sink["kind"] == kind and "fires" in sink:
                    found: Mapping[str, Any] = sink
                    return found
    return {}


def render_rule(rule: Rule) -> str:
    effects = effects_of(rule.id) if rule.id.startswith("code-") else ()
    parts = [
        f"{rule.id}: {rule.title}",
        f"  {rule.category}, {rule.severity}, confidence {rule.confidence}; by default: {default_disposition(rule)}",
        *(paragraph(f"Why {rule.severity}", effect.means) for effect in effects),
        paragraph("Why it matters", rule.why),
        paragraph("What to do", rule.remedy),
    ]
    changes = rule.extra.get("change", ())
    flow = rule.id.removeprefix("code-flow-")
    sink = flow_example(flow) if flow != rule.id else {}
    for label, given, fires in (
        ("Reported", rule.fires or sink.get("fires"), True),
        ("Not reported", rule.silent or sink.get("silent"), False),
    ):
        fitting = (each for each in changes if is_firing(each) is fires)
        shown = given or [show_change(each) for each in islice(fitting, 1)]
        if shown:
            parts.append(examples(label, tuple(shown)))
    if rule.source:
        parts.append(paragraph("Source", rule.source))
    answer = f'  everywhere: [rules] "{rule.id}" = "advise" in cli-guard.toml'
    if not rule.id.startswith(("message-", "push-")):
        # A message and a push have no path that an entry could name.
        one = f'  one finding: cli-guard ignore {rule.id} PATH:LINE --reason "..."'
        answer = f"{one}\n{answer}"
    if rule.id in UNANSWERABLE:
        answer = "  Nothing written in the repository does: it is about the guard itself, or a check that failed."
    parts.append(f"To suppress it\n{answer}")
    return "\n\n".join(parts)


def page(rule: str, io: Io | None = None) -> str:
    """Return the page of the rule with this id; `io` says whose repository's own rules count.

    Raises UsageError, ConfigError.
    """
    rules = rules_here(io) if io and rule.startswith(USERS_RULE) else load_all()
    if rule not in rules:
        said = unknown_rule(rule) or f"there is no rule {rule!r}{nearest(rule, rules)}"
        raise UsageError(f"{said}; list them with `cli-guard rules`")
    return render_rule(rules[rule])


def rules_like(io: Io, subject: str) -> list[Rule]:
    """Return the rules that a pattern matches, or that begin with a part of an id, if nothing else is called so."""
    is_part = "-" in subject and subject not in load_all() and not io.path(subject).exists()
    if " " in subject or not ("*" in subject or is_part):
        return []
    rules = rules_here(io)
    if subject in rules:
        return []
    pattern = subject if "*" in subject else f"{subject}*"
    return [rules[each] for each in fnmatch.filter(rules, pattern)]


@click.pass_obj
def run(io: Io, /, words: tuple[str, ...], rev: str | None, worktree: bool) -> int:

    subject = " ".join(words)
    if found := rules_like(io, subject):
        text = table_of(found)
    elif len(words) == 1 and (subject in load_all() or subject.startswith(USERS_RULE)):
        text = page(subject, io)
    else:
        explain_subject = half.load("an explanation")
        text = "\n".join(explain_subject(io, subject, rev, worktree=worktree))
    io.say(printable(text, keep_newlines=True))
    return 0


command = Command(
    "explain",
    callback=run,
    help="Explain a rule (why it matters, what to do, examples) or list those that match secret-*; a file or folder"
    " (its purpose, names, imports and tests); a name of the code (its documentation, callers and tests); a commit; or"
    " a command: what each part does, and how it is judged. Options come before what is explained.",
    params=[
        click.Argument(
            ["words"], nargs=-1, required=True, metavar="RULE|PATH|NAME|COMMIT|COMMAND"
        ),
        option("--rev", "REV", "Use the files of a commit instead of what is staged."),
        flag("--worktree", "Use the files of the work tree."),
    ],
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
