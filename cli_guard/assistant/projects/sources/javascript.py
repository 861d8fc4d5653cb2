"""Scripts of package.json by the manager that the lock file names, what else it sets up, and tasks of Deno."""

import re
from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files, folder_of, quoted, within
from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.assistant.projects.sources.recipes import body_of
from cli_guard.reviewers.commands.extract.nodes import Scalar, Table, at

LOCKS = (
    ("pnpm", "pnpm-lock.yaml"),
    ("yarn", "yarn.lock"),
    ("bun", "bun.lock"),
    ("bun", "bun.lockb"),
    ("npm", "package-lock.json"),
    ("npm", "npm-shrinkwrap.json"),
)
NO_TEST = re.compile(r"no tests? specified")
# npm runs these by itself, before or after others (npm-scripts, "Life Cycle Scripts").
LIFECYCLE = re.compile(
    r"(?:pre|post)(?:install|pack|publish|test|build|version|start|lint|commit|uninstall)|prepare|prepublish(?:Only)?"
)
# A tool among the dependencies, what it is for, and how it is run where no script does so.
TOOLS: tuple[tuple[str, Purpose, str], ...] = (
    ("vitest", "test", "vitest run"),
    ("jest", "test", "jest"),
    ("mocha", "test", "mocha"),
    ("ava", "test", "ava"),
    ("eslint", "lint", "eslint ."),
    ("@biomejs/biome", "lint", "biome check ."),
    ("prettier", "format", "prettier --write ."),
    ("typescript", "typecheck", "tsc --noEmit"),
)
SHORT = {"test", "start", "stop", "restart"}


def javascript(files: Files) -> Iterator[Found]:
    """The scripts of every package, and the tools it has that no script runs."""
    for path in files.named("package.json"):
        yield from package(files, path)
    for path in files.named("deno.json", "deno.jsonc"):
        for tasks in at(files.document(path), "tasks"):
            for name, node in tasks.items() if isinstance(tasks, Table) else ():
                line = node.line if isinstance(node, Scalar) else 1
                yield Found(
                    within(folder_of(path), f"deno task {quoted(name)}"), path, line, body_of(node), name
                )


def package(files: Files, path: str) -> Iterator[Found]:
    """The commands of one package.json."""
    roots = files.document(path)
    folder = folder_of(path)
    manager = manager_of(files, path)
    for scripts in at(roots, "scripts"):
        for name, node in scripts.items() if isinstance(scripts, Table) else ():
            if not isinstance(node, Scalar) or NO_TEST.search(node.text) or not node.text.strip():
                continue
            purpose: Purpose | None = "other" if LIFECYCLE.fullmatch(name) else None
            yield Found(
                script_command(manager, folder, name), path, node.line, node.text, name, purpose=purpose
            )
    install = install_command(files, path)
    yield Found(
        within(folder, install), path, 1, "installs what package.json lists", "", "convention", "install"
    )
    known = dependencies_of(files, path)
    for tool, use, command in TOOLS:
        if tool in known:
            body = f"{tool} is among the dependencies"
            yield Found(
                within(folder, run_tool(manager, command)), path, known[tool], body, "", "configured", use
            )


def dependencies_of(files: Files, path: str) -> dict[str, int]:
    """The packages that a package.json asks for, with their lines."""
    found: dict[str, int] = {}
    for key in ("devDependencies", "dependencies"):
        for table in at(files.document(path), key):
            for name, node in table.items() if isinstance(table, Table) else ():
                found.setdefault(name, node.line if isinstance(node, Scalar) else 1)
    return found


def manager_of(files: Files, path: str) -> str:
    """The package manager of a package: npm, pnpm, yarn or bun; npm if nothing tells."""
    return stated_manager(files, path) or "npm"


def stated_manager(files: Files, path: str) -> str:
    """What package.json or a lock file beside it or above says, empty if neither does."""
    folder = folder_of(path)
    while True:
        own = f"{folder}/package.json".lstrip("/")
        for node in at(files.document(own), "packageManager") if files.has(own) else ():
            if isinstance(node, Scalar):
                named = re.match(r"npm|pnpm|yarn|bun", node.text)
                if named:
                    return named[0]
        for manager, lock in LOCKS:
            if files.has(f"{folder}/{lock}".lstrip("/")):
                return manager
        if not folder:
            return ""
        folder = folder_of(folder)


def install_command(files: Files, path: str) -> str:
    """How the dependencies of a package are installed, as its lock file has them."""
    manager = manager_of(files, path)
    if manager == "npm":
        folder = folder_of(path)
        return (
            "npm ci"
            if files.has(
                *(f"{folder}/{lock}".lstrip("/") for lock in ("package-lock.json", "npm-shrinkwrap.json"))
            )
            else "npm install"
        )
    return f"{manager} install"


def script_command(manager: str, folder: str, name: str) -> str:
    """How a script is run at the root of the repository."""
    word = quoted(name)
    if manager == "npm":
        run = f"npm {word}" if name in SHORT else f"npm run {word}"
    elif manager == "pnpm":
        run = f"pnpm {word}" if name in SHORT else f"pnpm run {word}"
    elif manager == "yarn":
        run = f"yarn {word}" if name not in ("install", "add", "remove", "pack") else f"yarn run {word}"
    else:
        run = f"bun run {word}"
    return within(folder, run)


def run_tool(manager: str, command: str) -> str:
    """How a program among the dependencies is run."""
    return {"npm": "npx ", "pnpm": "pnpm exec ", "yarn": "yarn ", "bun": "bunx "}[manager] + command
