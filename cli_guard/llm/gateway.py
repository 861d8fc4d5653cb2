"""The one way to a model: a deadline over everything, retries, fallbacks, the budget, and a log of every try.

messages -> masked -> each model of the tier, then of the next one -> stream -> Reply
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from cli_guard.lazy import dataclass, frozen
from cli_guard.llm.answers import TEXT_CHARS, clean, is_endless
from cli_guard.llm.ledger import MOST_TOKENS, Ledger, Usage
from cli_guard.llm.prompts import (
    Message,
    estimate_tokens,
    mask_value,
    prompt_hash,
)
from cli_guard.llm.providers import (
    KEYS,
    ModelError,
    TransientError,
    build_model,
    explain_failure,
    import_clients,
    key_from,
    open_client,
    wait_from,
    was_sent,
)
from cli_guard.policy.language_model import ModelSection, Tier
from cli_guard.runtime import missing_extra

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk
    from langchain_core.runnables import Runnable

# Tries of one model; a further try of a request that was refused would be refused again.
TRIES = 2
# While there are other models, one of them may take this share of the time that is left.
SHARE = 0.5
LONGEST_WAIT = 10.0
CHECKED_CHARS = 500
OPENAI = "openai:"
BROKEN_OFF = "\n\n[the answer broke off]\n\n"
ARGUMENT_CHARS = 200_000
# To put many calls together takes long, and no deadline ends that.
MOST_CALLS = 128


@frozen
class ToolCall:
    """A call that a model proposes. `problem` says why its arguments cannot be read, "" if they can."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""


@frozen
class Reply:
    """An answer: its text, safe to show; the calls that it proposes; who gave it, and what that took."""

    text: str
    calls: tuple[ToolCall, ...]
    model: str
    tier: Tier
    usage: Usage
    usd: float | None
    message: Message = field(default_factory=dict)


@dataclass
class Gateway:
    """Asks models, as one person's configuration allows, for one request or one turn of a session.

    `on_text` gets the text as it comes, unchecked: who shows it cleans it. `forced` is the one model to use. With
    `preview`, nothing is sent: what would be is collected in `prompts`, and each call raises ModelError.
    """

    config: ModelSection
    env: Mapping[str, str]
    ledger: Ledger
    forced: str = ""
    preview: bool = False
    on_text: Callable[[str], None] | None = None
    prompts: list[dict[str, Any]] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    until: float = 0.0

    def start_turn(self) -> None:
        """Begin the time and the number of calls of a request."""
        import_clients()
        self.calls = 0
        self.until = time.monotonic() + self.config.turn_s

    def ask(
        self,
        messages: Sequence[Message],
        tier: Tier,
        *,
        purpose: str,
        tools: Sequence[Mapping[str, Any]] = (),
        schema: type[BaseModel] | None = None,
    ) -> Reply:
        """Return the answer to some messages. Raises ModelError; KeyboardInterrupt closes the connection.

        `tools` are OpenAI function schemas. With `schema`, the answer is JSON of it as far as the server can do that;
        `answers.parse_answer` checks it. Each try is in `log`, with `purpose` and the digest of the prompt.
        """
        models = ((tier, self.forced),) if self.forced else self.config.models_for(tier)
        if not models:
            raise ModelError(
                "no model is configured: name one in [model] of the user's own file"
            )
        options = {"tools": mask_value(tools)} if tools else {}
        # Servers of other protocols have other ways, or none: `parse_answer` checks what comes.
        if schema and all(name.startswith(OPENAI) for _, name in models):
            shape = {"name": schema.__name__, "schema": schema.model_json_schema()}
            options["response_format"] = {"type": "json_schema", "json_schema": shape}
        sent = mask_value(messages)
        self.prompts.append({"messages": sent, **options})
        if self.preview:
            raise ModelError("nothing was sent: --show-prompt")
        if not self.until:
            self.start_turn()
        if self.calls >= self.config.turn_calls:
            raise ModelError(
                f"{self.calls} answers were asked for this request (model.turn_calls)"
            )
        seconds = min(self.config.deadline_s, self.until - time.monotonic())
        if seconds <= 0:
            raise ModelError(
                f"no answer within {self.config.turn_s:g} s for this request (model.turn_s)"
            )
        self.calls += 1
        limit = "deadline_s" if seconds == self.config.deadline_s else "turn_s"
        late = f"the time is up after {getattr(self.config, limit):g} s (model.{limit})"
        call = ModelCall(self, purpose, options, time.monotonic() + seconds, late)
        # The provider's client belongs to the loop; Ctrl-C cancels the task, which closes the connection.
        with asyncio.Runner() as runner:
            return runner.run(call.run(sent, models))


