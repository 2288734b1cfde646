"""How a worker comes to the address of rank 0: it meets the others there, or joins a world that has met (`rendezvous.py`)."""

from __future__ import annotations

import socket
import ssl
import time
from typing import Final

import msgspec

from farref.impl.errors import Mismatch, RpcError, WireError
from farref.impl.settings import Settings
from farref.impl.transport.boards import Book, Endpoint, listen
from farref.impl.transport.handshake import DEADLINE_S, Identity, Peer
from farref.impl.transport.joining import Joined, ask, packed, read_told
from farref.impl.transport.mesh import Meeting, Met, connect, gather, still_time
from farref.impl.transport.rendezvous import KEY, ZERO, Answer, Check, Entry, Listing, spelled
from farref.impl.transport.streams import Stream, introduce

PAUSE_S: Final = 0.02


def visit(meeting: Meeting, book: Book, identity: Identity, name: str, check: Check) -> Met | Joined:
    """Meet the others of a world at its address, or join it if it has met."""
    return _Visitor(meeting, book, identity, name).come(check)


class _Visitor:
    """A worker that comes to rank 0."""

    def __init__(self, meeting: Meeting, book: Book, identity: Identity, name: str) -> None:
        self._meeting, self._book, self._identity, self._name = meeting, book, identity, name
        self._listener: socket.socket | None = None
        self._where = spelled(book.endpoint)

    def come(self, check: Check) -> Met | Joined:
        """Knock until rank 0 lets this worker in. Only what does not fit ends it: all else may be better the next time."""
        last: Exception | str = "nobody listens there"
        try:
            while True:
                still_time(self._meeting, f"worker 0 has not let {self._name} in at {self._where}; at last: {last}")
                check()
                try:
                    return self._try(check)
                except (socket.gaierror, Mismatch, ssl.SSLError) as error:
                    self._give_up_if_vain(error)
                    last = error
                except (WireError, OSError, _NotYet) as error:
                    last = error
                time.sleep(PAUSE_S)
        except BaseException:
            if self._listener is not None:
                self._listener.close()
            raise

    def _give_up_if_vain(self, error: Exception) -> None:
        match error:
            case socket.gaierror():
                raise RpcError(f"the host of {self._where} is unknown: {error.strerror}") from error
            case Mismatch() if "world" in str(error):
                raise Mismatch(f"worker 0 at {self._where} has another key (key=, {KEY})") from error
            case Mismatch():
                raise error
            case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
                return
            case _:
                raise RpcError(f"worker 0 at {self._where} and the certificates (tls=) do not fit: {error}") from error

    def _try(self, check: Check) -> Met | Joined:
        raw = connect(self._book.endpoint)
        own = raw.getsockname()[0]
        try:
            peer, stream = introduce(raw, self._identity, self._meeting.settings, connecting=True)
        except BaseException:
            raw.close()
            raise
        try:
            listener = self._listening(own)
            answer = self._introduced(stream, listener.getsockname()[:2])
        except BaseException:
            stream.close()
            raise
        if isinstance(answer, Listing):
            return self._gather(answer, peer, stream, listener, check)
        stream.close()
        if answer is not None:
            raise RpcError(answer)
        return self._join(listener)

    def _listening(self, own: str) -> socket.socket:
        """Listen where settings say, or at the address by which rank 0 was reached."""
        if self._listener is None:
            chosen = self._meeting.settings.address
            self._listener = listen((own if chosen == Settings().address else chosen, 0))
        return self._listener

    def _introduced(self, stream: Stream, place: Endpoint) -> Answer:
        """Say who this worker is, and wait until all have come."""
        stream.settimeout(DEADLINE_S)
        stream.send(packed(msgspec.msgpack.encode(Entry(self._meeting.world_size, self._name, *place))))
        stream.settimeout(max(0.01, self._meeting.deadline - time.monotonic()))
        try:
            answer: Answer = msgspec.msgpack.decode(read_told(stream), type=Listing | str | None)
        except TimeoutError:
            raise _NotYet("the other workers have not come") from None
        except msgspec.MsgspecError as error:
            raise WireError(f"worker 0 gives no book: {error}") from error
        stream.settimeout(None)
        return answer

    def _gather(self, listing: Listing, peer: Peer, stream: Stream, listener: socket.socket, check: Check) -> Met:
        self._book.names, self._book.places = dict(listing.names), dict(listing.places)
        find = self._book.places.__getitem__
        return gather(self._meeting, self._identity, listener, {ZERO: (peer, stream)}, find, check)

    def _join(self, listener: socket.socket) -> Joined:
        """Ask to join. Who had the name before may not be excluded yet, so a refusal is not the last word."""
        host, port = listener.getsockname()[:2]
        try:
            admission = ask(self._book.endpoint, self._meeting, self._identity, f"{self._name}\n{host} {port}")
        except WireError:
            raise
        except RpcError as refusal:
            raise _NotYet(str(refusal)) from None
        self._book.names, self._book.places = dict(admission.names), dict(admission.places)
        return Joined(admission, listener)


class _NotYet(Exception):  # noqa: N818
    """This worker was not let in, and may be later."""
