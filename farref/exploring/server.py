"""Serves the page to this machine only: on 127.0.0.1, under a path that nobody can guess, to whoever names the right host.

Another page in the same browser can neither read an answer (no header allows it) nor guess the path. A name that was made to
point to 127.0.0.1 (DNS rebinding) is refused, as the host must be ours. Nothing is kept between two questions: a question has
the whole walk in it.
"""

from __future__ import annotations

import secrets
import threading
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Protocol

import msgspec

from farref.exploring.page import FILES, KINDS, POLICY_SERVED, resource, served_page
from farref.exploring.shape import Document, Found, Move, Walked

BODY_BYTES_MAX: Final = 1 << 20
MOVES_MAX: Final = 2_000
SILENCE_S: Final = 30.0
"""How long a connection may say nothing."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A walk: the nodes from some place on are asked for, or the shortest way on to where a sentence turns."""

    moves: tuple[Move, ...]
    begin: int = 0
    sentence: str = ""


class Answering(Protocol):
    """Knows the world that is walked in."""

    @property
    def document(self) -> Document:
        """The world, and where the walk begins."""

    def walk(self, moves: tuple[Move, ...], begin: int) -> Walked:
        """Give the nodes of a walk."""

    def search(self, moves: tuple[Move, ...], sentence: str) -> Found:
        """Find the shortest way to where a sentence turns."""


class ExplorerServer(ThreadingHTTPServer):
    """Answers the page's questions until it is told to stop."""

    daemon_threads = True

    def __init__(self, answering: Answering) -> None:
        self.answering, self.token = answering, secrets.token_urlsafe(24)
        self.one_search = threading.Lock()  # a search takes all of a core: they stand in line
        super().__init__(("127.0.0.1", 0), Handler)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """What a browser of this machine calls us."""
        return frozenset(f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost"))

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has hung up."""


class Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: ExplorerServer
    timeout = SILENCE_S
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "farref", ""

    def do_GET(self) -> None:
        """Give the page, its parts, and the document."""
        name = self._name()
        if name is None:
            self._refuse(HTTPStatus.NOT_FOUND)
        elif name == "":
            self._answer(served_page(self.server.answering.document.title).encode(), "text/html")
        elif name == "document.json":
            self._answer(msgspec.json.encode(self.server.answering.document), "application/json")
        elif name in FILES:
            self._answer(resource(name).encode(), KINDS[name.rpartition(".")[2]])
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer a question."""
        name, question = self._name(), self._question()
        if name is None or question is None or name not in ("walk", "search"):
            self.close_connection = True
            self._refuse(HTTPStatus.NOT_FOUND if name is None else HTTPStatus.BAD_REQUEST)
        elif name == "walk":
            self._answer(
                msgspec.json.encode(self.server.answering.walk(question.moves, question.begin)), "application/json"
            )
        else:
            with self.server.one_search:
                found = self.server.answering.search(question.moves, question.sentence)
            self._answer(msgspec.json.encode(found), "application/json")

    def _name(self) -> str | None:
        """Say what is asked for, if whoever asks knows the way."""
        begin = f"/{self.server.token}/"
        path = self.path.partition("?")[0]
        if self.headers.get("Host") not in self.server.hosts:
            return None
        if not secrets.compare_digest(path[: len(begin)].encode("utf-8", "replace"), begin.encode()):
            return None
        return path[len(begin) :]

    def _question(self) -> Question | None:
        """Read a question. JSON cannot be sent by the form of another page."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json" or not (length.isascii() and length.isdigit()):
            return None
        if int(length) > BODY_BYTES_MAX:
            return None
        try:
            question = msgspec.json.decode(self.rfile.read(int(length)), type=Question)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        return question if len(question.moves) <= MOVES_MAX and question.begin >= 0 else None

    def _refuse(self, status: HTTPStatus) -> None:
        self._answer(f"{status.phrase}\n".encode(), "text/plain", status)

    def _answer(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(content)),
            "Content-Security-Policy": POLICY_SERVED,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Print nothing: whoever serves the page says what there is to say."""
