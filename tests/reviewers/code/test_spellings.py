"""A function is known by what it is imported as, and one of the same name from elsewhere is not taken for it."""

import pytest
from reviewers.code.code_changes import new_file, reviewed, rules

# Path, text, and the rule that finds it.
FOUND = [
    (
        "src/a.py",
        "from os import system\nsystem('cat ' + name)\n",
        "code-python-os-command",
    ),
    ("src/a.py", "from os import popen as p\np('cat ' + name)\n", "code-python-os-command"),
    ("src/a.py", "import os as o\no.system('cat ' + name)\n", "code-python-os-command"),
    ("src/a.py", "from os import *\nsystem('cat ' + name)\n", "code-python-os-command"),
    (
        "src/a.py",
        "import os\nrun = os.system\nrun('cat ' + name)\n",
        "code-python-os-command",
    ),
    (
        "src/a.py",
        (
            "import importlib\n"
            "os = importlib.import_module('os')\n"
            "os.system('cat ' + name)\n"
        ),
        "code-python-os-command",
    ),
    (
        "src/a.py",
        "from subprocess import run as r\nr('cat ' + name, shell=True)\n",
        "code-python-shell",
    ),
    (
        "src/a.py",
        "import subprocess as s\ns.run('cat ' + name, shell=True)\n",
        "code-python-shell",
    ),
    (
        "src/a.py",
        "from subprocess import *\nrun('cat ' + name, shell=True)\n",
        "code-python-shell",
    ),
    (
        "src/a.py",
        "from subprocess import getoutput\ngetoutput('cat ' + name)\n",
        "code-python-os-command",
    ),
    ("src/a.py", "from yaml import load\nload(text)\n", "code-python-yaml-load"),
    ("src/a.py", "import yaml as y\ny.load(text)\n", "code-python-yaml-load"),
    (
        "src/a.py",
        "from yaml import load as l, Loader\nl(text, Loader=Loader)\n",
        "code-python-yaml-load",
    ),
    (
        "src/a.py",
        "from pickle import loads\nloads(request.data)\n",
        "code-flow-deserialisation",
    ),
    (
        "src/a.py",
        "import pickle as p\np.loads(request.data)\n",
        "code-flow-deserialisation",
    ),
    (
        "src/a.py",
        "import cPickle as pickle\npickle.loads(request.data)\n",
        "code-flow-deserialisation",
    ),
    ("src/a.py", "from builtins import eval as e\ne(text)\n", "code-python-eval"),
    ("src/a.py", "import builtins as b\nb.eval(text)\n", "code-python-eval"),
    ("src/a.py", "from hashlib import md5 as h\nh(password)\n", "code-python-weak-hash"),
    (
        "src/a.py",
        "from ssl import _create_unverified_context as c\nx = c()\n",
        "code-python-tls-context",
    ),
    ("src/a.py", "from tempfile import mktemp\nx = mktemp()\n", "code-python-mktemp"),
    ("src/a.py", "import tempfile as t\nx = t.mktemp()\n", "code-python-mktemp"),
    (
        "src/a.py",
        (
            "from jinja2 import Environment as E, FileSystemLoader\n"
            "pages = E(loader=FileSystemLoader(folder))\n"
            'page = pages.get_template("order.html")\n'
        ),
        "code-python-autoescape",
    ),
    (
        "src/a.py",
        "from requests import get\nget(url, verify=False)\n",
        "code-python-tls-verify",
    ),
    (
        "src/a.py",
        (
            "from random import choice\n"
            "token = ''.join(choice(letters) for _ in range(20))\n"
        ),
        "code-python-weak-random",
    ),
    (
        "src/a.js",
        "import { exec } from 'child_process';\nexec(`cat ${name}`);\n",
        "code-js-command",
    ),
    (
        "src/a.js",
        ("import { exec as run } from 'node:child_process';\nrun(`cat ${name}`);\n"),
        "code-js-command",
    ),
    (
        "src/a.js",
        "const { exec: run } = require('child_process');\nrun(`cat ${name}`);\n",
        "code-js-command",
    ),
    (
        "src/a.js",
        "const run = require('child_process').exec;\nrun(`cat ${name}`);\n",
        "code-js-command",
    ),
    (
        "src/a.js",
        "import * as cp from 'child_process';\ncp.exec(`cat ${name}`);\n",
        "code-js-command",
    ),
    (
        "src/a.js",
        "import cp from 'child_process';\ncp.execSync(`cat ${name}`);\n",
        "code-js-command",
    ),
    (
        "src/a.js",
        (
            "const cp = require('child_process');\n"
            "const { exec } = cp;\n"
            "exec(`cat ${name}`);\n"
        ),
        "code-js-command",
    ),
    (
        "src/a.js",
        (
            "const cp = require('child_process');\n"
            "const run = cp.exec;\n"
            "run(`cat ${name}`);\n"
        ),
        "code-js-command",
    ),
    (
        "src/a.ts",
        "import cp = require('child_process');\ncp.exec(`cat ${name}`);\n",
        "code-js-command",
    ),
    (
        "src/a.ts",
        ("const { exec } = await import('node:child_process');\nexec(`cat ${name}`);\n"),
        "code-js-command",
    ),
    (
        "src/a.js",
        (
            "import { promisify } from 'util';\n"
            "import { exec } from 'child_process';\n"
            "const run = promisify(exec);\n"
            "run(`cat ${name}`);\n"
        ),
        "code-js-command",
    ),
    (
        "src/a.js",
        (
            "const { createHash: h } = require('crypto');\n"
            "h('md5').update(password).digest('hex');\n"
        ),
        "code-js-weak-hash",
    ),
    (
        "src/a.js",
        "const { runInNewContext: r } = require('vm');\nr(text);\n",
        "code-js-object-loader",
    ),
    (
        "src/a.go",
        (
            "package a\n"
            'import . "os/exec"\n'
            'func f(n string) { Command("sh", "-c", "cat "+n).Run() }\n'
        ),
        "code-go-shell",
    ),
    (
        "src/a.go",
        (
            "package a\n"
            'import e "os/exec"\n'
            'func f(n string) { e.Command("sh", "-c", "cat "+n).Run() }\n'
        ),
        "code-go-shell",
    ),
    (
        "src/a.go",
        (
            "package a\n"
            'import "os/exec"\n'
            "var run = exec.Command\n"
            'func f(n string) { run("sh", "-c", "cat "+n).Run() }\n'
        ),
        "code-go-shell",
    ),
    (
        "src/a.go",
        (
            "package a\n"
            'import r "math/rand"\n'
            "func token() string { return letters[r.Intn(9)] }\n"
        ),
        "code-go-weak-random",
    ),
    (
        "src/a.go",
        (
            "package a\n"
            'import h "crypto/md5"\n'
            "func f(password string) []byte { return h.Sum([]byte(password)) }\n"
        ),
        "code-go-password-hash",
    ),
    (
        "src/A.java",
        (
            "import static java.lang.Runtime.getRuntime;\n"
            'class A { void f(String n) { getRuntime().exec("sh -c cat " + n); } }\n'
        ),
        "code-java-exec",
    ),
    (
        "src/A.java",
        (
            'class A { void f(String n) { java.lang.Runtime.getRuntime().exec("cat " + n); } }\n'
        ),
        "code-java-exec",
    ),
    (
        "src/A.java",
        (
            "import static java.security.MessageDigest.getInstance;\n"
            'class A { byte[] f(String password) { return getInstance("MD5").digest(password.getBytes()); } }\n'
        ),
        "code-java-password-hash",
    ),
    (
        "src/A.java",
        (
            "class A { Object f(java.io.InputStream i) { return new java.io.ObjectInputStream(i).readObject(); } }\n"
        ),
        "code-java-deserialize",
    ),
    ("src/a.rb", 'Kernel.system("cat #{params[:name]}")\n', "code-flow-command"),
    ("src/a.rb", '::Kernel.system("cat #{params[:name]}")\n', "code-ruby-shell"),
    ("src/a.rb", "::YAML.load(params[:x])\n", "code-ruby-yaml"),
    ("src/a.rb", "Psych.unsafe_load(params[:x])\n", "code-flow-deserialisation"),
    ("src/a.rb", "::Marshal.load(params[:x])\n", "code-ruby-marshal"),
    (
        "src/a.php",
        "<?php\nuse function shell_exec as run;\nrun('cat ' . $n);\n",
        "code-php-shell",
    ),
    ("src/a.php", "<?php\nnamespace A;\n\\shell_exec('cat ' . $n);\n", "code-php-shell"),
    (
        "src/a.php",
        "<?php\nnamespace A;\nuse function shell_exec;\nshell_exec('cat ' . $n);\n",
        "code-php-shell",
    ),
    ("src/a.php", "<?php\n\\unserialize($_COOKIE['x']);\n", "code-flow-deserialisation"),
    (
        "src/a.cs",
        (
            "using static System.Diagnostics.Process;\n"
            'class A { void F(string n) { Start("cmd.exe", "/c type " + n); } }\n'
        ),
        "code-csharp-exec",
    ),
    (
        "src/a.cs",
        (
            "using P = System.Diagnostics.Process;\n"
            'class A { void F(string n) { P.Start("cmd.exe", "/c type " + n); } }\n'
        ),
        "code-csharp-exec",
    ),
    (
        "src/a.cs",
        (
            'class A { void F(string n) { System.Diagnostics.Process.Start("cmd.exe", "/c type " + n); } }\n'
        ),
        "code-csharp-exec",
    ),
    (
        "src/a.cs",
        (
            "using static System.Security.Cryptography.MD5;\n"
            "class A { byte[] F(byte[] password) { return HashData(password); } }\n"
        ),
        "code-csharp-password-hash",
    ),
    (
        "src/a.cs",
        (
            "using M = System.Security.Cryptography.MD5;\n"
            "class A { byte[] F(byte[] password) { return M.HashData(password); } }\n"
        ),
        "code-csharp-password-hash",
    ),
]
QUIET = [
    ("src/a.py", "from settings import load\nload(text)\n"),
    ("src/a.py", "from mylib import system\nsystem('cat ' + name)\n"),
    ("src/a.py", "from mylib import md5\nmd5(password)\n"),
    ("src/a.py", "from mylib import Environment\ne = Environment()\n"),
    ("src/a.py", "from mylib import loads\nloads(request.data)\n"),
    ("src/a.py", "from mylib import mktemp\nx = mktemp()\n"),
    ("src/a.js", "import { exec } from './db';\nexec(`cat ${name}`);\n"),
    ("src/a.js", "const { exec } = require('./db');\nexec(`select ${name}`);\n"),
    (
        "src/a.js",
        (
            "import { createHash } from './h';\n"
            "createHash('md5').update(password).digest('hex');\n"
        ),
    ),
    (
        "src/a.go",
        (
            "package a\n"
            'import exec "example.com/x/tasks"\n'
            'func f(n string) { exec.Command("sh", "-c", "cat "+n).Run() }\n'
        ),
    ),
    (
        "src/A.java",
        (
            "import static com.acme.Tools.getRuntime;\n"
            'class A { void f(String n) { getRuntime().exec("cat " + n); } }\n'
        ),
    ),
    ("src/a.php", "<?php\nuse function Acme\\shell_exec;\nshell_exec('cat ' . $n);\n"),
    ("src/a.rb", 'tools.system("cat #{params[:name]}")\n'),
    (
        "src/a.cs",
        (
            "using static Acme.Jobs;\n"
            'class A { void F(string n) { Start("cmd.exe", "/c type " + n); } }\n'
        ),
    ),
    # A method of that name, on something else.
    ("src/a.py", "import subprocess\nengine.system('cat ' + name)\n"),
]


@pytest.mark.parametrize(("path", "text", "rule"), FOUND)
def test_a_name_is_read_as_what_was_imported(path: str, text: str, rule: str) -> None:
    assert rule in rules(reviewed(new_file(path, text)))


@pytest.mark.parametrize(("path", "text"), QUIET)
def test_the_same_name_from_elsewhere_is_silent(path: str, text: str) -> None:
    assert rules(reviewed(new_file(path, text))) == []
