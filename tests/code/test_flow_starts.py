"""Which files are walked at all: those in which a name may be that of a source, however it is resolved."""

import pytest

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.lowering import lower
from cli_guard.code.taint.naming import imports_of
from cli_guard.code.taint.starts import may_have_source
from cli_guard.code.taint.tables import tables_of


def may_start(language: str, text: str) -> bool:
    tables = tables_of(language)
    assert tables is not None
    assert tables.may_hold_flow(text)
    root = Trees().root(language, text)
    main, functions = lower(root, language, text)
    imports = imports_of(root, language, text)
    return may_have_source(
        [main, *functions], imports, tables, lambda function, called: called == "app.get"
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "import os, sys\nos.system(sys.argv[1])\n"),
        ("python", "import os\nfrom sys import argv as given\nos.system(given[1])\n"),
        (
            "python",
            "import os\ndef f(request: flask.request):\n    os.system(x.args)\n    request.args\n",
        ),
        ("javascript", "const { query } = require('req');\neval(query.a);\n"),
        ("javascript", "const d = take.event();\neval(d.data);\n"),
        (
            "javascript",
            "const { A } = require('x');\nclass B { f() { this.d = A.event(); eval(this.d.data); } }\n",
        ),
        ("javascript", "app.get('/', (x) => eval(x.data + e));\n"),
    ],
)
def test_a_file_with_the_name_of_a_source_is_walked(language: str, text: str) -> None:
    assert may_start(language, text)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "import os, sys\n# argv\nos.system(sys.path[0])\n"),
        ("python", "import os\nfrom sys import path as argv\nos.system(argv[1])\n"),
        ("javascript", "try { eval(data.a); } catch (e) { show(e.stack); }\n"),
        ("javascript", "const d = take.data();\neval(d.event);\n"),
        ("javascript", "app.post('/', (x) => eval(x.data + e));\n"),
    ],
)
def test_a_file_that_only_has_the_words_of_one_is_not(language: str, text: str) -> None:
    assert not may_start(language, text)
