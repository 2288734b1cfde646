"""`--validate-adapter` finds each way in which an adapter does not speak the protocol, and says it in one sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from farref.properties.conformance.conversation import process, validation
from farref.properties.conformance.conversation.host import ARGUMENTS
from farref.properties.conformance.conversation.raw import COMPLAINTS_MAX
from farref.properties.conformance.conversation.step_trial import step_trials
from farref.properties.conformance.conversation.trial import CALLS, trials
from farref.properties.conformance.conversation.validation import validate
from farref.properties.conformance.kit.backend import CAPABILITIES, FUNCTIONS, RETIRED
from farref.properties.conformance.kit.named import hosted

pytestmark = pytest.mark.waits

ROOT = Path(__file__).parents[4]
TOY = ROOT / "tests" / "farref" / "adapters" / "toy.py"

SLOPPY = """
import json, sys
held = {}
ERROR = {"kind": "error", "type": "Error", "message": "no"}


def hello(request):
    return {"name": "sloppy", "version": "1", "capabilities": CAPABILITIES}


def carry_out(request):
    match request["verb"]:
        case "hello":
            return hello(request)
        case "start":
            return None
        case "create":
            held[request["worker"], request["name"]] = request["args"][0]
        case "share":
            held[request["to"], request["name"]] = held[request["worker"], request["name"]]
        case "fetch":
            return held[request["worker"], request["name"]]
        case "call" if request["function"] == "echo":
            return request["args"][0]
        case "call" if request["function"] == "fail":
            raise ValueError(request["args"][0])
        case "probe":
            return {"owned": 0}
        case "drop":
            del held[request["worker"], request["name"]]
        case "stop":
            return []
        case _:
            raise NotImplementedError(request["verb"])


def answer(request):
    try:
        return {"id": request["id"], "ok": carry_out(request)}
    except Exception as error:
        return {"id": request["id"], "error": {"kind": "error", "type": type(error).__name__, "message": str(error)}}


def say(answer):
    print(json.dumps(answer), flush=True)


CAPABILITIES = ["create", "share", "fetch", "drop", "call", "probe", "probe.owned", "function.echo", "function.fail"]
#MISTAKE
for line in sys.stdin:
    say(answer(json.loads(line)))
