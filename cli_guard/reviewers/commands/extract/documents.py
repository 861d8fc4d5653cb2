"""Documents whose commands need more than a fixed path: workflows, containers, hooks, agents, playbooks."""

import re
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.nodes import (
    Document,
    Items,
    Node,
    Scalar,
    Table,
    at,
    lines,
    scalars,
    tables,
    word_pieces,
    words,
)
from cli_guard.reviewers.commands.extract.programs import program
from cli_guard.reviewers.commands.extract.snippet import (
    Snippet,
    Where,
    language_of_text,
    shell_of,
    snippet,
    snippet_if_any,
)
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("command_files/patterns.toml", "documents")
# Action inputs that are run as a script on some machine: a retry, an SSH session, an emulator.
RUN_INPUTS = ("run", "command", "script")
# The endings of the files that the interpreters of a step read.
ENDINGS = {"python": ".py", "node": ".js", "perl": ".pl", "ruby": ".rb", "php": ".php"}
# Hooks whose `entry` is a pattern, a message or the name of an image.
NO_COMMAND = ("pygrep", "fail", "docker_image", "docker")
# Settings of agents that hold a command, beside those of hooks and servers.
HELPERS = (
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "otelHeadersHelper",
    "gcpAuthRefresh",
)
ANSIBLE = re.compile(
    r"(?m)^[ \t]*(?:-[ \t]+)?['\"]?(?:ansible\.\w+\.)?(?:win_)?(?:shell|command|raw)['\"]?:"
)


def workflow(document: Document) -> Iterator[Snippet]:
    roots = document.roots
    for shell in at([*roots, *at(roots, "jobs", "*")], "defaults", "run", "shell"):
        yield from _shell_itself(shell)
    for job in at(roots, "jobs", "*"):
        if _never_runs(job):
            continue
        named = _default_shell(job) or _default_shell(*roots)
        for step in at([job], "steps", "[]"):
            yield from _workflow_step(
                step, named or ("pwsh" if _on_windows(job, step) else "sh")
            )
    for step in at(roots, "runs", "steps", "[]"):
        yield from _workflow_step(step, "sh")


def _never_runs(node: Node) -> bool:
    """Return whether a job or step is switched off; to switch it on is new. `${{ false }}` in a text may be true."""
    return isinstance(node, Table) and node.text("if").strip() == "false"


def _workflow_step(step: Node, default: str) -> Iterator[Snippet]:
    if not isinstance(step, Table) or _never_runs(step):
        return
    named = step.text("shell")
    # The shell in an expression is known only at run time, but Python may be named next to it.
    shell = named if named and ("${{" not in named or "python" in named) else default
    yield from _shell_itself(step.get("shell"))
    for found in _run_by(shell, step.get("run")):
        yield found.substitute(PATTERNS["expression"])
    inputs = step.get("with")
    if isinstance(inputs, Table) and step.text("uses").startswith("docker://"):
        yield from snippet_if_any(
            word_pieces(inputs.get("entrypoint"), inputs.get("args")), Where.CI
        )
    if isinstance(inputs, Table) and not PATTERNS["javascript"].match(step.text("uses")):
        for name in RUN_INPUTS:
            for found in lines(inputs.get(name), Where.CI):
                yield found.substitute(PATTERNS["expression"])


def _shell_itself(shell: Node | None) -> Iterator[Snippet]:
    """Yield the value of `shell`, which is a command: `bash -c "..." {0}` need not run the file of the step at all."""
    has_arguments = isinstance(shell, Scalar) and " " in shell.text.strip()
    for found in lines(shell, Where.CI) if has_arguments else ():
        yield found.substitute(PATTERNS["expression"])


def _run_by(shell: str, text: Node | None) -> Iterator[Snippet]:
    """Yield the text of a step, or the shell strings in it if its shell is an interpreter of another language."""
    language = shell_of(shell)
    found = PATTERNS["interpreter"].search(shell) if language == "other" else None
    if found is None or not isinstance(text, Scalar):
        yield from lines(text, Where.CI, language)
        return
    whole = snippet(text.pieces, Where.CI)
    starts = [0, *(end.end() for end in re.finditer("\n", whole.text))]
    for each in program(f"step{ENDINGS[found[1]]}", whole.text):
        yield replace(
            each,
            where=Where.CI,
            lines=tuple(whole.line_at(starts[line - 1]) for line in each.lines),
        )


def _default_shell(*nodes: Node) -> str:
    """Return the shell that a workflow or a job sets for its steps, empty if none."""
    named = [
        node.text
        for node in at(nodes, "defaults", "run", "shell")
        if isinstance(node, Scalar)
    ]
    return named[0] if named and "${{" not in named[0] else ""


def _on_windows(job: Node, step: Node) -> bool:
    runs_on = [*at([job], "runs-on"), *at([job], "runs-on", "[]")]
    return any(
        isinstance(node, Scalar) and pattern.search(node.text)
        for nodes, pattern in (
            (runs_on, PATTERNS["windows_runner"]),
            (at([job, step], "if"), PATTERNS["only_windows"]),
        )
        for node in nodes
    )


def compose(document: Document) -> Iterator[Snippet]:
    """Yield what the services of a compose file run at start and as health checks."""
    for service in at(document.roots, "services", "*"):
        if not isinstance(service, Table):
            continue
        found = [
            *_container_command(service.get("entrypoint"), service.get("command")),
            *_health_check(*at([service], "healthcheck", "test")),
        ]
        for hook in (*at([service], "post_start", "[]"), *at([service], "pre_stop", "[]")):
            found += (
                words(hook.get("command"), Where.SERVICE) if isinstance(hook, Table) else ()
            )
        for each in found:
            yield each.substitute(PATTERNS["dollars"], lambda _: "$")


