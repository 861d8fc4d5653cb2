"""The sections on usage, the command line and configuration."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.code import code, names_credential, quotable
from cli_guard.assistant.documenting.facts.effects import Variable, environment
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    SUBSCRIPTS,
    callee,
    keyword,
    line_of,
    positional,
    string_value,
)
from cli_guard.assistant.documenting.readme.blocks import Commands, Gathered, Section, Table, Text
from cli_guard.assistant.documenting.readme.manifests import Project, table, text_of
from cli_guard.assistant.documenting.readme.setup import go_commands
from cli_guard.assistant.documenting.sources import LANGUAGES, Source, read_source
from cli_guard.code.symbols import is_test
from cli_guard.code.syntax import Trees
from cli_guard.model import Skipped

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_FILES = 120
MOST_ROWS = 40
READS = ("environ", "getenv", "process.env", "os.Getenv", "LookupEnv", "System.getenv", "envvar=")
OPTIONS = re.compile(r"add_argument|\b[oO]ption\(|\b[aA]rgument\(")
SHOWN_NAMES = 6
ASIDE = frozenset(
    {"benchmarks", "bench", "docs", "doc", "examples", "example", "scripts", "tools", "ci", ".github"}
)


@dataclass(frozen=True, slots=True)
class Option:
    """An option or argument of a command line, with the words of its own help."""

    names: tuple[str, ...]
    help: str
    default: str
    path: str
    line: int


def usage(project: Project, trees: Trees) -> Section | None:
    """The commands that are installed, and what can be imported."""
    found = Gathered()
    for name, target in list(project.scripts.items())[:SHOWN_NAMES]:
        found.add(
            Commands((f"{name} --help",)),
            ground=project.at(project.python_manifest, name, target),
        )
        module, path = target.partition(":")[0], module_path(project, target.partition(":")[0])
        options = list(_options(path, project, trees)) if path else []
        if options:
            _add_options(found, path, options)
        elif not path:
            found.notes.append(f"`{module}`, which `{name}` runs, is not among the files.")
    if not project.scripts:
        for path in sorted(
            p for p in project.texts if p.endswith("/__main__.py") and p.count("/") <= 2 and not is_test(p)
        )[:3]:
            package = path.removesuffix("/__main__.py").removeprefix("src/").replace("/", ".")
            found.add(Commands((f"python -m {package}",)), ground=f"{path}:1")
    _imports(project, trees, found)
    _node_usage(project, found)
    for folder in go_commands(project) if project.go_module else ():
        found.add(
            Commands((f"go run ./{folder}" if folder else "go run .",)), ground=project.at("go.mod", "module")
        )
    if "src/main.rs" in project.texts and project.cargo:
        found.add(Commands(("cargo run",)), ground="src/main.rs:1")
    return found.section("usage", "Usage")


def module_path(project: Project, module: str) -> str:
    """The file of a Python module, "" if it is not here."""
    base = module.replace(".", "/")
    for root in ("", "src/"):
        for path in (f"{root}{base}.py", f"{root}{base}/__init__.py"):
            if path in project.texts:
                return path
    return ""


def _imports(project: Project, trees: Trees, found: Gathered) -> None:
    name = (project.python_name or "").replace("-", "_")
    path = module_path(project, name) if name else ""
    if not path:
        return
    source = read_source(path, project.texts[path], trees)
    if isinstance(source, Skipped):
        return
    listed = re.search(r"^__all__\s*(?::[^=\n]+)?=\s*[\[(]([^\])]*)", source.text, re.M)
    names = re.findall(r"[\"']([A-Za-z]\w*)[\"']", listed[1]) if listed else []
    names = names or [s.name for s in source.symbols if s.public and not s.owner]
    if not names:
        return
    shown = names[:SHOWN_NAMES]
    line = source.text.count("\n", 0, listed.start()) + 1 if listed else 1
    found.add(
        Text("From Python:"),
        Commands((f"from {name} import {', '.join(shown)}",), "python"),
        ground=f"{path}:{line}",
    )
    if len(names) > SHOWN_NAMES:
        found.notes.append(f"{len(names) - SHOWN_NAMES} more public names of `{name}` are not shown.")


def _node_usage(project: Project, found: Gathered) -> None:
    name = text_of(project.package.get("name"))
    binaries = project.package.get("bin")
    commands = (
        list(table(project.package, "bin"))
        if isinstance(binaries, dict)
        else [name]
        if binaries and name
        else []
    )
    for command in commands[:SHOWN_NAMES]:
        if quotable(command):
            found.add(Commands((f"npx {command}",)), ground=project.at("package.json", '"bin"'))
    if "start" in project.node_scripts:
        found.add(Commands((f"{project.node_tool} start",)), ground=project.at("package.json", '"start"'))
    main = text_of(project.package.get("main"))
    if main and name and not commands and not project.package.get("private"):
        line = f'import * as {re.sub(r"[^A-Za-z0-9]+", "_", name.split("/")[-1])} from "{name}";'
        if project.package.get("type") != "module":
            line = f'const {re.sub(r"[^A-Za-z0-9]+", "_", name.split("/")[-1])} = require("{name}");'
        found.add(Commands((line,), "js"), ground=project.at("package.json", '"main"'))


def command_line(project: Project, trees: Trees) -> Section | None:
    """Every option that argparse or click is told of, with the help it gives itself."""
    found = Gathered()
    paths = [
        p
        for p in sorted(project.texts)
        if p.endswith(".py") and not is_test(p) and OPTIONS.search(project.texts[p])
    ]
    # What is installed comes before what only lies beside it.
    paths = [p for p in paths if ASIDE.isdisjoint(p.split("/")[:-1])] or paths
    for path in paths[:MOST_FILES]:
        options = list(_options(path, project, trees))
        if options:
            if len(paths) > 1:
                found.add(Text(f"Defined in `{path}`:"))
            _add_options(found, path, options)
    if len(paths) > MOST_FILES:
        found.notes.append(f"{len(paths) - MOST_FILES} more files that define options were not read.")
    if found.blocks:
        lead = [Commands((f"{name} --help",)) for name in list(project.scripts)[:1]]
        found.blocks[:0] = lead
    return found.section("command line", "Command line")


def _add_options(found: Gathered, path: str, options: list[Option]) -> None:
    found.add(_table(options), ground=f"{path}:{options[0].line}")
    if len(options) > MOST_ROWS:
        found.notes.append(f"{len(options) - MOST_ROWS} more options of {path} are not shown.")


def _table(options: list[Option]) -> Table:
    rows = [
        (", ".join(f"`{n}`" for n in o.names), o.help, f"`{o.default}`" if o.default else "")
        for o in options[:MOST_ROWS]
    ]
    if not any(row[2] for row in rows):
        return Table(("Option", "Description"), tuple(row[:2] for row in rows))
    return Table(("Option", "Description", "Default"), tuple(rows))


def _options(path: str, project: Project, trees: Trees) -> Iterator[Option]:
    text = project.texts[path]
    if not OPTIONS.search(text):
        return
    source = read_source(path, text, trees)
    if isinstance(source, Skipped):
        return
    for call in trees.root("python", text).find_all(kind="call"):
        name = callee(call).rsplit(".", 1)[-1]
        if name not in ("add_argument", "option", "argument", "Option", "Argument"):
            continue
        given = [s for a in positional(call) for s in (a.named_children() if a.kind() == "list" else [a])]
        names = [v for v in map(string_value, given) if v and re.fullmatch(r"[\w./-]{1,60}", v)]
        if name in ("option", "Option"):
            names = [n for n in names if n.startswith("-")]
        if not names or (name != "add_argument" and "click" not in text and "typer" not in text):
            continue
        said = _joined(keyword(call, "help"))
        value = keyword(call, "default")
        secret = names_credential(names[-1])
        default = quotable(value.text(), 40) if value is not None and not secret else ""
        yield Option(
            tuple(names),
            quotable(said, 160),
            "" if default in ("None", "False") else default,
            path,
            line_of(call),
        )


def _joined(node: "SgNode | None") -> str:
    """A literal text, also one in several pieces; "" for a computed or hidden one."""
    if node is None:
        return ""
    if node.kind() == "parenthesized_expression" and node.named_children():
        node = node.named_children()[0]
    if node.kind() == "concatenated_string":
        parts = [string_value(part) for part in node.named_children()]
        return "".join(p for p in parts if p) if all(p is not None for p in parts) else ""
    return (string_value(node) or "").replace("%(default)s", "").replace("%%", "%")


def configuration(project: Project, trees: Trees) -> tuple[Section | None, tuple[Skipped, ...]]:
    """The environment variables that the code reads: name, default, where. No value of a credential is shown."""
    rows: dict[str, tuple[str, str, str]] = {}
    skipped: list[Skipped] = []
    paths = [
        p
        for p in sorted(project.texts)
        if _suffix(p) in LANGUAGES and not is_test(p) and any(r in project.texts[p] for r in READS)
    ]
    for path in paths[:MOST_FILES]:
        source = read_source(path, project.texts[path], trees)
        if isinstance(source, Skipped):
            skipped.append(source)
            continue
        for variable in _variables(source):
            default = (
                code(variable.default, 40) if variable.default else "required" if variable.required else ""
            )
            known = rows.get(variable.name)
            where = f"`{path}:{variable.line}`"
            rows[variable.name] = (
                f"`{variable.name}`",
                (known[1] if known else "") or default,
                known[2] if known else where,
            )
    if len(paths) > MOST_FILES:
        skipped.append(
            Skipped(
                paths[MOST_FILES],
                f"{len(paths) - MOST_FILES} more files that may read the environment",
                by_limit=True,
            )
        )
    found = Gathered()
    if rows:
        ordered = [rows[name] for name in sorted(rows)]
        found.add(
            Text("These environment variables are read:"),
            Table(("Variable", "Default", "Read in"), tuple(ordered)),
        )
        found.grounds += [row[2].strip("`") for row in ordered][:12]
    return found.section("configuration", "Configuration"), tuple(skipped)


def _suffix(path: str) -> str:
    return "." + path.rpartition(".")[2]


def _variables(source: Source) -> Iterator[Variable]:
    root = source.trees.root(source.language, source.text)
    kinds = {*CALLS, *SUBSCRIPTS, "member_expression"}
    nodes: list[SgNode] = []
    for kind in sorted(kinds):
        try:
            nodes += root.find_all(kind=kind)
        except RuntimeError:
            continue  # a kind that this grammar does not have
    yield from sorted(environment(nodes), key=lambda v: v.line)
    for call in nodes:
        if call.kind() == "call":
            named = string_value(keyword(call, "envvar"))
            if named and re.fullmatch(r"\w{1,80}", named):
                default = keyword(call, "default")
                shown = default.text() if default is not None and not names_credential(named) else ""
                yield Variable(named, quotable(shown, 40) or None, line_of(call))
