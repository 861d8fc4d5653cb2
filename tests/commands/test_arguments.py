"""The words of a command against a table: joined, shortened and attached options, where options end, operands."""

from collections.abc import Mapping
from typing import Any

from examples import examples, near_misses, table

from cli_guard.commands.effects.arguments import CallArguments, read_arguments
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.model import EffectKind, Span
from cli_guard.commands.programs import Spec, spec_from, sub_command

HERE = Span(0, 0)

GNU: Mapping[str, Any] = {
    "flags": "-a --all -b --brief -q --quiet --colour[=] -#",
    "values": "-k --key -t --field --format",
    "operands": "read",
    "fact": [
        {"options": "-o --output", "takes": "write"},
        {"options": "-n --no-verify", "effect": "guard"},
        {"options": "-d --delete", "operands": "delete"},
        {"options": "-e --expression", "takes": "text", "operands": ["read..."]},
        {"options": "-i --in-place", "takes": "text", "optional": True, "effect": "write"},
        {"options": "-x --exec", "takes": "command"},
    ],
}
SINGLE: Mapping[str, Any] = {
    "parsing": "single",
    "flags": "-check -json",
    "values": "-var -out",
    "operands": ["read"],
    "fact": [{"options": "-auto-approve", "effect": "exec"}],
}
POSIX: Mapping[str, Any] = {
    "parsing": "posix",
    "flags": "-i",
    "values": "-u -C",
    "operands": "command",
}
STOPS: Mapping[str, Any] = {"parsing": "posix", "flags": "-i", "operands": "read"}
PAIRS: Mapping[str, Any] = {
    "parsing": "pairs",
    "values": "bs count",
    "fact": [{"options": "if", "takes": "read"}, {"options": "of", "takes": "write"}],
}
NONE: Mapping[str, Any] = {"parsing": "none", "operands": "text"}
TREE: Mapping[str, Any] = {
    "flags": "-v --verbose",
    "values": "-C",
    "command": [
        {"name": "list", "flags": "--long"},
        {"name": "add | put", "operands": ["text", "read..."]},
        {"name": "remote add", "operands": ["text", "text"], "flags": "-f"},
        {"name": "remote show", "operands": "text"},
    ],
}


def read(table: Mapping[str, Any], words: str) -> CallArguments:
    """The words; `$x` is one that is not known, `$x` behind text one whose end is not."""
    fields = [
        literal(word, HERE)
        if "$" not in word
        else Field(None, word.partition("$")[0], HERE)
        for word in words.split()
    ]
    return read_arguments(
        spec_from({"source": "a test", **table}, "tool", Spec("")), fields
    )


def texts(fields: list[Field]) -> str:
    return " ".join(field.shown for field in fields)


def said(found: CallArguments) -> str:
    """Everything that was read, in short: options, values, kinds of operands, what is left, what is not known."""
    values = {id(option): value.shown for option, value in found.values}
    options = [
        option.names[0] + (f"={values[id(option)]}" if id(option) in values else "")
        for option in found.present
    ]
    parts = [
        " ".join(options),
        " ".join(f"{kind}:{field.shown}" for kind, field in found.kinds),
        f"rest[{texts(found.rest)}]" if found.rest else "",
        f"unknown[{texts(found.unknown)}]" if found.unknown else "",
        f"loose[{texts(found.loose)}]" if found.loose else "",
    ]
    return " ".join(part for part in parts if part)


