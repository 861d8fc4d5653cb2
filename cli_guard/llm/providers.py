"""Builds the chat model of a name, and says what its failures mean: the only file that knows langchain's providers."""

import asyncio
import datetime
import importlib
import json
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from cli_guard.errors import CliGuardError
from cli_guard.policy.language_model import ModelSection, check_model_name
from cli_guard.rules.catalog import read_table
from cli_guard.runtime import missing_extra

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

KEY_SECONDS = 20
KEY_STEP = 0.02
KEY_BYTES = 10_000
# Of one answer on the wire: a server that never ends a line would fill the memory otherwise.
ANSWER_BYTES = 8_000_000
PARTIAL_CHARS = 2_000
# A server of one's own needs no key, but the protocol has a field for it.
NO_KEY = "none"
# Said to the provider's client each time: it would look into the environment, which may be a repository's.
OPENAI_URL = "https://api.openai.com/v1"
# Answers that are no stream: a login page, an address that answers something else.
NO_STREAM = ("text/html", "application/json")
LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")


class ModelError(CliGuardError):
    """A model gave no usable answer. `str(error)` is one line: what is wrong and what to do."""


class TransientError(ModelError):
    """A failure that another try may overcome."""


async def key_from(config: ModelSection, env: Mapping[str, str]) -> str:
    """Return the key of an OpenAI-compatible server. Raises ModelError.

    The variable of OpenAI is for OpenAI: another server gets the key that is named for it, or none.
    """
    if config.base_url and not (config.api_key_env or config.api_key_command):
        return NO_KEY
    name = config.api_key_env or "OPENAI_API_KEY"
    if config.api_key_command and not config.api_key_env:
        key = await key_of_command(config.api_key_command)
    else:
        key = env.get(name, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ModelError("no key: what is configured gives something that cannot be one")
    if not key:
        raise ModelError(f"no key: the variable {name} is not set (model.api_key_env)")
    return key


# The keys that commands have printed: asked once, as a command may unlock a store.
KEYS: dict[tuple[str, ...], str] = {}


async def key_of_command(command: tuple[str, ...]) -> str:
    """Return the first line that a command prints, until `KEYS` is cleared. Raises ModelError."""
    if command in KEYS:
        return KEYS[command]
    shown = f"no key: model.api_key_command `{shlex.join(command)[:200]}`"
    until = time.monotonic() + KEY_SECONDS
    # A file: a child that the command leaves behind would keep a pipe open.
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL
            )
        except (OSError, ValueError) as error:
            raise ModelError(f"{shown} cannot be run ({type(error).__name__})") from None
        try:
            while child.poll() is None and time.monotonic() < until:
                await asyncio.sleep(KEY_STEP)
        finally:
            child.kill()
            code = child.wait()
        output.seek(0)
        key = output.readline(KEY_BYTES).decode("utf-8", "replace").strip()
    if time.monotonic() >= until:
        raise ModelError(f"{shown} did not end within {KEY_SECONDS} s")
    if code or not key:
        raise ModelError(
            f"{shown} " + (f"failed (exit code {code})" if code else "printed nothing")
        )
    return KEYS.setdefault(command, key)


def import_clients() -> None:
    """Import what asks a model, which takes seconds on a busy machine; a call reports what is missing."""
    with suppress(ImportError):
        importlib.import_module("langchain.chat_models")
        importlib.import_module("langchain_openai")


def build_model(
    name: str, config: ModelSection, read_seconds: float, key: str = "", client: Any = None
) -> "BaseChatModel":
    """Build the chat model of a name (provider:model). Raises ModelError.

    `read_seconds` bounds each read alone. Nothing is retried below the gateway, which counts and logs every try. `key`
    and `client` (see `open_client`) are for the models of the OpenAI protocol.
    """
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise ModelError(missing_extra("a model", "llm")) from None
    bound_parsing()
    more: dict[str, Any] = {
        "timeout": read_seconds,
        "max_retries": 0,
        "max_tokens": config.answer_tokens,
    }
    provider = name.partition(":")[0]
    if provider == "openai":
        more |= {
            "base_url": config.base_url or OPENAI_URL,
            "api_key": key or NO_KEY,
            "stream_usage": True,
        }
        # The socket options: else it warns about the proxies of a client that nobody uses.
        more |= {
            "http_async_client": client,
            "http_socket_options": (),
            "stream_chunk_timeout": read_seconds,
        }
    try:
        model: BaseChatModel = init_chat_model(check_model_name(name), **more)
        return model
    except ImportError:
        raise ModelError(
            f"the package of the provider {provider} is not installed: pip install langchain-{provider}"
        ) from None
    except Exception as error:
        text = str(error).lower()
        if "provider" in text and ("unsupported" in text or "unable to infer" in text):
            raise ModelError(
                f"langchain knows no provider {provider}: check the name in [model]"
            ) from None
        if "api_key" in text or "credentials" in text:
            raise ModelError(
                f"no key: set the variable of the provider {provider}"
            ) from None
        raise ModelError(
            f"it cannot be used ({type(error).__name__}): check [model]"
        ) from None


