"""Configuration files in which the place alone tells what is a command: CI services, task runners, hosts, agents.

A place is written as keys with dots between, `[]` for each item of a list, `*` for any name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cli_guard.reviewers.commands.extract.nodes import Document, at, tables
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, shell_of
from cli_guard.reviewers.commands.extract.values import each_line, lines, words

BRACES = re.compile(r"\{\{.{1,500}?\}\}", re.DOTALL)
GITLAB_INPUT = re.compile(r"\$\[\[.{1,500}?\]\]")
AZURE_VALUE = re.compile(r"\$\{\{.{1,500}?\}\}|\$\[.{1,500}?\]|\$\((?=[\w.-]*[A-Z._])[A-Za-z][\w.-]{0,200}\)")
CIRCLE_VALUE = re.compile(r"<<\s*[#/^]?[\w.| -]{1,200}>>")
HOOK_FILES = re.compile(r"\{[\w:.-]{1,80}\}")
YAML = r"\.ya?ml"


@dataclass(frozen=True)
class Known:
    """A kind of file.

    `lines`: places of a text for a shell or a list of such, which one shell runs. `apart`: the same, each run by
    a shell of its own. `words`: places of a text or of the words of one command. `keys`: names of keys, wherever
    they stand, whose value is as in `lines`, and the shell it is for; a `shell` beside it says another one.
    `hide` matches what is filled in before any shell reads the text.
    """

    paths: re.Pattern[str]
    where: Where
    lines: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    hide: re.Pattern[str] | None = None

    def snippets(self, document: Document) -> Iterator[Snippet]:
        """The commands of a document of this kind."""
        for found in self.found(document):
            yield found.substituted(self.hide) if self.hide else found

    def found(self, document: Document) -> Iterator[Snippet]:
        """The commands as they stand there."""
        for place in self.lines:
            for node in at(document.roots, *place.split(".")):
                yield from lines(node, self.where)
        for place in self.apart:
            for node in at(document.roots, *place.split(".")):
                yield from each_line(node, self.where)
        for place in self.words:
            for node in at(document.roots, *place.split(".")):
                yield from words(node, self.where)
        if not self.keys:
            return
        for table in tables(document.roots):
            named = table.text("shell")
            for key, node in table.items():
                if key in self.keys:
                    yield from lines(node, self.where, shell_of(named) if named else self.keys[key])


def sh(keys: str) -> dict[str, str]:
    """Keys whose values are for sh."""
    return dict.fromkeys(keys.split(), "sh")


def path(pattern: str) -> re.Pattern[str]:
    """A pattern over the end of a path: whole names, in either case."""
    return re.compile(rf"(?:^|/)(?:{pattern})$", re.IGNORECASE)


CI = (
    Known(
        path(rf"(?:[\w.-]*\.)?gitlab-ci{YAML}|\.gitlab/(?:.+/)?[^/]+{YAML}|\.gitlab-ci/(?:.+/)?[^/]+{YAML}"),
        Where.CI,
        keys=sh("script before_script after_script pre_get_sources_script"),
        hide=GITLAB_INPUT,
    ),
    Known(
        path(
            rf"\.?azure-?pipelines?[^/]*{YAML}|\.?azure-?pipelines?/(?:.+/)?[^/]+{YAML}|\.azure/(?:.+/)?[^/]+{YAML}"
        ),
        Where.CI,
        keys={**sh("script bash"), "pwsh": "pwsh", "powershell": "pwsh"},
        hide=AZURE_VALUE,
    ),
    Known(path(rf"\.circleci/(?:.+/)?[^/]+{YAML}"), Where.CI, keys=sh("run command"), hide=CIRCLE_VALUE),
    Known(path(rf"bitbucket-pipelines{YAML}"), Where.CI, keys=sh("script after-script")),
    Known(
        path(rf"\.?(?:drone|woodpecker){YAML}|\.woodpecker/(?:.+/)?[^/]+{YAML}|\.semaphore/[^/]+{YAML}"),
        Where.CI,
        keys=sh("commands"),
    ),
    Known(
        path(rf"\.travis{YAML}"),
        Where.CI,
        keys=sh(
            "before_install install before_script script after_script after_success after_failure before_deploy "
            "after_deploy before_cache"
        ),
    ),
    Known(path(rf"\.buildkite/(?:.+/)?[^/]+{YAML}"), Where.CI, keys=sh("command commands")),
    Known(
        path(rf"buildspec[^/]*{YAML}|amplify{YAML}|codefresh{YAML}|bitrise{YAML}"),
        Where.CI,
        keys=sh("commands content"),
    ),
    Known(
        path(rf"\.?appveyor{YAML}"),
        Where.CI,
        keys={**sh("sh"), "ps": "pwsh", "pwsh": "pwsh", "cmd": "cmd"},
        lines=tuple(
            "init install before_build build_script after_build before_test test_script after_test on_finish".split()
        ),
    ),
    Known(
        path(rf"\.cirrus{YAML}"),
        Where.CI,
        lines=("*_script", "*.*_script", "*.*.*_script", "*.[].*_script", "*.*.[].*_script"),
    ),
    Known(
        path(rf"\.readthedocs{YAML}"),
        Where.CI,
        lines=("build.commands", "build.jobs.*", "build.jobs.build.*"),
    ),
    Known(
        path(
            r"netlify\.toml|vercel\.json|render\.ya?ml|app\.json|heroku\.yml|fly\.toml|railway\.(?:json|toml)"
        ),
        Where.CI,
        keys=sh(
            "buildCommand installCommand devCommand ignoreCommand startCommand preDeployCommand dockerCommand "
            "release_command postdeploy pr-predestroy"
        ),
        lines=("build.command", "build.ignore", "context.*.command", "run.*"),
    ),
)

PYTHON_TOOLS = (
    *("taskipy.tasks.*", "taskipy.tasks.*.cmd", "poe.tasks.*.shell", "poe.tasks.*.cmd"),
    *(
        "poe.tasks.*.sequence.[].cmd",
        "poe.tasks.*.sequence.[].shell",
        "poe.tasks.*.[].cmd",
        "poe.tasks.*.[].shell",
    ),
    *("pdm.scripts.*.shell", "pdm.scripts.*.composite", "hatch.envs.*.scripts.*", "pdm.scripts.*"),
    *("hatch.envs.*.pre-install-commands", "hatch.envs.*.post-install-commands", "poe.tasks.*"),
    *("cibuildwheel.before-*", "cibuildwheel.test-command", "cibuildwheel.repair-wheel-command"),
    *(
        "cibuildwheel.[!w]*.before-*",
        "cibuildwheel.[!w]*.test-command",
        "cibuildwheel.[!w]*.repair-wheel-command",
    ),
    *("cibuildwheel.overrides.[].before-*", "cibuildwheel.overrides.[].test-command"),
    *("semantic_release.build_command", "bumpversion.pre_commit_hooks", "bumpversion.post_commit_hooks"),
    *("commitizen.pre_bump_hooks", "commitizen.post_bump_hooks"),
)

TASKS = (
    Known(
        path(rf"[\w.-]*taskfile(?:\.dist)?{YAML}|\.?tasks?/[^/]*taskfile[^/]*{YAML}"),
        Where.BUILD,
        keys=sh("cmds cmd sh status preconditions defer"),
        lines=("tasks.*", "tasks.*.cmds.[].task"),
        hide=BRACES,
    ),
    Known(
        path(r"package\.json"),
        Where.BUILD,
        lines=("scripts.*", "husky.hooks.*", "gitHooks.*", "simple-git-hooks.*", "wireit.*.command"),
        apart=("lint-staged.*",),
    ),
    Known(path(r"\.lintstagedrc(?:\.json|\.ya?ml)?"), Where.BUILD, apart=("*",)),
    Known(path(r"\.huskyrc(?:\.json)?|\.?simple-git-hooks\.json"), Where.HOOK, lines=("hooks.*", "*")),
    Known(
        path(r"project\.json|nx\.json"),
        Where.BUILD,
        lines=("targets.*.command", "targets.*.options.command"),
        apart=("targets.*.options.commands", "targets.*.options.commands.[].command"),
    ),
    Known(path(r"deno\.jsonc?"), Where.BUILD, lines=("tasks.*", "tasks.*.command")),
    Known(
        path(r"pyproject\.toml"),
        Where.BUILD,
        lines=tuple(f"tool.{place}" for place in PYTHON_TOOLS),
        words=(
            *("tool.pdm.scripts.*.cmd", "tool.rye.scripts.*", "tool.rye.scripts.*.cmd"),
            *("tool.tox.env.*.commands*.[]", "tool.tox.env_run_base.commands*.[]"),
        ),
        hide=HOOK_FILES,
    ),
    Known(
        path(r"hatch\.toml"),
        Where.BUILD,
        lines=("envs.*.scripts.*", "envs.*.pre-install-commands", "envs.*.post-install-commands"),
        hide=HOOK_FILES,
    ),
    Known(
        path(r"tox\.toml"),
        Where.BUILD,
        words=("env.*.commands*.[]", "env_run_base.commands*.[]"),
        hide=HOOK_FILES,
    ),
    Known(path(r"poe_tasks\.toml"), Where.BUILD, lines=("tasks.*.shell", "tasks.*.cmd", "tasks.*")),
    Known(
        path(r"mise\.toml|\.mise\.toml"),
        Where.BUILD,
        lines=("tasks.*.run", "tasks.*", "hooks.*", "hooks.*.*"),
    ),
    Known(
        path(r"\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)"),
        Where.HOOK,
        keys=sh("run"),
        hide=re.compile(r"\{[\w-]{1,40}\}|\{\d+\}"),
    ),
    Known(path(r"\.?gitpod\.yml"), Where.BUILD, keys=sh("before init command prebuild")),
    Known(
        path(r"\.?devcontainer\.json|\.devcontainer/[^/]*\.json|devcontainer-feature\.json"),
        Where.BUILD,
        words=("*Command", "*Command.*"),
    ),
)