@table(
    ("words", "meaning"),
    [
        ("", ""),
        ("f", "read:f"),
        ("f g", "read:f read:g"),
        ("-a f", "-a read:f"),
        ("f -a", "-a read:f"),
        ("-ab f", "-a -b read:f"),
        ("-abq", "-a -b -q"),
        ("-az", "-a unknown[-az]"),
        ("-za", "unknown[-za]"),
        ("-anq", "-a -n -q"),
        ("-k 1 f", "-k=1 read:f"),
        ("-k1 f", "-k=1 read:f"),
        ("-k=1 f", "-k=1 read:f"),
        ("-ak 1 f", "-a -k=1 read:f"),
        ("-ak1 f", "-a -k=1 read:f"),
        ("-ka f", "-k=a read:f"),
        ("-k -a f", "-k=-a read:f"),
        ("-k", "-k"),
        ("--key 1 f", "--key=1 read:f"),
        ("--key=1 f", "--key=1 read:f"),
        ("--key= f", "--key= read:f"),
        ("--key=a=b f", "--key=a=b read:f"),
        ("--ke 1", "--key=1"),
        ("--k=1", "--key=1"),
        ("--al f", "--all read:f"),
        ("--no-ver", "-n"),
        ("--n", "-n"),
        ("--o f", "-o=f"),
        ("--f x", "--field=x --format=x"),
        ("--fo=x", "--format=x"),
        ("--alll", "unknown[--alll]"),
        ("--all=no", "--all unknown[--all=no]"),
        ("--all=true", "--all"),
        ("--no-verify=false", "-n unknown[--no-verify=false]"),
        ("--colour f", "--colour read:f"),
        ("--colour=always f", "--colour=always read:f"),
        ("--zzz f", "unknown[--zzz] read:f"),
        ("-5 f", "read:f"),
        ("-12", ""),
        ("-5a", "-a"),
        ("-a5", "-a"),
        ("-- -a f", "read:-a read:f"),
        ("-a -- -k", "-a read:-k"),
        ("-k -- f", "-k=-- read:f"),
        ("-", "read:-"),
        ("- -a", "-a read:-"),
        ("-o f", "-o=f"),
        ("-of", "-o=f"),
        ("-ao f g", "-a -o=f read:g"),
        ("-i f", "-i read:f"),
        ("-i.bak f", "-i=.bak read:f"),
        ("-ai f", "-a -i read:f"),
        ("--in-place=.b f", "-i=.b read:f"),
        ("--in-place f", "-i read:f"),
        ("-d f g", "-d delete:f delete:g"),
        ("f -d g", "-d delete:f delete:g"),
        ("-d -e x f", "-d -e=x delete:f"),
        ("-e x f", "-e=x read:f"),
        ("-x ls -l", "-x rest[ls -l]"),
        ("-x ls -l ; f", "-x read:f rest[ls -l]"),
        ("-xls f", "-x rest[ls f]"),
        ("-ax ls", "-a -x rest[ls]"),
        ("--exec=ls f", "-x rest[ls f]"),
        ("$x", "read:(...) loose[(...)]"),
        ("f $x", "read:f read:(...) loose[(...)]"),
        ("-- $x", "read:(...)"),
        ("./$x", "read:./(...)"),
        ("--$x", "loose[--(...)]"),
        ("--key=$x", "--key=(...)"),
        ("-k $x f", "-k=(...) read:f"),
        ("-k$x f", "-k=(...) read:f"),
        ("-ao$x f", "-a -o=(...) read:f"),
        ("-a$x f", "-a read:f loose[-a(...)]"),
        ("-z$x f", "read:f loose[-z(...)]"),
        ("--key$x f", "read:f loose[--key(...)]"),
    ],
)
def test_gnu_options(words: str, meaning: str) -> None:
    found = said(read(GNU, words))
    assert sorted(found.split()) == sorted(meaning.split()), found


@table(
    ("table", "words", "meaning"),
    [
        (SINGLE, "-check f", "-check read:f"),
        (SINGLE, "--check f", "-check read:f"),
        (SINGLE, "-var a=b f", "-var=a=b read:f"),
        (SINGLE, "-var=a=b f", "-var=a=b read:f"),
        (SINGLE, "--var=a", "-var=a"),
        (SINGLE, "-auto-approve", "-auto-approve"),
        (SINGLE, "-auto-approve=true", "-auto-approve"),
        (SINGLE, "-check=false", "-check unknown[-check=false]"),
        (SINGLE, "-c f", "unknown[-c] read:f"),
        (SINGLE, "-checkjson", "unknown[-checkjson]"),
        (SINGLE, "f g", "read:f unknown[g]"),
        (POSIX, "ls -l", "rest[ls -l]"),
        (POSIX, "-i ls -l", "-i rest[ls -l]"),
        (POSIX, "-u ada ls -i", "-u=ada rest[ls -i]"),
        (POSIX, "-iu ada ls", "-i -u=ada rest[ls]"),
        (POSIX, "-- -i ls", "rest[-i ls]"),
        (POSIX, "-z ls", "unknown[-z] rest[ls]"),
        (POSIX, "$x -l", "loose[(...)] rest[(...) -l]"),
        (POSIX, "", ""),
        (STOPS, "-i f -i -z", "-i read:f read:-i read:-z"),
        (PAIRS, "if=a of=b bs=1M", "if=a of=b bs=1M"),
        (PAIRS, "of=", "of="),
        (PAIRS, "of=a=b", "of=a=b"),
        (PAIRS, "of=$x", "of=(...)"),
        (PAIRS, "oflag=x", "unknown[oflag=x]"),
        (PAIRS, "f", "unknown[f]"),
        (NONE, "-a --b -- c", "text:-a text:--b text:-- text:c"),
        (NONE, "--help", "text:--help"),
        (TREE, "list --long", "--long"),
        (TREE, "-v list", "-v"),
        (TREE, "list -v", "-v"),
        (TREE, "list x", "unknown[x]"),
        (TREE, "--long list", "unknown[--long]"),
        (TREE, "-C d list", "-C=d"),
        (TREE, "add x f g", "text:x read:f read:g"),
        (TREE, "put x f", "text:x read:f"),
        (TREE, "remote add -f n u", "-f text:n text:u"),
        (TREE, "remote -v add n u", "-v text:n text:u"),
        (TREE, "remote show n", "text:n"),
        (TREE, "remote nothing", "unknown[nothing]"),
        (TREE, "nothing", "unknown[nothing]"),
        (TREE, "$x", "loose[(...)] unknown[(...)]"),
    ],
)
def test_other_styles_and_sub_commands(
    table: Mapping[str, Any], words: str, meaning: str
) -> None:
    found = said(read(table, words))
    assert sorted(found.split()) == sorted(meaning.split()), found


