"""Disputes, resolutions, and the audit of a game's record."""

from __future__ import annotations

from typing import Any

from flask import Response

from domain.audits import told
from domain.disputes import Receipt
from domain.game import Game
from domain.state import OVER
from domain.verification import Check
from eventstore.auditing import Auditor, read_game
from eventstore.disputes import Dispute, Filing
from eventstore.errors import Broken
from eventstore.signing import BadSignature
from eventstore.signing import verify as verify_signature
from eventstore.store import Loaded

from . import access, changing, paging, responses
from .auth import AUDIT, Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import forbidden, not_found
from .schemas import disputes as schemas
from .schemas.attempts import PageOfGameQuery
from .schemas.games import GameQuery
from .services import services

blueprint = Blueprint("disputes", __name__, description="Audits and disputes.")

_DISPUTE = "The dispute, with its finding."
_FILED = {
    200: Answer("It was filed before.", schemas.GameDispute),
    201: Answer(_DISPUTE, schemas.GameDispute, ("Location",)),
}


@blueprint.route("/games/<id:game_id>/disputes", methods=["POST"])
@operation(
    "fileDispute",
    answers=_FILED,
    body=schemas.NewDispute,
    body_required=True,
    problems=("forbidden", "not-found"),
    idempotent=True,
    if_match=True,
    body_example={"version": 12, "statement": "That card was not on top."},
)
def file_dispute(call: Call, game_id: str) -> Response:
    """Dispute an event or a refused move.

    By a seat. The finding is computed from the record and recorded at once; while the game runs
    only the disputant and auditors see it. Whether a shuffle was fair can be told once the game is
    over: till then it is pending, and is settled by itself.
    """

    def check(game: Game) -> None:
        access.require_sight(game, call)
        call.require_play()
        access.seated(game, call)
        call.validate()
        changing.require_match(call, game)

    check(_load(game_id).game)
    sent = call.fields
    filing = Filing(
        call.player.player_id,
        sent["statement"],
        sent.get("version"),
        sent.get("attempt_id"),
        sent.get("claim"),
        _receipt(sent["receipt"]) if "receipt" in sent else None,
    )
    with changing.problems(call):
        dispute, new = services().disputes.file(
            game_id, filing, check=check, idempotency=changing.idempotency(call)
        )
    return _filed(dispute, new)


@blueprint.route("/games/<id:game_id>/disputes", methods=["GET"])
@operation(
    "listDisputes",
    access=Access.OPTIONAL,
    answers={200: Answer("A page of disputes.", schemas.GameDisputeList, ("ETag", "Link"))},
    query=PageOfGameQuery,
    problems=("not-found",),
    if_none_match=True,
)
def list_disputes(call: Call, game_id: str) -> Response:
    """List disputes.

    While the game runs one's own, and all for an auditor; all for everyone once it is over.
    """
    loaded = access.load(call, game_id)
    before = paging.read_cursor(call.query.get("cursor"))
    visible = sorted(_visible(call, loaded), key=lambda each: each.dispute_id, reverse=True)
    if before is not None:
        visible = [dispute for dispute in visible if dispute.dispute_id < before]
    limit = call.query["limit"]
    shown = [_shown(dispute) for dispute in visible[:limit]]
    return paging.page(shown, shown[-1]["dispute_id"] if len(visible) > limit else None)


@blueprint.route("/games/<id:game_id>/disputes/<id:dispute_id>", methods=["GET"])
@operation(
    "getDispute",
    access=Access.OPTIONAL,
    answers={200: Answer(_DISPUTE, schemas.GameDispute, ("ETag",))},
    query=GameQuery,
    problems=("not-found",),
    if_none_match=True,
)
def get_dispute(call: Call, game_id: str, dispute_id: str) -> Response:
    """Get a dispute.

    While the game runs only the disputant and auditors find it.
    """
    loaded = access.see(call, game_id)
    dispute = _one(call, loaded, dispute_id)
    call.validate()
    return responses.tagged(_shown(dispute))


@blueprint.route("/games/<id:game_id>/disputes/<id:dispute_id>/resolution", methods=["POST"])
@operation(
    "resolveDispute",
    answers=_FILED,
    body=schemas.NewResolution,
    body_required=True,
    problems=("forbidden", "not-found"),
    idempotent=True,
    if_match=True,
    body_example={"resolution": "Agreed with both: the round is played again."},
)
def resolve_dispute(call: Call, game_id: str, dispute_id: str) -> Response:
    """Add a resolution to a dispute.

    By an auditor who has no part in the game, also after it. It is recorded beside the finding,
    which stays as it is, as does the game.
    """
    loaded = access.see(call, game_id)
    _one(call, loaded, dispute_id)

    def check(game: Game) -> None:
        access.require_sight(game, call)
        call.require_scope(AUDIT)
        if call.player_id in game.sat:
            raise forbidden("You hold or held a seat in this game.")
        call.validate()
        changing.require_match(call, game)

    check(loaded.game)
    with changing.problems(call):
        dispute, new = services().disputes.resolve(
            game_id,
            dispute_id,
            call.player.player_id,
            call.fields["resolution"],
            check=check,
            idempotency=changing.idempotency(call),
        )
    return _filed(dispute, new)


