"""Find what Python may import from the current folder, the first it searches for `-c`, `-m` and code on its input."""

import sys

from cli_guard.commands.effects.call import Call
from cli_guard.commands.model import EffectKind
from cli_guard.commands.scope import Stream
from cli_guard.lazy import regex

# Modules that are built in, or imported before the current folder is searched (site.py, encodings).
LOADED = frozenset(sys.builtin_module_names) | frozenset(
    "os posixpath genericpath ntpath stat abc io codecs encodings site zipimport _collections_abc".split()
)
SHADOWED = frozenset(sys.stdlib_module_names) - LOADED
# What may import without an import statement: code in a text, and encodings by their names.
LOADING = regex(r"__import__|importlib|exec|eval|compile|encod|decod|codec|pickle|bytes")
CACHE = "pycache_prefix"
ENDINGS = (".py", ".pyc", ".so", ".pyd")


def check_imports(call: Call, code: Stream | None = None, *, module: str = "") -> None:
    """Emit an effect if a file in the current folder may replace a module that Python imports.

    `code` is None for `-m`, which runs `module`. Standard modules import each other, so a file with the name of any of
    them counts. A change is not checked: its own files are reviewed.
    """
    context = call.context
    scope = call.scope
    for option, value in call.arguments.values:
        if "-X" in option.names and (value.text or CACHE).startswith(CACHE):
            call.effect(
                EffectKind.WRITE,
                value.shown,
                "writes compiled files below another folder",
                value.span,
            )
    isolated = call.arguments.has("-I", "-P") or call.shell.in_change
    if isolated or (
        code is not None and code.text is not None and not imports_more(code.text)
    ):
        return
    names = context.names if scope.folder == context.folder else None
    prefix = f"{scope.folder}/"
    written = (path.removeprefix(prefix) for path in call.shell.written)
    modules = {
        name.partition(".")[0]
        for name in (*(names or ()), *written)
        if "." not in name or name.endswith(ENDINGS)
    }
    found = sorted(modules & (SHADOWED | {module}))
    if names is None or found:
        what = found[0] if found else "a module"
        reason = f"may import {what} from the current folder: python -I does not"
        call.effect(EffectKind.EXEC, "python", reason)


def imports_more(code: str) -> bool:
    """Return whether code imports a module that Python has not loaded at its start; True if it cannot be parsed."""
    import ast  # few commands hold Python
    from unicodedata import normalize

    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    imported = [
        alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
    ]
    imported += [node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)]
    # str() of more than one value decodes.
    calls = [
        node
        for node in nodes
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    ]
    of_one = {id(call.func) for call in calls if not isinstance(call.args[0], ast.Starred)}
    decodes = any(
        isinstance(node, ast.Name) and node.id == "str" and id(node) not in of_one
        for node in nodes
    )
    # Python takes other forms of a letter for the letter, in names.
    plain = normalize("NFKC", code)
    return bool(decodes or LOADING.search(plain)) or any(
        name.partition(".")[0] not in LOADED for name in imported
    )
