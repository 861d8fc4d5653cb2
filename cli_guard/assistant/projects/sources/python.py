"""How a Python project is worked on: task tables, tox, nox, invoke, the tools it sets up, how it is installed."""

import re
from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files, folder_of, line_of, quoted, within
from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.assistant.projects.sources.python_tools import SECTION, installing, line_at, runner, tools
from cli_guard.assistant.projects.sources.recipes import body_of
from cli_guard.reviewers.commands.extract.nodes import Items, Node, Scalar, Table, at, scalars

NOX = re.compile(
    r"^@(?:nox\.)?session(?:\((?P<options>(?:[^()]|\([^()]*\)){0,500})\))?[ \t]*\n"
    r"(?:@[^\n]*\n)*(?:async )?def (?P<name>\w+)",
    re.MULTILINE,
)
INVOKE = re.compile(r"^@(?:\w+\.)?task\b[^\n]*\n(?:[ \t)\]}@][^\n]*\n)*def (\w+)", re.MULTILINE)
SESSION_RUN = re.compile(r"(?:session|c|ctx|context)\.(?:run|run_always)\(([^)]{0,400})\)")
LITERAL = re.compile(r"""["']([^"'\n]*)["']""")


def python(files: Files) -> Iterator[Found]:
    """Everything that a Python project's files say."""
    for path in files.named("pyproject.toml", "hatch.toml", "poe_tasks.toml"):
        yield from task_tables(files, path)
    for path in files.named("tox.ini", "tox.toml", "pyproject.toml", "setup.cfg"):
        yield from tox_toml(files, path) if path.endswith(".toml") else tox(path, files.read(path))
    for path in files.named("noxfile.py"):
        text = files.read(path)
        for session in NOX.finditer(text):
            name = _given_name(session["options"] or "") or session["name"].replace(
                "_", "-" if "-" in session["name"] else "_"
            )
            yield _function(path, text, session, f"nox -s {quoted(name)}", name)
    for path in files.named("tasks.py"):
        text = files.read(path)
        if "invoke" in text:
            for task in INVOKE.finditer(text):
                name = task[1].replace("_", "-")
                yield _function(path, text, task, f"inv {name}", name)
    for path in files.named("manage.py"):
        if "django" in files.read(path):
            yield from _django(files, path)
    yield from tools(files)
    yield from installing(files)


def task_tables(files: Files, path: str) -> Iterator[Found]:
    """Tasks in pyproject.toml: Hatch, PDM, Poe, taskipy, Rye; and the programs that the project installs."""
    roots = files.document(path)
    folder, name = folder_of(path), path.rpartition("/")[2]
    front = runner(files)
    top = ("tool", "hatch") if name == "pyproject.toml" else ()
    for envs in at(roots, *top, "envs"):
        for env, node in envs.items() if isinstance(envs, Table) else ():
            for scripts in at([node], "scripts"):
                prefix = {"default": "hatch run ", "hatch-test": "hatch test # "}.get(
                    env, f"hatch run {quoted(env)}:"
                )
                for task, value in scripts.items() if isinstance(scripts, Table) else ():
                    if env == "hatch-test":
                        continue
                    yield _task(path, within(folder, f"{prefix}{task}"), task, value, rank=env != "default")
    tables: tuple[tuple[tuple[str, ...], str], ...] = (
        (("tool", "pdm", "scripts"), "pdm run "),
        (("tool", "poe", "tasks") if name == "pyproject.toml" else ("tasks",), f"{front}poe "),
        (("tool", "taskipy", "tasks"), f"{front}task "),
        (("tool", "rye", "scripts"), "rye run "),
    )
    for place, prefix in tables:
        if name == "hatch.toml" or (name == "poe_tasks.toml" and place != ("tasks",)):
            continue
        for table in at(roots, *place):
            for task, value in table.items() if isinstance(table, Table) else ():
                if task != "_":
                    yield _task(path, within(folder, f"{prefix}{quoted(task)}"), task, value)
    for place in (("project", "scripts"), ("tool", "poetry", "scripts")):
        for table in at(roots, *place):
            for program, value in table.items() if isinstance(table, Table) else ():
                if isinstance(value, Scalar):
                    body = f"the program that the project installs: {value.text}"
                    yield Found(
                        front + quoted(program), path, value.line, body, program, "configured", "run", rank=1
                    )


def _task(path: str, command: str, name: str, node: Node, rank: int = 0) -> Found:
    line = next((scalar.line for scalar in _inside(node)), 1)
    return Found(command, path, line, body_of(node), name, rank=rank)


def _inside(node: Node) -> Iterator[Scalar]:
    yield from scalars(node)
    if isinstance(node, Table):
        for _, value in node.pairs:
            yield from _inside(value) if not isinstance(value, Table) else ()


