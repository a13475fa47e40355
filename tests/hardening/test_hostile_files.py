"""Files from strangers: they are read as data, or refused in one line; nothing in them runs."""

import ast
import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from liebn import cli
from liebn.datasets import CARDS, DatasetError, load
from liebn.datasets.files import load_mat, load_npy, load_npz
from liebn.models import SPDNet, SPDNorm
from liebn.models import load as load_network
from liebn.models import save as save_network
from tests.hardening.inputs import examples

SOURCE = Path(cli.__file__).parent


class Bomb:
    """An object whose pickle makes a file when it is opened."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.fixture
def bomb(tmp_path):
    """A bomb that works: opened without care, it goes off."""
    first = Bomb(tmp_path / "first")
    pickle.loads(pickle.dumps(first))  # noqa: S301
    assert first.trace.exists()
    yield Bomb(tmp_path / "trace")
    assert not (tmp_path / "trace").exists(), "a file from a stranger has been run"


def one_line(error):
    assert len(str(error.value).splitlines()) == 1


def as_pickle(bomb):
    return pickle.dumps(bomb)


def as_torch(bomb):
    content = io.BytesIO()
    torch.save({"format": 1, "network": "SPDNet", "arguments": bomb, "weights": {}}, content)
    return content.getvalue()


def as_old_torch(bomb):
    content = io.BytesIO()
    torch.save({"format": 1, "weights": bomb}, content, _use_new_zipfile_serialization=False)
    return content.getvalue()


def as_npy(bomb):
    content = io.BytesIO()
    np.save(content, np.array([bomb], dtype=object), allow_pickle=True)
    return content.getvalue()


def as_npz(bomb):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("points.npy", as_npy(bomb))
        archive.writestr("labels.npy", as_pickle(bomb))
    return content.getvalue()


DISGUISES = [as_pickle, as_torch, as_old_torch, as_npy, as_npz]


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
def test_a_model_file_runs_nothing(disguise, bomb, tmp_path):
    path = tmp_path / "model.pt"
    path.write_bytes(disguise(bomb))
    with pytest.raises(ValueError, match=r"model\.pt") as error:
        load_network(path)
    one_line(error)


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
def test_a_data_file_runs_nothing(disguise, bomb, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(disguise(bomb))
    readers = (
        lambda: load_npy(path, (None,)),
        lambda: load_npz(path, {"points": ((None,), "f")}),
        lambda: load_npz(path, {"labels": ((None,), "i")}),
        lambda: load_mat(path),
    )
    for read in readers:
        with pytest.raises(DatasetError) as error:
            read()
        one_line(error)


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", CARDS)
def test_a_data_set_runs_nothing(name, disguise, bomb, tmp_path):
    """Whatever file a loader looks for is one of a stranger."""
    card = CARDS[name]
    folder = tmp_path / card.folders[0]
    for pattern in card.patterns:
        path = folder / pattern.replace("**", "a").replace("*", "1").replace("?", "1")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(disguise(bomb))
    with pytest.raises(DatasetError) as error:
        load(name, tmp_path)
    one_line(error)


PROTOCOL = """
title = "t"
dataset = "{0}"
protocol = "{0}"
[network]
name = "{0}"
[[methods]]
name = "{0}"
norm = "{0}"
"""

WORDS = ["__import__('os')", "os.system", "../../evil", "!!python/object", "{0.__class__}", ""]


@pytest.mark.parametrize("word", WORDS)
def test_a_protocol_runs_nothing(word, tmp_path, capsys):
    path = tmp_path / "mine.toml"
    path.write_text(PROTOCOL.replace("{0}", word))
    before = set(tmp_path.rglob("*"))
    assert cli.main(["reproduce", str(path), "--results", str(tmp_path / "results")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert set(tmp_path.rglob("*")) == before


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A network's file, and its content."""
    path = tmp_path_factory.mktemp("saved") / "network.pt"
    save_network(SPDNet((4, 3), 2, SPDNorm("lem"), weight="parametrized"), path)
    return path, torch.load(path, weights_only=True)


def refused_or_read(path):
    """No other error than that of a file which is no network, and that in words."""
    refusal = ValueError("it has been read")
    try:
        load_network(path)
    except ValueError as error:
        refusal = error
    assert str(refusal).strip()


PLAIN = st.one_of(
    st.none(),
    st.integers(-2, 20),
    st.text(max_size=5),
    st.lists(st.integers(-1, 5), max_size=3),
    st.dictionaries(st.sampled_from(["recipe", "metric", "x"]), st.text(max_size=3), max_size=2),
)


@examples(60)
@given(data=st.data())
def test_a_changed_model_file_is_refused_or_read(saved, data):
    path, content = saved
    changed = {**content, "arguments": dict(content["arguments"])}
    where = data.draw(st.sampled_from(["top", "arguments"]))
    part = changed if where == "top" else changed["arguments"]
    part[data.draw(st.sampled_from(sorted(part)))] = data.draw(PLAIN)
    other = path.with_name("changed.pt")
    torch.save(changed, other)
    refused_or_read(other)


@examples(60)
@given(place=st.floats(0, 1), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_model_file_is_refused_or_read(saved, place, byte, cut):
    path, _ = saved
    content = bytearray(path.read_bytes())
    at = int(place * (len(content) - 1))
    content[at] = byte
    other = path.with_name("damaged.pt")
    other.write_bytes(content[:at] if cut else content)
    refused_or_read(other)


FORBIDDEN = {"eval", "exec", "compile", "__import__", "loads", "Unpickler"}
ALLOWED = {("tomllib", "loads"), ("json", "loads"), ("re", "compile"), ("torch", "compile")}


def calls(tree):
    """Name and arguments of every call in a file: (owner, name, keywords)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            own = function.value if isinstance(function, ast.Attribute) else None
            name = function.attr if isinstance(function, ast.Attribute) else ""
            name = function.id if isinstance(function, ast.Name) else name
            keywords = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
            yield getattr(own, "id", None), own is None, name, keywords


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: p.stem)
def test_no_line_of_the_library_can_run_what_it_reads(path):
    for owner, bare, name, keywords in calls(ast.parse(path.read_text(encoding="utf-8"))):
        if name in FORBIDDEN and (owner, name) not in ALLOWED:
            # A method of that name, such as Module.eval, is another thing.
            assert not bare, f"{name} in {path.name}"
            assert owner not in {"pickle", "marshal", "dill", "joblib"}, f"{owner}.{name}"
        if (owner, name) == ("torch", "load"):
            assert keywords.get("weights_only") is True
        if (owner, name) == ("np", "load"):
            assert keywords.get("allow_pickle") is False
        assert (owner, name) not in {("pickle", "load"), ("joblib", "load"), ("yaml", "load")}
