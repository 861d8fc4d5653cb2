"""Programs that search for files or change their mode or owner."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import dropwhile, islice, pairwise, takewhile

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.credentials import list_hidden
from cli_guard.commands.effects.loose import may_be_option
from cli_guard.commands.effects.output import origin_of_paths
from cli_guard.commands.effects.paths import delete_path, find_target, path_of, write_path
from cli_guard.commands.effects.places import (
    PathClass,
    classify_path,
    classify_whole,
    holds_credentials,
    is_credential,
)
from cli_guard.commands.effects.running import note_unknown_words, run_call
from cli_guard.commands.effects.values import emit_for, values_of
from cli_guard.commands.expand.fields import Field, field_of, literal
from cli_guard.commands.model import EffectKind
from cli_guard.commands.scope import (
    BELOW,
    EVERYTHING,
    HOOKS,
    NAMES,
    NOTHING,
    SECRET,
    Stream,
    merge,
    taints_of,
)
from cli_guard.lazy import regex

# find(1): the options before its folders.
OPENING = regex(r"-[HLPEXdxs]")
NEWER = regex(r"-newer[aBcmt]{2}")
NARROWING = frozenset(
    "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -newer -size -empty -user -lname -inum -samefile "
    "-perm -atime -ctime -group -nouser -links".split()
)
HOOK_FILE = regex(r"(?:^|/)\.(?:husky|githooks)/[\w-]+\Z")
# Modes that let anybody write, that let nobody read, and that leave a file executable.
OPENED = regex(r"\d*[2367]\Z|[ugoa]*[+=][rxXst]*w")
CLOSED = regex(r"0+\Z|(?:a|ugo)?(?:[-=]\w*[rx]|=\Z)")
EXECUTABLE = regex(r"\d*[1357]\d*\Z|[^+]*\+|[^=]*=.*x", re.DOTALL)
DATE_FIELD = regex(r"%[-_0^#]?[EO]?[A-Za-z%]")
LETTERS = regex(r"X{3,}([^X/]*)\Z")
LETTER = regex(r"[A-Za-z]")
BELOW_IT = " and all below it"
NAME_TESTS = frozenset(("-name", "-iname", "-regex", "-iregex"))
PATH_TESTS = frozenset(("-path", "-ipath", "-wholename", "-iwholename"))
NEGATIONS = ("-not", "!")
# Places and names of secrets that a pattern in a `-name` test may match.
SECRET_PLACES = tuple(
    "/etc/shadow /etc/gshadow /etc/sudoers /etc/krb5.keytab /etc/master.passwd".split()
)
SECRET_NAMES = tuple(
    ".env .netrc .npmrc .pgpass .git-credentials id_rsa id_ed25519 credentials".split()
)
STARS = regex(r"\*+(?:\.\*)?\Z")


def find(call: Call) -> Stream:
    """Handle find: its folders, its tests, and its actions on the files found."""
    rest = [*dropwhile(lambda word: OPENING.fullmatch(word.start), call.fields[1:])]
    roots = [
        *takewhile(
            lambda word: word.origin or word.start[:1] not in ("-", "(", "!", ""), rest
        )
    ]
    rest = rest[len(roots) :]
    found = find_targets(call, roots, rest)
    split = (word for word in rest if word.many or word.pattern)
    for word in islice(
        (each for each in (*roots, *split) if may_be_option(call.shell, each)), 1
    ):
        reason = f"{word.shown} is known only at run time and may be a test of find"
        emit_for(call, EffectKind.UNKNOWN, word, reason)
    # A format may be any text.
    prints_text = any(word.text in ("-printf", "-ls") for word in rest)
    origin = origin_of_paths(call, "paths", [path_of(call.shell, each) for each in roots])
    outputs = [Stream(None, taints_of(found), "" if prints_text else origin)]
    while rest:
        word, *rest = rest
        test = call.spec.options.get(word.text or "")
        if test is None and not NEWER.fullmatch(word.start):
            emit_for(
                call, EffectKind.UNKNOWN, word, f"has an unknown test: {word.shown[:60]}"
            )
        elif test and test.takes == "command":
            rest, output = run_on(call, word, rest, found)
            outputs.append(output)
        elif test and test.effect:
            call.kinds.add(test.effect)
            for each in found:
                delete_path(call.shell, each, word.span)
        elif test is None or test.takes:
            for target in rest[:1] if test and test.takes == "write" else ():
                write_path(call.shell, target)
            rest = rest[2 if word.text == "-fprintf" else 1 :]
    return merge(outputs)


def find_targets(call: Call, roots: list[Field], tests: list[Field]) -> list[Field]:
    """Return one field for each searched folder: a path below it, or everything in it."""
    narrow = any(
        word.text in NARROWING and not (after.text is not None and STARS.match(after.text))
        for word, after in pairwise(tests)
    )
    found = []
    for root in roots or [literal(".", call.span)]:
        path = find_target(call.shell, root)
        if root.dynamic:
            emit_for(
                call, EffectKind.UNKNOWN, root, "searches a folder known only at run time"
            )
        elif is_credential(path):
            call.effect(EffectKind.CREDENTIAL, path, f"searches {path}", root.span)
        everything = classify_whole(path) is not PathClass.ORDINARY and not narrow
        taints = frozenset((EVERYTHING,)) if everything else root.taints
        if is_guarded(path, tests):
            taints |= {HOOKS}
        named = list_patterns(tests, NAME_TESTS | PATH_TESTS)
        left_out = list_patterns(tests, NAME_TESTS | PATH_TESTS, negated=True)
        if finds_credential(path, tests):
            taints |= {SECRET}
        elif not named and not any(map(is_credential, left_out)):
            taints |= {NAMES + BELOW + path}
        found.append(Field(None, f"{path.rstrip('/')}/", root.span, taints, "paths"))
    return found


def list_patterns(
    tests: list[Field], kinds: frozenset[str], *, negated: bool = False
) -> list[str]:
    """Return the patterns in tests of these kinds as a shell writes them, without those that fit any name."""
    before = [None, *(word.text for word in tests)]
    found = []
    for earlier, (word, after) in zip(before, pairwise(tests), strict=False):
        text = after.text or ""
        if word.text in ("-regex", "-iregex"):
            text = text.replace(".*", "*").replace("\\", "")
        if (
            word.text in kinds
            and (earlier in NEGATIONS) is negated
            and not STARS.match(text or "*")
        ):
            found.append(text)
    return found


def finds_credential(root: str, tests: list[Field]) -> bool:
    """Return whether a search below a folder may find a secret, by the folder and the names in the tests."""
    if (
        is_credential(root)
        or root.startswith("/proc/")
        or any(map(is_credential, list_patterns(tests, NAME_TESTS | PATH_TESTS)))
    ):
        return True
    names = [each.lower().rpartition("/")[2] for each in list_patterns(tests, NAME_TESTS)]
    inside = [place for place in SECRET_PLACES if place.startswith(f"{root.rstrip('/')}/")]
    paths = [*SECRET_NAMES, *inside]
    if holds_credentials(root):
        if not names:
            return True
        paths += () if root.startswith("/etc") else list_hidden()
    return any(
        fnmatchcase(path.rpartition("/")[2], name) for name in names for path in paths
    )


def is_guarded(path: str, tests: list[Field]) -> bool:
    """Return whether the search is in the repository's own folder or names it."""
    if classify_path(path) in (PathClass.REPOSITORY, PathClass.HOOKS):
        return True
    return any(
        word.text in ("-name", "-path") and after.text == ".git"
        for word, after in pairwise(tests)
    )


