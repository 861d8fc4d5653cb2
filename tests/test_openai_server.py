"""The scripted model server sends what its script says, breaks as its faults say, and leaves nothing behind."""

import functools
import http.client
import json
import operator
import re
import socket
import threading
import time
import urllib.request

import pytest
from openai_answers import FAULTS, cut, drip, split, stall
from openai_server import call, fault, find_problem, obey, say, say_json, serve

TEXT = "Grüße, 世界: done."
BODY = json.dumps(
    {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
).encode()
PAIR = (("read_file", {"path": "grün.py"}), ("search", {"text": "a b", "limit": 3}))


def post(server, limit=None, **body):
    """Status, headers and body (its first `limit` bytes) of the answer to a request."""
    connection = http.client.HTTPConnection(
        "127.0.0.1", server.server_address[1], timeout=20
    )
    connection.request(
        "POST",
        "/v1/chat/completions",
        json.dumps(json.loads(BODY) | body),
        {"X-Title": "t"},
    )
    response = connection.getresponse()
    try:
        return response.status, response.headers, response.read(limit)
    finally:
        connection.close()


def test_answers_come_in_order_and_requests_are_recorded():
    with serve([say(TEXT, delta=1), say_json({"a": [1]}, usage=(7, 3, 2))]) as server:
        status, headers, raw = post(server)
        assert (status, headers["Content-Type"]) == (200, "text/event-stream")
        assert raw.endswith(b"data: [DONE]\n\n")
        assert '"content": "世"'.encode() in raw
        assert b"usage" not in raw
        whole = json.loads(post(server, stream=False)[2])
        assert json.loads(whole["choices"][0]["message"]["content"]) == {"a": [1]}
        assert whole["usage"]["prompt_tokens_details"] == {"cached_tokens": 2}
    assert (server.requests[0].text, server.requests[1].headers["x-title"]) == (
        "hello",
        "t",
    )


def test_a_client_sees_the_boundaries_of_a_split_and_the_whole_text():
    with serve([say(TEXT, wire=split(3))]) as server:
        response = urllib.request.urlopen(
            urllib.request.Request(server.base_url + "/chat/completions", BODY)
        )
        pieces = list(iter(lambda: response.read1(100), b""))
    assert {len(piece) for piece in pieces} <= {1, 2, 3}
    assert TEXT[:8] in b"".join(pieces).decode()


def test_interleaved_calls_come_in_turn():
    with serve([call(*PAIR, interleaved=True)]) as server:
        order = re.findall(
            r'tool_calls": \[\{(?:"id.*?)?"index": (\d)', post(server)[2].decode()
        )
    assert order[:4] == ["0", "1", "0", "1"]


def test_langchain_reads_fragments_at_every_byte():
    openai = pytest.importorskip("langchain_openai")
    with serve(
        [say(TEXT, wire=split(1), usage=(7, 3)), call(*PAIR, fragment=1, interleaved=True)]
    ) as server:
        model = openai.ChatOpenAI(
            model="m", base_url=server.base_url, api_key="k", stream_usage=True
        )
        text, calls = (
            functools.reduce(operator.add, model.stream("hello")) for _ in range(2)
        )
    assert (text.content, text.usage_metadata["input_tokens"]) == (TEXT, 7)
    assert [(one["name"], one["args"]) for one in calls.tool_calls] == list(PAIR)


RESULT = {"role": "tool", "tool_call_id": "a", "content": ""}
CALL = {"role": "assistant", "tool_calls": [{"id": "a"}]}
USER = {"role": "user", "content": "x"}
TOOL = {"type": "function", "function": {"name": "read_file"}}
CONVERSATIONS = [
    ([USER, CALL, RESULT, USER, CALL, RESULT], [TOOL], ""),
    ([USER, RESULT], [], "messages[1]: a result without its call"),
    ([CALL, RESULT, RESULT], [], "messages[2]: a result without its call"),
    ([CALL, USER, RESULT], [], "calls without results: ['a']"),
    ([CALL], [], "calls without results: ['a']"),
    ([], [], "a model and messages are required"),
    (
        [USER],
        [TOOL, TOOL],
        "tools: invalid or repeated names in ['read_file', 'read_file']",
    ),
]


@pytest.mark.parametrize(("messages", "tools", "problem"), CONVERSATIONS)
def test_a_request_is_refused_where_openai_refuses_it(messages, tools, problem):
    assert find_problem({"model": "m", "messages": messages, "tools": tools}) == problem


def test_what_the_script_does_not_foresee_fails_the_test():
    with (
        pytest.raises(AssertionError, match="request 2 of a script of 1"),
        serve([say(TEXT)]) as server,
    ):
        assert [post(server)[0], post(server)[0]] == [200, 400]
    with (
        pytest.raises(AssertionError, match="KeyError"),
        serve(lambda request: request.tools["x"]) as server,
    ):
        with pytest.raises(http.client.RemoteDisconnected):
            post(server)
        assert server.requests


# What a client sees of each fault: name, status, a part of the body.
SEEN = r"""
unauthorized 401 invalid_api_key; unknown_model 404 model_not_found; context_length 400 context_length_exceeded
rate_limit 429 rate_limit_exceeded; rate_limit_date 429 rate_limit_exceeded; quota 429 insufficient_quota
server_error 500 server_error; bad_gateway 502 <h1>; redirect 307 ; login_page 200 Password; empty 200 "stop"
drip 200 "a "; heartbeat 200 : keep-alive; no_done 200 "stop"; bad_json 200 [{"delta"; error_event 200 {"error"
bad_arguments 200 "{\"path\"; no_choices 200 "choices": []; refusal 200 {"refusal": "I; length 200 "length"
content_filter 200 "content_filter"; huge_delta 200 xxx; endless_line 200 xxx; repetition 200 "again "
big_answer 200 "0123456 0123456; gzip 200 """
SEEN = [
    tuple(each.split(" ", 2))
    for line in SEEN.strip("\n").split("\n")
    for each in line.split("; ")
]


def test_each_fault_is_tested():
    broken = {"stall", "stall_before_headers", "hang_up", "cut_in_line", "cut_after_event"}
    assert {kind for kind, *_ in SEEN} | broken == set(FAULTS)


@pytest.mark.parametrize(("kind", "status", "part"), SEEN)
def test_each_fault_is_what_its_name_says(kind, status, part):
    endless = kind in ("drip", "heartbeat")
    with serve([fault(kind, **({"seconds": 0.001} if endless else {}))]) as server:
        code, headers, raw = post(server, 700 if endless else 100_000)
    assert (str(code), True) == (status, part.encode() in raw)
    assert (b"[DONE]" in raw) <= (kind != "no_done")
    assert ("Retry-After" in headers) == kind.startswith("rate_limit")
    assert ("Location" in headers, raw[:2] == b"\x1f\x8b") == (
        kind == "redirect",
        kind == "gzip",
    )
    assert kind not in ("huge_delta", "endless_line") or b"\n" not in raw[-90_000:]


@pytest.mark.parametrize("inside", [False, True])
def test_a_cut_breaks_a_framed_answer_and_ends_an_unframed_one(inside):
    with serve(
        [say(TEXT, wire=cut(2, inside)), say(TEXT, wire=cut(2, inside), framed=False)]
    ) as server:
        with pytest.raises(http.client.IncompleteRead):
            post(server)
        raw = post(server)[2]
    assert (raw.count(b"data: "), raw.endswith(b"\n\n")) == (2 + inside, not inside)


@pytest.mark.parametrize(
    "wire", [stall(-1), stall(0), stall(1), drip(3600), fault("endless_line").wire]
)
def test_the_end_of_a_test_ends_an_answer(wire):
    threads = threading.active_count()
    with socket.socket() as client, serve([say(TEXT, wire=wire)]) as server:
        client.connect(server.server_address)
        client.sendall(
            b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(BODY)
            + BODY
        )
        while not server.requests:
            time.sleep(0.001)
    assert threading.active_count() == threads
    with pytest.raises(ConnectionRefusedError):
        post(server)


def test_the_double_obeys_each_marker_once():
    model = obey({"DO A": call(PAIR[0], text="a"), "DO B": call(PAIR[1]), "DO C": say("c")})
    with serve(model) as server:
        tools = [
            {"type": "function", "function": {"name": "x", "description": 'say "q"\nDO B'}}
        ]
        asked = {
            "stream": False,
            "messages": [USER | {"content": "Do A: DO A"}],
            "tools": tools,
        }
        both, last = (
            json.loads(post(server, **asked)[2])["choices"][0]["message"] for _ in range(2)
        )
    assert [one["function"]["name"] for one in both["tool_calls"]] == [
        "read_file",
        "search",
    ]
    assert (both["content"], last["content"]) == ("a", "Done.")
    assert model.obeyed == ["DO A", "DO B"]
