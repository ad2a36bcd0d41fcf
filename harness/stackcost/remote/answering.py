"""The end of a connection that has the objects: it carries out calls and answers them."""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

from stackcost.contracts.errors import StackcostError
from stackcost.remote.lines import lines_of, pack, pack_error, refused, unpack
from stackcost.remote.stub import how_of, methods_of

Arguments = dict[str, Any]


class Replies:
    """The stream of answers. Threads may share it."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, **message: Any) -> None:
        """Send a message, unless the stream is cut: then the requests end, too."""
        try:
            line = pack(message)
        except (TypeError, ValueError) as error:
            line = pack({"number": message.get("number"), "error": pack_error(error)})
        try:
            with self._lock:
                self._stream.write(line)
                self._stream.flush()
        except OSError:
            return


def serve(
    objects: Callable[[], Mapping[type, object]],
    requests: IO[bytes],
    replies: Replies,
    *,
    version: str,
    decode: Callable[[Callable[..., Any], Arguments], Arguments] = lambda _, given: given,
    encode: Callable[[Any], Any] = lambda result: result,
    explain: Callable[[Exception], Exception] = lambda error: error,
    silence_s: float | None = None,
    in_turn: bool = False,
) -> None:
    """Answer calls until the requests end, or nothing comes for `silence_s` seconds.

    `objects`: now, by the class whose public methods can be called. `version`: of the code, for the
    other end. `decode`: makes the arguments of a method of what came; `encode`: a result that is
    JSON. `explain`: an error for the other end. `in_turn`: one call after the other, in this
    thread; otherwise each has a thread, but those that say so (`called`).
    """

    def answer(number: Any, kind: type, name: str, arguments: Arguments) -> None:
        try:
            given = decode(methods_of(kind)[name], arguments)
            result = encode(getattr(objects()[kind], name)(**given))
        except Exception as error:
            replies.send(number=number, error=pack_error(explain(error)))
        else:
            replies.send(number=number, result=result)

    replies.send(version=version)
    for line in lines_of(requests, silence_s):
        number = None
        try:
            request = unpack(line)
            number, arguments = request.get("number"), request.get("arguments")
            if not isinstance(number, int) or not isinstance(arguments, dict):
                raise refused(line)
            kind, name = _method(objects(), request.get("method"))
        except StackcostError as error:
            replies.send(number=number, error=pack_error(error))
            continue
        call = number, kind, name, arguments
        if in_turn or how_of(methods_of(kind)[name]).in_turn:
            answer(*call)
        else:
            threading.Thread(target=answer, args=call, daemon=True).start()


def _method(kinds: Iterable[type], wanted: object) -> tuple[type, str]:
    """The class and the name of a method; StackcostError if there is none."""
    for kind in kinds:
        for name in methods_of(kind):
            if f"{kind.__name__}.{name}" == wanted:
                return kind, name
    raise StackcostError(f"there is no method {wanted} now")
