"""The key of the dashboard, typed into the page in a real browser."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from noregret.app.commands.serve.keys import new_key, stanza
from tests.app.report.browser import MISSING, PATIENCE, Browser, found
from tests.app.serve.running import Server

pytestmark = pytest.mark.skipif(found() is None, reason=MISSING)

# All that a page can leave behind, and what it shows.
KEPT = """(async () => JSON.stringify([
  {...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state,
  await caches.keys().catch(() => []), (await indexedDB.databases()).map(each => each.name),
  document.documentElement.outerHTML, document.getElementById("key").value]))()"""
STATE = "document.getElementById('state').textContent"
ASKS = "!document.getElementById('sign-in').hidden"


def waited_for(page: Browser, condition: str) -> None:
    """Wait until an expression holds in the page."""
    until = time.monotonic() + PATIENCE
    while not page.run(condition):
        assert time.monotonic() < until, (condition, page.run(STATE))
        time.sleep(0.05)


def sign_in(page: Browser, key: str) -> None:
    """Type a key and press Enter, as a user does."""
    page.run("document.getElementById('key').focus()")
    page.ask("Input.insertText", text=key)
    for kind in ("keyDown", "keyUp"):
        page.ask("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r", code="Enter",
                 windowsVirtualKeyCode=13)  # fmt: skip


def test_a_key_opens_the_dashboard_and_is_kept_nowhere(chromium: Browser, tmp_path: Path) -> None:
    key, digest = new_key()
    other, _ = new_key()
    (tmp_path / "serve.toml").write_text(
        '[models.default]\nlearner = "nlms"\nstore = "a.db"\n'
        + stanza("shop", digest, ["default"]).replace('"label"]', '"label", "admin"]')
    )
    server = Server(tmp_path, "--config", "serve.toml")
    bearer = f"Bearer {key}"
    body = {"x": {"a": 1.0}, "y": 2.0}
    assert server.post("/models/default/learn", body, Authorization=bearer)[0] == 200
    page = f"http://127.0.0.1:{server.port}/"
    try:
        chromium.show(page, 900, "light")
        waited_for(chromium, f"{STATE} == 'this server needs a key' && {ASKS}")
        sign_in(chromium, other)
        waited_for(chromium, f"document.getElementById('state').className == 'bad' && {ASKS}")
        assert chromium.run("document.getElementById('cards').children.length") == 0
        sign_in(chromium, key)
        waited_for(chromium, f"{STATE} == 'live' && !({ASKS})")
        waited_for(chromium, "document.querySelector('#cards b').textContent == '1'")
        kept = chromium.run(KEPT)
        assert key not in kept
        assert other not in kept
        assert json.loads(kept)[:3] == [{}, {}, ""]
        sent = [each["request"] for each in chromium.heard("Network.requestWillBeSent")]
        assert {each["url"] for each in sent} >= {page, f"{page}models"}
        assert not any(key in each["url"] + each.get("postData", "") for each in sent)
        assert all(each["url"].startswith(page) for each in sent)
        chromium.show(page, 900, "light")  # loaded again, it asks again
        waited_for(chromium, f"{STATE} == 'this server needs a key' && {ASKS}")
    finally:
        chromium.ask("Page.navigate", url="about:blank")
        assert server.end() == 0