@dataclass
class ModelCall:
    """One call of the gateway, until it is answered or out of time; `late` says that in one line."""

    gateway: Gateway
    purpose: str
    options: dict[str, Any]
    until: float
    late: str
    limits: list[asyncio.Timeout] = field(default_factory=list)
    tries: list[dict[str, Any]] = field(default_factory=list)

    async def run(
        self, messages: list[Message], models: Sequence[tuple[Tier, str]]
    ) -> Reply:
        """Ask the models in their order. Raises ModelError, with what each of them has answered."""
        try:
            from langchain_core.runnables import RunnableLambda
            from langsmith import tracing_context
        except ImportError:
            raise ModelError(missing_extra("a model", "llm")) from None

        def runnable(tier: Tier, name: str, others: int) -> "Runnable[Any, Reply]":
            async def ask(given: dict[str, Any]) -> Reply:
                return await self.try_model(given, tier, name, others)

            retried = {"initial": 0.2, "max": 2.0, "jitter": 0.2}
            return RunnableLambda(ask).with_retry(
                retry_if_exception_type=(TransientError,),
                stop_after_attempt=TRIES,
                exponential_jitter_params=retried,  # type: ignore[arg-type]
            )

        first, *others = (
            runnable(*each, len(models) - number) for number, each in enumerate(models, 1)
        )
        # The error of one model is the context of the next.
        chain = first.with_fallbacks(
            others, exceptions_to_handle=(ModelError,), exception_key="error"
        )
        config: Any = {"callbacks": []}
        # LangSmith sees a call only if the user's own file says so.
        with tracing_context(enabled=None if self.gateway.config.tracing else False):
            try:
                async with asyncio.timeout(self.until - time.monotonic()) as limit:
                    self.limits = [limit]
                    return await chain.ainvoke(
                        {"messages": messages, "error": None}, config
                    )
            except (TimeoutError, ModelError):
                outcomes = dict.fromkeys(each["outcome"] for each in self.tries)
                late = (self.late,) if time.monotonic() >= self.until else ()
                raise ModelError("; ".join((*outcomes, *late))) from None

    async def try_model(
        self, given: dict[str, Any], tier: Tier, name: str, others: int
    ) -> Reply:
        """Ask one model once. Raises ModelError, TransientError."""
        began = time.monotonic()
        seconds = max(0.0, self.until - began) * (SHARE if others else 1.0)
        messages = given["messages"]
        if given["error"]:
            failed = f"An earlier try with another model failed: {given['error']}"
            messages = [
                {**messages[0], "content": f"{messages[0]['content']}\n\n{failed}"},
                *messages[1:],
            ]
        entry = {
            "model": name,
            "tier": tier,
            "purpose": self.purpose,
            "prompt": prompt_hash(messages),
        }
        outcome = "cancelled"
        try:
            async with asyncio.timeout(seconds) as limit:
                self.limits = [self.limits[0], limit]
                reply = await Try(
                    self.gateway, entry, messages, self.options, seconds, self.pause
                ).run()
            outcome = "answered"
            return reply
        except asyncio.CancelledError:
            if time.monotonic() >= self.until:
                outcome = f"{name}: no answer in time"
            raise
        except Exception as error:
            explained = explain_failure(error)
            if getattr(error, "status_code", None) == 401:
                # A key that was asked for may have ended.
                KEYS.clear()
            outcome = f"{name}: {explained}"
            again = isinstance(explained, TransientError) and await self.wait_as_told(
                name, wait_from(error)
            )
            raise (TransientError if again else ModelError)(outcome) from None
        finally:
            self.tries.append(
                {**entry, "outcome": outcome, "seconds": round(time.monotonic() - began, 3)}
            )
            self.gateway.log.append(self.tries[-1])

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave the time of what is done within out of the deadline: a client is built on this machine.

        That takes seconds for the first one; those of fallbacks are quick, and count.
        """
        began = time.monotonic()
        yield
        spent = 0.0 if self.tries else time.monotonic() - began
        self.until += spent
        self.gateway.until += spent
        for limit in self.limits:
            limit.reschedule((limit.when() or 0.0) + spent)

    async def wait_as_told(self, name: str, seconds: float) -> bool:
        """Wait until a server may be asked again; return whether there is time and a try left for that."""
        tried = sum(each["model"] == name for each in self.tries) + 1
        left = self.until - time.monotonic()
        if tried >= TRIES or not 0 <= seconds <= min(left / 2, LONGEST_WAIT):
            return False
        await asyncio.sleep(seconds)
        return True


@dataclass
class Try:
    """One request to one model. `entry` has what the ledger and the log say of it."""

    gateway: Gateway
    entry: dict[str, Any]
    messages: list[Message]
    options: dict[str, Any]
    seconds: float
    pause: Callable[[], AbstractContextManager[None]]
    chunks: "list[AIMessageChunk]" = field(default_factory=list)
    text: str = ""
    arguments: int = 0
    called: set[object] = field(default_factory=set)

    async def run(self) -> Reply:
        """Send it, and read the answer to its end. Raises ModelError, and what the provider raises."""
        gateway = self.gateway
        name = self.entry["model"]
        config = gateway.config.for_model(name)
        if not name.startswith(OPENAI):
            with self.pause():
                model = build_model(name, config, self.seconds)
            return await self.read(model)
        key = await key_from(config, gateway.env)
        with self.pause():
            client = open_client(self.seconds)
        try:
            with self.pause():
                model = build_model(name, config, self.seconds, key, client)
            return await self.read(model)
        finally:
            await client.aclose()

    async def read(self, model: Any) -> Reply:
        """Stream an answer. What failed after it was sent may cost something, and is counted, too."""
        ledger = self.gateway.ledger
        mark = ledger.reserve(prompt_tokens=self.estimate().input, **self.entry)
        usage: Usage | None = None
        try:
            async with aclosing(
                model.bind(**self.options).astream(self.messages)
            ) as chunks:
                async for chunk in chunks:
                    self.take(chunk)
            # All at once: with each sum, langchain reads the arguments of calls anew.
            whole: AIMessageChunk = self.chunks[0] + self.chunks[1:]
            usage = self.count_usage(whole)
        except BaseException as error:
            usage = self.estimate() if was_sent(error) else None
            if self.text and self.gateway.on_text:
                self.gateway.on_text(BROKEN_OFF)
            raise
        finally:
            usd = ledger.record(usage=usage, mark=mark, **self.entry)
        return self.reply_of(whole, usage, usd)

    def take(self, chunk: "AIMessageChunk") -> None:
        """Keep a piece of the answer. Raises ModelError if it is too long or repeats itself."""
        self.chunks.append(chunk)
        piece = chunk.text
        before = len(self.text)
        self.text += piece
        self.arguments += sum(len(each["args"] or "") for each in chunk.tool_call_chunks)
        if piece and self.gateway.on_text:
            self.gateway.on_text(piece)
        self.called |= {
            (each["index"], each["id"] or each["index"]) for each in chunk.tool_call_chunks
        }
        if len(self.called) > 2 * MOST_CALLS:
            raise ModelError(f"the answer has more than {MOST_CALLS} calls")
        if len(self.text) > TEXT_CHARS or self.arguments > ARGUMENT_CHARS:
            longest = TEXT_CHARS if len(self.text) > TEXT_CHARS else ARGUMENT_CHARS
            raise ModelError(f"the answer is longer than {longest:,} characters")
        if before // CHECKED_CHARS < len(self.text) // CHECKED_CHARS and is_endless(
            self.text
        ):
            raise ModelError("the answer repeats itself without end")

    def estimate(self) -> Usage:
        """Return about what the request has used so far."""
        prompt = estimate_tokens(self.messages, self.options.get("tools", ()))
        return Usage(prompt, (len(self.text) + self.arguments) // 4 + 1, estimated=True)

    def count_usage(self, whole: "AIMessageChunk") -> Usage:
        """Return what the server has counted, an estimate where it says nothing or nonsense."""
        told = whole.usage_metadata
        numbers = (told["input_tokens"], told["output_tokens"]) if told else (0, 0)
        is_told = numbers[0] > 0 and all(0 <= each <= MOST_TOKENS for each in numbers)
        return Usage(*numbers) if is_told else self.estimate()

    def reply_of(self, whole: "AIMessageChunk", usage: Usage, usd: float | None) -> Reply:
        """Build the reply from the whole message. Raises ModelError."""
        gateway = self.gateway
        name = self.entry["model"]
        calls = read_calls(whole)
        told = whole.response_metadata
        finish = told.get("finish_reason")
        if finish == "content_filter":
            raise ModelError("the model refused to answer")
        if name.startswith(OPENAI) and not finish:
            raise TransientError("the server hung up before the end of its answer")
        text = clean(self.text)
        if finish == "length":
            tokens = f"{gateway.config.answer_tokens:,} tokens (model.answer_tokens)"
            # Somebody who has seen it come keeps it; data and calls are worthless without their end.
            if calls or "response_format" in self.options or not (text and gateway.on_text):
                raise ModelError(f"the answer was cut off after {tokens}")
            text += f"\n[cut off after {tokens}]"
        if not text and not calls:
            # langchain drops the words of a refusal.
            raise ModelError("the answer is empty: the model may have refused")
        if is_endless(self.text):
            raise ModelError("the answer repeats itself without end")
        return Reply(
            text, calls, name, self.entry["tier"], usage, usd, message_of(text, calls)
        )


def read_calls(whole: "AIMessageChunk") -> tuple[ToolCall, ...]:
    """Return the calls of an answer, put together by langchain from their fragments.

    One whose arguments are no whole JSON object has a `problem`: langchain would complete one that was cut off.
    """
    read = []
    for each in whole.tool_call_chunks:
        written = each["args"] or "{}"
        problem = ""
        try:
            arguments = json.loads(written)
            # Some models encode them twice.
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            arguments = None
            problem = f" ({error})"
        if not isinstance(arguments, dict):
            arguments = {}
            problem = f"the arguments are no JSON object{problem}"
        read.append(
            ToolCall(each["id"] or "", clean(each["name"] or "")[:100], arguments, problem)
        )
    return tuple(read)


def message_of(text: str, calls: Sequence[ToolCall]) -> Message:
    """Return an answer as the message that goes on in a session."""
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": each.id,
                "type": "function",
                "function": {
                    "name": each.name,
                    "arguments": json.dumps(each.arguments, ensure_ascii=False),
                },
            }
            for each in calls
        ]
    return message