def run_on(
    call: Call, action: Field, words: list[Field], found: list[Field]
) -> tuple[list[Field], Stream]:
    """Run `-exec command ;` with the files found in place of `{}`; return the words after it and what it prints."""
    texts = [word.text for word in words]
    # A plus ends the command only behind `{}`.
    ends = (
        at
        for at, text in enumerate(texts)
        if text == ";" or texts[max(at - 1, 0) : at + 1] == ["{}", "+"]
    )
    end = next(ends, len(words))
    command: list[Field] = []
    for word in words[:end]:
        if word.text == "{}":
            command += found
        else:
            command.append(fill_braces(word, found) if "{}" in word.start else word)
    scope = call.scope
    outer = scope.folder, scope.unsure_folder
    if action.text in ("-execdir", "-okdir"):
        # It runs there or in any folder below.
        scope.folder = found[0].start.rstrip("/") or "/"
        scope.unsure_folder = True
    output = call.invoke(command, NOTHING) if command else NOTHING
    scope.folder, scope.unsure_folder = outer
    return words[end + 1 :], output


def fill_braces(word: Field, found: list[Field]) -> Field:
    """Fill `{}` in a word, which may be a script for a shell, with a pattern for what was found."""
    text = word.text.replace("{}", found[0].start + "*") if word.text else None
    return Field(text, text or "", word.span, taints_of((word, *found)))


