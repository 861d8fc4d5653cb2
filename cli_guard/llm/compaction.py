"""Keeps what is sent within a model's window: old turns become a summary, and what we own is repeated word for word.

messages -> system, summary of the turns that left, record (facts and artefacts), last turns
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cli_guard.graph.state import REQUEST_CHARS
from cli_guard.llm.answers import clean
from cli_guard.llm.gateway import Reply
from cli_guard.llm.prompts import (
    BYTES_PER_TOKEN,
    Message,
    estimate_tokens,
    fence,
    strip_controls,
    system,
    user,
)
from cli_guard.llm.providers import ModelError, build_model
from cli_guard.llm.session import Artefact, newest
from cli_guard.policy.language_model import ModelSection
from cli_guard.secrets.redact import redact

Summarise = Callable[[list[Message]], str]
Count = Callable[[Sequence[Message]], int]

DEFAULT_WINDOW = 8_192
LEAST_PROMPT = 500
# Shares of the prompt: the first message, the summary, one message, the turns at least, a request.
SYSTEM = 0.25
SUMMARY = 0.12
MESSAGE = 0.25
TURNS = 0.18
REQUEST = 0.06
# Of the record, what the person stated.
FACTS = 0.5
# Of the prompt that asks for a summary, what is summarised.
SOURCE = 0.7
LEAST_PATCH = 60
# Of the room of the turns, this much stays filled, so that not every turn needs another summary.
FILLED = 0.6
# The names that tell our own messages from those of the session; content of a repository cannot set them.
SUMMARY_NAME = "cli-guard-summary"
RECORD_NAME = "cli-guard-record"
NO_RESULT = "no result: the turn was interrupted"
LEFT_OUT = "{:,} of the oldest are left out here; the session has them all."
STATED = "The person stated (the later one counts):"
TITLES = {
    "task": "Task:",
    "decision": "Decisions:",
    "approval": "Approved by a person:",
    "fact": STATED,
    "file": "Files touched:",
    "command": "Commands that ran:",
    "patch": "Patches, newest version of each file:",
}
# What comes from the repository or from a model.
FENCED = ("approval", "file", "command", "patch")
FENCE = re.compile(r"<data (\w{12}) .*?(?:\n</data \1>|\Z)", re.DOTALL)
CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
BULLET = re.compile(r"^\s*(?:[-*>]|\d{1,3}[.)])\s+")
# Words that sentences have and logs mostly lack.
GRAMMAR = re.compile(
    r"\b(?:an?|the|is|are|was|were|be|has|have|not|no|never|always|only|must|should|we|i|our|my|you|your|its?|in|on|of|for"
    r"|to|from|with|and|or|than|as|this|that|there|until|since|because|before|after|please)\b", re.I
)  # fmt: skip
LEAST_GRAMMAR = 2
LEAST_PASTED = 4
SHORT_MESSAGE = 120
# Several lines, a question, or the introduction of what is pasted.
UNSAID = re.compile(r"[?\n]|:\s*\Z")
FACT_CHARS = 300
FACTS_OF_MESSAGE = 12
SPECIFIC = re.compile(r"\d{2,}|\w+[/.]\w[\w/.]*")
# What makes a sentence worth keeping, with its points.
MARKS = (
    (3, re.compile(r"\b(?:never|always|must|only|no|every|except|unless|don't|do not|instead of|not allowed)\b", re.I)),
    (2, re.compile(r"\d")),
    (2, re.compile(r"[`\"']\S|\w[/\\]|[/\\]\w|\w_\w|\w\.\w|\w@\w|\w-\w|[a-z][A-Z]|--?\w")),
    (1, re.compile(r"(?<!^)\b[A-Z]\w+")),
    (1, re.compile(r"\b(?:is|are|was|were|has|have|means?|called|named|uses?|needs?|lives?|owns?|prefers?)\b|[=:]")),
    (-3, re.compile(
        r"^(?:please|now|then|and|can|could|would|what|why|how|when|where|which|who|is|are|does|do|fix|add|show|run|open"
        r"|explain|write|rename|refactor|find|list|search|read|look|check|update|change|remove|delete|make|create|test"
        r"|review|tell|describe|document|commit|thanks|ok|yes|no)\b(?!.*\b(?:never|not|no|every)\b|.*:\s)", re.I)),
)  # fmt: skip
PROMPT = (
    "Summarise the beginning of a session for the model that goes on with it. Write a list, one fact a line: names, "
    "numbers, paths, decisions with their reasons, what was tried and how it ended, what is open. Keep what the "
    "earlier summary says unless it became wrong. No introduction, no advice. At most {words} words."
)


def find_window(name: str, config: ModelSection, env: Mapping[str, str]) -> int:
    """Return the context window of a model in tokens: as configured, as langchain knows it, or 8,192."""
    if config.context_tokens:
        return config.context_tokens
    try:
        profile = build_model(name, config, config.deadline_s).profile or {}
    except Exception:  # What is wrong with a model is said when it is asked.
        return DEFAULT_WINDOW
    return int(profile.get("max_input_tokens") or DEFAULT_WINDOW)


def measure_scale(
    sent: Sequence[Message], tools: Sequence[Mapping[str, Any]], reply: Reply
) -> float:
    """Return what the estimate of a prompt has to be multiplied by, as the server has counted it: 1 to 4.

    langchain's own `use_usage_metadata_scaling` ends at 1.25, and needs the list that was counted to be still whole.
    """
    counted = 0 if reply.usage.estimated else reply.usage.input
    return min(max(counted / max(estimate_tokens(sent, tools), 1), 1.0), 4.0)


def compact(
    messages: Sequence[Message],
    artefacts: Sequence[Artefact],
    window_tokens: int,
    answer_tokens: int,
    summarise: Summarise,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    scale: float = 1.0,
    forced: bool = False,
) -> list[Message]:
    """Return the messages to send: with the answer and the tools, never over the window. Raises ModelError.

    The result is also what the session goes on with: given back, its summary and its facts are carried on. As long as
    everything fits, only the record is added; `forced` summarises anyway. `summarise` gets a prompt and returns text;
    whatever it raises or returns, nothing that we own is lost.
    """

    def count(listed: Sequence[Any]) -> int:
        return math.ceil(estimate_tokens(listed) * scale)

    budget = window_tokens - answer_tokens - math.ceil(estimate_tokens((), tools) * scale)
    if budget < LEAST_PROMPT * scale:
        raise ModelError(
            f"a context of {window_tokens:,} tokens has no room for a prompt beside an answer of {answer_tokens:,}: "
            "lower model.answer_tokens"
        )
    own = {each["name"]: each["content"] for each in messages if is_own(each)}
    others = [each for each in messages if not is_own(each)]
    start = int(bool(others) and others[0]["role"] in ("system", "developer"))
    head = others[:start]
    turns = pair_calls(others[start:])
    summary = own.get(SUMMARY_NAME, "").partition(">\n")[2].rpartition("\n</data ")[0]
    facts = [Artefact("fact", each, 0) for each in read_facts(own.get(RECORD_NAME, ""))]
    whole = [
        *head,
        *write_summary(summary),
        *write_record([*facts, *artefacts], budget, count),
        *turns,
    ]
    if not forced and count(whole) <= budget:
        return whole

    said = [each for each in turns if each["role"] == "user"]
    facts += [
        Artefact("fact", fact, 0) for each in said for fact in find_facts(text_of(each))
    ]
    head = [shorten(each, budget * SYSTEM, count) for each in head]
    turns = [shorten(each, budget * MESSAGE, count) for each in turns]
    free = int(budget - count(head) - budget * SUMMARY)
    record = write_record([*facts, *artefacts], int(free - budget * TURNS), count)
    room = int((free - count(record)) * FILLED)
    kept = last_turns(turns, min(room, count(turns) // 3) if forced else room, count)
    left = turns[: len(turns) - len(kept)]
    if left:
        summary = summarise_turns(
            summary, left, summarise, int(budget * SUMMARY), budget, count
        )
    if said and not any(each["role"] == "user" for each in kept):
        # The last turn is longer than its room: what the person asked for must not leave.
        kept = [shorten(said[-1], budget * REQUEST, count), *kept]
    return [*head, *write_summary(summary), *record, *kept]


def is_own(message: Message) -> bool:
    """Return whether a message is one that `compact` has written."""
    return message["role"] == "user" and message.get("name") in (SUMMARY_NAME, RECORD_NAME)


def text_of(message: Message) -> str:
    """Return the text of a message, whose content may be text, nothing, or a list of blocks."""
    content = message["content"] or ""
    return (
        content
        if isinstance(content, str)
        else "\n".join(str(each.get("text", "")) for each in content)
    )


def pair_calls(messages: Sequence[Message]) -> list[Message]:
    """Return messages in which each call has a result right after it, and each result its call; servers want that.

    A turn that Ctrl-C ended may have calls without one.
    """
    paired = []
    waiting: list[str] = []
    for each in [*messages, {"role": ""}]:
        if each["role"] == "tool":
            if each["tool_call_id"] in waiting:
                waiting.remove(each["tool_call_id"])
                paired.append(each)
            continue
        paired += [
            {"role": "tool", "tool_call_id": id, "content": NO_RESULT} for id in waiting
        ]
        waiting = [call["id"] for call in each.get("tool_calls") or ()]
        paired.append(each)
    return paired[:-1]


def shorten(message: Message, tokens: float, count: Count) -> Message:
    """Return a message of at most some tokens, as far as cutting its text and the arguments of its calls can do it."""
    cut = message
    chars = int(tokens * BYTES_PER_TOKEN)
    calls = message.get("tool_calls") or ()
    while count([cut]) > tokens and chars > 8:
        cut = {**message, "content": cut_text(text_of(message), chars)}
        if calls:
            functions = [{**each["function"]} for each in calls]
            for function in functions:
                if len(function["arguments"]) * len(calls) > chars:
                    # They have to stay JSON.
                    short = cut_text(function["arguments"], chars // len(calls))
                    function["arguments"] = json.dumps({"shortened": short})
            cut["tool_calls"] = [
                {**each, "function": to} for each, to in zip(calls, functions, strict=True)
            ]
        chars = chars * 3 // 4
    return cut


def cut_text(text: str, chars: int) -> str:
    """Return a text of about `chars` characters: its beginning and its end, and how much is left out between."""
    if len(text) <= chars:
        return text
    tail = chars // 3
    left_out = f"\n[{len(text) - chars:,} characters left out]\n"
    return text[: chars - tail] + left_out + text[len(text) - tail :]


def last_turns(turns: list[Message], room: int, count: Count) -> list[Message]:
    """Return the last turns that have room, whole ones if possible; a call is never parted from its results."""
    from langchain_core.messages import trim_messages

    for starts in ("human", ("human", "ai")):
        trimmed = trim_messages(
            turns,
            max_tokens=room,
            token_counter=count,  # type: ignore[arg-type]
            start_on=starts,
        )
        if trimmed:
            return turns[len(turns) - len(trimmed) :]
    # Even the last message with its results is too long.
    start = max((at for at, each in enumerate(turns) if each["role"] != "tool"), default=0)
    cut = [shorten(each, room / len(turns[start:]), count) for each in turns[start:]]
    return cut if count(cut) <= room else []


def find_facts(text: str) -> list[str]:
    """Return what a person states in a message, a sentence each: with a number, a path, a name or a rule.

    Data in fences is not the person's, and a question or a request is no fact unless it has such a thing in it.
    """
    stated = remove_pasted(cut_text(CODE.sub("\n", FENCE.sub("", text)), REQUEST_CHARS))
    found = []
    # A short message is one statement: "wrong address, my bad. 0x2B".
    whole = (
        len(stated) <= SHORT_MESSAGE
        and not UNSAID.search(stated)
        and specificity(stated) >= 0
    )
    for sentence in [" ".join(stated.split())] if whole else split_sentences(stated):
        # "The shop is called Korn, can you look?" says something first.
        fact = sentence.rpartition(", ")[0] if sentence.endswith("?") else sentence
        if (
            6 < len(fact) <= FACT_CHARS
            and not fact.endswith(("?", ":"))
            and specificity(fact) >= 0
        ):
            found.append(fact)
    return sorted(found, key=specificity, reverse=True)[:FACTS_OF_MESSAGE]


def remove_pasted(text: str) -> str:
    """Return a message without the lines of logs, traces and data in it: several lines that are no sentences."""
    first, *others = text.splitlines() or [""]
    pasted = {
        line
        for line in others
        if line.strip()
        and not BULLET.match(line)
        and len(GRAMMAR.findall(line)) < LEAST_GRAMMAR
    }
    if len(pasted) < LEAST_PASTED:
        return text
    return "\n".join([first, *(each for each in others if each not in pasted)])


def split_sentences(text: str) -> list[str]:
    """Return the sentences and the lines of a text, without bullets."""
    return [" ".join(BULLET.sub("", each).split()) for each in SENTENCE.split(text)]


def specificity(sentence: str) -> int:
    """Return the points of a sentence: the more, the worse it would be to lose it."""
    return sum(points for points, mark in MARKS if mark.search(sentence))


def read_facts(record: str) -> list[str]:
    """Return the facts of a record."""
    _, _, after = record.partition("<data ")[0].partition(f"{STATED}\n")
    return [line[2:] for line in after.partition("\n\n")[0].splitlines()]


def write_record(entries: Iterable[Artefact], limit: int, count: Count) -> list[Message]:
    """Write the record of at most `limit` tokens: each artefact word for word, or the record says what is left out.

    Where there is no room, long patches lose their middle and the oldest artefacts leave, patches first, tasks last;
    of the facts, those that say least.
    """
    listed = newest(entries)
    if not listed:
        return []
    overhead = count([user("")])
    room = limit - count([user(*TITLES.values(), fence("", ""), LEFT_OUT)])
    room_of_facts = limit * FACTS
    taken = {}

    def importance(at: int) -> tuple[int, int, int]:
        each = listed[at]
        return (
            list(TITLES).index(each.kind),
            -specificity(each.text) if each.kind == "fact" else 0,
            -at,
        )

    ordered = sorted(range(len(listed)), key=importance)
    # What the others leave goes to the facts that had no room in their share.
    for at in (*ordered, *(at for at in ordered if listed[at].kind == "fact")):
        if at in taken:
            continue
        is_fact = listed[at].kind == "fact"
        is_patch = listed[at].kind == "patch"
        text = f"- {strip_controls(str(listed[at]))}"
        if is_patch and room > LEAST_PATCH:
            text = text_of(shorten(user(text), room, count))
        size = count([user(text)]) - overhead + 1
        if size <= (min(room, room_of_facts) if is_fact else room):
            taken[at] = text
            room -= size
            room_of_facts -= size * is_fact
        if at == ordered[-1]:
            room_of_facts = room
    parts = {}
    for kind, title in TITLES.items():
        if of_kind := [taken[at] for at in sorted(taken) if listed[at].kind == kind]:
            parts[kind] = "\n".join([title, *of_kind])
    plain = [redact(text) for kind, text in parts.items() if kind not in FENCED]
    fenced = "\n\n".join(text for kind, text in parts.items() if kind in FENCED)
    note = LEFT_OUT.format(len(listed) - len(taken)) if len(taken) < len(listed) else ""
    message = user(*plain, fence(fenced, "record of the session") if fenced else "", note)
    return [{**message, "name": RECORD_NAME}]


def write_summary(summary: str) -> list[Message]:
    """Write the message with the summary of the turns that left, none without one."""
    said = f"The beginning of the session, summarised:\n\n{fence(summary, 'earlier turns')}"
    return [{**user(said), "name": SUMMARY_NAME}] if summary else []


def summarise_turns(
    earlier: str,
    left: Sequence[Message],
    summarise: Summarise,
    limit: int,
    budget: int,
    count: Count,
) -> str:
    """Return the new summary: of the earlier one and the turns that leave. Without a usable one, of their text."""
    source = f"Earlier summary: {earlier}\n" if earlier else ""
    for each in left:
        asked = [call["function"] for call in each.get("tool_calls") or ()]
        source += (
            f"{each['role']}: {text_of(each)}{json.dumps(asked)[:300] if asked else ''}\n"
        )
    source = text_of(shorten(user(source), budget * SOURCE, count))
    prompt = [system(PROMPT.format(words=limit // 2)), user(fence(source, "earlier turns"))]
    try:
        text = clean(summarise(prompt))
    except Exception:  # Whatever fails there, the session goes on.
        text = ""
    if not is_summary(text, source):
        text = source
    return text_of(shorten(user(text), limit - count(write_summary("x")), count))


def is_summary(text: str, source: str) -> bool:
    """Return whether a text can be a summary: shorter than its source, and with some of its numbers and paths."""
    specific = set(SPECIFIC.findall(source))
    return 0 < len(text) < len(source) and (
        not specific or any(each in text for each in specific)
    )
