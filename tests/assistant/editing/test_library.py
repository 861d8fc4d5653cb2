"""The uses of a library by what its imports bind, with the shape of each call, in every language."""

from examples import examples, near_misses

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.library import (
    find_library_uses,
    is_library,
    show_library_use,
)
from cli_guard.assistant.editing.sources import Sources


def uses(path: str, text: str, *packages: str) -> list[str]:
    found, _ = find_library_uses(Sources({path: text}), packages)
    return [show_library_use(name, shapes) for name, shapes in found.items()]


@examples(
    ("path", "text", "package", "lines"),
    [
        ("a.py", "import tabulate\ntabulate.print(x, sep=y)\n", "tabulate", ["tabulate.print(_, sep=) at a.py:2"]),
        ("a.py", "import yaml as y\nf(y.safe_load)\n", "yaml", ["yaml.safe_load by name at a.py:2"]),
        ("a.py", "from yaml import (\n    load,\n    dump as d,\n)\nd(1)\n", "yaml", ["yaml.dump(_) at a.py:5"]),
        ("a.py", "from yaml.loader import Loader\nLoader()\n", "yaml", ["yaml.loader.Loader() at a.py:2"]),
        ("a.py", "import a.b\nimport a.c\na.b.f(1)\na.c.g()\n", "a.b", ["a.b.f(_) at a.py:3"]),
        ("a.js", "const qs = require('qs');\nqs.parse(s, {a: 1});\n", "qs", ["qs.parse(_, _) at a.js:2"]),
        ("a.js", "var dep = require('depd')('x');\ndep('old');\n", "depd", ["depd(_) at a.js:2"]),
        ("a.ts", "import { get, post as p } from 'axios';\np(url);\n", "axios", ["axios.post(_) at a.ts:2"]),
        ("a.ts", "import * as fs from 'fs-extra';\nnew fs.Tree(1);\n", "fs-extra", ["fs-extra.Tree(_) at a.ts:2"]),
        ("a.go", 'package a\n\nimport "github.com/pkg/errors"\n\nfunc f() error {\n\treturn errors.Wrap(e, "x")\n}\n',
         "github.com/pkg/errors", ["errors.Wrap(_, _) at a.go:6"]),
        ("A.java", "import org.apache.log4j.Logger;\nclass A { Logger l = Logger.getLogger(1); }\n", "org.apache.log4j",
         ["org.apache.log4j.Logger by name at A.java:2", "org.apache.log4j.Logger.getLogger(_) at A.java:2"]),
        ("a.rs", "use chrono::{DateTime, Utc};\nfn f() { Utc::now(); }\n", "chrono", ["chrono.Utc.now() at a.rs:2"]),
    ],
)  # fmt: skip
def test_a_use_has_its_name_and_the_shape_of_its_call(
    path: str, text: str, package: str, lines: list[str]
) -> None:
    assert sorted(uses(path, text, package)) == sorted(lines)


@near_misses(
    ("path", "text", "package"),
    [
        ("a.py", "# import yaml\nyaml = 1\nyaml.load()\n", "yaml"),
        ("a.py", "import yamlish\nyamlish.load()\n", "yaml"),
        ("a.py", "import yaml\nx.yaml.load()\n", "yaml"),
        ("a.js", "const a = require('./qs-lite');\na.parse(1);\n", "qs"),
        ("a.js", "const s = 'qs';\ns.parse(1);\n", "qs"),
        ("a.py", "import yaml\n'yaml.load(1)'  # yaml.load\n", "yaml"),
    ],
)
def test_what_only_has_the_name_is_no_use(path: str, text: str, package: str) -> None:
    assert uses(path, text, package) == []


@examples(
    "request_",
    [
        "replace tabulate with rich",
        "replace tabulate with rich in app/cli.py",
        "swap tabulate for rich",
    ],
)
def test_a_library_that_is_replaced_gets_a_plan_and_no_text_patch(request_: str) -> None:
    texts = {
        "app/cli.py": "import tabulate\n\nprint(tabulate.tabulate(rows, tablefmt='grid'))\n",
        "pyproject.toml": "[project]\ndependencies = ['tabulate>=0.9']\n",
        "docs/cli.md": "Tables are made by `tabulate.tabulate(rows)`.\n",
    }
    plan = plan_refactor(request_, texts)
    lines = [line for step in plan.steps for line in step.places]
    assert plan.kind == "migrate"
    assert not plan.patch
    assert "tabulate.tabulate(_, tablefmt=) at app/cli.py:3" in lines
    assert "pyproject.toml:2: dependencies = ['tabulate>=0.9']" in lines
    assert "docs/cli.md:1: Tables are made by `tabulate.tabulate(rows)`." in lines


def test_a_known_pair_names_each_counterpart_and_what_has_none() -> None:
    text = "import requests\n\nrequests.get(u)\nrequests.certs.where()\n"
    plan = plan_refactor("migrate from requests to httpx", {"a.py": text})
    assert plan.steps[0].places == (
        "imported at a.py:1",
        "requests.certs.where() at a.py:4 -> not in the tables",
        "requests.get(_) at a.py:3 -> httpx.get",
    )


@near_misses(
    "texts",
    [{"a.py": "import b\n", "b.py": ""}, {"a.py": "b = 1\n"}, {"a.md": "import b\n"}],
)
def test_what_is_no_library_is_replaced_as_before(texts: dict[str, str]) -> None:
    assert not is_library(Sources(texts), "b")
