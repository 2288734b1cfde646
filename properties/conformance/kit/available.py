"""Which of the backends that are known by name can be judged here, and what is missing for the others."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from farref.properties.conformance.kit.named import NAMED, Named


@dataclass(frozen=True)
class Availability:
    """Whether a backend is there: its version, or what is missing."""

    backend: str
    version: str | None
    missing: str | None
    install: str | None
    """How to get what is missing."""


def availability() -> list[Availability]:
    """Look for every backend that is known by name."""
    return [_look(name, named) for name, named in NAMED.items()]


def _look(name: str, named: Named) -> Availability:
    missing = [f"the program {one}" for one in named.programs if shutil.which(one) is None]
    missing += [f"the Python package {one}" for one in named.packages if find_spec(one) is None]
    missing += [f"the npm package {one}" for one in named.npm if node_package(one) is None]
    install = named.install or (named.extra and f"in a checkout: pip install '.[{named.extra}]'")
    return Availability(name, _version(named), ", ".join(missing) or None, install if missing else None)


def _version(named: Named) -> str | None:
    if "java" in named.programs and (java := shutil.which("java")):
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=False).stderr
        return said.split('"')[1] if '"' in said else None
    if named.npm and (place := node_package(named.npm[0])):
        found: str = json.loads((place / "package.json").read_text()).get("version", "")
        return found
    try:
        return version(named.packages[0]) if named.packages else named.comes_with_python and platform.python_version()
    except PackageNotFoundError:
        return None


def node_package(name: str) -> Path | None:
    """Find an npm package as Node does from here: in a node_modules of this folder or above, or in NODE_PATH."""
    here = Path.cwd()
    places = [folder / "node_modules" for folder in (here, *here.parents)]
    places += [Path(one) for one in os.environ.get("NODE_PATH", "").split(os.pathsep) if one]
    return next((place / name for place in places if (place / name / "package.json").is_file()), None)
