"""Text from outside made safe for a page: in HTML, in an attribute, and inside a JSON script block."""

from __future__ import annotations

import html
import json
import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_FOR_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def clean(value: object) -> str:
    """The text without what a page cannot hold: lone surrogates, control characters, non-characters."""
    text = str(value).encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")
    return _CONTROL.sub("\ufffd", text)


def escape(value: object) -> str:
    """Text for HTML, also inside a quoted attribute."""
    return html.escape(clean(value), quote=True)


def isolated(value: object) -> str:
    """Text of unknown direction: whatever marks it holds, they turn nothing around it."""
    return f"<bdi>{escape(value)}</bdi>"


def beginning(value: object, n_chars: int) -> str:
    """The first characters on one line, with … where more was cut off."""
    line = " ".join(clean(str(value)[: 4 * n_chars]).split())
    return line if len(line) <= n_chars and len(str(value)) <= 4 * n_chars else line[:n_chars].rstrip() + "…"


def script_json(value: object) -> str:
    """JSON that is safe inside a script element: no <, >, &, nor line separators but as escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_FOR_SCRIPT)
