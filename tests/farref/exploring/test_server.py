"""The server: it answers whoever knows the path and names the host, and nobody else."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from http.client import HTTPResponse
from typing import Any

import pytest

from farref.exploring.page import FILES, KINDS, MODULES, in_one_script, resource
from farref.exploring.server import BODY_BYTES_MAX, ExplorerServer

JSON = {"Content-Type": "application/json"}


def ask(server: ExplorerServer, path: str, question: Any = None, **headers: str) -> tuple[HTTPResponse, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if question is None:
        link.request("GET", path, headers=given)
    else:
        body = question if isinstance(question, bytes) else json.dumps(question).encode()
        link.request("POST", path, body, {**JSON, **given})
    answer = link.getresponse()
    content = answer.read()
    link.close()
    return answer, content


@pytest.mark.parametrize("name", ["", "document.json", *sorted(FILES)])
def test_the_page_and_its_parts_are_there(server: ExplorerServer, name: str) -> None:
    answer, content = ask(server, f"/{server.token}/{name}")
    assert answer.status == 200
    assert content
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Access-Control-Allow-Origin"] is None
    assert name not in FILES or answer.headers["Content-Type"].startswith(KINDS[name.rpartition(".")[2]])


STRANGE = (
    "/",
    "/document.json",
    "/wrong/",
    "/wrong/document.json",
    "//",
    "/{token}",
    "/{token}/../x",
    "/{token}/page.html",
)
CLIMBING = ("/{token}/../server.py", "/{token}/%2e%2e/server.py", "/{token}/main.js/..", "/{token}//etc/passwd")


@pytest.mark.parametrize("path", [*STRANGE, *CLIMBING])
def test_whoever_does_not_know_the_path_gets_nothing(server: ExplorerServer, path: str) -> None:
    answer, content = ask(server, path.replace("{token}", server.token))
    assert (answer.status, content) == (404, b"Not Found\n")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1", ""])
def test_another_host_is_refused(server: ExplorerServer, host: str) -> None:
    assert ask(server, f"/{server.token}/", Host=host)[0].status == 404
    assert ask(server, f"/{server.token}/walk", {"moves": []}, Host=host)[0].status == 404


def test_a_walk_is_answered(server: ExplorerServer) -> None:
    answer, content = ask(server, f"/{server.token}/walk", {"moves": ["CreateRemote(x0, A)", "LetGo(f2)"], "begin": 1})
    walked = json.loads(content)
    assert answer.status == 200
    assert len(walked["nodes"]) == 1
    assert walked["stopped"] == "step 2, LetGo(f2), cannot happen there"


def test_a_search_is_answered(server: ExplorerServer) -> None:
    _, content = ask(server, f"/{server.token}/search", {"moves": [], "sentence": "early_use_waits"})
    assert json.loads(content)["moves"] == ["CreateRemote(x0, A)", "UserShare(f0, B, Call)", "Deliver(Call(f1))"]


NONSENSE = (
    b"",
    b"{",
    b"[]",
    b'{"moves": 1}',
    b'{"moves": [], "more": 1}',
    b'{"moves": [], "begin": -1}',
    b"\xff",
    b"[" * 5000,
)


@pytest.mark.parametrize("question", [*NONSENSE, json.dumps({"moves": ["x"] * 20000}).encode()])
def test_what_is_no_question_is_refused(server: ExplorerServer, question: bytes) -> None:
    answer, _ = ask(server, f"/{server.token}/walk", question)
    assert answer.status == 400


def test_a_form_of_another_page_is_refused(server: ExplorerServer) -> None:
    answer, _ = ask(server, f"/{server.token}/walk", {"moves": []}, Content_Type="text/plain")
    assert answer.status == 400


def test_a_question_that_is_too_long_is_refused(server: ExplorerServer) -> None:
    link = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    link.putrequest("POST", f"/{server.token}/walk")
    for name, value in {**JSON, "Content-Length": str(BODY_BYTES_MAX + 1)}.items():
        link.putheader(name, value)
    link.endheaders()
    assert link.getresponse().status == 400
    link.close()


def test_each_server_has_a_path_and_a_port_of_its_own(server: ExplorerServer) -> None:
    with ExplorerServer(server.answering) as other:
        assert other.token != server.token
        assert other.server_port != server.server_port
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 32


def test_modules_can_stand_behind_each_other() -> None:
    """In one file a name at the top of a module is a name of all: none is used twice, and imports come first."""
    names = re.findall(r"^(?:async )?(?:function|const|class|let) (\w+)", in_one_script(), re.MULTILINE)
    assert len(names) == len(set(names))
    assert not re.search(r"^(import|export)\b", in_one_script(), re.MULTILINE)
    for place, name in enumerate(MODULES):
        imported = re.findall(r'from "\./([\w.]+)"', resource(name))
        assert set(imported) <= set(MODULES[:place]), name


def test_nothing_on_the_page_is_made_from_markup() -> None:
    for name in MODULES:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", resource(name)
        )
    assert not re.search(r"https?://(?!www\.w3\.org)", "".join(map(resource, (*FILES, "page.html"))))


def test_ctrl_c_ends_it_and_says_so() -> None:
    command = [sys.executable, "-m", "farref", "explore", "rref", "--workers", "2", "--forks", "1", "--no-browser"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert re.fullmatch(r"farref: the page is at http://127\.0\.0\.1:\d+/[\w-]{32,}/ \(Ctrl-C ends it\)\n", line)
    os.kill(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (0, "", "farref: closed\n")