def build_steps(document: Document) -> Iterator[Snippet]:
    """Yield the steps of Cloud Build."""
    for each in manifest(document):
        yield each.substitute(PATTERNS["dollars"], lambda _: "$")


def manifest(document: Document) -> Iterator[Snippet]:
    """Yield the commands of a Kubernetes manifest: containers, probes, hooks, and pipeline steps."""
    for table in tables(document.roots):
        if table.get("image") or table.get("name"):
            yield from _container_command(
                table.get("command") or table.get("entrypoint"), table.get("args")
            )
            yield from lines(table.get("script"), Where.SERVICE)
        for probe in at([table], "exec", "command"):
            yield from words(probe, Where.SERVICE)


def _container_command(first: Node | None, rest: Node | None) -> Iterator[Snippet]:
    return snippet_if_any(word_pieces(first, rest), Where.SERVICE)


def _health_check(*tests: Node) -> Iterator[Snippet]:
    for test in tests:
        if isinstance(test, Scalar):
            yield from words(test, Where.SERVICE)
            continue
        found = list(scalars(test))
        form = found[0].text if found else ""
        if form in ("CMD", "CMD-SHELL"):
            run = lines if form == "CMD-SHELL" else words
            yield from run(Items(list(found[1:])), Where.SERVICE)


def hook_frameworks(document: Document) -> Iterator[Snippet]:
    """Yield the entries of a configuration's own hooks, or of the hooks that a repository offers."""
    for repo in at(document.roots, "repos", "[]"):
        if isinstance(repo, Table) and repo.text("repo") == "local":
            for hook in at([repo], "hooks", "[]"):
                yield from _hook(hook)
    for hook in at(document.roots, "[]"):
        yield from _hook(hook)


def _hook(hook: Node) -> Iterator[Snippet]:
    entry = (
        hook.get("entry")
        if isinstance(hook, Table) and hook.text("language") not in NO_COMMAND
        else None
    )
    if isinstance(hook, Table) and isinstance(entry, Scalar) and entry.text.strip():
        yield snippet(word_pieces(entry, hook.get("args")), Where.HOOK)


def composer(document: Document) -> Iterator[Snippet]:
    """Yield the commands of composer scripts; `@php` is the PHP that composer runs with."""
    for script in at(document.roots, "scripts", "*"):
        for each in scalars(script):
            if each.text.strip() and not PATTERNS["callback"].match(each.text):
                yield snippet(
                    [(line, text.removeprefix("@")) for line, text in each.pieces],
                    Where.BUILD,
                )


def tasks(document: Document) -> Iterator[Snippet]:
    """Yield the tasks of a VS Code folder, for each system."""
    for task in (*document.roots, *at(document.roots, "tasks", "[]")):
        if not isinstance(task, Table):
            continue
        for variant in (
            task,
            *(
                each
                for system in ("linux", "osx", "windows")
                for each in at([task], system)
            ),
        ):
            if isinstance(variant, Table):
                pieces = word_pieces(
                    plain_word(variant.get("command")),
                    plain_words(variant.get("args") or task.get("args")),
                )
                if variant.get("command") and pieces:
                    yield snippet(pieces, Where.AGENT).substitute(PATTERNS["editor_value"])


def agent(document: Document) -> Iterator[Snippet]:
    """Yield hooks, helpers and tool servers in the settings of a coding agent."""
    for table in tables(document.roots):
        command = table.get("command")
        if isinstance(command, Items):
            yield from words(command, Where.AGENT)
        elif isinstance(command, Scalar) and command.text.strip():
            yield snippet(word_pieces(command, plain_words(table.get("args"))), Where.AGENT)
        for helper in HELPERS:
            yield from lines(table.get(helper), Where.AGENT)
    for notify in at(document.roots, "notify"):
        yield from words(notify, Where.AGENT)


def plain_word(node: Node | None) -> Node | None:
    """Return a word; VS Code has some in a table, with the way to quote them."""
    return node.get("value") if isinstance(node, Table) else node


def plain_words(node: Node | None) -> Items:
    found = node.nodes if isinstance(node, Items) else ()
    return Items([value for each in found if (value := plain_word(each)) is not None])


def ansible(document: Document) -> Iterator[Snippet]:
    for table in tables(document.roots):
        for key, value in table.items():
            module = PATTERNS["module"].fullmatch(key)
            if module:
                for found in _module_text(value, _program_of(table, value)):
                    yield _hide_values(
                        replace(found, language="cmd") if "win" in key else found
                    )


def cloud_init(document: Document) -> Iterator[Snippet]:
    """Yield what a new machine runs first; each command is a text or a list of words."""
    for name in ("runcmd", "bootcmd"):
        for command in at(document.roots, name, "[]"):
            yield from words(command, Where.SERVICE)


def _program_of(task: Table, value: Node) -> str:
    """Return the language of the interpreter that the task sets, empty if none."""
    named = [
        table.text("executable")
        for table in (task.get("args"), value)
        if isinstance(table, Table)
    ]
    return next((shell_of(name) for name in named if name), "")


def _module_text(value: Node, language: str) -> Iterator[Snippet]:
    if isinstance(value, Scalar):
        yield from lines(value, Where.SCRIPT, language or language_of_text(value.text))
    elif isinstance(value, Table):
        argv = value.get("argv")
        if isinstance(argv, Items):
            yield from words(argv, Where.SCRIPT)
        yield from lines(value.get("cmd"), Where.SCRIPT, language or "sh")


def _hide_values(found: Snippet) -> Snippet:
    return found.substitute(PATTERNS["statement"], lambda text: " " * len(text)).substitute(
        BRACES
    )
