"""Shell scripts: the whole file is one snippet. Their names, or their first lines, tell."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, pieces_of, shell_of, snippet

NAMES = re.compile(
    r"\.(?:sh|bash|zsh|ksh|dash|ash|command|envrc)$"
    r"|(?:^|/)\.?(?:bash(?:rc|_profile|_login|_logout|_aliases)|zsh(?:rc|env)|zprofile|zlogin|profile|kshrc|envrc|xprofile|xinitrc)$"
    r"|(?:^|/)(?:PKGBUILD|APKBUILD|[^/]+\.ebuild|\.xinitrc)$"
)
HOOKS = re.compile(
    r"(?:^|/)(?:\.husky|\.githooks|githooks|git-hooks|\.git-hooks|hooks)/(?:_/)?"
    r"(?:pre-commit|prepare-commit-msg|commit-msg|post-commit|pre-merge-commit|pre-push|pre-rebase|post-checkout"
    r"|post-merge|post-rewrite|pre-auto-gc|pre-receive|update|post-receive|post-update)(?:\.sample)?$"
)
# A first line names no shell here, whatever it says: the ending is that of another language.
SHEBANG = re.compile(
    r"#![ \t]*\S*(?:/|env[ \t].*?)(?:ba|z|da|a|m?k)?sh\d*(?:[ \t]|\r?\n|$)|#![ \t]*/bin/busybox sh\b"
)


def is_script(path: str, text: str) -> bool:
    """Is it text for a shell of the family of sh?"""
    if text.startswith("#!"):
        return shell_of(text[:300].split("\n", 1)[0]) == "sh"
    return bool(NAMES.search(path) or HOOKS.search(path))


def snippets(path: str, text: str) -> Iterator[Snippet]:
    """The script."""
    where = Where.HOOK if HOOKS.search(path) else Where.SCRIPT
    yield snippet(pieces_of(text.removeprefix("\ufeff")), where)
