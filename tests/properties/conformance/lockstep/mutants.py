"""Wrong cores in JavaScript: each is the honest one, with one method replaced before it is used (`node --import`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[4]
JAVASCRIPT: Final = ROOT / "examples" / "javascript"
HELD: Final = str(JAVASCRIPT / "held.mjs")

MUTANTS: Final = {
    "takes itself for confirmed before the owner has answered (R16)": """
        const takeOn = Core.prototype.takeOn;
        Core.prototype.takeOn = function (forks) {
          const refs = takeOn.call(this, forks);
          for (const ref of refs) if (ref.fork) this.users.get(key(ref.fork)).confirmed = true;
          return refs;
        };""",
    "forgets a fork that is asked for before the value is created (R16)": """
        const effectOf = Core.prototype.effectOf;
        Core.prototype.effectOf = function (from, control) {
          if (control.type !== "ForkRequest" || this.entries.has(key(control.rref))) effectOf.call(this, from, control);
        };""",
    "deletes before it is confirmed (R25)": """
        const release = Core.prototype.release;
        Core.prototype.release = function (user) {
          const { confirmed } = user;
          user.confirmed = true;
          release.call(this, user);
          user.confirmed = confirmed;
        };""",
    "deletes before its children have accepted (R24)": """
        const release = Core.prototype.release;
        Core.prototype.release = function (user) {
          const { children } = user;
          user.children = new Map();
          release.call(this, user);
          user.children = children;
        };""",
    "lets a second copy take effect (R7)": """
        Control.prototype.arrives = function (from, { incarnation, number, control }) {
          this.core.effectOf(from, control);
          this.core.send(from, "Ack", { incarnation, number });
        };""",
    "does not answer a second copy (R7)": """
        const arrives = Control.prototype.arrives;
        Control.prototype.arrives = function (from, message) {
          if (!this.channel(from).seen.has(message.number)) arrives.call(this, from, message);
        };""",
    "lets a timed out reference be used (R27)": """
        const user = Core.prototype.user;
        Core.prototype.user = function (ref) {
          return this.users.get(key(ref.fork)) ?? user.call(this, ref);
        };""",
    "lets go of what a fetch pins (R20)": """
        const fetch = Core.prototype.fetch;
        Core.prototype.fetch = function (ref) {
          const number = fetch.call(this, ref);
          this.users.get(key(ref.fork)).fetches = 0;
          return number;
        };""",
}

ENDS: Final = "ends when a fetch arrives"
CRASHES: Final = {ENDS: "Core.prototype.onFetchCall = function () { console.error('boom'); process.exit(3); };"}


def command(mutant: str, folder: Path) -> tuple[str, ...]:
    """Write a mutant down, and give the command that runs it."""
    names = {"Core": "core", "Control": "control", "key": "ids"}
    imports = [f'import {{ {one} }} from "{(JAVASCRIPT / file).as_uri()}.mjs";' for one, file in names.items()]
    file = folder / "mutant.mjs"
    file.write_text("\n".join([*imports, {**MUTANTS, **CRASHES}[mutant]]))
    return ("node", "--import", file.as_uri(), HELD)
