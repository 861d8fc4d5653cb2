"""What kind of file a path is, and how much that counts when nobody asked for that kind."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from cli_guard.code.classify import GENERATED_WORDS, HEADER_CHARS

FileKind = Literal[
    "source",
    "test",
    "doc",
    "changes",
    "example",
    "vendored",
    "generated",
    "settings",
    "data",
    "types",
    "benchmark",
    "tool",
]

TESTS = re.compile(
    r"^testing/|(?:^|/)(?:tests?|__tests__|__mocks__|specs?|e2e|testdata|test_data|fixtures|unittests?"
    r"|androidtest|test-?suite|t)/|(?:^|/)(?:test_[^/]*|[^/]*[_.-](?:tests?|spec)|conftest|[^/]*tests?)\.[^/.]+$"
)
TESTS_OF_JAVA = re.compile(r"(?:Test|Tests|TestCase|IT)\.(?:java|kt|scala|swift|cs)$")
CHANGES = re.compile(
    r"(?:^|/)(?:changes|changelog|history|news|releases?|release[-_]?notes|whatsnew|upgrad\w*|migration"
    r"|authors?|contributors|thanks|credits|changelog[-_.]?\w*)(?:\.[\w.]+)?$|(?:^|/)(?:changelog|changelog\.d|news|releases"
    r"|newsfragments|whatsnew|changes)/.*\.(?:md|rst|txt|\w+)$"
)
DOCS = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc_src|man|website|wiki|guides?|translations)/|(?:^|/)(?:pkg-info|metadata)$|\.(?:md|mdx|rst|txt|adoc|rdoc|po|pot|man|1|5|8)$"
)
EXAMPLES = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|docs_src|snippets|playground|cookbook)/|(?:^|/)examples?\.[^/]+$"
)
BENCHMARKS = re.compile(r"(?:^|/)(?:bench|benchmarks?|asv_bench|perf)/|(?:^|/)bench(?:mark)?_[^/]*$")
VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|vendor|vendored|_vendor|_vendored_packages|third_?party|extern(?:al)?s?|bundled|site-packages"
    r"|_internal/vendor)/"
)
GENERATED = re.compile(
    r"(?:^|/)(?:dist|build|out|target|umd|esm\d*|cjs|lib/esm\d*|generated|__generated__|\.yarn)/"
    r"|_pb2(?:_grpc)?\.pyi?$|\.pb(?:\.gw)?\.go$|[._-]generated\.\w+$|[.-]min\.(?:js|css)$|\.bundle\.js$|zz_generated"
    r"|\.(?:map|egg-info/.*)$|\.egg-info/"
)
TYPES = re.compile(r"\.pyi$|\.d\.[cm]?ts$")
DATA = re.compile(
    r"\.(?:json|jsonl|csv|tsv|xml|svg|lock|sum|log|snap|ipynb|html?|css|scss|less|sql|dat|txt\.gz|patch|diff)$"
    r"|(?:^|/)(?:package-lock\.json|poetry\.lock|[^/]*\.lock|locale)(?:$|/)"
)
SETTINGS = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|package\.json|tsconfig[^/]*\.json|makefile|gnumakefile"
    r"|justfile|dockerfile[^/]*|[^/]*\.dockerfile|compose[^/]*\.ya?ml|docker-compose[^/]*|cargo\.toml|go\.mod|pom\.xml"
    r"|build\.gradle(?:\.kts)?|settings\.gradle|gemfile|rakefile|composer\.json|cmakelists\.txt|meson\.build|pytest\.ini"
    r"|requirements[^/]*\.(?:txt|in)|manifest\.in|license[^/]*|copying|\.[^/]+|[^/]*\.(?:toml|cfg|ini|ya?ml|properties|mk|cmake)"
    r"|tasks\.py|[^/]*\.config\.[cm]?[jt]s|gulpfile\.js|gruntfile\.js|conanfile\.py|package\.swift)$|(?:^|/)\.[^/]+/"
)
TOOLS = re.compile(r"^(?:tools?|scripts?|lab|hack|misc|extras?|maint|release|ci|requirements)/")
# Nobody writes that much into one file.
LONGEST_SOURCE = 600_000
# A published package whose built code outnumbers its source this many times is read as it was built.
CODE_BUILT = (".js", ".mjs", ".cjs")
BUILT_SHARE = 2
# By the ending of a file of types, the endings of the files that define what it declares.
DEFINES = {"pyi": (".py",), "ts": (".js", ".jsx"), "mts": (".mjs",), "cts": (".cjs",)}
DECLARED = 0.3
PRIOR: dict[FileKind, float] = {
    "source": 1.0,
    "types": 0.5,
    "settings": 0.45,
    "vendored": 0.35,
    "generated": 0.3,
    "example": 0.3,
    "benchmark": 0.25,
    "tool": 0.5,
    "data": 0.25,
    "test": 0.3,
    "doc": 0.25,
    "changes": 0.12,
}


@lru_cache(maxsize=20_000)
def kind_of(path: str) -> FileKind:
    """The kind of a file, told from its path alone; `source` when nothing says otherwise."""
    low = path.lower()
    if VENDORED.search(low):
        return "vendored"
    if TYPES.search(low):
        return "types"
    if TESTS.search(low) or TESTS_OF_JAVA.search(path):
        return "test"
    if CHANGES.search(low) and not low.endswith((".py", ".js", ".ts", ".go", ".java", ".rs", ".rb")):
        return "changes"
    if EXAMPLES.search(low):
        return "example"
    if BENCHMARKS.search(low):
        return "benchmark"
    if TOOLS.search(low) and not DOCS.search(low):
        return "tool"
    if SETTINGS.search(low):
        return "settings"
    if DOCS.search(low) and "/src/" not in low:
        return "doc"
    if GENERATED.search(low):
        return "generated"
    return "data" if DATA.search(low) else "source"


@dataclass(frozen=True)
class Roles:
    """What the kind of a file cannot tell by its own path: what stands beside it.

    `paths` are all paths; `built` says that a published package holds little but what was built of its source.
    """

    paths: Collection[str]
    built: bool

    @classmethod
    def of(cls, paths: Collection[str]) -> "Roles":
        """The roles in a repository."""
        code = [kind_of(path) for path in paths if path.endswith(CODE_BUILT)]
        return cls(paths, code.count("generated") > BUILT_SHARE * code.count("source"))

    def declares(self, path: str) -> bool:
        """Does a file of types only declare what a file beside it defines?"""
        base, ending = TYPES.sub("", path), path.rpartition(".")[2]
        return any(f"{base}{other}" in self.paths for other in DEFINES.get(ending, ()))


def prior(path: str, text: str, asked_for: frozenset[str], roles: Roles = Roles((), built=False)) -> float:
    """How much a file counts, from 0 to a little over 1: a kind that was asked for counts most."""
    kind = kind_of(path)
    if kind == "generated" and roles.built and path.endswith(CODE_BUILT) and ".min." not in path:
        kind = "source"
    if kind == "source" and (len(text) > LONGEST_SOURCE or GENERATED_WORDS.search(text[:HEADER_CHARS])):
        kind = "generated"
    if kind in asked_for:
        return 1.2
    if kind == "example" and "doc" in asked_for:
        return 0.6
    if kind == "types" and roles.declares(path):
        return DECLARED
    name = PurePosixPath(path).name
    # A package's front page mostly passes on what others define.
    return PRIOR[kind] * (0.85 if name in ("__init__.py", "index.js", "index.ts", "mod.rs") else 1.0)