@table(
    ("words", "name"),
    [
        ("list", "tool list"),
        ("-C d put x", "tool put"),
        ("remote add n u", "tool remote add"),
        ("remote", "tool remote"),
        ("nothing list", "tool"),
        ("", "tool"),
    ],
)
def test_the_table_of_the_sub_command_counts(words: str, name: str) -> None:
    assert read(TREE, words).spec.name == name


@table(
    ("operands", "words", "kinds"),
    [
        ("read", "a b", "read:a read:b"),
        (["text", "read..."], "a b c", "text:a read:b read:c"),
        (["read...", "write"], "a b c", "read:a read:b write:c"),
        (["read...", "write"], "a", "write:a"),
        (["text", "read...", "write"], "a b", "text:a write:b"),
        (["text"], "a b", "text:a unknown[b]"),
        ([], "a", "unknown[a]"),
        (["text", "command"], "a b -c", "text:a rest[b -c]"),
        (["text", "shell..."], "a b -c d", "text:a rest[b -c d]"),
    ],
)
def test_operands_by_their_place(operands: str | list[str], words: str, kinds: str) -> None:
    table = {"operands": operands, "parsing": "posix" if "-" in words else "gnu"}
    assert said(read(table, words)) == kinds


def test_of_two_options_that_change_the_operands_the_worse_counts() -> None:
    assert said(read(GNU, "-e x -d f")).endswith("delete:f")
    assert said(read(GNU, "-d -e x f")).endswith("delete:f")


def test_an_option_is_found_by_each_of_its_names() -> None:
    assert read(GNU, "-n").has("--no-verify")
    assert read(GNU, "--no-veri").has("-n", "-z")
    assert not read(GNU, "-a").has("--no-verify")


FORMS: Mapping[str, Any] = {
    "flags": "-q",
    "command": [
        {
            "name": "* list-* | ** show",
            "effect": "service-read",
            "operands": "text",
            "others": "text",
        },
        {"name": "* list-secret*", "effect": "credential", "operands": "text"},
        {"name": "vm list-disks", "effect": "service-write"},
        {"name": "vm | vm disk", "command": [{"name": "stop", "effect": "service-write"}]},
    ],
}


def effect_of(*words: str) -> str:
    """Return the effect of the sub-command that the words lead to, empty if none."""
    spec = spec_from(FORMS, "cloud", Spec(""))
    for word in words:
        spec = sub_command(spec, word) or Spec("", effect=EffectKind.UNKNOWN)
    return str(spec.effect or "")


@near_misses(
    "words",
    [
        "vm list-images",
        "vm show",
        "vm disk show",
        "db list-x",
        "db backup policy show",
        "vm backup show",
    ],
)
def test_a_form_names_sub_commands_of_groups_that_are_listed_and_of_others(
    words: str,
) -> None:
    assert effect_of(*words.split()) == EffectKind.SERVICE_READ


@examples(
    ("words", "effect"),
    [
        ("vm list-disks", "service-write"),
        ("vm stop", "service-write"),
        ("vm disk stop", "service-write"),
        ("vm list-secrets", "credential"),
        ("db", "unknown"),
        ("db drop", "unknown"),
        ("db backup list-x", "unknown"),
        ("vm list", "unknown"),
        ("vm disk list-x", "unknown"),
        ("vm list-images x", "unknown"),
        ("vm show show", "unknown"),
    ],
)
def test_a_name_counts_before_a_form_and_a_longer_form_before_a_shorter(
    words: str, effect: str
) -> None:
    assert effect_of(*words.split()) == effect


def test_options_missing_from_a_table_do_no_harm_where_it_says_so() -> None:
    spec = spec_from(FORMS, "cloud", Spec(""))
    words = ["db", "list-x", "--name", "a", "--all", "-q", "--top=3"]
    assert not read_arguments(spec, [literal(word, HERE) for word in words]).unknown
    assert read_arguments(
        spec, [literal(word, HERE) for word in ["vm", "stop", "--all"]]
    ).unknown


@table(
    ("words", "reads"),
    [
        ("--dry=client", True),
        ("--dry=none", False),
        ("--dry", False),
        ("--dr=client", False),
    ],
)
def test_an_option_may_be_named_with_a_value(words: str, reads: bool) -> None:
    data = {"flags": "--dry[=]", "fact": [{"options": "--dry=client", "effect": "read"}]}
    found = read_arguments(spec_from(data, "apply", Spec("")), [literal(words, HERE)])
    assert [option.effect == EffectKind.READ for option in found.present] == [reads]
