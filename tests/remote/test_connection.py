"""Calls over two pipes: answers, errors, threads, and lines that are damaged or hostile."""

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import IO, Any

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.remote import lines
from stackcost.remote.answering import Replies, serve
from stackcost.remote.connection import Connection
from stackcost.remote.stub import Call, RemoteStub, called

LIMIT_S = 20.0


class Counter:
    """What is called."""

    def __init__(self) -> None:
        self.asked = 0
        self.go = threading.Event()

    def add(self, one: int, other: int = 1) -> int:
        return one + other

    def named(self, method: str, of: str = "", name: str = "") -> str:
        return method + of + name

    def fail(self) -> None:
        raise StackcostError("it has failed", "mend it")

    def crash(self) -> None:
        raise KeyError("name")

    def odd(self) -> object:
        return object()

    def wait(self) -> bool:
        return self.go.wait(LIMIT_S)

    def release(self) -> None:
        self.go.set()

    @called(once=True)
    def constant(self, name: str) -> int:
        self.asked += 1
        return self.asked

    @called(in_turn=True)
    def thread(self) -> str:
        return threading.current_thread().name

    def _private(self) -> None:
        raise AssertionError


class Ends:
    """Both ends of two pipes; `near` is a channel. `far`: requests and replies."""

    def __init__(self) -> None:
        (far, near), (answers, replies) = os.pipe(), os.pipe()
        self.requests: IO[bytes] = os.fdopen(near, "wb")
        self.replies: IO[bytes] = os.fdopen(answers, "rb")
        self.far = os.fdopen(far, "rb"), os.fdopen(replies, "wb")
        self.reason = "the pipe was cut"

    def end(self) -> str:
        return self.reason

    def close(self) -> None:
        self.requests.close()

    def say(self, *said: str) -> None:
        """Write lines as the other end would."""
        for each in said:
            self.far[1].write(each.encode() + b"\n")
        self.far[1].flush()


class RemoteCounter(RemoteStub, Counter, of=Counter):
    def __init__(self, connection: Connection):
        self.connection = connection

    def handle(self, call: Call) -> Any:
        return self.connection.ask(call.name, call.arguments).result(LIMIT_S)


@pytest.fixture
def ends() -> Ends:
    return Ends()


@pytest.fixture
def counter(ends: Ends) -> Iterator[RemoteCounter]:
    def run() -> None:
        (requests, replies), own = ends.far, Counter()
        serve(lambda: {Counter: own}, requests, Replies(replies), version="7")
        replies.close()

    thread = threading.Thread(target=run, name="serves")
    thread.start()
    connection = Connection(ends, ended="the end: ")
    yield RemoteCounter(connection)
    connection.close()
    thread.join(LIMIT_S)
    assert not thread.is_alive()


def test_a_stub_has_the_methods_of_its_class_and_sends_each_call(counter: RemoteCounter) -> None:
    assert counter.add(2) == 3 and counter.add(2, other=5) == 7
    assert counter.named(method="a", of="b", name="c") == "abc"
    assert counter.connection.version.result(LIMIT_S) == "7"
    with pytest.raises(TypeError, match="missing a required argument"):
        counter.add()  # type: ignore[call-arg]


def test_an_error_arrives_with_its_words_and_the_connection_lives_on(
    counter: RemoteCounter,
) -> None:
    with pytest.raises(StackcostError) as error:
        counter.fail()
    assert (error.value.what, error.value.hint) == ("it has failed", "mend it")
    with pytest.raises(StackcostError, match="KeyError: 'name'"):
        counter.crash()
    with pytest.raises(StackcostError, match="not JSON serializable"):
        counter.odd()
    assert counter.add(1) == 2


def test_calls_do_not_wait_for_each_other(counter: RemoteCounter) -> None:
    waits = counter.connection.ask("Counter.wait", {})
    counter.release()
    assert waits.result(LIMIT_S) is True


