"""Pages for people who follow a link: `/`, and what the `type` of each problem leads to."""

from __future__ import annotations

from html import escape
from string import Template

from flask import Blueprint, Response, redirect

from .. import languages, responses
from ..auth import Access
from ..operation import Call, operation
from ..problems import KINDS, not_found
from . import HTML, answer

blueprint = Blueprint("front", __name__)

_PAGE = Template("""<!doctype html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="stylesheet" href="/docs/plain.css">
</head>
<body>
<h1>$title</h1>
$content
</body>
</html>
""")


@blueprint.get("/")
@operation("getFront", access=Access.OPEN, answers={}, offered=(HTML,))
def get_front(call: Call) -> Response:
    """Lead to the reference."""
    call.validate()
    response: Response = redirect("/docs", 302, Response)  # type: ignore[assignment]
    return response


@blueprint.get("/problems")
@operation("getProblems", access=Access.OPEN, answers={}, offered=(HTML,))
def get_problems(call: Call) -> Response:
    """List the problems, with what each means and what to do."""
    call.validate()
    rows = [
        f'<dt><a href="/problems/{code}">{code}</a> ({kind.status})</dt>'
        f"<dd>{escape(languages.told(kind.meaning))}</dd>"
        for code, kind in KINDS.items()
    ]
    return _page("Abbot", "\n".join(("<dl>", *rows, "</dl>")))


@blueprint.get("/problems/<name:code>")
@operation("getProblem", access=Access.OPEN, answers={}, offered=(HTML,))
def get_problem(call: Call, code: str) -> Response:
    """Tell what a problem means and what to do; its `type` leads here (RFC 9457, 3.1.1)."""
    kind = KINDS.get(code)
    if kind is None:
        raise not_found("There is no such problem.")
    call.validate()
    status = f"<p><code>{code}</code>, {kind.status}</p>"
    meaning = f"<p>{escape(languages.told(kind.meaning))}</p>"
    return _page(languages.told(kind.title), status + "\n" + meaning)


def _page(title: str, content: str) -> Response:
    page = _PAGE.substitute(
        language=languages.preferred(), title=escape(title), content=content
    ).encode()
    return languages.speaking(answer(page, HTML, responses.digest(page)))
