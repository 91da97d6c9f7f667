"""Errors as `application/problem+json` (RFC 9457): the one way in which the API says no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import HTTPException

from domain.wording import Sentence, joined, sentence

from . import languages

MAX_ERRORS = 50
"""So many faults are told at a time."""
MAX_FIELD_NAME = 100
"""Characters of a name that somebody sent and that is told back."""
MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem: its status and a title that never changes."""

    status: int
    title: str


KINDS: dict[str, Kind] = {
    "malformed-json": Kind(400, "The body is not JSON"),
    "malformed-request": Kind(400, "The request is malformed"),
    "unauthenticated": Kind(401, "A valid token is needed"),
    "forbidden": Kind(403, "Not allowed"),
    "not-found": Kind(404, "Not found"),
    "method-not-allowed": Kind(405, "Method not allowed"),
    "not-acceptable": Kind(406, "No acceptable representation"),
    "stale-turn": Kind(409, "That turn is not the running one"),
    "not-your-turn": Kind(409, "Not your turn"),
    "turn-expired": Kind(409, "The turn's time ran out"),
    "game-not-active": Kind(409, "The game is not being played"),
    "game-not-over": Kind(409, "The game is not over"),
    "not-in-lobby": Kind(409, "The table is no longer in the lobby"),
    "not-ready": Kind(409, "Not everyone is ready"),
    "not-enough-seats": Kind(409, "Not enough seats are taken"),
    "table-full": Kind(409, "The table is full"),
    "already-seated": Kind(409, "Already seated"),
    "too-many-webhooks": Kind(409, "No more webhooks"),
    "webhook-disabled": Kind(409, "The webhook is disabled"),
    "precondition-failed": Kind(412, "The game has another version"),
    "too-large": Kind(413, "The body is too large"),
    "unsupported-media-type": Kind(415, "Unsupported media type"),
    "validation": Kind(422, "The request is not valid"),
    "illegal-move": Kind(422, "The move is not legal"),
    "idempotency-key-reused": Kind(422, "The idempotency key was used for another request"),
    "rate-limited": Kind(429, "Too many at a time"),
    "internal": Kind(500, "Something went wrong here"),
    "unavailable": Kind(503, "Unavailable for the moment"),
}

_STATUS_CODES = {
    400: "malformed-request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    411: "malformed-request",
    412: "precondition-failed",
    413: "too-large",
    415: "unsupported-media-type",
    422: "validation",
    429: "rate-limited",
    503: "unavailable",
}


class Problem(Exception):
    """An answer that is an error, told in the language of the caller by a template without facts
    or a `Sentence`. `more` are the members beside the standard ones."""

    def __init__(
        self, code: str, template: str, *, headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(template)
        self.code = code
        self.detail = sentence(template)
        self.headers = headers or {}
        self.more = more

    @property
    def status(self) -> int:
        return KINDS[self.code].status

    def response(self) -> Response:
        """The problem as it goes out; absent rather than null."""
        kind = KINDS[self.code]
        g.problem_code = self.code
        body = {
            "type": f"/problems/{self.code}",
            "title": languages.told(kind.title),
            "status": kind.status,
            "detail": languages.told(self.detail),
            "code": self.code,
        }
        body.update((name, value) for name, value in self.more.items() if value is not None)
        if "errors" in body:
            body["errors"] = [
                {**error, "message": languages.told(error["message"])} for error in body["errors"]
            ]
        response = current_app.response_class(
            orjson.dumps(body), status=kind.status, mimetype=MEDIA_TYPE
        )
        response.headers.update(self.headers)
        return languages.speaking(response)


def not_found(template: str = "There is nothing here that you may see.") -> Problem:
    """404, also for what exists but is not the caller's to see."""
    return Problem("not-found", template)


def forbidden(template: str) -> Problem:
    return Problem("forbidden", template)


def invalid(*errors: tuple[str, Sentence]) -> Problem:
    """422 with the fields at fault, each with what is wrong with it."""
    listed = [
        {"field": field[:MAX_FIELD_NAME], "message": message}
        for field, message in errors[:MAX_ERRORS]
    ]
    if not listed:
        return Problem("validation", "The request is not valid.", errors=listed)
    told = (joined(": ", (each["field"], each["message"])) for each in listed[:5])
    return Problem("validation", joined("; ", told), errors=listed)


def unavailable(
    template: str = "The service cannot answer this at the moment; try again.",
) -> Problem:
    return Problem(
        "unavailable",
        template,
        headers={"Retry-After": "1"},
    )


def from_http(error: HTTPException) -> Problem:
    """A framework's own error (no route, wrong method, too large …) as a problem."""
    status = error.code or 500
    code = _STATUS_CODES.get(status)
    if code is None:
        code = "malformed-request" if 400 <= status < 500 else "internal"
    details = {
        404: Sentence("There is no such path."),
        405: Sentence("{method} is not allowed here.", method=request.method),
        413: Sentence("The body is too large."),
    }
    template = details.get(status, Sentence("The request cannot be understood."))
    if code == "internal":
        template = Sentence("The request could not be served.")
    # Allow and Retry-After travel in the framework's own headers.
    headers = {
        name: value
        for name, value in error.get_headers(request.environ)
        if name.lower() not in ("content-type", "content-length")
    }
    return Problem(code, template, headers=headers)


def register(app: Flask) -> None:
    """Every error leaves `app` as a problem; what nobody foresaw is logged, never shown."""

    @app.errorhandler(Problem)
    def _problem(problem: Problem) -> Response:
        return problem.response()

    @app.errorhandler(HTTPException)
    def _http(error: HTTPException) -> Response:
        return from_http(error).response()
