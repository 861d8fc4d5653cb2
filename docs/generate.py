"""Adds to the site what is not a file of docs/: the README, help texts, a page for each kind of rule, linked files.

mkdocs calls these functions (`hooks` in mkdocs.yml). Nothing that is generated is checked in, so nothing can be stale.
"""

import io
import os
import re
from collections import defaultdict
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from cli_guard.__main__ import main
from cli_guard.cli.app import COMMANDS
from cli_guard.cli.explain import page as rule_page
from cli_guard.reviewers.code.remarks import effects
from cli_guard.rules.catalog import load_all

ROOT = Path(__file__).parent.parent
TOP = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
# A link from docs/ to a file beside it, and one from a file there into docs/: on the site they are in one folder.
UP, DOWN = re.compile(r"\]\(\.\./([^)#]+)"), re.compile(r"\]\((?:\.\./|docs/)")
# Longer than any in an example.
FENCE = "`" * 8
# What a browser would load: a link (`a`) is only followed when somebody asks.
LOADED = re.compile(
    r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))\b[^>]*(?:src|href)=["']?(?:https?:)?//"""
    r"""|url\(\s*["']?(?:https?:)?//|@import\s+["'](?:https?:)?//"""
)


def help_of(*command: str) -> str:
    """Return the help text of a command, as a terminal of 80 columns shows it."""
    out = io.StringIO()
    main(
        ("help", *command),
        io.StringIO(),
        out,
        out,
        ROOT,
        {"PATH": os.environ["PATH"], "COLUMNS": "80"},
    )
    return f"{FENCE}text\n{out.getvalue()}{FENCE}\n"


def command_line() -> str:
    """Return the page of the help texts."""
    parts = [f"# The command line\n\n{help_of()}"]
    parts += (f"## cli-guard {name}\n\n{help_of(name)}" for name in COMMANDS)
    return "\n".join(parts)


def rule_pages() -> dict[str, str]:
    """Return the list of all rules, and a page for each kind of rule, by the names of their files."""
    kinds = defaultdict(list)
    for name in sorted(load_all()):
        first, second, *_ = name.split("-")
        kinds[f"{first}-{second}" if first == "code" else first].append(name)
    # A language with one or two rules needs no page of its own.
    for kind in [
        kind for kind, names in kinds.items() if kind.startswith("code-") and len(names) < 5
    ]:
        kinds["code"] += kinds.pop(kind)
    pages, listed = {}, []
    for kind, names in sorted(kinds.items()):
        bodies = (
            f"## {name}\n\n{FENCE}text\n{rule_page(name)}\n{FENCE}\n"
            for name in sorted(names)
        )
        pages[f"rules/{kind}.md"] = f"# Rules: {kind}\n\n" + "\n".join(bodies)
        listed += (
            f"- [{name}](rules/{kind}.md#{name}): {load_all()[name].title}"
            for name in sorted(names)
        )
    return {"rules.md": "\n".join(("# Rules\n", *listed, "", *severities())), **pages}


def severities() -> list[str]:
    """Return the lines of the section that says what a severity of the rules of `code` means."""
    rows = [f"| {effect.severity} | {effect.means} |" for effect in effects()]
    head = [
        "## What a severity of code means",
        "",
        "| severity | what happens if it is true |",
    ]
    return [*head, "|---|---|", *rows, ""]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files outside docs/ that a page links to."""
    made = {name: (ROOT / source).read_text("utf-8") for source, name in TOP.items()}
    made |= {"command-line.md": command_line(), **rule_pages()}
    for file in files.documentation_pages():
        for name in UP.findall(file.content_string):
            if (ROOT / name).is_file():
                made.setdefault(name, (ROOT / name).read_text("utf-8"))
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the links of the repository into those of the site."""
    return DOWN.sub("](", markdown)


def on_post_build(config: MkDocsConfig) -> None:
    """Raise PluginError for a page or style that loads something from elsewhere."""
    for path in Path(config.site_dir).rglob("*"):
        if path.suffix in (".html", ".css") and (
            found := LOADED.search(path.read_text("utf-8"))
        ):
            raise PluginError(f"{path.name} loads something from elsewhere: {found[0]}")
