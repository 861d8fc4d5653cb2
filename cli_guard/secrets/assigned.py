"""Judge assignments: `name = "value"` in any language, setting file or command line."""

import re

from cli_guard.secrets import names, places, values
from cli_guard.secrets.candidates import Candidate, CandidateJudgement, decode_base64, grade
from cli_guard.secrets.examples import parents
from cli_guard.secrets.logins import is_joined_words, is_usual, weigh_login
from cli_guard.secrets.names import SecretKind, pattern, words
from cli_guard.secrets.values import Strength

NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
NAME_LIMIT = 60
PASSWORD_LIMIT = 128
LISTED = r"[a-z]+\d?(?:_[a-z]+)+"  # one name in a list of names
FALLBACKS = ("or", "OR", "||", "??", "?:", ":-")
PARENTS = ("jwt", "auth", "hmac", "signing", "encryption")
PARENT = (
    rf"(?i)\b(?:{'|'.join(PARENTS)})"
    r"\w{0,12}[\"']?\s{0,4}[:=]\s{0,4}(?:\{[^{}]{0,120}|\n[^{}]{0,120})$"
)
PARENT_REACH = 160
SPACED = r"(?i)(?:^|[\s;&|(])(?:env|arg|setenv|setx|set|config set)(?:\s+--?\w+)*\s+$"
# What password managers draw: three words or more and a number.
DRAWN_WORDS = r"[a-z]{3,12}([-._])[a-z]{3,12}(?:\1[a-z]{3,12}){1,4}\1\d{2,4}"
VARIABLES = (".env", ".properties", ".ini")
JSON = (".json", ".jsonl")
# In a text of JSON, the end of a line or a tab.
ESCAPED_BLANK = r"(?<!\\)\\[nrt]"
POWERSHELL = (".ps1", ".psm1")
# Before a name, the parts of an identifier with colons: `arn:aws:secretsmanager:eu-west-1:1234:secret:name`.
IDENTIFIER = r"(?:[\w-]*:){2}$"


def name_before(text: str, position: int) -> int:
    """Return where the name begins that has a keyword at `position`."""
    start = position
    while start > 0 and position - start < NAME_LIMIT and text[start - 1] in NAME_CHARS:
        start -= 1
    return start


def judge_assignment(candidate: Candidate) -> CandidateJudgement | None:
    """Judge an assigned value by its name, its context and the value itself."""
    if places.is_lock(candidate.path):
        return None
    start = name_before(candidate.text, candidate.keyword_at)
    name = candidate.text[start : candidate.name_end]
    # An annotation of Helm is the hash of a file.
    if candidate.text.endswith("checksum/", 0, start) or _is_in_identifier(
        candidate, start
    ):
        return None
    kind = names.kind_of(name) or _kind_of_key(candidate, start, name)
    if kind is None or (kind is SecretKind.PASSWORD) != (
        candidate.detector.kinds == ("password",)
    ):
        return None
    bare = candidate.groups.get("bare") is not None
    operator = (candidate.groups.get("op") or "").strip()
    if bare and not operator and name[:1] != "-" and not re.search(r"\d", candidate.value):
        return None
    if not _given(candidate, operator, name, start, bare=bare):
        return None
    value = candidate.value
    end = candidate.end
    if bare:
        if places.ending(candidate.path) in JSON:
            value = re.split(ESCAPED_BLANK, value)[0]
        value = value.rstrip(",;)]}").rstrip("\\")
        end = candidate.start + len(value)
    if _is_expression(candidate, value, bare=bare) or is_echo(name, value):
        return None
    strength = strength_of(kind, name, value, candidate.path)
    is_login = False
    if strength <= Strength.WEAK and _is_word(candidate, kind, operator, value):
        strength = Strength.LIKELY
    if (
        kind is SecretKind.PASSWORD
        and operator == "="
        and not places.is_code(candidate.path)
    ):
        login = weigh_login(candidate, strength, is_command=True)
        is_login = login > strength
        strength = login
    if (
        not is_login
        and strength is not Strength.STRONG
        and name[:2] != "--"
        and _needs_strong(candidate, operator, bare=bare)
    ):
        return None
    return grade(candidate, strength, candidate.start, end, name.lstrip("-."))


def _is_in_identifier(candidate: Candidate, start: int) -> bool:
    """Return whether the name is a part of an identifier with colons, such as an ARN."""
    before = candidate.text[max(start - NAME_LIMIT, 0) : start]
    return before.endswith(":") and bool(re.search(IDENTIFIER, before))


