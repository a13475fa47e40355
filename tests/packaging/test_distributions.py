"""The wheel and the source distribution: what they hold, and that the wheel works alone.

A new environment sees torch and the other libraries of this one, but not the source tree: nothing
is downloaded, and whatever the wheel forgot is missed.
"""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import liebn

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow

SMOKE = """
import sys, torch
from liebn import LieBatchNorm, groups, nn, models
import liebn
assert liebn.__version__ == {version!r}, liebn.__version__
assert {environment!r} in liebn.__file__, liebn.__file__
for name, make in groups.catalog.items():
    space = make(3)
    x = space.random(4, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x = space.exp(0.2 * space.log(x)).detach().requires_grad_()
    y = LieBatchNorm(space, 2, dtype=torch.float64)(x)
    y.square().sum().backward()
    assert bool(torch.isfinite(y).all() & torch.isfinite(x.grad).all()), name
network = models.SPDNet((4, 3), 2, models.SPDNorm("lem"), weight="parametrized")
assert network(groups.spd(4).random(5)).shape == (5, 2)
print("works")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A wheel made of the source distribution, both by hatchling as it is installed here."""
    folder = tmp_path_factory.mktemp("dist")
    for target, source in (("sdist", ROOT), ("wheel", folder / "unpacked")):
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if target == "sdist":
            (archive,) = folder.glob("*.tar.gz")
            with tarfile.open(archive) as content:
                content.extractall(folder, filter="data")
            (folder / archive.name.removesuffix(".tar.gz")).rename(folder / "unpacked")
    (wheel,) = folder.glob("*.whl")
    return archive, wheel


def test_the_source_distribution_holds_all_that_git_does(built):
    archive, _ = built
    with tarfile.open(archive) as content:
        names = {Path(*Path(name).parts[1:]).as_posix() for name in content.getnames()}
    listed = subprocess.run(
        ["git", "ls-files", "--", "src", "tests", "docs", "examples", "benchmarks"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    tracked = set(listed.stdout.split("\n")) - {""}
    assert not tracked or tracked - names == set()
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "constraints.txt"} <= names
    unwanted = [n for n in names if "__pycache__" in n or n.startswith((".git/", "results"))]
    assert unwanted == []


def test_the_wheel_holds_the_package_and_nothing_else(built):
    _, wheel = built
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
        (metadata,) = (n for n in names if n.endswith(".dist-info/METADATA"))
        text = content.read(metadata).decode()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"liebn"}
    assert {"liebn/py.typed", "liebn/experiments/protocols/radar.toml"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    source = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.py")}
    assert source - names == set()
    core = [line for line in text.splitlines() if line.startswith("Requires-Dist")]
    assert len([line for line in core if "extra ==" not in line]) == 4
    assert "Requires-Python: >=3.11" in text


def test_the_wheel_works_in_an_environment_of_its_own(built, tmp_path):
    _, wheel = built
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
    )  # fmt: skip
    with zipfile.ZipFile(wheel) as content:
        content.extractall(site)  # noqa: S202 - our own wheel
    # The libraries of this environment, without the .pth file that leads to the source tree.
    (site / "libraries.pth").write_text(f"import sys; sys.path.append({libraries()!r})\n")
    code = SMOKE.format(version=liebn.__version__, environment=str(environment))
    for command, expected in (
        ([python, "-c", code], "works"),
        ([python, "-m", "liebn.cli", "groups"], "spd-aim"),
        ([python, "-m", "liebn.cli", "bench"], ""),
    ):
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env={}, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert expected in done.stdout, done.stderr
    assert "come with the source" in done.stderr
    assert done.returncode == 1


def libraries():
    """Where this environment keeps its libraries."""
    return sysconfig.get_path("purelib")
