"""Run a call of a program that has a table: the effects of its words, and the taints that flow through it."""

import re
from dataclasses import replace
from itertools import islice, pairwise

from cli_guard.commands import floors
from cli_guard.commands.effects import values
from cli_guard.commands.effects.arguments import operand_kinds
from cli_guard.commands.effects.loose import may_be_option
from cli_guard.commands.effects.parsed_call import ParsedCall
from cli_guard.commands.effects.paths import (
    delete_path,
    find_secret_link,
    path_of,
    write_path,
)
from cli_guard.commands.effects.places import (
    PathClass,
    classify_path,
    classify_whole,
    holds_credentials,
    is_below,
    is_credential,
)
from cli_guard.commands.expand.fields import Field, literal, stream_of
from cli_guard.commands.model import Kind, Span, WorkTree
from cli_guard.commands.scope import (
    BELOW,
    EVERYTHING,
    NAMES,
    NOTHING,
    REMOTE,
    SECRET,
    TOKEN,
    Stream,
    merge,
    taints_of,
)

CONNECTED = frozenset((Kind.NETWORK_IN, Kind.NETWORK_OUT, Kind.SERVICE_WRITE))
FETCHED = CONNECTED | {Kind.SERVICE_READ}
# What a dry run leaves out.
CHANGES = frozenset((Kind.WRITE, Kind.DELETE, Kind.SYSTEM, "move"))
SETS_ENVIRONMENT = frozenset(("env", "sudo", "doas"))
# Files whose content can switch the hooks or the guard off.
SWITCHING = frozenset((PathClass.SETTINGS, PathClass.HOOKS, PathClass.GIT_CONFIG))
COPIES_INPUT = frozenset(("cat", "tee"))
GUARD_PACKAGES = frozenset(
    ("cli-guard", "cli_guard", "pre-commit", "prek", "husky", "lefthook")
)
RUNS_COMMANDS = frozenset((("cli-guard", "exec"), ("cli_guard", "exec")))
# The code of sed that only prints or drops lines, of awk that only prints fields, the sets of tr that are blanks.
SELECTING = {
    "sed": re.compile(r"(?:(?:\d+|\$|/[^/\\]*/)(?:,(?:\d+|\$|/[^/\\]*/))?)?!?[pdq]"),
    "awk": re.compile(
        r"(?:/[^/\\]*/|NR *[<>=!]=? *\d+)? *(?:\{ *print(?: *\$(?:\d+|NF))? *;? *\})?"
    ),
    "tr": re.compile(r"(?: |\\[nrt0])+"),
}
# A dash behind a blank, an escape or nothing.
OWN_DASH = re.compile(r"(?:\A\+?|[^\w./:@+-]|%[nt])-|\\")
FOLLOWING = ("-R", "--dereference-recursive", "-L", "--follow", "-h", "--dereference")
DASHED_NAME = re.compile(r"(?:\A|[\s/])[-+]")
# Programs that print no operand, not even in an error about it.
SILENT = frozenset(("test", "[", "true", "false", ":"))
REMOVALS = frozenset(("uninstall", "remove", "rm", "un", "erase", "purge"))


