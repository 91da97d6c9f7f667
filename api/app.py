"""The Flask application: every resource under one factory, no state of its own."""

from __future__ import annotations

from flask import Flask, Response, request
from flask_cors import CORS

from eventstore.errors import Archived, Broken, Unavailable
from eventstore.settings import Settings, SettingsError

from . import (
    app_webhooks,
    apps,
    attempts,
    clock,
    disputes,
    docs,
    documentation,
    events,
    games,
    health,
    holding,
    identifiers,
    invites,
    jwks,
    limits,
    logs,
    me,
    metrics,
    play,
    players,
    problems,
    rates,
    reference,
    rulesets,
    seats,
    services,
    states,
    streams,
    webhooks,
)
from .allowances import Allowances
from .encoding import OrjsonProvider
from .problems import Problem, archived, unavailable
from .reference import front

BASE = "/v1"


class Application(Flask):
    """Flask with orjson, and without a folder of static files."""

    json_provider_class = OrjsonProvider


def create_app(
    settings: Settings | None = None,
    *,
    opened: services.Services | None = None,
    allowances: Allowances | None = None,
) -> Flask:
    """The application, on services that are `opened` already, or on those that `settings` name,
    opened with the first request; with neither it can only describe itself. `allowances`: those of
    the settings if not given."""
    if allowances is None:
        allowances = Allowances() if settings is None else Allowances.of(settings)
    app = Application("api", static_folder=None)
    app.url_map.strict_slashes = True
    services.register(app, settings, opened)
    identifiers.register(app)
    problems.register(app)
    logs.register(app)
    metrics.register(app, None if settings is None else settings.data_dir)
    limits.register(app)
    rates.register(app, allowances)
    holding.register(app, allowances)
    _register_headers(app)
    _register_store_errors(app)
    api = documentation.create_api(app)
    on_games = (games, seats, invites, play, clock, events, states, streams, attempts, disputes)
    own = (players, me, webhooks, apps, app_webhooks)
    for module in (*own, rulesets, *on_games):
        api.register_blueprint(module.blueprint, url_prefix=BASE)
    api.register_blueprint(health.blueprint)
    api.register_blueprint(jwks.blueprint)
    app.register_blueprint(docs.blueprint)
    app.register_blueprint(reference.blueprint)
    app.register_blueprint(front.blueprint)
    return app


def _register_headers(app: Flask) -> None:
    CORS(
        app,
        origins="*",
        send_wildcard=True,
        methods=["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"],
        allow_headers=[
            "Abbot-Player",
            "Abbot-Sandbox-Refuse",
            "Authorization",
            "Content-Type",
            "Idempotency-Key",
            "If-Match",
            "If-None-Match",
            "Last-Event-ID",
            "X-Request-Id",
        ],
        expose_headers=[
            "Allow",
            "Deprecation",
            "ETag",
            "Link",
            "Location",
            "RateLimit",
            "RateLimit-Policy",
            "Retry-After",
            "Sunset",
            "WWW-Authenticate",
            "X-Request-Id",
        ],
        max_age=7200,
    )

    @app.after_request
    def _caching(response: Response) -> Response:
        response.headers.setdefault("Cache-Control", "private, no-cache")
        response.vary.add("Authorization")
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def _register_store_errors(app: Flask) -> None:
    @app.errorhandler(Unavailable)
    def _unavailable(error: Unavailable) -> Response:
        logs.log.warning("unavailable", reason=str(error))
        return unavailable().response()

    @app.errorhandler(Archived)
    def _archived(_: Archived) -> Response:
        return archived().response()

    @app.errorhandler(SettingsError)
    def _unusable_setting(error: SettingsError) -> Response:
        logs.log.error("setting", reason=str(error))
        return unavailable().response()

    @app.errorhandler(Broken)
    def _broken(error: Broken) -> Response:
        logs.log.error("broken-record", path=request.url_rule and request.url_rule.rule)
        return Problem("internal", "The record of this game cannot be read.").response()

    @app.errorhandler(Exception)
    def _unforeseen(error: Exception) -> Response:
        logs.log.exception("unforeseen")
        return Problem("internal", "The request could not be served.").response()
