"""The page in a real browser: nothing on the console, nothing wider than the screen."""

import json
import re
import shutil
import subprocess

import pytest

from liebn.experiments.report.html import html
from tests.experiments.report.reading import page_of
from tests.experiments.report.synthetic import METHODS, NASTY, record

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-sync", "--disable-dev-shm-usage", "--no-first-run", "--enable-logging=stderr",
    "--allow-file-access-from-files", "--virtual-time-budget=5000",
    "--hide-scrollbars",
)  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on the path"),
]

# The page in frames of a phone's and of a desktop's width, and what it measures there.
FRAMES = """<!DOCTYPE html><title>frames</title>
<iframe src="page.html" style="width: 360px; height: 800px; border: 0"></iframe>
<iframe src="page.html" style="width: 1280px; height: 800px; border: 0"></iframe>
<script>
addEventListener("load", () => {
  document.title = JSON.stringify([...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement;
    const boxes = [...page.querySelectorAll(".scroll")];
    return {
      inner: root.clientWidth, page: root.scrollWidth,
      tables: boxes.length, scrolling: boxes.filter(b => b.scrollWidth > b.clientWidth).length,
      pictures: [...page.querySelectorAll("svg")].map(s => s.getBoundingClientRect().width),
    };
  }));
});
</script>"""


def open_in_browser(path, profile):
    """What the page has become, and what the console says."""
    done = subprocess.run(
        [BROWSER, *QUIET, f"--user-data-dir={profile}", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    names = [*METHODS, NASTY, "a method with a very long name, refitted on the target domain"]
    records = [record(m, s, f"subject {k}") for m in names for s in (0, 1) for k in range(5)]
    (folder / "page.html").write_text(html(page_of(records)), encoding="utf-8")
    (folder / "frames.html").write_text(FRAMES, encoding="utf-8")
    (folder / "broken.html").write_text("<script>throw new Error('seen')</script>", "utf-8")
    return folder


def test_the_console_is_listened_to(folder, tmp_path):
    _, console = open_in_browser(folder / "broken.html", tmp_path)
    assert any("seen" in line for line in console)


def test_the_page_renders_without_a_word_on_the_console(folder, tmp_path):
    page, console = open_in_browser(folder / "page.html", tmp_path)
    assert console == []
    assert "</svg>" in page
    assert "To make it again" in page


def test_only_tables_scroll_sideways(folder, tmp_path):
    page, _ = open_in_browser(folder / "frames.html", tmp_path)
    phone, desktop = json.loads(re.search("<title>(.*?)</title>", page)[1])
    assert (phone["inner"], desktop["inner"]) == (360, 1280)
    for found in (phone, desktop):
        assert found["page"] <= found["inner"]
        assert all(50 < width <= found["inner"] for width in found["pictures"])
    assert phone["scrolling"] > 0
    assert phone["tables"] == desktop["tables"] > 3
