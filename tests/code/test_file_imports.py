"""What a file imports: which files of the repository, and which names from elsewhere."""

from examples import table

from cli_guard.code.file_imports import FileImports, ImportGraph

FILES = {
    "app/__init__.py": "",
    "app/main.py": "import os, requests\nfrom app import tools\nfrom .tools import f\n",
    "app/tools.py": "def f(): pass\n",
    "web/a.ts": "import b from './b.js';\nimport './c';\nimport x from '@org/x/deep';\nimport y from 'y/deep';\n",
    "web/b.ts": "import { a } from './a';\nimport gone from './gone';\n",
    "web/c/index.js": "",
    "go.mod": "module example.org/m\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"example.org/m/sub"\n)\n',
    "sub/s.go": "package sub\n",
    "sub/s_test.go": "package sub\n",
    "j/A.java": "package p.q;\nimport p.q.B;\nimport p.q.C.Inner;\nimport java.util.List;\n",
    "j/B.java": "package p.q;\nimport static p.q.C.f;\n",
    "j/C.java": "package p.q;\n",
    "src/main.rs": "mod util;\nuse crate::deep::inner::Thing;\nuse serde::Deserialize;\n",
    "src/util.rs": "use super::deep;\nuse self::part;\n",
    "src/util/part.rs": "",
    "src/deep/mod.rs": "",
    "src/deep/inner.rs": "",
    "notes.txt": "import os\n",
}


@table(
    ("path", "inside", "outside"),
    [
        ("app/main.py", ("app/tools.py",), ("os", "requests")),
        ("web/a.ts", ("web/b.ts", "web/c/index.js"), ("@org/x", "y")),
        ("web/b.ts", ("web/a.ts",), ()),
        ("main.go", ("sub/s.go",), ("fmt",)),
        ("j/A.java", ("j/B.java", "j/C.java"), ("java.util",)),
        ("j/B.java", ("j/C.java",), ()),
        ("src/main.rs", ("src/util.rs", "src/deep/inner.rs"), ("serde",)),
        ("src/util.rs", ("src/deep/mod.rs", "src/util/part.rs"), ()),
        ("notes.txt", (), ()),
    ],
)
def test_what_a_file_imports(
    path: str, inside: tuple[str, ...], outside: tuple[str, ...]
) -> None:
    assert ImportGraph(FILES).imports_of(path) == FileImports(inside, outside)


def test_who_imports_a_file_and_which_names_that_binds() -> None:
    graph = ImportGraph(FILES)
    assert graph.importers_of("app/tools.py") == ("app/main.py",)
    assert graph.importers_of("j/C.java") == ("j/A.java", "j/B.java")
    assert graph.importers_of("notes.txt") == ()
    assert graph.names_bound("app/main.py") == {"os", "requests", "tools", "f"}
    assert {"a", "from"} <= graph.names_bound("web/b.ts")