def mode(call: Call) -> Stream:
    given = call.arguments
    operands = list(given.operands)
    recursive = given.has("-R", "--recursive")
    # `-x` is a mode and no option.
    flagged = [word for word in given.unknown if re.fullmatch(r"-[rwxXst]+", word.start)]
    given.unknown[:] = [word for word in given.unknown if word not in flagged]
    if flagged or given.has("--reference"):
        wanted = "".join(word.start for word in flagged[:1])
    else:
        wanted = "".join(word.shown for word in operands[:1])
        operands = operands[1:]
    note_unknown_words(call)
    for operand in operands:
        change_mode(call, operand, wanted, recursive=recursive)
    return NOTHING


def change_mode(call: Call, operand: Field, wanted: str, *, recursive: bool) -> None:
    path = path_of(call.shell, operand)
    if is_vital(operand, path) and (
        recursive or OPENED.match(wanted) or CLOSED.match(wanted)
    ):
        deny_for_all(
            call,
            operand,
            f"changes the permissions of {path}{BELOW_IT if recursive else ''}",
        )
        return
    is_hook = classify_path(path) is PathClass.HOOKS
    guards = is_hook or HOOK_FILE.search(path) or (path.endswith(".git") and recursive)
    if guards and not EXECUTABLE.match(wanted):
        floors.deny_guard_off(
            call.shell, path, f"makes {path} not executable", operand.span
        )
    elif is_hook:
        call.effect(EffectKind.PERSISTENCE, path, f"makes {path} executable", operand.span)
    else:
        write_path(call.shell, operand, verb="changes the mode of")


def is_vital(operand: Field, path: str) -> bool:
    """Return whether a word names the root, a home or a folder of the system, or all that a search found."""
    known = operand.text is not None and classify_whole(path) is not PathClass.ORDINARY
    return known or EVERYTHING in operand.taints


def deny_for_all(call: Call, operand: Field, reason: str) -> None:
    path = path_of(call.shell, operand)
    call.shell.deny(EffectKind.SYSTEM, path, reason, operand.span, floors.OPEN_PERMISSIONS)


def owner(call: Call) -> Stream:
    recursive = call.arguments.has("-R", "--recursive")
    note_unknown_words(call)
    for operand in call.operands[0 if call.arguments.has("--reference") else 1 :]:
        path = path_of(call.shell, operand)
        if recursive and is_vital(operand, path):
            deny_for_all(call, operand, f"changes the owner of {path}{BELOW_IT}")
        elif classify_path(path) is PathClass.HOOKS and not call.shell.in_change:
            floors.deny_guard_off(
                call.shell, path, f"changes the owner of {path}", operand.span
            )
        else:
            write_path(call.shell, operand, verb="changes the owner of")
    return NOTHING