def bound_parsing() -> None:
    """Have langchain complete the arguments of a call, which nobody here uses, only where that is quick.

    It takes 5 s for 32,000 characters that are no JSON, and twice as many take four times as long.
    """
    from langchain_core.messages import ai
    from langchain_core.utils.json import parse_partial_json

    def parse(text: str) -> Any:
        return parse_partial_json(text) if len(text) <= PARTIAL_CHARS else json.loads(text)

    ai.parse_partial_json = parse  # type: ignore[attr-defined,assignment]


def open_client(read_seconds: float) -> Any:
    """Return the HTTP client of the OpenAI protocol: no redirect, bounded answers. Raises ModelError."""
    try:
        from httpx2 import AsyncByteStream
        from openai import DefaultAsyncHttpxClient
    except ImportError:
        raise ModelError(missing_extra("a model", "llm")) from None

    class LimitedStream(AsyncByteStream):
        """The body of an answer, cut off with an error after ANSWER_BYTES."""

        def __init__(self, stream: Any) -> None:
            self.stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for chunk in self.stream:
                read += len(chunk)
                if read > ANSWER_BYTES:
                    raise ModelError(f"the answer is longer than {ANSWER_BYTES:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self.stream.aclose()

    async def check_response(response: Any) -> None:
        kind, encoding = (
            response.headers.get(each, "") for each in ("content-type", "content-encoding")
        )
        if response.is_success and kind.lower().startswith(NO_STREAM):
            raise ModelError(
                "the server gives no stream of the OpenAI protocol: check model.base_url"
            )
        if encoding.lower() not in ("", "identity"):
            # A few bytes may unpack to more than there is memory.
            raise ModelError("the server's answer is compressed, which was not asked for")
        response.stream = LimitedStream(response.stream)

    return DefaultAsyncHttpxClient(
        # A redirect would send the content, and the key, to a server that nobody has configured.
        follow_redirects=False,
        event_hooks={"response": [check_response]},
        timeout=read_seconds,
        headers={"Accept-Encoding": "identity"},
        # What is meant for this machine does not go through the proxy of HTTP_PROXY.
        mounts=dict.fromkeys(LOOPBACK),
    )


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, of which clients make their own."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def wait_from(error: BaseException) -> float:
    """Return the seconds after which a server may be asked again, 0.0 if it does not say (RFC 9110, 10.2.3)."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    told = str(headers.get("retry-after", ""))[:100]
    with suppress(ValueError):
        return max(0.0, float(told))
    with suppress(ValueError, OverflowError):
        at = parsedate_to_datetime(told)
        at = at if at.tzinfo else at.replace(tzinfo=datetime.UTC)
        return max(0.0, (at - datetime.datetime.now(datetime.UTC)).total_seconds())
    return 0.0


def was_sent(error: BaseException) -> bool:
    """Return whether the server may have worked on a request that failed, so that it may cost something."""
    refused = any("ConnectError" in type(each).__name__ for each in chain_of(error))
    return not (refused or getattr(error, "status_code", None))


def explain_failure(error: BaseException) -> ModelError:
    """Say in one line what a failure of a provider means.

    Its own words are not kept: they may be hostile, and the next model reads the line.
    """
    causes = list(chain_of(error))
    if known := next((each for each in causes if isinstance(each, CliGuardError)), None):
        return known if isinstance(known, ModelError) else ModelError(str(known))
    status = getattr(error, "status_code", None)
    kinds = [type(each).__name__ for each in causes]
    kinds += ["OSError"] * isinstance(error, OSError)
    words = " ".join(f"{each} {getattr(each, 'code', '')}" for each in causes)[:10_000]
    told = f"{status}\n{' '.join(kinds)}\n{words}".lower()
    for row in read_table("model_failures.toml")["failure"]:
        if re.search(row["form"], told):
            kind = TransientError if row.get("again") else ModelError
            return kind(row["meaning"].format(status=status))
    return ModelError(f"an answer that cannot be used ({type(error).__name__})")
