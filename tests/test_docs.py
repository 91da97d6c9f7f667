"""The pages in docs/ say what the code does."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest

from api.command import rules
from domain.webhooks import secret_text, signature
from tests.pages import python_code


def test_the_page_of_rules_is_fresh() -> None:
    assert rules.PAGE.read_text(encoding="utf-8") == rules.page()


def test_the_page_of_rules_is_written_only_where_that_is_asked_for(tmp_path: Path) -> None:
    page = tmp_path / "rules.md"
    for argv in (["--help"], ["--unknown"]):
        with pytest.raises(SystemExit):
            rules.main([f"--output={page}", *argv])
    assert rules.main(["--check", f"--output={page}"]) == 1
    assert not page.exists()
    assert rules.main([f"--output={page}"]) == 0
    assert rules.main(["--check", f"--output={page}"]) == 0


def test_the_page_checks_webhooks_as_they_are_signed() -> None:
    is_genuine = python_code("integrate.md", "is_genuine")["is_genuine"]
    now, body, old, new = int(time.time()), b'{"type":"ping"}', b"o" * 32, b"n" * 32

    def headers(timestamp: int, *secrets: bytes) -> dict[str, str]:
        return {
            "webhook-id": "msg",
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(secrets, "msg", timestamp, body),
        }

    assert is_genuine(headers(now, new), body, secret_text(new))
    assert is_genuine(headers(now, new, old), body, secret_text(old))
    assert not is_genuine(headers(now, new), body, secret_text(old))
    assert not is_genuine(headers(now, new), body + b" ", secret_text(new))
    assert not is_genuine(headers(now - 301, new), body, secret_text(new))
    assert not is_genuine(headers(now, new) | {"webhook-id": "other"}, body, secret_text(new))


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of the specification's own documents."""
    secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert _signed_with(secret) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def _signed_with(secret: str) -> str:
    key = base64.b64decode(secret)
    return signature([key], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
