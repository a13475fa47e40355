"""The short example runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path


def test_ten_lines_normalize_three_kinds_of_data():
    script = Path(__file__).parents[2] / "examples" / "ten_lines.py"
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    after = [float(v) for v in re.findall(r"([\d.]+) after", done.stdout)]
    assert len(after) == 3
    assert all(abs(v - 1) < 1e-3 for v in after), done.stdout
