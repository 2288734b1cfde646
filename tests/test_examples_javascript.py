"""The second core, in JavaScript, talks to Python workers over the wire and keeps the clauses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.spec.test_transcript import frames as transcribed
from tests.test_examples import run

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="workers in JavaScript are not run: there is no node"
)


def test_python_and_javascript_in_one_world() -> None:
    done = run("examples/javascript/mixed.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert said.pop("back to their owners").startswith("7 OwnerRRef")
    assert said == {
        "values": "True",
        "array": "True",
        "there and back": "5",
        "error": "ValueError on script in js:fail: no",
        "owned by js": "7 7",
        "py to js to snake": "42",
        "py to js to script": "21",
        "made by script on snake": "9",
        "in a context": "3 4",
        "streams were broken": "True {1}",
        "nothing is left": "True",
        "a call to it": "PeerDied on script in js",
        "given back": "True",
        "left in order": "True [0, 0, 0]",
    }


AGAIN = """
import { createInterface } from "node:readline";
import { pack, unpack } from "./examples/javascript/msgpack.mjs";
import { frame, parse } from "./examples/javascript/wire.mjs";
const framed = (bytes) => frame(parse(bytes.subarray(8), bytes.readUInt32LE(4)));
createInterface({ input: process.stdin }).on("line", (line) => {
  const [kind, hex] = line.split(" ");
  const bytes = Buffer.from(hex, "hex");
  console.log((kind === "frame" ? framed(bytes) : pack(unpack(bytes), (one) => one.number)).toString("hex"));
});
"""


def examples(heading: str) -> dict[str, str]:
    """The rows of the table with this heading in `spec/wire.md`."""
    table = (ROOT / "spec" / "wire.md").read_text().split(f"| {heading} |")[-1].split("\n\n")[0]
    return dict(re.findall(r"^\| (.*) \| `([0-9a-f]+)` \|$", table, re.MULTILINE))


def is_of_autograd(frame: str) -> bool:
    """Whether a frame is a `ForwardCall`, or a control message with a tag of autograd."""
    tag = int(frame[18:20], 16)
    return tag == 12 or (tag == 8 and 4 < int(frame[28:30], 16) <= 16)


def test_what_the_spec_shows_is_read_and_written_the_same() -> None:
    shown = examples("message | frame").items()  # what has a segment is not shown whole
    frames = [one for text, one in shown if not is_of_autograd(one) and "in a segment" not in text]
    values = [one for text, one in examples("value | bytes").items() if not text.startswith("envelope")]
    frames += [one.hex() for one in transcribed()]
    assert len(frames) > 35
    assert len(values) > 12
    asked = "".join(f"{kind} {one}\n" for kind, many in (("frame", frames), ("value", values)) for one in many)
    command = ["node", "--input-type=module", "-e", AGAIN]
    done = subprocess.run(command, cwd=ROOT, input=asked, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == frames + values, done.stderr


# One check for each part: values, retries, copies, sharing, early use, deletion, failures, leaving and deaths. The
# whole is a command, `farref conform -- node examples/javascript/adapter.mjs`, and takes some minutes, most of them waiting.
SOME = (
    "R4.unharmed",
    "R6.accept",
    "R7",
    "R17",
    "R19.self",
    "R21.overtaken",
    "R26.twice",
    "R28.owner",
    "R29.cargo",
    "R32.held",
    "R34.call",
    "R36.cut",
    "R41.freed",
    "R42",
)


@pytest.mark.waits
def test_its_adapter_conforms() -> None:
    checks = [word for one in SOME for word in ("--only", one)]
    done = run("-m", "farref", "conform", *checks, "--format", "json", "--", "node", "examples/javascript/adapter.mjs")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["backend"] == "JavaScript workers"
    assert {row["id"] for row in report["clauses"] if row["verdict"] == "pass"} >= set(SOME)


@pytest.mark.waits
def test_its_adapter_speaks_the_protocol() -> None:
    done = run("-m", "farref", "conform", "--validate-adapter", "--", "node", "examples/javascript/adapter.mjs")
    assert done.returncode == 0, done.stdout + done.stderr
