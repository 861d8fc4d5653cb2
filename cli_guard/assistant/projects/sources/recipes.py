"""Recipes with names: of a Makefile, a justfile, a Taskfile, mise, a Rakefile, a Procfile."""

import re
from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files, folder_of, line_of, quoted, within
from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.reviewers.commands.extract.nodes import Items, Node, Scalar, Table, at, scalars
from cli_guard.reviewers.commands.extract.toml_nodes import read_toml
from cli_guard.reviewers.commands.extract.yaml_nodes import read_yaml

TARGET = re.compile(r"([A-Za-z0-9_][\w.%/ \t-]{0,200}?)[ \t]*::?(?![=:])[ \t]*([^=\n;]*)(?:;[ \t]*(.*))?$")
ASSIGNED = re.compile(
    r"(?:export[ \t]+|override[ \t]+)?([A-Za-z_]\w*)[ \t]*(?:::?|\?)?=[ \t]*([^\n]{0,300})$"
)
PHONY = re.compile(r"^\.PHONY[ \t]*:[ \t]*((?:[^\n\\]|\\\n)*)", re.MULTILINE)
# The Makefile that sphinx-quickstart writes hands every target on to Sphinx.
SPHINX = re.compile(r"^%:[^\n]*\n\t@?\$\(SPHINXBUILD\)", re.MULTILINE)
REFERENCE = re.compile(r"\$[({]([A-Za-z_]\w*)[)}]")
RECIPE_PREFIX = re.compile(r"^[ \t]*[@+-]*[ \t]*")
JUST_HEADER = re.compile(r"@?([A-Za-z_][\w-]*)((?:[ \t]+[^:\n]*?)?):(?!=)[ \t]*([^\n]*)$")
RAKE = re.compile(
    r"^[ \t]*(?:task[ \t(]+:?[\"']?(?P<name>[a-z_]\w*)[\"']?"
    r"|(?P<kind>Rake::TestTask|RSpec::Core::RakeTask|RuboCop::RakeTask)\.new(?:[ (]+:?[\"']?(?P<given>\w+))?)",
    re.MULTILINE,
)
RAKE_KINDS = {"Rake::TestTask": "test", "RSpec::Core::RakeTask": "spec", "RuboCop::RakeTask": "rubocop"}
PROCESS = re.compile(r"^([A-Za-z0-9_-]+):[ \t]*(\S[^\n]*)$", re.MULTILINE)
MOST_LINES, LONGEST_HEADER = 60, 500
LONGEST_RULE = 4_000
# Stands for an escaped line end, so that a logical line is one line and the others keep their numbers.
JOINED = "\x1f"


def recipes(files: Files) -> Iterator[Found]:
    """All of them."""
    for path in files.named("GNUmakefile", "makefile", "Makefile"):
        yield from makefile(path, files.read(path))
    for path in files.named("justfile", ".justfile"):
        yield from justfile(path, files.read(path))
    for path in files.named("Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"):
        yield from taskfile(path, files.read(path))
    for path in files.named("mise.toml", ".mise.toml"):
        yield from mise(path, files.read(path))
    for path in files.named("Rakefile"):
        yield from rakefile(path, files.read(path), files.has("Gemfile"))
    for path in files.named("Procfile", "Procfile.dev"):
        for process in PROCESS.finditer(files.read(path)):
            line = line_of(files.read(path), rf"^{re.escape(process[1])}:")
            purpose: Purpose = "migrate" if process[1] == "release" and "migrat" in process[2] else "run"
            yield Found(
                process[2], path, line, process[2], process[1], rank=process[1] != "web", purpose=purpose
            )


def makefile(path: str, text: str) -> Iterator[Found]:
    """The targets that people call; a file that is made (`lib/a.o`) only if it is declared as none."""
    if SPHINX.search(text):
        html = f"make -C {quoted(folder_of(path))} html" if folder_of(path) else "make html"
        yield Found(html, path, line_of(text, SPHINX.pattern), "builds the pages with Sphinx", "html")
    phony = {word for found in PHONY.finditer(text) for word in found[1].replace("\\\n", " ").split()}
    lines = text.replace("\\\n", JOINED).split("\n")
    values: dict[str, str] = {}
    seen: set[str] = set()
    number = 0
    for place, line in enumerate(lines):
        number += 1
        here = number
        number += line.count(JOINED)
        if line.startswith(("\t", "#", " ")):
            continue
        assigned = ASSIGNED.match(line)
        if assigned:
            values.setdefault(assigned[1], assigned[2].split(" #")[0].strip())
            continue
        target = TARGET.match(line[:LONGEST_RULE])
        if not target:
            continue
        body = _make_body(lines, place, target[2].replace(JOINED, " "), target[3] or "", values)
        for name in target[1].split():
            named_file = "%" in name or "/" in name or "." in name
            if name in seen or (named_file and name not in phony) or "%" in name:
                continue
            seen.add(name)
            command = f"make -C {quoted(folder_of(path))} {name}" if folder_of(path) else f"make {name}"
            yield Found(command, path, here, body, name)


