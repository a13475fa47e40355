"""`liebn reproduce` and `liebn run`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liebn.datasets import CARDS, Dataset, DatasetError
from liebn.experiments.errors import ExperimentError
from liebn.experiments.protocol import Protocol, packaged, read_protocol

if TYPE_CHECKING:
    from liebn.experiments.sweep import Means

EXPECTED = (ExperimentError, DatasetError)

REPRODUCE = """\
Train every method of one table, every split and seed, and print the table.

  liebn reproduce --list                 what there is, and whether its data are here
  liebn reproduce radar --quick          a quick look: fewer seeds and epochs; needs no data
  liebn reproduce fpha --jobs 8          the whole table, eight runs at a time
  liebn reproduce mine.toml              a protocol of your own: copy one that --list names

Every finished run is a file under DIR/records. A sweep that was killed goes on where it stopped
when the command is given again, and several sweeps may share the folder. A run that fails or
diverges is noted with its reason, and the others go on.
"""

RUN = """\
Train and test one configuration, on every split of the data set. What no option says is as in the
published protocol for that data set.

  liebn run --dataset radar --norm lie --metric lcm --theta -0.5 --epochs 20
  liebn run --dataset fpha --norm lie --statistics fast --set momentum=0.2 --set sizes=[63,40]
  liebn run --dataset ssvep-exo --norm domain-lie --metric lem --split 'subject 2 session 0'

