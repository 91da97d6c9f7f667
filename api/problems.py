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
    """One kind of problem: its status, a title that never changes, and for `/problems/<code>` what
    it means and what to do."""

    status: int
    title: str
    meaning: str


KINDS: dict[str, Kind] = {
    "malformed-json": Kind(
        400,
        "The body is not JSON",
        "The body is not JSON as RFC 8259 has it, or names a member twice. Send it again as JSON.",
    ),
    "malformed-request": Kind(
        400,
        "The request is malformed",
        "Something about the form of the request is wrong: its framing, a header, or how deep its "
        "body is nested. It was not carried out; the same again fails again.",
    ),
    "unauthenticated": Kind(
        401,
        "A valid token is needed",
        "There is no token, or one that is unknown, was revoked or has ended. Send a valid one as "
        "Authorization: Bearer.",
    ),
    "forbidden": Kind(
        403,
        "Not allowed",
        "You are known and may not do this: the token lacks a scope, or the call is for the host, "
        "a seat or an auditor.",
    ),
    "not-found": Kind(
        404,
        "Not found",
        "There is no such thing, or you are not to know of it, as with a private table.",
    ),
    "method-not-allowed": Kind(
        405,
        "Method not allowed",
        "The path exists and does not take this method; the header Allow names those that it "
        "takes.",
    ),
    "not-acceptable": Kind(
        406,
        "No acceptable representation",
        "The answer is not to be had in any of the forms that the header Accept names.",
    ),
    "stale-turn": Kind(
        409,
        "That turn is not the running one",
        "The move names a round and turn that are no longer the running ones. Read the game again "
        "and decide anew.",
    ),
    "not-your-turn": Kind(
        409,
        "Not your turn",
        "Another seat is to act. Wait until the game says that it is your turn.",
    ),
    "turn-expired": Kind(
        409,
        "The turn's time ran out",
        "Your turn ran out before the move came, and was ended by the clock. If the move was in "
        "time, dispute the attempt.",
    ),
    "game-not-active": Kind(
        409,
        "The game is not being played",
        "The match has not begun yet, or is over.",
    ),
    "game-not-over": Kind(
        409,
        "The game is not over",
        "This is open only once the match is over.",
    ),
    "not-in-lobby": Kind(
        409,
        "The table is no longer in the lobby",
        "The table has started or was closed; this is possible in the lobby only.",
    ),
    "not-ready": Kind(
        409,
        "Not everyone is ready",
        "A player has not said ready since the table was changed last.",
    ),
    "not-enough-seats": Kind(
        409,
        "Not enough seats are taken",
        "Fewer seats are taken than the game needs to start.",
    ),
    "table-full": Kind(
        409,
        "The table is full",
        "Every seat of the table is taken.",
    ),
    "already-seated": Kind(
        409,
        "Already seated",
        "You sit at this table already.",
    ),
    "too-many-webhooks": Kind(
        409,
        "No more webhooks",
        "There are as many webhooks as one may have. Delete one first.",
    ),
    "webhook-disabled": Kind(
        409,
        "The webhook is disabled",
        "The webhook sends nothing while it is disabled. Enable it first.",
    ),
    "precondition-failed": Kind(
        412,
        "The game has another version",
        "If-Match names a version that the game no longer has. Read the game again and decide "
        "anew.",
    ),
    "too-large": Kind(
        413,
        "The body is too large",
        "The body, the address or a header is larger than allowed.",
    ),
    "unsupported-media-type": Kind(
        415,
        "Unsupported media type",
        "A body has to be JSON in UTF-8, with Content-Type: application/json.",
    ),
    "validation": Kind(
        422,
        "The request is not valid",
        "A field or parameter is missing, unknown, or has a value that it cannot have; errors "
        "names each of them.",
    ),
    "illegal-move": Kind(
        422,
        "The move is not legal",
        "The rules do not allow the move; rule names the one that decides, facts what it rests "
        "on, and legal_moves what is allowed.",
    ),
    "idempotency-key-reused": Kind(
        422,
        "The idempotency key was used for another request",
        "This Idempotency-Key was sent with another path or body in the last 24 hours. Take a new "
        "key for a new request.",
    ),
    "rate-limited": Kind(
        429,
        "Too many at a time",
        "There were too many requests, or too many things are open at a time. Try again after "
        "Retry-After.",
    ),
    "internal": Kind(
        500,
        "Something went wrong here",
        "This is a fault of the service. It is logged under the answer's X-Request-Id.",
    ),
    "unavailable": Kind(
        503,
        "Unavailable for the moment",
        "The service cannot answer for the moment. Send the same again after Retry-After, a "
        "change with its Idempotency-Key.",
    ),
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
    template: str = "The service cannot answer this at the moment; try again.", *, seconds: int = 1
) -> Problem:
    """503; `seconds`: when to try again."""
    return Problem("unavailable", template, headers={"Retry-After": str(seconds)})


def archived() -> Problem:
    """503 for a game whose month is detached: somebody has to attach it first."""
    return unavailable(
        "The record of this game is in the archive until whoever runs the service brings it back.",
        seconds=3600,
    )


def from_http(error: HTTPException) -> Problem:
    """A framework's own error (no route, wrong method, too large …) as a problem."""
    status = error.code or 500
    code = _STATUS_CODES.get(status)
    if code is None:
        code = "malformed-request" if 400 <= status < 500 else "internal"
    details = {
        404: Sentence("There is no such path, or an id in it is not written as one."),
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