@blueprint.route("/games/<id:game_id>/audit", methods=["GET"])
@operation(
    "auditGame",
    access=Access.OPTIONAL,
    answers={200: Answer("The checks.", schemas.AuditReport, ("ETag",))},
    query=GameQuery,
    problems=("not-found",),
    if_none_match=True,
)
def audit_game(call: Call, game_id: str) -> Response:
    """Check a game's record.

    Now, from its first event on. What needs the secret can be checked once the game is over; then
    you need not take our word for it either: `./abbot verify` makes the same checks from an export.
    """
    try:
        loaded = access.see(call, game_id)
        events = services().store.events(game_id, 0, loaded.game.version)
    except Broken:
        return _audit_of_rows(call, game_id)
    game = loaded.game
    call.validate()
    everything = game.over or access.viewer(game, call).everything
    # The start and the first deal are one decision, of which spectators see the start at once: what
    # it led to cannot be decided again before they see the rest.
    cut = loaded.late_seconds > 0 and events[-1].type == "game.started"
    checks = services().verified.checks(events, None if cut else loaded.secret)
    if everything:
        checks.append(_check_disputes(game_id))
    return _report(checks, everything)


def _audit_of_rows(call: Call, game_id: str) -> Response:
    """The audit of a record that can no longer be followed: someone changed it. Who may see the
    game, and whether it is over, is told by its summary; while it runs nobody is shown the rest."""
    stored = read_game(services().store.database.run, game_id)
    audited = Auditor(services().store.pool).game(game_id)
    if stored is None or stored.summary is None or audited is None:
        raise not_found()
    seated = call.player_id in [seat["player_id"] for seat in stored.seats if seat["player_id"]]
    summary = stored.summary
    access.require_sight_of(
        game_id, summary["visibility"], seated, call, sandbox=summary["sandbox"]
    )
    call.validate()
    auditing = call.caller is not None and AUDIT in call.caller.scopes
    if stored.summary["late"] and not seated and not auditing:
        # Where it fails would tell how far the game is.
        return _report([Check(check.check, check.ok) for check in audited.checks], False)
    return _report(audited.checks, stored.summary["status"] in OVER)


def _report(checks: list[Check], everything: bool) -> Response:
    shown = told(checks, everything=everything)
    return responses.tagged({"ok": all(check.get("ok", True) for check in shown), "checks": shown})


def _check_disputes(game_id: str) -> Check:
    fault = services().disputes.fault(game_id)
    if fault is None:
        return Check("disputes", True, "their own chain of hashes holds")
    return Check("disputes", False, f"event {fault.version} of the disputes: {fault.reason}")


def _load(game_id: str) -> Loaded:
    loaded = services().store.load(game_id)
    if loaded is None:
        raise not_found()
    return loaded


def _visible(call: Call, loaded: Loaded) -> list[Dispute]:
    """The disputes that the caller may see, the oldest first."""
    disputes = services().disputes.of(loaded)
    if loaded.late_seconds:
        # Disputes have the real time.
        now = loaded.game.real_time(loaded.now)
        disputes = [dispute.until(now) for dispute in disputes if dispute.at <= now]
    if loaded.game.over:
        return disputes
    if disputes and access.viewer(loaded.game, call).everything:
        return disputes
    return [dispute for dispute in disputes if dispute.player_id == call.player_id]


def _one(call: Call, loaded: Loaded, dispute_id: str) -> Dispute:
    for dispute in _visible(call, loaded):
        if dispute.dispute_id == dispute_id:
            return dispute
    raise not_found("There is no such dispute that you may see.")


def _receipt(text: str) -> Receipt:
    try:
        return Receipt(payload=verify_signature(text, services().signer.jwks()))
    except BadSignature as error:
        return Receipt(fault=str(error))


def _filed(dispute: Dispute, new: bool) -> Response:
    if not new:
        return responses.json(_shown(dispute))
    location = f"{changing.url(dispute.game_id)}/disputes/{dispute.dispute_id}"
    return responses.json(_shown(dispute), 201, location=location)


def _shown(dispute: Dispute) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "dispute_id": dispute.dispute_id,
        "at": dispute.at,
        "player_id": dispute.player_id,
        "seat": dispute.seat,
        "claim": dispute.claim,
        "statement": dispute.statement,
        "finding": _finding(dispute.finding),
        "resolutions": [
            {"at": each.at, "player_id": each.player_id, "resolution": each.resolution}
            for each in dispute.resolutions
        ],
    }
    if dispute.attempt is not None:
        shown["attempt_id"] = dispute.attempt["attempt_id"]
    else:
        shown["version"] = dispute.version
    if dispute.settled_at is not None:
        shown["settled_at"] = dispute.settled_at
    return shown


def _finding(finding: dict[str, Any]) -> dict[str, Any]:
    evidence = finding["evidence"]
    if "attempt" not in evidence:
        return finding
    attempt = {name: value for name, value in evidence["attempt"].items() if name != "bound"}
    return finding | {"evidence": evidence | {"attempt": attempt}}
