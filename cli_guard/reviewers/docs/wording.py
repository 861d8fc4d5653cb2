"""First lines made from names: as much as an identifier says, and nothing that it does not."""

import re

from cli_guard.code.symbols import Parameter, Symbol

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
ACRONYMS_TEXT = """
api ascii aws cli cpu csrf css csv db dns dom fifo ftp gcp gpu gui html http https id io ip json jwt
lru ml oauth orm os pdf pid png ram rest rpc sdk sql ssh ssl svg tcp tls toml ttl udp ui uri url
uuid xml yaml
"""
ACRONYMS = frozenset(ACRONYMS_TEXT.split())
VERBS_TEXT = """
accept acquire activate add aggregate allocate allow analyze append apply approve archive assert
assign attach authenticate authorize await backup begin bind block boot broadcast browse build bump
cache calculate call cancel capture cast change check choose clean clear click clone close collect
combine commit compact compare compile complete compress compute concat configure confirm connect
consume contain continue convert copy count crawl create cut deactivate debug decide declare decode
decompress decorate decrypt dedupe define delete deliver deploy dequeue derive describe deserialize
destroy detach detect determine disable discard disconnect discover dispatch display divide download
draw drop dump edit emit enable encode encrypt end enforce enqueue ensure enter enumerate erase
escape estimate evaluate exclude execute exist exit expand expect expire explain export expose
extend extract fail fetch fill filter finalize find finish fit fix flatten flush fold follow force
forget fork format forward freeze gather generate get grant group guess handle hash help hide
highlight identify ignore import include increment indent infer init initialize inject insert
inspect install interpret invalidate invoke issue iterate join keep kill launch limit link list
listen load locate lock log login logout lookup make map mark mask match measure merge migrate mock
modify monitor mount move multiply mutate navigate negate normalize notify observe obtain open
optimize order pack pad paginate parse partition pass patch pause perform persist pick ping plan
play plot poll pop populate post predict prefetch prepare prepend preprocess press prevent print
probe process produce propagate provide prune publish pull purge push put query queue quit quote
raise rank read rebuild receive recompute reconnect record recover redirect reduce refresh register
reject release reload remove rename render reorder repeat replace replay report request require
reserve reset resize resolve respond restart restore resume retrieve retry return reverse revert
revoke rewrite roll rotate round route run sample sanitize save scale scan schedule scrape seal
search seed seek select send separate serialize serve set setup shift show shuffle shut shutdown
sign simplify simulate skip sleep slice sort spawn split squash stack start stop store stream strip
submit subscribe subtract suggest sum summarize suspend swap switch sync tag take teardown tell
terminate throw toggle tokenize touch trace track train transfer transform translate transpose
traverse trigger trim truncate try tune unbind undo unescape unlink unload unlock unmount unpack
unregister unsubscribe untrack update upgrade upload upsert use validate verify view visit wait walk
warn watch wrap write yield zip
"""
VERBS = frozenset(VERBS_TEXT.split())
QUESTIONS = {"is": "it is", "are": "they are", "has": "it has", "have": "they have", "can": "it can",
             "should": "it should", "was": "it was", "will": "it will", "needs": "it needs"}  # fmt: skip
LITTLE_TEXT = """
is are has in by of for with from to as on if and or
"""
LITTLE = frozenset(LITTLE_TEXT.split())
NOUNS_TEXT = """
cache call change copy count end filter format group hash index key limit link list load log map
mask name order pack plan plot query queue range rank read record report request result return run
sample schedule scope seed set sign sort stack state store stream sum table tag time token track
type update use value view
"""
NOUNS = frozenset(NOUNS_TEXT.split())
# Results that a noun does not name: what is iterated, another function, a type variable.
MAKERS = re.compile(r"Promise<void|\w*(Iterator|Generator|Iterable|Callable)|[A-Z]$")
NOTHING = frozenset({"", "None", "void", "NoReturn", "Never", "never", "undefined"})


def words(name: str) -> list[str]:
    """The words of an identifier, lower-case but for acronyms."""
    found = [
        w if len(w) > 1 and w.isupper() and not name.isupper() else w.lower() for w in WORDS.findall(name)
    ]
    return [w.upper() if w in ACRONYMS else w for w in found] or [name]


def summary(symbol: Symbol) -> str:
    """A first line in the imperative, with a full stop."""
    parts = words(symbol.name)
    rest = " ".join(parts[1:])
    if symbol.kind == "class":
        return _sentence(" ".join(parts))
    if parts[0] in QUESTIONS and rest:
        return _sentence(f"tell whether {QUESTIONS[parts[0]]} {rest}")
    if parts[0] in ("to", "as", "into") and rest:
        return _sentence(f"convert to {rest}")
    if parts[0] == "from" and rest:
        return _sentence(f"create from {rest}")
    if parts[0] == "on" and rest:
        return _sentence(f"handle {rest}")
    if parts[0] in VERBS:
        return _sentence(" ".join(parts))
    told = any(w in LITTLE or w.removesuffix("s") in VERBS - NOUNS for w in parts[1:])
    if len(parts) > 1 and not told and symbol.returns not in NOTHING and not MAKERS.match(symbol.returns):
        return _sentence("return the " + " ".join(parts))
    return _sentence(" ".join(parts))


def third_person(line: str) -> str:
    """`Fetch users.` -> `Fetches users.`: Java and Go describe in the third person."""
    verb, _, rest = line.rstrip(".").partition(" ")
    low = verb.lower()
    if low not in VERBS:
        return line
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        verb += "es"
    elif low.endswith("y") and low[-2] not in "aeiou":
        verb = verb[:-1] + "ies"
    else:
        verb += "s"
    return f"{verb} {rest}".rstrip() + "."


def go_summary(symbol: Symbol) -> str:
    """`Name fetches users.`, the form that https://go.dev/doc/comment asks for."""
    parts = " ".join(words(symbol.name))
    if symbol.kind == "class":
        article = "an" if parts[0].lower() in "aeio" else "a"
        return f"{symbol.name} is {article} {parts}."
    line = summary(symbol)
    verb = line.split()[0].rstrip(".").lower()
    if verb in VERBS:
        line = third_person(line)
        return f"{symbol.name} {line[0].lower()}{line[1:]}"
    return f"{symbol.name} is the {parts} function."


def about(parameter: Parameter) -> str:
    """What a parameter is, as far as its name tells."""
    parts = words(parameter.name)
    if parameter.star == "**":
        return "Further keyword arguments."
    if parameter.star == "*" and parameter.name in ("args", "rest"):
        return "Further arguments."
    if parts[0] in QUESTIONS and len(parts) > 1:
        return f"Whether {QUESTIONS[parts[0]]} {' '.join(parts[1:])}."
    if parameter.annotation in ("bool", "boolean") and parts[0] in VERBS:
        return f"Whether to {' '.join(parts)}."
    return f"The {' '.join(parts)}."


def result(symbol: Symbol) -> str:
    """What a function gives back, as far as its name tells."""
    parts = words(symbol.name)
    if parts[0] in QUESTIONS and len(parts) > 1:
        return f"Whether {QUESTIONS[parts[0]]} {' '.join(parts[1:])}."
    fetching = tuple("get fetch load read find build create make compute calculate list".split())
    if parts[0] in fetching and len(parts) > 1:
        return f"The {' '.join(parts[1:])}."
    if parts[0] not in VERBS | {"to", "from", "on", "as", "into"}:
        return f"The {' '.join(parts)}."
    return "The result."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