def _kind_of_key(candidate: Candidate, start: int, name: str) -> SecretKind | None:
    """Return the kind of a `key`: a signing key in a group named `jwt`, with `base64:`, as bytes, in a list of keys."""
    if name.lower() != "key":
        return None
    before = candidate.text[max(start - PARENT_REACH, 0) : start]
    after = candidate.text[candidate.end : candidate.end + 12]
    folded = before.casefold()
    is_key = (
        (any(each in folded for each in PARENTS) and re.search(PARENT, before))
        or candidate.value.startswith("base64:")
        or "getBytes" in after
        or _is_in_list_of_keys(candidate)
    )
    return SecretKind.SECRET if is_key else None


def _is_in_list_of_keys(candidate: Candidate) -> bool:
    """Return whether settings list a machine-made key under a name such as `api_keys`."""
    if not places.is_settings(candidate.path) or not values.is_random(candidate.value):
        return False
    named = filter(re.compile(r"\w").search, parents(candidate.text, candidate.start))
    next(named, None)  # the line itself
    parent = next(named, "")
    name = re.match(r"[\"']?([\w.-]{3,60})s[\"']?\s*:", parent)
    return name is not None and names.kind_of(name[1]) is SecretKind.SECRET


def _is_expression(candidate: Candidate, value: str, *, bare: bool) -> bool:
    """Return whether the value is computed, by a look-up around it or a call that it begins with."""
    wrap = candidate.groups.get("wrap")
    if wrap:
        return bare or bool(pattern("lookup_calls").search(wrap))
    return bare and bool(re.search(r"\w\.\w+\(", value))


def _needs_strong(candidate: Candidate, operator: str, *, bare: bool) -> bool:
    """Return whether the context (calls, prose, unquoted words outside settings) demands a strong value."""
    if operator in ("(", "{", "is", "IS", ","):
        return True
    return (
        bare
        and not places.is_settings(candidate.path)
        and not _is_whole_entry(candidate, operator)
    )


def _is_whole_entry(candidate: Candidate, operator: str) -> bool:
    """Return whether the line of a note is nothing but name and value: `Password: b4nanas`."""
    if operator not in (":", "=") or places.kind_of(candidate.path) != "prose":
        return False
    if re.search(r"[(){}<>\[\]]", candidate.value):
        return False
    line = candidate.text[
        max(
            candidate.text.rfind("\n", 0, candidate.start) + 1, candidate.start - 80
        ) : candidate.start
    ]
    rest = candidate.text[candidate.end : candidate.end + 2]
    return bool(re.match(r"[\s>*+-]*[A-Za-z][\w .-]{1,40}[:=]\s*$", line)) and (
        not rest or rest[0] in "\r\n"
    )


def judge_named(candidate: Candidate) -> CandidateJudgement | None:
    """Judge a value beside its name: an XML element, or a pair of name and value."""
    if places.is_lock(candidate.path):
        return None
    start = name_before(candidate.text, candidate.keyword_at)
    name = candidate.groups.get("name") or candidate.text[start : candidate.name_end]
    kind = names.kind_of(name)
    quoted = candidate.text[candidate.start - 1 : candidate.start] in ("'", '"', ">", "[")
    if kind is None or (places.is_code(candidate.path) and not quoted):
        return None
    return grade(
        candidate,
        strength_of(kind, name, candidate.value, candidate.path),
        candidate.start,
        candidate.end,
        name,
    )


def strength_of(kind: SecretKind, name: str, value: str, path: str) -> Strength:
    """Return how much the value looks like what its name says it is."""
    if kind is SecretKind.PASSWORD:
        if len(value) > PASSWORD_LIMIT:
            return Strength.NONE
        is_phrase = _is_passphrase(name, value) or (
            places.is_literal(path) and is_joined_words(value)
        )
        phrase = Strength.LIKELY if is_phrase else Strength.NONE
        return max(values.password_strength(value), values.key_strength(value), phrase)
    key = value.removeprefix("base64:")
    decoded = decode_base64(key)
    if decoded and ":" in decoded and values.is_filler(decoded.rpartition(":")[2]):
        return Strength.NONE
    strength = values.key_strength(key)
    if kind is SecretKind.SECRET:
        words_alone = Strength.LIKELY if _is_passphrase(name, value) else Strength.NONE
        # In an example a phrase says what belongs there.
        has_phrase = re.search(r"\d", value) or not places.is_test_or_document(path)
        chosen = _chosen(name, value) if has_phrase else Strength.NONE
        return max(strength, _phrase(value), chosen, words_alone)
    if len(names.words_of(name)) > 1 or values.is_uuid(key):
        return strength
    # A lone `token` or `auth` is often one of a parser, a page or a module: only a random value counts, and
    # then a person should look.
    return Strength.LIKELY if strength is Strength.STRONG else Strength.NONE


