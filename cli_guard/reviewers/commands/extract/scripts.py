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
ZSH = re.compile(r"\.zsh$|(?:^|/)\.?z(?:sh(?:rc|env)|profile|login|logout)$")
ZSH_FIRST = re.compile(r"#!.{0,100}zsh\b|#(?:compdef|autoload)\b")
# The first lines are for sh, and start the same file again as a program of another language.
TWO_LANGUAGES = re.compile(r"#![^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n){0,9}(?:\"\"\"|'''|\"exec\"|'exec'|\":\"|':')")


def is_script(path: str, text: str) -> bool:
    """Is it text for a shell of the family of sh?"""
    if text.startswith("#!"):
        return shell_of(text[:300].split("\n", 1)[0]) == "sh"
    return bool(NAMES.search(path) or HOOKS.search(path))


def snippets(path: str, text: str) -> Iterator[Snippet]:
    """The script."""
    mixed = ZSH.search(path) or ZSH_FIRST.match(text) or TWO_LANGUAGES.match(text)
    language = "mixed" if mixed else "sh"
    where = Where.HOOK if HOOKS.search(path) else Where.SCRIPT
    yield snippet(pieces_of(text.removeprefix("\ufeff")), where, language)
