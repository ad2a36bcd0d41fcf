"""Reading the text of nginx's stub_status module."""

import pytest

from stackcost.servers.nginx_status import Status, parse_status

TEXT = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    "Active connections: 3 \nserver accepts handled requests\n 17 16 45 \n"
    "Reading: 0 Writing: 1 Waiting: 2 \n"
)


def test_counts_are_read_in_their_order() -> None:
    assert parse_status(TEXT) == Status(accepted=17, handled=16, requests=45, active=3)


@pytest.mark.parametrize("text", ["", "HTTP/1.1 404 Not Found\r\n\r\n"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a status page of nginx"):
        parse_status(text)