def _is_word(candidate: Candidate, kind: SecretKind, operator: str, value: str) -> bool:
    """Return whether a plain word is the secret: in settings it is (`password: letmein`), code may name anything."""
    ending = places.ending(candidate.path)
    is_known = values.is_filler(value) or value.lower() in words("trivial")
    if operator not in ("=", ":") or not value.isalpha() or is_known:
        return False
    # Of a name in quotes the value has some too, or is that of a program: `{"pass": result}`.
    close = candidate.groups.get("close") or ""
    if candidate.groups.get("bare") and close.strip("\\"):
        return False
    if kind is SecretKind.PASSWORD:
        # `password: String` is a type; after `=` in a file of variables nothing is.
        form = (
            "[A-Z]?[a-z]{5,24}$"
            if operator == "=" and ending in VARIABLES
            else "[a-z]{6,24}$"
        )
        is_literal = places.is_literal(candidate.path) and bool(re.match(form, value))
        return is_literal and not (value[0].isupper() and is_usual(value))
    in_file = kind is SecretKind.SECRET and ending in (".env", ".properties", ".ini")
    return in_file and bool(re.match("[a-z]{12,40}$", value))


def is_echo(name: str, value: str) -> bool:
    """Return whether the value repeats the name: `"chpasswd", "|chpasswd"`, `JwtSecret = "Jwt--SigningSecret-2"`."""
    parts = {part for part in names.words_of(value) if part.isalpha()}
    own = parts & set(names.words_of(name))
    if (
        own
        and len(parts) > 2
        and parts - own <= words("signing") | words("secrets") | words("passwords")
    ):
        return True
    letters = re.sub(r"[^a-z]", "", value.lower())
    repeats = not re.search(r"\d", value) and letters in re.sub(r"[^a-z]", "", name.lower())
    return repeats or value == name


def _phrase(value: str) -> Strength:
    """Rate a signing key of a web framework, drawn from letters, digits and symbols."""
    symbols = set(re.findall(r"[!@#$%^&*()+=]", value))
    if len(value) < 24 or re.search(r"\s", value) or not symbols:
        return Strength.NONE
    # Django draws 50 of these (`get_random_secret_key`), and some begin like a template.
    if re.fullmatch(r"[a-z0-9!@#$%^&*(\-_=+)]{40,}", value) and len(symbols) >= 5:
        return Strength.STRONG
    return (
        Strength.STRONG
        if values.password_strength(value) is Strength.STRONG
        else Strength.NONE
    )


def _chosen(name: str, value: str) -> Strength:
    """Rate a signing phrase that a developer chose: `jwtSecret: "keyboard-kitten-42x"`."""
    parts = names.words_of(name)
    # What stands before `key` says what key it is: that of a session is the name that something is stored under.
    named = parts[-2:-1] if parts[-1:] == ["key"] else parts[:-1]
    owners = words("signing_keys" if parts[-1:] == ["key"] else "signing") & set(named)
    signs = parts == ["key"] or (parts[-1:] in (["key"], ["secret"]) and owners)
    # A sentence begins with a capital, or has letters of its language.
    is_phrase = value.islower() and value.isascii() if " " in value else not value.isupper()
    if signs and is_phrase and re.fullmatch(r"[^\W_]+(?:[-_. ][^\W_]+){3,9}", value):
        filler = [word in words("filler") for word in re.split(r"[-_. ]", value.lower())]
        return Strength.LIKELY if 2 * sum(filler) < len(filler) else Strength.NONE
    if not signs or not re.search(r"\d", value):
        return Strength.NONE
    return min(values.password_strength(value), Strength.LIKELY)


