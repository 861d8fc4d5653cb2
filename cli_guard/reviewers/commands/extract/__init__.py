"""Extract the shell commands of a file; its path selects the module, one a family of files.

Text for people (a README, a comment) is never extracted.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from cli_guard.code.templates import without_actions
from cli_guard.reviewers.commands.extract import (
    docker,
    documents,
    just,
    known,
    languages,
    line_files,
    make,
    notebooks,
    programs,
)
from cli_guard.reviewers.commands.extract.json_nodes import read_json
from cli_guard.reviewers.commands.extract.known import YAML, path
from cli_guard.reviewers.commands.extract.nodes import Document
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, variable
from cli_guard.reviewers.commands.extract.toml_nodes import read_toml
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml

__all__ = [
    "Snippet",
    "Unreadable",
    "Where",
    "family_of",
    "looks_so",
    "read_document",
    "snippets",
]

FromDocument = Callable[[Document], Iterator[Snippet]]
FromText = Callable[[str], Iterator[Snippet]]

DOCUMENTS: tuple[tuple[re.Pattern[str], FromDocument], ...] = (
    (
        path(rf"\.(?:github|gitea|forgejo)/workflows/[^/]+{YAML}|action{YAML}"),
        documents.workflow,
    ),
    *((kind.paths, kind.snippets) for kind in known.known_kinds()),
    (path(rf"(?:docker-|podman-)?compose(?:[.-][^/]*)?{YAML}"), documents.compose),
    (path(r"composer\.json"), documents.composer),
    (path(r"[^/]+\.ipynb"), notebooks.snippets),
    (path(rf"cloudbuild[^/]*(?:{YAML}|\.json)"), documents.build_steps),
    (path(rf"\.pre-commit-(?:config|hooks){YAML}|prek\.toml"), documents.hook_frameworks),
    (path(r"\.vscode/tasks\.json"), documents.tasks),
    (
        path(
            r"\.?(?:claude|cursor|gemini|codex|vscode|roo|windsurf|kiro|amazonq|continue|opencode)/"
            r"(?:.+/)?(?:settings(?:\.local)?|hooks|mcp|config|mcp_settings|mcp_config|opencode)\.(?:jsonc?|toml|ya?ml)"
            r"|\.?mcp\.json|hooks/hooks\.json|claude_desktop_config\.json|opencode\.jsonc?"
        ),
        documents.agent,
    ),
)
# Files known only by their content, which are read only if they hold this word.
BY_CONTENT: tuple[tuple[re.Pattern[str], re.Pattern[str], FromDocument], ...] = (
    (re.compile(rf"{YAML}$"), re.compile(r"\A#cloud-config"), documents.cloud_init),
    (re.compile(rf"{YAML}$"), re.compile(r"(?m)^apiVersion:"), documents.manifest),
    (re.compile(rf"{YAML}$"), documents.ANSIBLE, documents.ansible),
)
TEXTS: tuple[tuple[re.Pattern[str], FromText], ...] = (
    (path(r"(?:[^/]+\.)?(?:docker|container)file(?:[.-][^/]*)?"), docker.snippets),
    (
        path(r"(?:gnu|bsd)?makefile(?:\.(?!msc|vc|nmake|win)[^/]*)?|[^/]+\.(?:mk|make)"),
        make.snippets,
    ),
    (path(r"\.?justfile|[^/]+\.just"), just.snippets),
    (path(r"tox\.ini|setup\.cfg"), line_files.tox),
    (
        path(
            r"[^/]+\.(?:service|socket|mount|swap|timer|container|kube)(?:\.in)?|[^/]+\.service\.d/[^/]+\.conf"
        ),
        line_files.unit,
    ),
    (path(r"procfile(?:\.[^/]*)?"), line_files.procfile),
    (
        path(r"jenkinsfile(?:\.[^/]*)?|[^/]+\.jenkinsfile|[^/]+\.jenkins"),
        languages.jenkinsfile,
    ),
    (path(r"vagrantfile"), languages.vagrantfile),
    (path(r"[^/]+\.(?:tf|pkr\.hcl)"), languages.terraform),
    (path(r"(?:noxfile|tasks|fabfile)\.py"), languages.python_tasks),
)
CRONTAB = path(r"crontab(?:\.[^/]*)?|[^/]+\.(?:cron|crontab)|cron\.d/[^/]+")
TEMPLATE = re.compile(r"\.(?:j2|jinja2?|tmpl|tpl)$", re.IGNORECASE)
TEMPLATE_VALUE = re.compile(r"\{\{[^\n]{1,500}?\}\}")
TEMPLATE_STATEMENT = re.compile(r"\{%[^\n]{1,500}?%\}|(?<!\$)\{#[^\n]{0,500}?#\}")
READERS = {".json": read_json, ".jsonc": read_json, ".ipynb": read_json, ".toml": read_toml}


class Unreadable(ValueError):
    """A part of the file could not be read; everything before it has been yielded.

    `asks`: the program that the file is for may read it as it is; a template is another text when it is filled in.
    """

    def __init__(self, reason: str, *, asks: bool) -> None:
        super().__init__(reason)
        self.asks = asks


def looks_so(file: str, start: str) -> bool:
    """Return whether the path or the first line of a file shows that it holds commands."""
    return family_of(file, start) != ""


def family_of(file: str, start: str) -> str:
    """Return what names the kind of a file with commands, by its path and first line; "" for other files."""
    file = TEMPLATE.sub("", file)
    if line_files.is_script(file, start):
        return "script"
    kinds = (CRONTAB, *(paths for paths, _ in (*TEXTS, *DOCUMENTS)))
    return next((paths.pattern for paths in kinds if paths.search(file)), "")


def snippets(file: str, text: str, *, executable: bool = False) -> Iterator[Snippet]:
    """Yield the commands of a file, in any order. Raises Unreadable at the end if a part could not be read.

    An `executable` file without a first line for its interpreter, and without a family, is run by the caller's shell.
    """
    is_template = TEMPLATE.search(file) is not None or (
        "{{" in text and "templates/" in file
    )
    if TEMPLATE.search(file):
        file = TEMPLATE.sub("", file)
        text = TEMPLATE_STATEMENT.sub(lambda found: " " * len(found[0]), text)
        text = TEMPLATE_VALUE.sub(lambda found: variable(found[0]), text)
    if line_files.is_script(file, text) or (executable and _is_for_shell(file, text)):
        yield from line_files.script(file, text)
        return
    if CRONTAB.search(file):
        yield from line_files.crontab(file, text)
        return
    for paths, from_text in TEXTS:
        if paths.search(file):
            yield from from_text(text)
            if programs.is_program(file):
                yield from programs.program(file, text)
            return
    if programs.is_program(file):
        yield from programs.program(file, text)
        return
    extractors = _from_documents(file, text)
    if not extractors:
        return
    document = read_document(file, text)
    for extract in extractors:
        yield from extract(document)
    if document.problem:
        raise Unreadable(document.problem, asks=document.is_cut or not is_template)


def _is_for_shell(file: str, text: str) -> bool:
    return (
        not text.startswith("#!")
        and not PurePosixPath(file).suffix
        and not looks_so(file, "")
        and not programs.is_program(file)
    )


def _from_documents(file: str, text: str) -> list[FromDocument]:
    """Yield the commands of a document, recognised by its path or else by its content."""
    return [extract for paths, extract in DOCUMENTS if paths.search(file)] or [
        extract
        for paths, content, extract in BY_CONTENT
        if paths.search(file) and content.search(text)
    ]


def read_document(file: str, text: str) -> Document:
    """Read a file into nodes, as YAML unless its name says JSON or TOML."""
    reader = next(
        (reader for ending, reader in READERS.items() if file.endswith(ending)), read_yaml
    )
    document = reader(file, text)
    # The template of a chart is YAML only when it is filled in.
    is_template = document.problem and "{{" in text and not document.is_cut
    return reader(file, without_actions(text)) if is_template else document