def test_what_does_not_change_is_asked_once_for_its_arguments(counter: RemoteCounter) -> None:
    assert [counter.constant("a"), counter.constant("a"), counter.constant("b")] == [1, 1, 2]


def test_some_calls_are_for_the_thread_that_serves(counter: RemoteCounter) -> None:
    assert counter.thread() == "serves"


@pytest.mark.parametrize(
    "name", ["Counter._private", "Counter.__init__", "Counter.asked", "add", "Other.add", None, 5]
)
def test_only_public_methods_of_the_class_can_be_called(counter: RemoteCounter, name: Any) -> None:
    with pytest.raises(StackcostError, match="no method"):
        counter.connection.ask(name, {}).result(LIMIT_S)


@pytest.mark.parametrize(
    "line", [b"{", b"[1]", b'"text"', b"\xff\xfe", b"[" * 100_000, b'{"number": 1}', b"{}"]
)
def test_a_damaged_request_is_refused_and_ends_the_connection_with_these_words(
    counter: RemoteCounter, ends: Ends, line: bytes
) -> None:
    assert counter.add(1) == 2
    ends.requests.write(line + b"\n")
    ends.requests.flush()
    with pytest.raises(StackcostError, match="a line that is no message was refused"):
        while True:
            counter.add(1)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        "no JSON",
        '{"number": 7, "result": 1}',
        '{"number": [1], "result": 1}',
        '{"number": 1}',
        '{"number": 1, "result": 1, "error": {"what": "", "hint": ""}}',
    ],
)
def test_a_damaged_answer_fails_all_that_waits(ends: Ends, line: str) -> None:
    connection = Connection(ends)
    waits = [connection.ask("Counter.add", {"one": 1}) for _ in range(2)]
    ends.say(json.dumps({"version": "7"}), line)
    for each in waits:
        with pytest.raises(StackcostError):
            each.result(LIMIT_S)
    with pytest.raises(StackcostError):
        connection.ask("Counter.add", {"one": 1})
    ends.far[1].close()


def test_an_error_of_another_form_is_told_as_it_came(ends: Ends) -> None:
    connection = Connection(ends)
    answer = connection.ask("Counter.add", {"one": 1})
    ends.say(json.dumps({"version": "7"}), json.dumps({"number": 1, "error": [3]}))
    with pytest.raises(StackcostError, match=r"an error without words: \[3\]"):
        answer.result(LIMIT_S)
    ends.far[1].close()


def test_a_line_without_end_is_refused(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 1 << 18)
    connection = Connection(ends)

    def write() -> None:
        ends.say(json.dumps({"version": "7"}))
        ends.far[1].write(b" " * (1 << 19))
        ends.far[1].close()

    threading.Thread(target=write, daemon=True).start()
    answer: Future[Any] = connection.ask("Counter.add", {"one": 1})
    with pytest.raises(StackcostError, match="more than 262,144 bytes was refused"):
        answer.result(LIMIT_S)


@pytest.mark.parametrize("reason", ["the pipe was cut", ""])
def test_the_end_of_the_other_end_is_told_to_all_that_waits(ends: Ends, reason: str) -> None:
    ends.reason = reason
    connection = Connection(ends, ended="the other end has ended: ")
    answer = connection.ask("Counter.wait", {})
    ends.say("Welcome", '[1, "a shell"]')
    ends.far[1].close()
    said = reason or '[1, "a shell"]'
    for ask in (answer, connection.version):
        with pytest.raises(StackcostError) as error:
            ask.result(LIMIT_S)
        assert error.value.what == f"the other end has ended: {said}"


def test_an_answer_that_comes_too_late_is_passed_over(counter: RemoteCounter) -> None:
    late = counter.connection.ask("Counter.wait", {})
    with pytest.raises(TimeoutError):
        late.result(0.05)
    counter.release()
    assert counter.add(1) == 2
    assert late.result(LIMIT_S) is True