--set reaches every hyper-parameter. VALUE is written as in TOML; a word needs no quotes.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the parser."""
    _add_reproduce(commands)
    _add_run(commands)


def _add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="train every method of a published table",
        description=REPRODUCE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
    )
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="an experiment, or a file that ends in .toml"
    )
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument(
        "--quick", action="store_true", help="fewer seeds and epochs, as the protocol says"
    )
    parser.add_argument("--seeds", type=_count, metavar="N", help="seeds 0 to N - 1")
    parser.add_argument("--splits", type=_count, metavar="N", help="only the first N splits")
    parser.add_argument("--epochs", type=_count, metavar="N", help="epochs of every run")
    parser.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="only these rows; * stands for anything"
    )
    parser.set_defaults(run=_reproduce, parser=parser)


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run",
        help="train and test one configuration",
        description=RUN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
    )
    option = parser.add_argument
    option("--dataset", required=True, choices=CARDS, metavar="NAME", help=", ".join(CARDS))
    option("--protocol", metavar="NAME", help="how to divide the data set")
    option("--split", metavar="NAME", help="only this split")
    option("--network", metavar="NAME", help="spdnet, tsmnet or lienet")
    option("--norm", default="lie", metavar="KIND", help="the normalization layer (lie); none, "
           "spdnetbn, spdbn; for tsmnet also domain-lie, spddsmbn")  # fmt: skip
    option("--metric", metavar="NAME", help="aim, lem, lcm, gyro-aim, crim or alem")
    for name, words in (("theta", "deformation θ"), ("alpha", "α"), ("beta", "β")):
        option(f"--{name}", type=float, metavar="X", help=f"the {words} of the metric")
    option("--statistics", metavar="HOW", help="exact, fast or reference")
    option("--epochs", type=_count, metavar="N", help="how many")
    option("--lr", type=float, metavar="X", help="the learning rate")
    option("--seed", type=_whole, default=0, metavar="N", help="of everything random (0)")
    option("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
           help="any other hyper-parameter; may be given several times")  # fmt: skip
    parser.set_defaults(run=_run, parser=parser)


def _common() -> argparse.ArgumentParser:
    """The options of both commands."""
    parser = argparse.ArgumentParser(add_help=False)
    option = parser.add_argument
    option("--data", metavar="DIR", help="the data root")
    option("--results", metavar="DIR", type=Path, default=Path("results"),
           help="where the records go (results)")  # fmt: skip
    option("--jobs", type=_count, default=1, metavar="N", help="runs at a time (1)")
    option("--cluster", metavar="ADDRESS", help="of a Dask scheduler that makes the runs instead; "
           "its workers need the data")  # fmt: skip
    option("--tensorboard", metavar="DIR", type=Path, help="write each epoch for TensorBoard")
    option("--retry", action="store_true", help="make runs again that failed or diverged")
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if _whole(text) < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {text!r}")
    return int(text)


def _reproduce(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list(arguments.data)
    parser: argparse.ArgumentParser = arguments.parser
    known = packaged()
    name = arguments.name
    if name is None:
        parser.error("expected an experiment; liebn reproduce --list names them")
    if name not in known and Path(name).suffix != ".toml":
        parser.error(f"unknown experiment {name!r}; expected one of: {', '.join(known)}; or a file "
                     "that ends in .toml")  # fmt: skip
    protocol = read_protocol(name)
    if arguments.methods:
        chosen = [m for m in protocol.methods if _matches(m.name, arguments.methods)]
        for wanted in arguments.methods:
            if not any(_matches(m.name, [wanted]) for m in protocol.methods):
                names = ", ".join(m.name for m in protocol.methods)
                parser.error(f"no method {wanted!r} in {protocol.name}; it has: {names}")
        protocol = replace(protocol, methods=tuple(chosen))
    from liebn.experiments.configuration import quick

    if arguments.quick:
        protocol = quick(protocol)
    for key in ("seeds", "splits"):
        if getattr(arguments, key):
            protocol = replace(protocol, **{key: getattr(arguments, key)})
    if arguments.epochs:
        training = {**protocol.training, "max_epochs": arguments.epochs}
        protocol = replace(protocol, training=training)
    protocol = replace(protocol, note=_differences(read_protocol(name), protocol) + protocol.note)
    return _sweep(protocol, *_runs(protocol, arguments.data, range(protocol.seeds)), arguments)


def _differences(whole: Protocol, part: Protocol) -> str:
    """What the caption says of options that replace what the file says."""
    values = {
        "seeds": (whole.seeds, part.seeds),
        "splits": (whole.splits or "all", part.splits or "all"),
        **{f"dataset option {k}": (whole.dataset_options.get(k, "its default"), v)
           for k, v in part.dataset_options.items()},
        **{k: (whole.training.get(k, "its default"), v) for k, v in part.training.items()},
    }  # fmt: skip
    words = [f"{k} {new} instead of {old}" for k, (old, new) in values.items() if new != old]
    return f"Not the whole protocol: {', '.join(words)}.\n" if words else ""


def _matches(name: str, wanted: Sequence[str]) -> bool:
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in wanted)


def _list(data: str | None) -> int:
    from liebn.datasets import card, data_root

    root = data_root(data)
    for name in packaged():
        protocol = read_protocol(name)
        entry = card(protocol.dataset)
        state = "data found" if entry.find(root) else "simulated" if entry.embedded else "no data"
        print(f"{name:26}[{state}]  {protocol.title}; {len(protocol.methods)} methods")
    print(f"\nprotocol files: {next(iter(packaged().values())).parent}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from liebn.experiments.single import protocol_of

    parser: argparse.ArgumentParser = arguments.parser
    try:
        protocol = protocol_of(arguments)
        data, chosen = _runs(protocol, arguments.data, [arguments.seed])
    except ExperimentError as error:
        parser.error(str(error))
    if arguments.split is not None:
        names = dict.fromkeys(c["split"] for c in chosen)
        if arguments.split not in names:
            parser.error(f"no split {arguments.split!r}; there are: {', '.join(names)}")
        chosen = [c for c in chosen if c["split"] == arguments.split]
    return _sweep(protocol, data, chosen, arguments)


def _runs(
    protocol: Protocol, root: str | None, seeds: Iterable[int]
) -> tuple[Dataset, list[dict[str, Any]]]:
    """The data of a protocol, and the configurations of all its runs."""
    # These import torch, scikit-learn and skorch: not before they are needed.
    from liebn.experiments.configuration import configurations
    from liebn.experiments.run import load_dataset

    data = load_dataset(protocol.dataset, root, protocol.dataset_options)
    return data, list(configurations(protocol, data, seeds))


def _sweep(
    protocol: Protocol,
    data: Dataset,
    chosen: Sequence[dict[str, Any]],
    arguments: argparse.Namespace,
) -> int:
    """Make the runs, and print the table."""
    from liebn.experiments.listeners import require_tensorboard
    from liebn.experiments.store import Store
    from liebn.experiments.sweep import sweep
    from liebn.experiments.table import text

    if arguments.tensorboard is not None:
        require_tensorboard()
    store = Store(arguments.results)
    records = sweep(chosen, store, _means(arguments), data)
    print(f"\n{text(protocol, records)}\n\nrecords: {store.root / 'records' / protocol.name}")
    return 1 if any(record["status"] == "failed" for record in records) else 0


def _means(arguments: argparse.Namespace) -> Means:
    from liebn.experiments.sweep import Means

    tensorboard: Any = arguments.tensorboard
    return Means(
        # Absolute, since the processes of a cluster run in other folders.
        data=None if arguments.data is None else str(Path(arguments.data).expanduser().absolute()),
        # More processes than processors only wait for each other.
        jobs=min(arguments.jobs, 4 * (os.cpu_count() or 1)),
        cluster=arguments.cluster,
        tensorboard=None if tensorboard is None else tensorboard.absolute(),
        retry=arguments.retry,
    )