def _make_body(lines: list[str], place: int, needs: str, inline: str, values: dict[str, str]) -> str:
    recipe = [inline] if inline else []
    for line in lines[place + 1 : place + 1 + MOST_LINES]:
        if line.startswith("\t"):
            recipe.append(RECIPE_PREFIX.sub("", line).replace(JOINED, " "))
        elif line.strip() and not line.startswith(("#", "ifeq", "ifneq", "ifdef", "ifndef", "else", "endif")):
            break
    said = [line for line in recipe if not re.match(r"(?:echo|printf|#)\b", line) and line.strip()] or recipe
    body = "; ".join(line.strip() for line in said)
    for _ in range(2):
        body = REFERENCE.sub(lambda found: values.get(found[1], found[0]), body[:2_000])
    first = " ".join(needs.split("##")[0].split("#")[0].split())
    return body or (f"runs the targets {first}" if first else "")


def justfile(path: str, text: str) -> Iterator[Found]:
    """The recipes that are not private."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        header = JUST_HEADER.match(line) if len(line) <= LONGEST_HEADER else None
        if (
            not header
            or header[1].startswith("_")
            or header[1] in ("set", "alias", "export", "import", "mod")
        ):
            continue
        if place and lines[place - 1].strip() == "[private]":
            continue
        body = []
        for below in lines[place + 1 : place + 1 + MOST_LINES]:
            if below.strip() and below[0] not in " \t":
                break
            if below.strip():
                body.append(below.strip().lstrip("@-"))
        ran = "; ".join(body) or (f"runs the recipes {header[3]}" if header[3] else "")
        yield Found(within(folder_of(path), f"just {header[1]}"), path, place + 1, ran, header[1])


def taskfile(path: str, text: str) -> Iterator[Found]:
    """The tasks of a Taskfile that are not internal."""
    for tasks in at(read_yaml(path, text).roots, "tasks"):
        for name, node in tasks.items() if isinstance(tasks, Table) else ():
            if isinstance(node, Table) and node.text("internal") == "true":
                continue
            line = line_of(text, rf"^[ \t]+[\"']?{re.escape(name)}[\"']?[ \t]*:")
            yield Found(within(folder_of(path), f"task {quoted(name)}"), path, line, body_of(node), name)


def body_of(node: Node | None) -> str:
    """The commands of a task on one line: a text, a list, or a table with `cmds`, `cmd`, `run` or `shell`."""
    if isinstance(node, Table):
        keys = ("cmds", "cmd", "run", "shell", "commands", "command", "sequence", "composite", "script")
        node = next((value for value in map(node.get, keys) if value is not None), None)
    if isinstance(node, Items):
        parts = []
        for each in node.nodes[:MOST_LINES]:
            if isinstance(each, Table):
                called = each.text("task") or each.text("ref")
                parts.append(body_of(each) or (f"task {called}" if called else ""))
            else:
                parts.extend(scalar.text for scalar in scalars(each))
        return "; ".join(part.strip() for part in parts if part.strip())
    return node.text.strip() if isinstance(node, Scalar) else ""


def mise(path: str, text: str) -> Iterator[Found]:
    """The tasks of mise."""
    for tasks in at(read_toml(path, text).roots, "tasks"):
        for name, node in tasks.items() if isinstance(tasks, Table) else ():
            line = line_of(
                text, rf"^\[tasks\.[\"']?{re.escape(name)}[\"']?\]|^[\"']?{re.escape(name)}[\"']?[ \t]*="
            )
            yield Found(within(folder_of(path), f"mise run {quoted(name)}"), path, line, body_of(node), name)


def rakefile(path: str, text: str, bundled: bool) -> Iterator[Found]:
    """The tasks of a Rakefile, through Bundler if there is a Gemfile."""
    seen: set[str] = set()
    for found in RAKE.finditer(text):
        name = found["name"] or found["given"] or RAKE_KINDS[found["kind"]]
        if name in seen or name == "default":
            continue
        seen.add(name)
        command = f"bundle exec rake {name}" if bundled else f"rake {name}"
        body = found["kind"] or ""
        yield Found(
            within(folder_of(path), command), path, text.count("\n", 0, found.start()) + 1, body, name
        )
