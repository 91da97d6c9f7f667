"""The pages in docs/ say what the code does."""

from __future__ import annotations

from api.command import rules


def test_the_page_of_rules_is_fresh() -> None:
    assert rules.PAGE.read_text(encoding="utf-8") == rules.page()
