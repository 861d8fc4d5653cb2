"""The kind of a file, by its path, and how much it counts when the question does not ask for that kind."""

import re
from functools import lru_cache

from cli_guard.code.classify import HEADER_CHARS, says_generated
from cli_guard.code.test_files import is_test_code

# Kind, its paths in lower case, and its weight beside source code. The first that matches decides.
KINDS = (
    (
        "vendored",
        r"(?:^|/)(?:node_modules|vendor|vendored|_vendor|_vendored_packages|third_?party|extern(?:al)?s?|bundled"
        r"|site-packages)/",
        0.35,
    ),
    ("types", r"\.pyi$|\.d\.[cm]?ts$", 0.5),
    ("test", r"(?:^|/)(?:unittests?|androidtest|test-?suite)/", 0.3),
    (
        "changes",
        r"(?:^|/)(?:changes|changelog|history|news|releases?|release[-_]?notes|whatsnew|upgrad\w*|migration|authors?"
        r"|contributors|thanks|credits|changelog[-_.]?\w*)(?:\.(?:md|rst|txt|adoc))?$"
        r"|(?:^|/)(?:changelog|changelog\.d|news|releases|newsfragments|whatsnew|changes)/.*\.(?:md|rst|txt)$",
        0.12,
    ),
    (
        "example",
        r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|docs_src|snippets|playground|cookbook|bench|benchmarks?|perf)/"
        r"|(?:^|/)(?:examples?\.|bench(?:mark)?_)[^/]*$",
        0.3,
    ),
    (
        "tool",
        r"^(?:tools?|scripts?|lab|hack|misc|extras?|maint|release|ci|requirements)/(?!.*\.(?:md|rst|txt)$)",
        0.5,
    ),
    (
        "settings",
        r"(?:^|/)(?:setup\.py|noxfile\.py|package\.json|tsconfig[^/]*\.json|makefile|gnumakefile|justfile|dockerfile[^/]*"
        r"|pom\.xml|build\.gradle(?:\.kts)?|gemfile|rakefile|composer\.json|cmakelists\.txt|meson\.build|go\.mod"
        r"|requirements[^/]*\.(?:txt|in)|manifest\.in|license[^/]*|copying|\.[^/]+|tasks\.py|[^/]*\.config\.[cm]?[jt]s"
        r"|[^/]*\.(?:toml|cfg|ini|ya?ml|properties|mk|cmake|dockerfile))$|(?:^|/)\.[^/]+/",
        0.45,
    ),
    (
        "doc",
        r"^(?!.*/src/)(?:(?:.*/)?(?:docs?|documentation|doc_src|man|website|wiki|guides?|translations)/"
        r"|(?:.*/)?(?:pkg-info|metadata)$|.*\.(?:mdx?|rst|txt|adoc|rdoc|pot?|man|[158])$)",
        0.25,
    ),
    (
        "generated",
        r"(?:^|/)(?:dist|build|out|target|umd|esm\d*|cjs|generated|__generated__|\.yarn)/|\.egg-info/"
        r"|_pb2(?:_grpc)?\.py$|\.pb(?:\.gw)?\.go$|[._-]generated\.\w+$|[.-]min\.(?:js|css)$|\.bundle\.js$|\.map$",
        0.3,
    ),
    (
        "data",
        r"\.(?:json|jsonl|csv|tsv|xml|svg|lock|sum|log|snap|ipynb|html?|css|scss|less|sql|dat|patch|diff)$"
        r"|(?:^|/)locale/",
        0.25,
    ),
)
PATTERNS = [(kind, re.compile(pattern)) for kind, pattern, _ in KINDS]
WEIGHTS = {"source": 1.0, **{kind: weight for kind, _, weight in KINDS}}
ASKED_FOR = 1.2
# Written by hand, a file is shorter.
LONGEST_SOURCE = 600_000
# The front page of a package mostly re-exports names.
FRONT_PAGE = re.compile(r"(?:^|/)(?:__init__\.py|index\.[jt]sx?|index\.mjs|mod\.rs)$")
FRONT_PAGE_SHARE = 0.85


@lru_cache(maxsize=20_000)
def kind_of(path: str) -> str:
    """Classify a path; "source" if no pattern matches."""
    lower = path.lower()
    for kind, pattern in PATTERNS:
        if pattern.search(lower) or (kind == "test" and is_test_code(path)):
            return kind
    return "source"


def weigh(path: str, text: str, asked_for: frozenset[str]) -> float:
    """Weigh a file from 0 to a little over 1; a kind that was asked for weighs most."""
    kind = kind_of(path)
    if kind == "source" and (len(text) > LONGEST_SOURCE or says_generated(text[:HEADER_CHARS])):
        kind = "generated"
    if kind in asked_for:
        return ASKED_FOR
    return WEIGHTS[kind] * (FRONT_PAGE_SHARE if FRONT_PAGE.search(path) else 1.0)