#END
"""
"""An adapter that is all right, until it is given a mistake."""

MISTAKES = {
    "it prints": (
        'print("starting up")',
        "it prints on stdout what is not JSON; stdout is for answers only: starting up",
    ),
    "no object": ("print(7)", "it writes a line that is no JSON object: 7"),
    "unasked": ('say({"id": 99, "ok": None})', "it answers request 99, which was never made"),
    "twice": (
        "once = say\ndef say(answer):\n    once(answer)\n    once(answer)",
        "it answers request 0 twice",
    ),
    "id": ('say({"id": "0", "ok": None})', "it writes an answer whose `id` is not a whole number"),
    "extra": (
        "plain = answer\ndef answer(request):\n    return {**plain(request), 'verb': request['verb']}",
        "it writes an answer with 'verb'; it may have id, ok and error",
    ),
    "both": (
        "plain = answer\ndef answer(request):\n    return {'ok': None, **plain(request)}",
        "it writes an answer with both ok and error",
    ),
    "error text": (
        "plain = answer\ndef answer(request):\n"
        "    a = plain(request)\n    return {'id': a['id'], 'error': 'no'} if 'error' in a else a",
        "it writes an error that is not an object of kind, type and message, all strings",
    ),
    "kind": (
        "plain = answer\ndef answer(request):\n"
        "    a = plain(request)\n    return {'id': a['id'], 'error': {**ERROR, 'kind': 'oops'}} if 'error' in a else a",
        "it writes an error of the kind 'oops'; there are timeout, dead, refused, unknown, unsupported, error",
    ),
    "no name": ("def hello(request):\n    return {'version': '1'}", "must have a name, a version and a list"),
    "strings": ("CAPABILITIES.append(7)", "a capability is a string, and 7 is none"),
    "unknown": ("CAPABILITIES.append('fecth')", "'fecth' is not a capability; did you mean fetch?"),
    "without": ("CAPABILITIES.remove('probe')", "probe.owned is declared and probe is not"),
    "no calls": (
        "CAPABILITIES[:] = ['function.echo']",
        "function.echo is declared and call or create is not, without which it cannot be tried",
    ),
    "modes": ("CAPABILITIES.append('backward')", "backward is declared, and neither of its modes, fast and smart"),
    "not concurrent": ("CAPABILITIES += ['concurrent', 'function.slow']", "function.slow: it fails as error"),
    "create gives": (
        "plain_create = carry_out\ndef carry_out(request):\n"
        "    return 5 if request['verb'] == 'share' else plain_create(request)",
        "share: it gives 5; the verb gives nothing (null)",
    ),
    "wrong value": (
        "p = carry_out\ndef carry_out(request):\n"
        "    return str(p(request)) if request['verb'] == 'fetch' else p(request)",
        "fetch: it gives '7', not 7",
    ),
    "probe": (
        "p = carry_out\ndef carry_out(request):\n    return [0] if request['verb'] == 'probe' else p(request)",
        "probe: it gives [0], which is not an object",
    ),
    "probe.owned": (
        "p = carry_out\ndef carry_out(request):\n    return {} if request['verb'] == 'probe' else p(request)",
        "probe.owned: owned is declared and must be a whole number, and is None in {}",
    ),
    "probe, a float": (
        "p = carry_out\ndef carry_out(request):\n"
        "    return {'owned': 0, 'more': 0.0} if request['verb'] == 'probe' else p(request)",
        "probe: more must be a whole number, and is 0.0 in {'owned': 0, 'more': 0.0}",
    ),
    "too deep": ("print('[' * 100_000)", "it writes a line that is nested too deeply to be read: [[["),
    "closes its output": (
        "import os, time\np = carry_out\ndef carry_out(request):\n"
        "    (os.close(1), time.sleep(60)) if request['verb'] == 'create' else None\n    return p(request)",
        "create: the adapter closed its output",
    ),
    "closes its input": (
        "import os, time\nplain = answer\ndef answer(request):\n    if request['verb'] == 'create':\n"
        "        os.close(0)\n        say(plain(request))\n        time.sleep(60)\n    return plain(request)",
        "fetch: the adapter no longer reads its input",
    ),
    "fail": (
        "p = carry_out\ndef carry_out(request):\n    return None if request.get('function') == 'fail' else p(request)",
        "function.fail: it gives None, and must fail as error",
    ),
    "misuse": (
        "CAPABILITIES.append('function.misuse')\nplain = answer\ndef answer(request):\n"
        "    return ({'id': request['id'], 'error': {**ERROR, 'kind': 'unknown'}} if request.get('function') == 'misuse'"
        " else plain(request))",
        "function.misuse: it fails as unknown (no), not as error",
    ),
    "unknown verb": (
        "p = carry_out\ndef carry_out(request):\n    return None if request['verb'] == 'juggle' else p(request)",
        "a verb that does not exist fails: it gives None, and must fail",
    ),
    "stop": (
        "p = carry_out\ndef carry_out(request):\n    return None if request['verb'] == 'stop' else p(request)",
        "stop: it gives None; stop gives a list of strings",
    ),
    "ends": (
        "p = carry_out\ndef carry_out(request):\n"
        "    sys.exit('out of order') if request['verb'] == 'create' else None\n    return p(request)",
        "create: the adapter ended with exit code 1; its last words: out of order",
    ),
    "leaves processes": (
        "import subprocess\nsubprocess.Popen(['sleep', '600'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)",
        "it ends and leaves processes behind",
    ),
}


def sloppy(tmp_path: Path, mistake: str = "") -> tuple[str, ...]:
    path = tmp_path / "sloppy.py"
    path.write_text(SLOPPY.replace("#MISTAKE", mistake))
    return sys.executable, str(path)


def mistakes(command: tuple[str, ...]) -> list[str]:
    return [f"{one.about}: {one.mistake}" for one in validate(command) if one.mistake is not None]


def test_an_adapter_without_mistakes(tmp_path: Path) -> None:
    assert mistakes(sloppy(tmp_path)) == []
    assert mistakes(hosted(str(TOY))) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str, tmp_path: Path) -> None:
    mistake, sentence = MISTAKES[name]
    found = mistakes(sloppy(tmp_path, mistake))
    assert any(sentence in one for one in found), found
    assert all("\n" not in one for one in found)


def test_one_mistake_is_not_taken_for_many(tmp_path: Path) -> None:
    assert len(mistakes(sloppy(tmp_path, MISTAKES["fail"][0]))) == 1
    assert len(mistakes(sloppy(tmp_path, MISTAKES["unknown"][0]))) == 1


def test_a_quick_call_must_not_wait_for_a_slow_one(tmp_path: Path) -> None:
    path = tmp_path / "serial.py"
    path.write_text(
        f"import sys, threading\nsys.path.insert(0, {str(TOY.parent)!r})\nfrom toy import Toy\nLOCK = threading.Lock()\n"
        "class Serial(Toy):\n    def call(self, *given):\n        with LOCK:\n            return super().call(*given)\n"
    )
    (found,) = mistakes(hosted(str(path)))
    assert found.startswith("concurrent: a quick call waits for a slow one")


def test_after_a_silence_nothing_more_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.properties.conformance.conversation.trial.Trial.seconds", 0.5, raising=True)
    hang = (
        "import time\np = carry_out\ndef carry_out(request):\n"
        "    while request['verb'] == 'create':\n        time.sleep(1)\n    return p(request)"
    )
    found = mistakes(sloppy(tmp_path, hang))
    assert "create: there is no answer within" in found[0]
    assert found[1].startswith("the rest: it was not tried")


FLOODING = """
plain = carry_out
def carry_out(request):
    while request["verb"] == "create":
        FLOOD
    return plain(request)
