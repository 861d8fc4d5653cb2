"""What a newcomer sees of a grammar that no flow is followed in yet."""

from examples import table

from benchmarks.flow_kinds import list_kinds


@table(
    ("language", "text", "line"),
    [
        ("scala", "val a = b", "  val_definition: ?  val a = b"),
        ("python", "a = b", "    assignment: assign  a = b"),
        ("python", "a = b", "      identifier: name  b"),
    ],
)
def test_each_kind_is_shown_with_what_it_is_to_the_flow(
    language: str, text: str, line: str
) -> None:
    assert line in list(list_kinds(language, text))
