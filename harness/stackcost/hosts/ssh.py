"""Starts an agent on another host by SSH, and joins its standard streams to pipes.

The host's key has to be known; nothing accepts a new one. Neither agent forwarding nor a forwarded
port is used, and no configuration of OpenSSH's client is read.
"""

import asyncio
import os
import shlex
import threading
from contextlib import suppress
from typing import IO

import asyncssh

from stackcost.contracts.errors import StackcostError, words_of
from stackcost.experiment.hosts import SshHost
from stackcost.host.timeouts import scaled_timeout

MODULE = ["-P", "-m", "stackcost.hosts.agent"]
CONNECT_LIMIT_S = 15.0
KEEPALIVE_S, KEEPALIVES = 5, 3  # a line that is dead is noticed after 15 s
END_LIMIT_S = 30.0  # for an agent to undo everything
WORDS = 2000  # characters at the end of what it printed


class SshChannel:
    """A channel to an agent that this starts. `name`: of the host, for messages.

    StackcostError when the host cannot be reached, is not the known one, or refuses the user.
    """

    def __init__(self, name: str, host: SshHost):
        self._name = name
        self._host = host
        self._printed = b""
        self._status: int | None = None
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=f"SSH {name}", daemon=True).start()
        stdin, requests = os.pipe()
        replies, stdout = os.pipe()
        self.requests: IO[bytes] = os.fdopen(requests, "wb")
        self.replies: IO[bytes] = os.fdopen(replies, "rb")
        try:
            opening = asyncio.run_coroutine_threadsafe(self._open(stdin, stdout), self._loop)
            self._ended = opening.result()
        except BaseException:
            for end in (stdin, stdout):
                with suppress(OSError):  # asyncssh has closed it
                    os.close(end)
            self.requests.close()
            self.replies.close()
            self._stop_loop()
            raise

    def end(self) -> str:
        """What the agent printed last, and how it ended."""
        self._ended.wait(END_LIMIT_S)
        said = " ".join(self._printed.decode(errors="replace")[-WORDS:].split())
        if self._status is None:
            return f"the SSH connection to {self._host.address} was lost" + (said and f": {said}")
        words = f"it ended with exit status {self._status}: {said or 'it printed nothing'}"
        if self._host.user != "root" and "sudo: " in said:
            words += (
                f" (user {self._host.user} needs the right to run one command without a password: "
                f"{shlex.join([self._host.python, *MODULE])})"
            )
        return words

    def close(self) -> None:
        """End the agent's input, and wait until it has undone everything."""
        with suppress(OSError):
            self.requests.close()
        self._ended.wait(scaled_timeout(END_LIMIT_S))
        self._stop_loop()

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _open(self, stdin: int, stdout: int) -> threading.Event:
        connection = await connect(self._name, self._host)
        command = [self._host.python, *MODULE]
        if self._host.user != "root":
            command = ["sudo", "-n", *command]
        process = await connection.create_process(
            shlex.join(command), stdin=stdin, stdout=stdout, stderr=asyncssh.PIPE, encoding=None
        )
        ended = threading.Event()
        self._watching = asyncio.create_task(self._watch(connection, process, ended))
        return ended

    async def _watch(
        self,
        connection: asyncssh.SSHClientConnection,
        process: "asyncssh.SSHClientProcess[bytes]",
        ended: threading.Event,
    ) -> None:
        """Keep the end of what it prints until it ends."""
        try:
            with suppress(asyncssh.Error, OSError):
                while data := await process.stderr.read(1 << 12):
                    self._printed = (self._printed + data)[-WORDS:]
                await process.wait_closed()
                self._status = process.returncode
            connection.close()
            with suppress(asyncssh.Error, OSError):
                await connection.wait_closed()
        finally:
            ended.set()


async def connect(name: str, host: SshHost) -> asyncssh.SSHClientConnection:
    """A connection to a host, whose key has to be known. `name`: of the host, for messages."""
    where = f"host {name} ({host.user}@{host.address}, port {host.port})"
    if not host.known_hosts.is_file():
        raise _unknown(name, host, f"there is no file {host.known_hosts}")
    options = {} if host.key is None else {"client_keys": [str(host.key)], "agent_path": None}
    try:
        return await asyncssh.connect(
            host.address,
            host.port,
            username=host.user,
            known_hosts=str(host.known_hosts),
            config=None,
            agent_forwarding=False,
            preferred_auth="publickey",
            connect_timeout=scaled_timeout(CONNECT_LIMIT_S),
            login_timeout=scaled_timeout(CONNECT_LIMIT_S),
            keepalive_interval=KEEPALIVE_S,
            keepalive_count_max=KEEPALIVES,
            **options,
        )
    except (asyncssh.HostKeyNotVerifiable, asyncssh.KeyExchangeFailed) as error:
        if _has_key(host):
            raise StackcostError(
                f"{where} has another key than {host.known_hosts} says: it was reinstalled, "
                "or it is another host",
                "compare the key with the host's own (ssh-keygen -lf "
                "/etc/ssh/ssh_host_ed25519_key.pub), then replace the line in that file",
            ) from error
        raise _unknown(name, host, f"{host.known_hosts} does not have it") from error
    except asyncssh.PermissionDenied as error:
        raise StackcostError(
            f"{where} refuses the user: {error.reason}",
            "copy your public key there: ssh-copy-id",
        ) from error
    except (OSError, asyncssh.Error) as error:
        raise StackcostError(
            f"{where} cannot be reached: {words_of(error)}",
            "check that the host is up, and the address and port in hosts of the experiment",
        ) from error


def _unknown(name: str, host: SshHost, why: str) -> StackcostError:
    return StackcostError(
        f"the key of host {name} ({host.address}) is not known: {why}",
        f"add it after you have compared it: ssh-keyscan -p {host.port} {host.address}",
    )


def _has_key(host: SshHost) -> bool:
    """Whether the file has any key of this host."""
    known = asyncssh.read_known_hosts(str(host.known_hosts))
    keys, *_ = known.match(host.address, "", host.port)
    return bool(keys)