def tar(call: Call) -> Stream:
    """Handle tar: the first word may be options without a dash; the mode decides what the operands are."""
    words = call.fields[1:]
    if words and words[0].text and re.fullmatch(r"[A-Za-z]+", words[0].text):
        call.replace_fields([call.fields[0], *old_style(words[0], words[1:])])
    given = call.arguments
    writes = given.has(
        "-c", "--create", "-r", "--append", "-u", "--update", "-A", "--catenate"
    )
    files = values_of(call, "--file")
    given.values[:] = [
        (option, value) for option, value in given.values if "--file" not in option.names
    ]
    folders = values_of(call, "-C", "--directory")
    kinds = [("read" if writes else "text", each) for each in place_operands(call, folders)]
    for value in files:
        if re.match(r"[\w.@-]+:", value.start):
            kinds.append(("host", value))
        elif value.text != "-":
            kinds.append(("write" if writes else "read", value))
    if given.has("-x", "--extract", "--get") and not given.has("-O", "--to-stdout"):
        kinds += [("write", folder) for folder in folders or [literal(".", call.span)]]
    if given.has("--remove-files"):
        kinds += [("delete", operand) for operand in given.operands]
    given.kinds[:] = kinds
    for _, value in given.values:
        if value.text and value.text.startswith("exec="):
            call.shell.run_nested(value.text[5:], value.span)
    return run_call(call)


def place_operands(call: Call, folders: list[Field]) -> Iterator[Field]:
    """Prefix each operand with the folder of the `-C` before it."""
    folder = literal("", call.span)
    for word in call.fields[1:]:
        value = next((each for each in folders if each.span == word.span), None)
        if value:
            folder = join_path(folder, value)
        elif word in call.operands:
            yield join_path(folder, word)


def join_path(folder: Field, name: Field) -> Field:
    if folder.text == "" or name.start.startswith(("/", "~")):
        return name
    known = folder.text is not None and name.text is not None
    start = f"{folder.start}/{name.start}"
    taints = folder.taints | name.taints
    return replace(
        name, text=start if known else None, start=start, taints=taints, origin=""
    )


def old_style(letters: Field, rest: list[Field]) -> list[Field]:
    """Rewrite `xzf a.tgz -C d` as `-x -z -f a.tgz -C d` (tar(1): values follow in the order of their letters)."""
    words: list[Field] = []
    rest = list(rest)
    for letter in letters.text or "":
        words.append(literal(f"-{letter}", letters.span))
        if letter in "fbCgIKTVXFHLN" and rest:
            words.append(rest.pop(0))
    return words + rest


def date(call: Call) -> Stream:
    """Handle date: an operand that is not a format sets the clock."""
    operands = call.operands
    for operand in operands:
        if not operand.start.startswith("+"):
            call.effect(EffectKind.SYSTEM, None, "sets the clock", operand.span)
    output = run_call(call)
    # A format may produce any word, the name of a file among them.
    texts = (DATE_FIELD.sub("", operand.shown) for operand in operands)
    return Stream(None, output.taints) if any(map(LETTER.search, texts)) else output


def make_temporary(call: Call) -> Stream:
    """Handle mktemp: of the name only some letters are not known, and they are none that matter."""
    given = call.arguments
    folders = values_of(call, "-p", "--tmpdir")
    names = given.operands or [literal(f"tmp.{'X' * 10}", call.span)]
    in_folder = not given.operands or folders or given.has("-t", "--tmpdir")
    folder = (
        folders[-1]
        if folders
        else field_of(call.shell.expander().variable("TMPDIR"), call.span)
    )
    known = all(
        each.known for each in (*names, *folders, *(value for _, value in given.values))
    )
    letters = LETTERS.search(names[-1].start)
    if not known or (in_folder and folder.text is None) or letters is None:
        return run_call(call)
    # Each has another name.
    name = (
        f"{names[-1].start[: letters.start()]}XXX{len(call.shell.invocations)}{letters[1]}"
    )
    name += "".join(value.start for value in values_of(call, "--suffix"))
    path = path_of(
        call.shell, literal(f"{folder.text}/{name}" if in_folder else name, call.span)
    )
    call.effect(EffectKind.WRITE, path, call.spec.reason)
    note_unknown_words(call)
    return Stream(f"{path}\n")