def tox(path: str, text: str) -> Iterator[Found]:
    """What tox runs by default, and each environment that has commands of its own."""
    folder = folder_of(path)
    sections = list(SECTION.finditer(text))
    if not any(found[1].startswith("testenv") or found[1] == "tox" for found in sections):
        return
    ends = [found.start() for found in sections[1:]] + [len(text)]
    bodies = {found[1]: (found, text[found.end() : end]) for found, end in zip(sections, ends, strict=True)}
    main = bodies.get("testenv") or bodies.get("tox")
    if main:
        found, body = main
        yield Found(
            within(folder, "tox"),
            path,
            line_at(text, found),
            _ini_value(body, "commands"),
            "tox",
            "task",
            "test",
            rank=2,
        )
    for section, (found, body) in bodies.items():
        if not section.startswith("testenv:"):
            continue
        for env in _expanded(section.removeprefix("testenv:")):
            ran = _ini_value(body, "commands")
            yield Found(within(folder, f"tox -e {quoted(env)}"), path, line_at(text, found), ran, env, rank=2)


def tox_toml(files: Files, path: str) -> Iterator[Found]:
    """The environments of tox.toml, or of pyproject.toml, where they may also be a tox.ini as a text."""
    text, roots = files.read(path), list(files.document(path))
    if path.endswith("pyproject.toml"):
        for node in at(roots, "tool", "tox", "legacy_tox_ini"):
            if isinstance(node, Scalar):
                for each in tox(path.replace(".toml", ".ini"), node.text):
                    yield Found(
                        each.command, path, node.line, each.body, each.name, purpose=each.purpose, rank=2
                    )
        roots = list(at(roots, "tool", "tox"))
    for base in at(roots, "env_run_base"):
        line = line_of(text, r"env_run_base")
        yield Found(
            within(folder_of(path), "tox"), path, line, _tox_body(base), "tox", "task", "test", rank=2
        )
    for envs in at(roots, "env"):
        for env, node in envs.items() if isinstance(envs, Table) else ():
            line = line_of(text, rf"^\[(?:tool\.tox\.)?env\.[\"']?{re.escape(env)}\b")
            command = within(folder_of(path), f"tox -e {quoted(env)}")
            yield Found(command, path, line, _tox_body(node), env, rank=2)


def _tox_body(node: Node) -> str:
    commands = []
    for each in at([node], "commands", "[]"):
        words = each.nodes if isinstance(each, Items) else [each]
        commands.append(" ".join(_tox_word(word) for word in words))
    return "; ".join(commands)


def _tox_word(word: Node) -> str:
    if isinstance(word, Scalar):
        return quoted(word.text)
    return "{posargs}" if isinstance(word, Table) and word.text("replace") == "posargs" else "..."


def _ini_value(body: str, key: str) -> str:
    """The commands of a key: its own line and the indented ones below."""
    lines: list[str] = []
    inside = False
    for line in body.split("\n"):
        if line[:1].strip():
            name, given, value = line.partition("=")
            inside = bool(given) and name.strip() == key
            lines += [value] if inside else []
        elif inside:
            lines.append(line)
    stripped = (line.strip().rstrip("\\").lstrip("-").strip() for line in lines)
    return "; ".join(line for line in stripped if line and not line.startswith("#"))


def _expanded(name: str) -> list[str]:
    """`{py38,py39}-lint` is two names; of many the first will do to show how it is done."""
    several = re.search(r"\{([^{}]*)\}", name)
    if several:
        first = several[1].split(",")[0].strip()
        return [name.replace(several[0], first).strip()] if "{" not in name.replace(several[0], "") else []
    return [each.strip() for each in name.split(",") if each.strip()][:5]


def _given_name(options: str) -> str:
    found = re.search(r"""\bname[ \t]*=[ \t]*["']([^"'\n]+)["']""", options)
    return found[1] if found else ""


def _function(path: str, text: str, found: re.Match[str], command: str, name: str) -> Found:
    """A task that is a function: what it runs, as far as literal words tell."""
    end = re.compile(r"^\S", re.MULTILINE).search(text, found.end())
    body = text[found.end() : end.start() if end else len(text)][:20_000]
    ran = "; ".join(" ".join(LITERAL.findall(call[1])) for call in SESSION_RUN.finditer(body))
    at_line = text.count("\n", 0, found.start()) + 1
    return Found(within(folder_of(path), command), path, at_line, ran, name, rank=1)


def _django(files: Files, path: str) -> Iterator[Found]:
    front = f"{runner(files)}python {quoted(path)}"
    uses: tuple[tuple[Purpose, str, str], ...] = (
        ("run", "runserver", "Django's development server"),
        ("test", "test", "Django's test runner"),
        ("migrate", "migrate", "applies the migrations to the database"),
    )
    for purpose, word, body in uses:
        yield Found(f"{front} {word}", path, 1, body, word, "convention", purpose)