class Call(ParsedCall):
    """One call of a program with a table."""

    def run(self) -> Stream:
        """Emit every effect that the table gives this call; return what it prints."""
        folder = self.shell.scope.folder
        self.load_project()
        if not self.is_help_request():
            self.own_effect()
            self.apply_options()
            self.apply_operands()
            self.check_links()
            self.not_understood()
            if not self.took_input:
                self.apply_input()
        output = self.apply_rest() if self.arguments.rest else None
        own = self.finish()
        self.shell.scope.folder = folder
        return own if output is None else output

    def load_project(self) -> None:
        """Emit that the program loads code of the project, whatever it is asked for.

        For help, that counts unless its table says that nothing is loaded.
        """
        loads = self.program.loads if self.spec.loads is None else self.spec.loads
        loads = loads or self.find_settings()
        if self.is_help_request():
            loads = (
                "" if self.help_word in self.help_words else loads or "even for its help"
            )
        elif self.spec.effect is Kind.EXEC and not self.looks:
            return
        if loads:
            reason = f"loads code or plug-ins of the project ({loads})"
            self.effect(Kind.EXEC, self.program.name, reason, self.span)

    def find_settings(self) -> str:
        """Return the file in which the project decides where the program connects, "" if there is none."""
        context = self.shell.context
        folder = self.shell.scope.folder
        places = {
            f"{place}/{name}"
            for place in (context.root, folder)
            for name in self.program.settings.split()
        }
        is_there = context.tree is not None and any(map(context.tree.exists, places))
        return self.program.settings if is_there else ""

    def own_effect(self) -> None:
        """Emit the effect of the program or sub-command, unless an option such as `--check` makes it read-only."""
        if (
            self.spec.effect
            and not self.looks
            and not (self.dry and self.spec.effect in CHANGES)
        ):
            self.effect(
                self.spec.effect,
                self.spec.name,
                self.spec.reason,
                self.span,
                self.spec.rule,
            )
        words = words_before_command([each.text for each in self.fields[1:]])
        if GUARD_PACKAGES.intersection(words) and REMOVALS.intersection(words):
            what = f"{self.title} removes the hooks"
            floors.deny_guard_off(
                self.shell, " ".join(filter(None, words)), what, self.span
            )

    def apply_options(self) -> None:
        for option in dict.fromkeys(self.arguments.present):
            if option.effect and not (self.dry and option.effect in CHANGES):
                self.effect(
                    option.effect,
                    option.names[0],
                    option.reason,
                    self.span,
                    option.rule,
                    option.alternative,
                )
        for option, value in self.arguments.values:
            if option.takes:
                values.take(self, option.takes, value, option.reason, option.rule)

    def apply_operands(self) -> None:
        for kind, operand in self.arguments.kinds:
            if (
                kind == "text"
                and TOKEN in operand.taints
                and self.program.name not in SILENT
            ):
                reason = "gets a variable that is named like a secret, and may print it"
                self.effect(Kind.CREDENTIAL, None, reason, operand.span)
            values.take(
                self,
                "text" if self.dry and kind in CHANGES else kind,
                operand,
                self.spec.reason,
                self.spec.rule,
            )

    def check_links(self) -> None:
        """Emit that a recursive read follows a link to a secret (`grep -R`, `tar -h`)."""
        if (
            self.arguments.has(*FOLLOWING)
            and self.find_walked()
            and (link := find_secret_link(self.shell))
        ):
            self.effect(
                Kind.CREDENTIAL, link, f"follows {link}, which leads to a secret", self.span
            )

    def not_understood(self) -> None:
        """Emit an unknown effect for words missing from the table."""
        given = self.arguments
        for word in given.unknown[:1]:
            if word.text is None and self.spec.commands and not given.operands[1:]:
                reason = f"the sub-command of {self.title} is known only at run time"
            elif word.start.startswith("-"):
                reason = f"the option {word.shown[:60]} of {self.title} is not known"
            elif self.spec.commands and not given.operands[1:]:
                reason = f"{self.title} {word.shown[:60]} is not a known sub-command"
            else:
                reason = f"{self.title} does not accept {word.shown[:60]}"
            self.kinds.add(Kind.UNKNOWN)
            self.shell.emit(Kind.UNKNOWN, word.shown, reason, word.span)
        if given.loose and not self.spec.harmless_options:
            loose = (word for word in given.loose if may_be_option(self.shell, word))
            for word in islice(loose, 1):
                self.kinds.add(Kind.UNKNOWN)
                what = f"{word.shown or 'a word'} is known only at run time and"
                better = ""
                if word.pattern:
                    what = f"a name that {word.shown} finds"
                    better = "write ./ before the pattern, or -- before the names"
                reason = f"{what} may be an option of {self.title}"
                self.shell.emit(
                    Kind.UNKNOWN, word.shown, reason, word.span, alternative=better
                )

    def apply_input(self) -> None:
        """Use the input as the table says, unless an operand replaces it."""
        changed = [option.stdin for option in self.arguments.present if option.stdin]
        kind = changed[-1] if changed else self.spec.stdin
        idle = self.stdin == NOTHING and bool(self.arguments.operands)
        if (
            kind
            and kind != "command"
            and not self.arguments.rest
            and not self.looks
            and not idle
        ):
            values.take_input(self, kind)

    def apply_rest(self) -> Stream | None:
        """Run the command in the remaining words."""
        rest = self.arguments.rest
        if self.arguments.appended:
            taints = self.find_path_taints(self.find_searched_paths())
            found = Field(None, "", self.span, taints, "paths", many=True)
            rest = [found if word.text == "{}" else word for word in rest]
            return (
                self.shell.invoke(
                    rest if found in rest else [*rest, found], NOTHING, self.span
                )
                if rest
                else None
            )
        kinds = operand_kinds(self.arguments)
        if kinds and kinds[-1].startswith("shell"):
            return self.shell_words(rest)
        if self.program.name in SETS_ENVIRONMENT:
            with self.shell.subshell():
                rest = self.environment(rest)
                return self.shell.invoke(rest, self.stdin, self.span) if rest else None
        return self.shell.invoke(rest, self.stdin, self.span) if rest else None

    def shell_words(self, rest: list[Field]) -> Stream:
        """Join the words and run them in a shell, possibly on another host."""
        whole_text = " ".join(each.shown for each in rest)
        known = all(each.text is not None for each in rest)
        taints = taints_of(rest)
        span = Span(rest[0].span.start, rest[-1].span.end)
        output = values.run_shell(
            self, Stream(whole_text if known else None, taints), span, self.stdin
        )
        return replace(output, taints=output.taints | self.find_network_taints())

    def find_network_taints(self) -> frozenset[str]:
        """Return the taint of the output of a call that talks to a remote host."""
        kinds = self.kinds & (
            CONNECTED if self.program.name in values.LOCAL_SERVICES else FETCHED
        )
        return frozenset((REMOTE,)) if kinds else frozenset()

    def finish(self) -> Stream:
        """Taint the files written and the output; return the output."""
        if self.kinds & CONNECTED:
            values.check_data(self, self.stdin.taints, self.span)
        carried = merge([*self.reads, self.stdin]) if self.reads else self.stdin
        taints = self.collect_taints()
        for given, verb in self.written:
            if given.script is not None:
                self.shell.run_script(given.script, carried)
                continue
            copied = (
                carried
                if self.program.name in COPIES_INPUT | {"cp", "mv"}
                else Stream(None)
            )
            stream = replace(copied, taints=copied.taints | taints)
            if verb in ("deletes", "moves"):
                delete_path(self.shell, given, given.span, verb=verb)
            else:
                for each in (given, *self.find_copies(given)):
                    write_path(self.shell, each, given.span, stream, verb=verb)
        return self.output(carried, taints)

    def find_copies(self, target: Field) -> list[Field]:
        """Return the settings of an agent or of Git that named files become if the target is a folder."""
        sources = [
            each.text
            for kind, each in self.arguments.kinds
            if kind in ("read", "move") and each.text
        ]
        names = [
            f"{target.text.rstrip('/')}/{text.rstrip('/').rpartition('/')[2]}"
            for text in sources
            if target.text
        ]
        copies = [literal(name, target.span) for name in names]
        return [
            each for each in copies if classify_path(path_of(self.shell, each)) in SWITCHING
        ]

    def collect_taints(self) -> frozenset[str]:
        """Collect the taints of everything that goes out of this call."""
        carried = taints_of((self.stdin, *self.reads, *self.fields))
        shown = {TOKEN} if Kind.CREDENTIAL in self.kinds else set()
        read = {BELOW + folder for folder in self.find_walked()}
        return carried | shown | read | self.find_network_taints()

    def output(self, carried: Stream, taints: frozenset[str]) -> Stream:
        said = [option.prints for option in self.arguments.present if option.prints]
        prints = "text" if "text" in said else said[-1] if said else self.spec.prints
        if prints == "value" and self.find_walked():
            # `grep -rc` names the files too.
            prints = "paths"
        if prints in ("value", "ref") and not self.prints_own_dash():
            return Stream(None, frozenset(), prints)
        if prints in ("paths", "names"):
            folders = self.find_searched_paths()
            return Stream(
                None, self.find_path_taints(folders), self.origin_of_paths(prints, folders)
            )
        if prints == "operands":
            return join_operands(self.arguments.operands, taints)
        if prints in ("input", "lines"):
            # Without an input of its own it reads that of the shell, which is not known.
            same = (
                self.program.name in COPIES_INPUT
                and not self.arguments.present
                and carried != NOTHING
            )
            origin = carried.origin if prints == "lines" or self.selects() else ""
            return replace(carried if same else Stream(None, origin=origin), taints=taints)
        return Stream(None, taints)

    def origin_of_paths(self, prints: str, folders: list[str]) -> str:
        """Return "paths" for those that are in the work tree, "names" for any others."""
        context = self.shell.context
        here = self.shell.scope.folder
        given = [each for each in self.arguments.operands if each.text is None]
        named = [each.text for each in self.arguments.operands if each.text is not None]
        if any(not each.origin for each in given) or any(map(DASHED_NAME.search, named)):
            return ""
        places = [*folders, *([here] if here else [])]
        # `git grep -l WORD REVISION` lists what was there.
        is_old = self.spec.name == "git grep" and len(self.arguments.operands) > 1
        is_old = is_old or any(each.origin == "names" for each in given)
        if (
            self.spec.name == "git diff"
            and context.tree is not None
            and not self.lists_odd_names(context.tree)
        ):
            prints = "paths"
        root = context.root
        is_inside = root is None or all(is_below(each, root, context) for each in places)
        return prints if is_inside and not is_old else "names"

    def lists_odd_names(self, tree: WorkTree) -> bool:
        """Return whether `git diff --name-only` may list a name with a dash, between the revisions before `--`."""
        words = [each.text for each in self.fields[1:]]
        before = (
            self.fields[1 : 1 + words.index("--")] if "--" in words else self.fields[1:]
        )
        revisions = [each.text or "-" for each in self.arguments.operands if each in before]
        return tree.holds_odd_names() or tree.diff_holds_odd_names(tuple(revisions))

    def prints_own_dash(self) -> bool:
        """Return whether a format (`date +-x`, `seq -f`) may put a dash at the beginning of a word."""
        words = [*self.arguments.operands, *(value for _, value in self.arguments.values)]
        return any(
            each.text is None or each.pattern or OWN_DASH.search(each.text)
            for each in words
        )

    def selects(self) -> bool:
        """Return whether the code of sed or awk, or the sets of tr, print lines or fields of the input unchanged."""
        plain = SELECTING.get(self.program.name)
        kinds = [(kind, each) for kind, each in self.arguments.kinds if kind != "read"]
        texts = [each.text for kind, each in kinds] + [
            each.text for _, each in self.arguments.values
        ]
        return plain is not None and all(
            text is not None and plain.fullmatch(text) for text in texts
        )

    def find_searched_paths(self) -> list[str]:
        operands = [operand for kind, operand in self.arguments.kinds if kind == "read"]
        return [
            path_of(self.shell, each)
            for each in operands or self.arguments.operands
            if each.start
        ]

    def find_path_taints(self, folders: list[str]) -> frozenset[str]:
        """Return the taints of what a search finds: a secret, or all of the output."""
        given = folders or [self.shell.scope.folder or "."]
        everything = (
            {EVERYTHING}
            if any(classify_whole(path) is not PathClass.ORDINARY for path in given)
            else set()
        )
        walked = self.find_walked()
        secret = any(map(is_credential, given)) or any(map(holds_credentials, walked))
        names = {NAMES + BELOW + folder for folder in walked}
        return frozenset(everything | names | ({SECRET} if secret else set()))


def words_before_command(words: list[str | None]) -> list[str | None]:
    """Return the words before a `cli-guard exec` that another program runs (`uv run cli-guard exec ...`)."""
    at = next(
        (at for at, pair in enumerate(pairwise(words)) if pair in RUNS_COMMANDS), len(words)
    )
    return words if REMOVALS.intersection(words[:at]) else words[:at]


def join_operands(operands: list[Field], taints: frozenset[str]) -> Stream:
    """Join the operands with blanks, as a program prints them."""
    texts = [None if each.pattern else each.text for each in operands]
    if None in texts:
        return merge(replace(stream_of(each), taints=taints) for each in operands)
    text = " ".join(text for text in texts if text is not None)
    return Stream(f"{text}\n", taints, "", any(each.assumed for each in operands))
