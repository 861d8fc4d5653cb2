"""Values on other lines than their names, or in pieces, as the parser of each language reads them."""

from base64 import b64encode

from examples import table
from repositories import key

from cli_guard.rules.examples import expand
from cli_guard.secrets import scan

ONE = expand("<<alnum:20>>", 1)
TWO = expand("<<alnum:20>>", 2)
WHOLE = ONE + TWO
OTHER = expand("<<alnum:40>>", 3)
ENCODED = b64encode(f"Hu8%kk2-{ONE}".encode()).decode()

# Path, text, and the values that are found.
FOUND = {
    "Python, parentheses": (
        "a.py",
        f'auth_token = ("{ONE}" "{TWO}")\n',
        [f'{ONE}" "{TWO}'],
    ),
    "Python, a comment between": ("a.py", f'api_key = (  # one\n  "{WHOLE}"\n)\n', [WHOLE]),
    "Python, a backslash": ("a.py", f'api_key = \\\n    "{WHOLE}"\n', [WHOLE]),
    "JavaScript": ("a.js", f"apiKey = '{ONE}' +\n '{TWO}';\n", [f"{ONE}' +\n '{TWO}"]),
    "PHP": ("a.php", f"$apiKey = '{ONE}'\n . '{TWO}';\n", [f"{ONE}'\n . '{TWO}"]),
    "Lua": ("a.lua", f'api_key = "{ONE}" ..\n"{TWO}"\n', [f'{ONE}" ..\n"{TWO}']),
    "Visual Basic": ("a.vb", f'apiKey = "{ONE}" & _\n"{TWO}"\n', [f'{ONE}" & _\n"{TWO}']),
    "Go, an empty text": ("a.go", f'var apiKey = "" +\n\t"{WHOLE}"\n', [WHOLE]),
    "C": ("a.c", f'char *api_key =\n  "{WHOLE}";\n', [WHOLE]),
    "Terraform": ("a.tf", f"api_token = <<EOT\n{WHOLE}\nEOT\n", [WHOLE]),
    "YAML, a block": ("a.yaml", f"password: |\n  {WHOLE}\n", [WHOLE]),
    "YAML, folded": ("a.yml", f"api_key: >-  # old\n\n  {WHOLE}\nb: 1\n", [WHOLE]),
    "YAML, plain": ("a.yaml", f"api_key:\n  {WHOLE}\nb: 1\n", [WHOLE]),
    "YAML, quoted": ("a.yaml", f'api_key:\n  "{WHOLE}"\nb: 1\n', [WHOLE]),
    "YAML, continued": ("a.yaml", f'api_key: "{ONE}\\\n {TWO}"\n', [f"{ONE}\\\n {TWO}"]),
    "YAML, a list": ("a.yaml", f'api_keys:\n- {WHOLE}\n- "{OTHER}"\n', [WHOLE, OTHER]),
    "YAML, keys of a list": (
        "a.yaml",
        f"api_keys:\n  - name: a\n    key: {WHOLE}\n  - key: {OTHER}\n",
        [WHOLE, OTHER],
    ),
    "JSON, a list": ("a.json", f'{{"api_keys": ["{WHOLE}", "{OTHER}"]}}', [WHOLE, OTHER]),
    "JSON, keys of a list": (
        "a.json",
        f'{{\n "api_keys": [\n  {{\n   "key": "{WHOLE}"\n  }}\n ]\n}}',
        [WHOLE],
    ),
    "properties": ("a.properties", f"api.token=\\\n   {WHOLE}\n", [WHOLE]),
    "properties, half": (
        "a.properties",
        f"token.api_key={ONE}\\\n {TWO}\n",
        [f"{ONE}\\\n {TWO}"],
    ),
    "an option of a command": ("a.sh", f"acme --api-token \\\n  {WHOLE}\n", [WHOLE]),
    "Kubernetes, a block": (
        "a.yaml",
        f"kind: Secret\ndata:\n  pass: |\n    {ENCODED}\n",
        [ENCODED],
    ),
    "Kubernetes, two lines": (
        "a.yaml",
        f"kind: Secret\ndata:\n  pass: >-\n    {ENCODED[:20]}\n    {ENCODED[20:]}\n",
        [f"{ENCODED[:20]}\n    {ENCODED[20:]}"],
    ),
}

NOT_FOUND = {
    "computed": ("a.py", f'api_key = ("{ONE}" + get())\n'),
    "a tuple": ("a.py", f'api_key = ("{WHOLE}", 1)\n'),
    "a template": ("a.yaml", "password: |\n  {{ .Values.password }}\n"),
    "a sentence": ("a.yaml", "password: |\n  Choose one, 8 characters at least.\n"),
    "a mapping": ("a.yaml", f"secret:\n  name: {WHOLE}\n"),
    "the next entry": ("a.yaml", f"api_key:\nsha: {WHOLE}\n"),
    "a list of caches": ("a.yaml", f"api_keys:\n  - name: a\ncaches:\n  - key: {WHOLE}\n"),
    "a placeholder": ("a.yaml", "api_key: >-\n  your-api-key-here-123\n"),
    "Ansible Vault": (
        "a.yaml",
        f"password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  {'6633' * 20}\n",
    ),
    "public keys": ("a.yaml", f"ssh_auth_keys:\n  - ssh-ed25519 AAAAC3{WHOLE}\n"),
    "a comparison": ("a.js", f'if (token ==\n "{WHOLE}") go();'),
    "a docstring": ("a.py", 'def check(password):\n    """Xy7kk!aab"""\n'),
    "a list of bad passwords": ("a.py", 'PASSWORDS = ["P@ssw0rd1!", "qwerty-123A!"]\n'),
    "the next statement": ("a.js", f'const t = token\n"{WHOLE}"\n'),
    "a comment": ("a.sh", f"TOKEN=\n# {WHOLE}\n"),
}


@table("path, text, found", FOUND.values(), ids=FOUND)
def test_a_value_is_read_to_its_end(path: str, text: str, found: list[str]) -> None:
    assert [text[hit.start : hit.end] for hit in scan(text, path).hits] == found


@table("path, text", NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_is_no_value_is_not_read(path: str, text: str) -> None:
    assert not scan(text, path).hits


def test_a_key_of_a_provider_keeps_its_rule() -> None:
    hits = scan(f'api_key = (\n    "{key()}"\n)\n', "a.py").hits
    assert [hit.rule for hit in hits] == ["secret-aws-access-key"]


def test_an_endless_expression_is_read_in_bounds() -> None:
    text = "api_key = (\n" + '"ab" +\n' * 100_000
    assert not scan(text, "a.py").hits
