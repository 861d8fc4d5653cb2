"""Ways to say a command differently or to run it from within another, as strategies of hypothesis."""

import shlex
from collections.abc import Callable

from hypothesis import strategies as st
from labelled_commands import Labelled

# Before the words of one program: what only the shell knows, so that it stands first, and other programs.
SHELL_PREFIXES = ("", "command", "exec", "time", "!", "2>/dev/null", "LC_ALL=C")
PREFIXES = (
    "env",
    "env -i",
    "env LC_ALL=C",
    "/usr/bin/env",
    "sudo",
    "sudo -n",
    "sudo -u root --",
    "nice -n 5",
    "nohup",
    "timeout 5",
    "timeout -k 2 30s",
    "setsid",
    "stdbuf -oL",
)

# Around any script. What holds it ends its last line first, so that a comment or a here-document stays whole.
AROUND: dict[str, Callable[[str], str]] = {
    "sub-shell": lambda text: f"( {text}\n)",
    "group": lambda text: f"{{ {text}\n}}",
    "if": lambda text: f"if true; then {text}\nfi",
    "else": lambda text: f"if false; then :; else {text}\nfi",
    "case": lambda text: f"case x in x) {text}\n;; esac",
    "for": lambda text: f"for _n in 1; do {text}\ndone",
    "while": lambda text: f"while true; do {text}\nbreak; done",
    "function": lambda text: f"wrapped() {{ {text}\n}}; wrapped",
    "end of a pipe": lambda text: f"true | {{ {text}\n}}",
    "start of a pipe": lambda text: f"{{ {text}\n}} | cat",
    "after and": lambda text: f"echo x && {{ {text}\n}}",
    "after or": lambda text: f"false || {{ {text}\n}}",
    "background": lambda text: f"{{ {text}\n}} &",
    "substitution": lambda text: f'echo "$( {text}\n)"',
    "bare substitution": lambda text: f"x=$( {text}\n)",
    "process substitution": lambda text: f"cat <( {text}\n)",
    "bash -c": lambda text: f"bash -c {shlex.quote(text)}",
    "bash -ec": lambda text: f"/bin/bash -ec {shlex.quote(text)}",
    "sudo bash -c": lambda text: f"sudo -n bash -c {shlex.quote(text)}",
    "env bash -c": lambda text: f"env A=b nice bash -c {shlex.quote(text)}",
    "eval": lambda text: f"eval {shlex.quote(text)}",
    "here-string": lambda text: f"bash <<< {shlex.quote(text)}",
    "piped": lambda text: f"printf '%s' {shlex.quote(text)} | bash",
    "variable": lambda text: f'script={shlex.quote(text)}; eval "$script"',
}

# The short forms that git and the GNU programs take for a long option.
SHORTENED = {
    "git commit --no-verify": ("--no-veri", "--no-verif"),
    "git push --no-verify": ("--no-veri", "--no-verif"),
    "git rebase --no-verify": ("--no-veri", "--no-verif"),
    "rm --recursive": ("--r", "--rec", "--recursiv"),
    "rm --force": ("--f", "--for"),
    "chmod --recursive": ("--rec", "--recurs"),
    "chown --recursive": ("--rec", "--recurs"),
    "wget --post-file": ("--post-f",),
}


HEX = r"\x{:02x}"
OCTAL = r"\{:03o}"


def quoted(word: str) -> st.SearchStrategy[str]:
    """The same word in other letters. A tilde stays: quoted, it names no home."""
    if not word or "~" in word:
        return st.just(word)
    whole = [
        shlex.quote(word),
        f"'{word}'",
        f'"{word}"',
        in_numbers(word, HEX),
        in_numbers(word, OCTAL),
    ]
    parts = [
        f"{word[:at]}{seam}{word[at:]}"
        for at in range(len(word) + 1)
        for seam in ("''", '""')
    ]
    slashed = [f"{word[:at]}\\{word[at:]}" for at in range(len(word))]
    mixed = [word[:at] + in_numbers(word[at:], HEX) for at in range(1, len(word))]
    return st.sampled_from([word, *whole, *parts, *slashed, *mixed])


def in_numbers(word: str, form: str) -> str:
    """Each letter as a number."""
    return "$'" + "".join(form.format(ord(letter)) for letter in word) + "'"


@st.composite
def respelled(draw: st.DrawFn, case: Labelled) -> str:
    """One program with plain words, its options shortened and its words quoted."""
    words = case.command.split(" ")
    name = " ".join(words[:2]) if words[0] == "git" else words[0]
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        short = draw(st.sampled_from((option, *SHORTENED.get(f"{name} {option}", ()))))
        words[place] = draw(quoted(f"{short}{equals}{value}"))
    return draw(st.sampled_from((" ", "  ", "\t", " \\\n "))).join(words)


@st.composite
def disguised(draw: st.DrawFn, case: Labelled) -> str:
    """A command respelled where it can be, and put into up to three others."""
    text = case.command
    if case.simple:
        text = draw(respelled(case))
        programs = draw(st.lists(st.sampled_from(PREFIXES), max_size=2))
        text = " ".join([draw(st.sampled_from(SHELL_PREFIXES)), *programs, text]).lstrip()
    for name in draw(st.lists(st.sampled_from(sorted(AROUND)), max_size=3)):
        text = AROUND[name](text)
    return text
