"""The code on the pages that a newcomer reads first runs as it is pasted."""

import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/index.md", "docs/quickstart.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_on_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S)
    assert blocks
    exec("\n".join(blocks), {})  # noqa: S102
