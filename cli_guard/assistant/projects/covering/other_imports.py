"""What a test in Go, Java, Rust and the like stands for: packages by folder, classes by name, modules by path."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from cli_guard.code.test_files import runner_language, source_stem

GO_MODULE = re.compile(r"^module[ \t]+(\S+)", re.MULTILINE)
GO_EXPORTED = re.compile(r"^(?:func(?: \([^)\n]{0,200}\))?|type|var|const)[ \t]+([A-Z]\w*)", re.MULTILINE)
JAVA_PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)", re.MULTILINE)
CRATE = re.compile(r"^\[package\][^\[]*?^name[ \t]*=[ \t]*\"([\w-]+)\"", re.MULTILINE | re.DOTALL)
RUST_TEST = re.compile(r"#\[(?:\w+::)*test\b")


class OtherImports:
    """Why a test covers a file, in languages whose imports are no paths."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    @cached_property
    def go_modules(self) -> tuple[tuple[str, str], ...]:
        """(folder, module path) of each go.mod, the deepest first."""
        found = []
        for path in sorted(self.texts, key=lambda path: (-path.count("/"), path)):
            if path == "go.mod" or path.endswith("/go.mod"):
                named = GO_MODULE.search(self.texts[path][:20_000])
                if named:
                    found.append((path.rpartition("/")[0], named[1]))
        return tuple(found)

    def reasons(self, path: str, tests: tuple[str, ...]) -> Iterator[tuple[str, str, bool, frozenset[str]]]:
        """(test file, reason, does it surely cover the path?, words that its tests would hold)."""
        language = runner_language(path)
        if language == "go":
            yield from self._go(path, tests)
        elif language in ("java", "csharp", "php"):
            yield from self._classes(path, tests, language)
        elif language == "rust":
            yield from self._rust(path, tests)
        elif language in ("ruby", "elixir"):
            yield from self._mentioned(path, tests, language)

    def _go(self, path: str, tests: tuple[str, ...]) -> Iterator[tuple[str, str, bool, frozenset[str]]]:
        folder = path.rpartition("/")[0]
        root, module = next(
            (
                (root, module)
                for root, module in self.go_modules
                if not root or f"{folder}/".startswith(f"{root}/")
            ),
            ("", ""),
        )
        inside = folder[len(root) :].strip("/")
        imported = f'"{module}/{inside}"' if inside else f'"{module}"'
        exported = frozenset(GO_EXPORTED.findall(self.texts.get(path, "")))
        for test in tests:
            if not test.endswith(".go"):
                continue
            if test.rpartition("/")[0] == folder:
                text = self.texts[test]
                used = frozenset(
                    name for name in _defined_go(self.texts.get(path, "")) if re.search(rf"\b{name}\b", text)
                )
                if used:
                    yield test, f"is of the same package and uses {first_names(used)}", True, used
            elif module and imported in self.texts[test]:
                yield test, f"imports {imported.strip(chr(34))}", True, exported

    def _classes(
        self, path: str, tests: tuple[str, ...], language: str
    ) -> Iterator[tuple[str, str, bool, frozenset[str]]]:
        name = source_stem(path)
        if not re.fullmatch(r"[A-Z]\w*", name):
            return
        package = JAVA_PACKAGE.search(self.texts.get(path, ""))
        word = re.compile(rf"\b{name}\b")
        for test in tests:
            if runner_language(test) != language or name not in self.texts[test]:
                continue
            text = self.texts[test]
            if package and f"import {package[1]}.{name};" in text:
                yield test, f"imports {package[1]}.{name}", True, frozenset({name})
            elif word.search(text):
                own = JAVA_PACKAGE.search(text)
                near = bool(package and own and own[1] == package[1])
                yield (
                    test,
                    f"uses {name}" + (", of the same package" if near else ""),
                    near,
                    frozenset({name}),
                )

    def _rust(self, path: str, tests: tuple[str, ...]) -> Iterator[tuple[str, str, bool, frozenset[str]]]:
        if RUST_TEST.search(self.texts.get(path, "")):
            yield path, "holds tests of its own", True, frozenset()
        root, crate = self._crate(path)
        name = source_stem(path) if path.rpartition("/")[2] not in ("lib.rs", "main.rs") else crate
        for test in tests:
            if not test.endswith(".rs") or test == path:
                continue
            uses = re.findall(r"^[ \t]*use[ \t]+([\w:]+)", self.texts[test], re.MULTILINE)
            inside = test.startswith(root)
            for use in uses:
                first, *rest = use.split("::")
                if (first == crate or (inside and first in ("crate", "super"))) and name in (first, *rest):
                    yield test, f"uses {use}", True, frozenset()
                    break

    def _crate(self, path: str) -> tuple[str, str]:
        """The folder of the crate that a file is in, with its last `/`, and the name it is used by."""
        folder = path.rpartition("/")[0]
        while True:
            manifest = f"{folder}/Cargo.toml".lstrip("/")
            named = CRATE.search(self.texts.get(manifest, "")[:20_000])
            if named:
                return f"{folder}/".lstrip("/"), named[1].replace("-", "_")
            if not folder:
                return "", ""
            folder = folder.rpartition("/")[0]

    def _mentioned(
        self, path: str, tests: tuple[str, ...], language: str
    ) -> Iterator[tuple[str, str, bool, frozenset[str]]]:
        defined = re.findall(
            r"^[ \t]*(?:class|module|defmodule)[ \t]+([A-Z][\w.:]*)", self.texts.get(path, ""), re.MULTILINE
        )
        for name in dict.fromkeys(defined[:20]):
            for test in tests:
                if runner_language(test) == language and re.search(
                    rf"(?<![\w.:]){re.escape(name)}\b", self.texts[test]
                ):
                    yield test, f"uses {name}", True, frozenset({name})


def _defined_go(text: str) -> list[str]:
    found = re.findall(
        r"^(?:func(?: \([^)\n]{0,200}\))?|type|var|const)[ \t]+([A-Za-z]\w*)", text, re.MULTILINE
    )
    return list(dict.fromkeys(found))[:300]


def first_names(names: Iterable[str]) -> str:
    """The first three of some names, and whether there are more."""
    found = sorted(names)
    return ", ".join(found[:3]) + (" and more" if len(found) > 3 else "")
