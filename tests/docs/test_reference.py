"""Every public name has its place in the reference."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "api"
PACKAGES = [
    "liebn.datasets",
    "liebn.diffeos",
    "liebn.distributions",
    "liebn.estimators",
    "liebn.groups",
    "liebn.linalg",
    "liebn.models",
    "liebn.nn",
    "liebn.nn.baselines",
    "liebn.optim",
    "liebn.plots",
    "liebn.verify",
]
WHOLE = {"liebn.plots"}  # documented by one directive, with all that they import


def entries():
    text = "\n".join(page.read_text("utf-8") for page in PAGES.glob("*.md"))
    return set(re.findall(r"^\.\. auto\w+:: (\S+)$", text, re.MULTILINE))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_class_and_function_has_an_entry(package):
    module = importlib.import_module(package)
    members = {name: getattr(module, name) for name in module.__all__}
    public = {name for name, it in members.items() if inspect.isclass(it) or inspect.isroutine(it)}
    wanted = {package} if package in WHOLE else {f"{package}.{name}" for name in public}
    assert wanted <= entries(), f"no entry for {', '.join(sorted(wanted - entries()))}"


def test_every_page_is_about_something_there():
    for entry in entries():
        package, _, name = entry.rpartition(".")
        module = importlib.import_module(package)
        assert hasattr(module, name) or importlib.import_module(entry), entry


def test_the_list_of_packages_is_whole():
    root = PAGES.parents[1] / "src" / "liebn"
    found = {f"liebn.{p.parent.name}" for p in root.glob("*/__init__.py")}
    assert found <= {*PACKAGES, "liebn.experiments"}  # whose interface is the command
