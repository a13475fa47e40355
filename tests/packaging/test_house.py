"""What holds for the whole tree: short files, lists of names, heads that say what lives there."""

import ast
import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import liebn

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "src" / "liebn"
LONGEST = 400

PYTHON = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if "_build" not in path.parts and "_generated" not in path.parts
)
PACKAGES = sorted(LIBRARY.rglob("__init__.py"))


def name_of(path):
    parts = path.relative_to(LIBRARY.parent).parent.parts
    return ".".join(parts)


@pytest.mark.parametrize("folder", sorted({p.parent for p in PYTHON}), ids=lambda p: p.name)
def test_every_file_is_short_and_has_a_title(folder):
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") < LONGEST, path
        title = ast.get_docstring(ast.parse(text))
        assert not text.strip() or path.name == "conftest.py" or title, f"{path} has no title"


@pytest.mark.parametrize("path", PACKAGES, ids=name_of)
def test_every_package_says_what_lives_in_it(path):
    head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert head is not None
    prose = head.partition(">>>")[0]
    sentences = re.findall(r"[.:](?:\s|$)", prose)
    assert len(sentences) >= 2, f"{name_of(path)}: expected at least two sentences, got {head!r}"


@pytest.mark.parametrize("path", PACKAGES, ids=name_of)
def test_every_public_name_is_there(path):
    module = importlib.import_module(name_of(path))
    names = getattr(module, "__all__", [])
    assert len(set(names)) == len(names)
    for name in names:
        assert hasattr(module, name), f"{name_of(path)} has no {name}"


def test_the_names_that_are_promised():
    from liebn import (  # noqa: F401
        DomainLieBatchNorm,
        LieBatchNorm,
        MomentumLieBatchNorm,
        datasets,
        estimators,
        groups,
        models,
        nn,
    )

    assert len(liebn.__all__) <= 10
    assert {"datasets", "estimators", *liebn.__all__} <= set(dir(liebn))
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = liebn.no_such_name


def test_a_bare_import_reaches_every_package():
    names = "datasets.CARDS, liebn.estimators.SPDNetClassifier, liebn.models.SPDNet, liebn.plots"
    code = f"import liebn; print(len([liebn.{names}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "4"


def test_importing_the_library_adds_few_modules_to_torch():
    """A count instead of a time: half a second beyond torch is some hundreds of modules."""
    code = (
        "import sys, torch; before = set(sys.modules); import liebn; "
        "added = set(sys.modules) - before; "
        "print(len(added), sorted({m.partition('.')[0] for m in added}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count = int(done.stdout.split()[0])
    assert count < 150, done.stdout


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_promised_version_reads_the_source(version):
    """Its grammar and its warnings; what the tests run on is one version."""
    interpreter = shutil.which(f"python{version}")
    found = interpreter and subprocess.run([interpreter, "-V"], capture_output=True, check=False)
    if not found or found.returncode:
        pytest.skip(f"there is no working python{version} on this machine")
    code = "import sys; [compile(open(p, encoding='utf-8').read(), p, 'exec') for p in sys.argv]"
    files = [str(path) for path in LIBRARY.rglob("*.py")]
    command = [interpreter, "-W", "error", "-c", code.replace("sys.argv", "sys.argv[1:]"), *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