def _is_passphrase(name: str, value: str) -> bool:
    """Return whether it is four or more words that make no sentence (labels contain `the` and `your`)."""
    found = value.split()
    if re.fullmatch(DRAWN_WORDS, value):
        # `pepper` is a word like any other here.
        parts = set(names.words_of(value)) - {"pepper"}
        return not parts & (words("sentence") | words("filler") | words("secrets"))
    variable = name.isupper() and not words("filler") & set(value.lower().split())
    form = r"[^\W_][\w-]{0,19}" if variable else "[a-z0-9-]{1,16}"
    if not 4 <= len(found) <= 16 or not all(re.fullmatch(form, word) for word in found):
        return False
    marked = variable or bool(re.search(r"\d", value)) or name.lower().endswith("phrase")
    return marked and not words("sentence") & set(found)


def _given(
    candidate: Candidate, operator: str, name: str, start: int, *, bare: bool
) -> bool:
    flag = name.startswith("--") and len(name) > 4
    if places.ending(candidate.path) in POWERSHELL:
        flag = name.startswith("-")
    close = candidate.groups.get("close") or ""
    if ")" in close and operator not in FALLBACKS:
        return False
    if operator == "," and (
        candidate.value in words("trivial") or re.fullmatch(LISTED, candidate.value)
    ):
        return False
    if operator == "," and close and _is_in_list(candidate, start):
        return False
    if operator == ",":
        symbol = candidate.text.endswith(
            (":", "{"), 0, start
        )  # Ruby: set :db_password, "..."; Erlang
        return not bare and (symbol or flag or bool(re.search("[\"'`]", close)))
    if operator in ("(", "{"):
        return not bare and not close
    if operator in FALLBACKS:
        return not bare or operator == ":-"
    if operator in ("is", "IS"):
        return not places.is_code(candidate.path) and not places.is_settings(candidate.path)
    if operator == "":
        return _spaced(candidate, name, start, flag=flag, bare=bare)
    if not bare:
        return True
    if operator not in ("=", ":", "=>", "?=", ":=", "+="):
        return False
    # A bare word after `$name =` or in `${NAME:?message}` is code that a text quotes; in `${NAME:word}` a default.
    before = candidate.text[max(start - 2, 0) : start]
    is_message = before == "${" and candidate.text.startswith("?", candidate.name_end + 1)
    if before.endswith("$") or is_message:
        return False
    if flag or places.is_settings(candidate.path):
        return True
    return not places.is_code(candidate.path) and not (
        operator == "=" and _in_code_line(candidate)
    )


def _is_in_list(candidate: Candidate, start: int) -> bool:
    """Return whether the name is the first text of a list of three or more: `["password1", "summer", ...]`."""
    rest = candidate.text[candidate.end : candidate.end + 4]
    return candidate.text[max(start - 2, 0)] == "[" and bool(re.match(r"[\"'`]\s?,", rest))


def _spaced(candidate: Candidate, name: str, start: int, *, flag: bool, bare: bool) -> bool:
    """Match name and value with only blanks between them: a flag, a directive, a define."""
    if candidate.groups.get("close"):
        return False
    if flag:
        return not candidate.value.startswith("-")
    line = candidate.text[
        max(candidate.text.rfind("\n", 0, start) + 1, start - 120) : start
    ]
    if re.search(r"#\s*define\s+$", line):
        return not bare
    if re.search(SPACED, line):
        return True
    if not bare and candidate.text.endswith(":", 0, start):  # Clojure
        return True
    if not bare:
        following = candidate.text[candidate.end : candidate.end + 4]
        return not line.strip() and bool(re.match(r"[\"'][;,]?\s*?(?:$|[\r\n])", following))
    return names.kind_of(name) is SecretKind.PASSWORD and _stands_alone(candidate, line)


def _stands_alone(candidate: Candidate, line: str) -> bool:
    """Judge a directive of a setting file, or a strong password in prose (`root password Xy7!...`)."""
    ending = places.ending(candidate.path)
    if ending in (".conf", ".cfg", ".cnf"):
        rest = candidate.text[candidate.end : candidate.end + 1]
        return (
            not line.strip()
            and rest in ("", "\n", "\r")
            and bool(re.search(r"\d", candidate.value))
        )
    mixed = all(
        re.search(pattern, candidate.value)
        for pattern in ("[A-Za-z]{2}", r"\d", "[A-Z!@#$%^&*]")
    )
    return (
        (places.kind_of(candidate.path) == "prose" or ending == ".json")
        and mixed
        and not set("(){}<>/=:") & set(candidate.value)
    )


def _in_code_line(candidate: Candidate) -> bool:
    """Return whether the line looks like code (`x = f(y)`), for texts without a telling path."""
    return bool(re.search(r"\w\(|\)\s*[;{]|^\w+\.\w+", candidate.value))