"""
FLOODS = {
    "before it is asked": "while True:\n    print('still here', flush=True)",
    "when it is asked": FLOODING.replace("FLOOD", "print('still here', flush=True)"),
    "with answers": FLOODING.replace("FLOOD", "say({'id': 10**9, 'ok': 0})"),
    "with one answer": FLOODING.replace("FLOOD", "say({'id': 0, 'ok': 0})"),
    "beside its answers": (
        "import threading\ndef flood():\n    while True:\n        print('noise', flush=True)\n"
        "threading.Thread(target=flood, daemon=True).start()"
    ),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_an_adapter_that_never_stops_writing(flood: str, tmp_path: Path) -> None:
    found = mistakes(sloppy(tmp_path, flood))
    assert sum(one.startswith("answers: ") for one in found) == COMPLAINTS_MAX
    assert len(found) <= COMPLAINTS_MAX + 2, "and what was under way, and that the rest was not tried"


def test_an_adapter_that_writes_on_when_it_is_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "STOP_SECONDS", 0.3)
    monkeypatch.setattr(process, "STOP_SECONDS", 0.3)
    late = "import atexit\ndef flood():\n    while True:\n        print(7, flush=True)\natexit.register(flood)"
    assert mistakes(sloppy(tmp_path, late)) == ["the end: it does not end within 0.3 s of the end of its stdin"]


def test_bytes_without_a_newline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINE_BYTES_MAX", 100_000)
    monkeypatch.setattr(process, "STOP_SECONDS", 0.3)
    found = mistakes(sloppy(tmp_path, "while True:\n    sys.stdout.write('x' * 10_000)"))
    assert "hello: the adapter wrote a line of 100,000 bytes or more" in found


def test_everything_that_can_be_declared_is_tried() -> None:
    needed = {name for one in (*trials(["A", "B", "C"]), *step_trials(["A", "B", "C"])) for name in one.needs}
    assert {f"function.{name}" for name in FUNCTIONS} <= needed
    assert set(CALLS) <= set(FUNCTIONS)
    harder = {"argument.unwritable", "argument.unreadable", "stop.graceful", "restart", "retain", "optimizer", "parameter",
              "recording", "traced", "drop", "reclaims", "silence"}  # fmt: skip
    assert set(CAPABILITIES) - needed <= harder


@pytest.mark.parametrize("name", RETIRED)
def test_what_could_be_declared_once_is_no_mistake_and_is_remarked(name: str, tmp_path: Path) -> None:
    command = sloppy(tmp_path, f"CAPABILITIES.append({name!r})")
    assert mistakes(command) == []
    assert [one.about for one in validate(command) if name in one.about] == [
        f"capabilities: {name} is ignored, as {RETIRED[name]}"
    ]


def test_requests_are_those_of_the_protocol() -> None:
    for one in (*trials(["A", "B", "C"]), *step_trials(["A", "B", "C"])):
        for verb, request in one.requests:
            assert verb == "juggle" or tuple(request) == ARGUMENTS[verb]
