"""The page: served in its parts, or as one file with everything in it.

Both are made of the same modules. In one file they stand behind each other in one script, without their imports: a page that
is opened from a disk may not load others. That script and the style are allowed by their hashes, and nothing else is.
"""

from __future__ import annotations

import base64
import gzip
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

import msgspec

from farref.exploring.shape import Document
from farref.rendering.policy import allowed
from farref.words import legal

MODULES: Final = ("dom.js", "link.js", "source.js", "tables.js", "lanes.js", "graph.js", "panels.js", "main.js")
"""Each after those that it imports."""

FILES: Final = frozenset({*MODULES, "style.css"})
KINDS: Final = {"js": "text/javascript", "css": "text/css"}

POLICY_SERVED: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
POLICY_ALONE: Final = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)

IMPORT: Final = re.compile(r"^import [^;]*;\n", re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(async )?(function|const|class) )", re.MULTILINE)


@cache
def resource(name: str) -> str:
    """Give a part of the page."""
    return (files("farref.exploring") / "page" / name).read_text("utf-8")


def served_page(title: str) -> str:
    """Give the page that asks a server."""
    head = '<link rel="stylesheet" href="style.css">\n<script type="module" src="main.js"></script>'
    return _filled(title, head, "")


def whole_page(document: Document) -> str:
    """Give the page that has everything in it."""
    script, style = in_one_script(), resource("style.css")
    policy = POLICY_ALONE.format(script=allowed(f"\n{script}"), style=allowed(f"\n{style}"))
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>\n{style}</style>'
    data = base64.b64encode(gzip.compress(msgspec.json.encode(document), 9, mtime=0)).decode()
    body = f'<script type="text/plain" id="data">{data}</script>\n<script type="module">\n{script}</script>\n'
    return _filled(document.title, head, body)


def document_in(page: str) -> Document:
    """Read the document of a page again."""
    found = re.search(r'id="data">([\w+/=]+)<', page)
    assert found is not None, "a page has its document in it"
    return msgspec.json.decode(gzip.decompress(base64.b64decode(found[1])), type=Document)


def in_one_script() -> str:
    """Put the modules behind each other. Their names are different ones, as in one module."""
    return "\n".join(EXPORT.sub("", IMPORT.sub("", resource(name))).strip() + "\n" for name in MODULES)


def _filled(title: str, head: str, body: str) -> str:
    page = resource("page.html").replace("<!-- head -->", head).replace("<!-- body -->", body)
    return page.replace("<!-- title -->", escape(legal(title)))
