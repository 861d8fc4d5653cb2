"""The local names of functions: what each mention refers to, and the types that the text says."""

import pytest

from cli_guard.code.local_names import MOST_NAMES, Bind, LocalNames, span_of
from cli_guard.code.syntax import Trees

KINDS = {
    "typescript": "function_declaration",
    "go": "function_declaration",
    "java": "method_declaration",
    "rust": "function_item",
}


def names_in(language: str, text: str) -> LocalNames:
    found = Trees().root(language, text).find(kind=KINDS[language])
    assert found is not None
    return LocalNames(language, found)


def types(language: str, text: str) -> dict[str, str]:
    return {
        bind.name: bind.type
        for binds in names_in(language, text).binds.values()
        for bind in binds
    }


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        pytest.param(
            "typescript",
            "function f(a: string[], {b}: X, c = 1) { const d = 'x'; let e = g(); for (const h of a) {} }",
            {
                "a": "string[]",
                "b": "",
                "c": "number",
                "d": "string",
                "e": "",
                "h": "string",
            },
            id="TypeScript",
        ),
        pytest.param(
            "typescript",
            "function f() { const a = new Map(); }",
            {"a": ""},
            id="a class with parameters",
        ),
        pytest.param(
            "go",
            "package x\nfunc f(a, b int, c ...string) { d, err := g(); for i, v := range c {}; e := map[string]int{}\n"
            "for k, w := range e {}; h := &T{}; var j []byte }",
            {
                "a": "int",
                "b": "int",
                "c": "[]string",
                "d": "",
                "err": "error",
                "i": "int",
                "v": "string",
            }
            | {"e": "map[string]int", "k": "string", "w": "int", "h": "*T", "j": "[]byte"},
            id="Go",
        ),
        pytest.param(
            "java",
            "class A { int f(List<String> a) { var b = a; int c = 0, d[] = {}; for (String e : a) {} return c; } }",
            {"a": "List<String>", "b": "", "c": "int", "d": "", "e": "String"},
            id="Java",
        ),
        pytest.param(
            "rust",
            "fn f(a: &str, mut b: usize) { let c = 1u8; let d = Vec::new(); if let Some(e) = g() {} }",
            {"a": "&str", "b": "usize", "c": "u8", "d": "", "e": ""},
            id="Rust",
        ),
    ],
)
def test_types_are_those_that_the_text_says(
    language: str, text: str, expected: dict[str, str]
) -> None:
    assert types(language, text) == expected


def places(language: str, text: str, name: str) -> list[tuple[int, int]]:
    """Where a name is mentioned, and where what it refers to is bound, as offsets in the function."""
    names = names_in(language, text)
    used: list[tuple[int, Bind]] = [
        (at, bind) for at, bind in names.uses if bind.name == name
    ]
    return [(at - names.whole[0], bind.at - names.whole[0]) for at, bind in used]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "rust",
            "fn f() { let a = 1; let a = a + 1; g(a) }",
            [(13, 13), (24, 24), (28, 13), (37, 24)],
        ),
        (
            "go",
            "func f() { a := 1; if a := g(a); a > 1 { h(a) }; k(a) }",
            [(11, 11), (22, 22), (29, 11), (33, 22), (43, 22), (51, 11)],
        ),
        (
            "typescript",
            "function f(a) { g(a); { let a = 2; h(a) } }",
            [(11, 11), (18, 11), (28, 28), (37, 28)],
        ),
    ],
    ids=["shadowed by a let", "bound by an if", "bound in a block"],
)
def test_a_mention_refers_to_the_innermost_name(
    language: str, text: str, expected: list[tuple[int, int]]
) -> None:
    assert sorted(places(language, text, "a")) == expected


def test_a_function_of_very_many_names_has_none() -> None:
    text = "function f(a: number) {\n" + "a += a;\n" * MOST_NAMES + "}"
    names = names_in("typescript", text)
    assert names.uses == [] and span_of(Trees().root("typescript", text))[1] == len(text)
