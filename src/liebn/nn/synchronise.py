"""Statistics over all processes of a distributed training."""

from __future__ import annotations

from typing import Any

from torch import nn

from liebn.nn.lie_batch_norm import LieBatchNorm


def convert_sync_lie_batchnorm(module: nn.Module, process_group: Any = None) -> nn.Module:
    """Make the `LieBatchNorm` layers of a module share their statistics over processes.

    In training every process then gives the output and running statistics that one process would
    give on the joined batch, and gradients are those of the loss summed over processes. A bad
    sample raises on every process. All processes must run the layer forward and backward the same
    number of times; a local batch may be empty.

    Args:
        module: changed in place, and returned.
        process_group: of `torch.distributed`; None for all processes.
    """
    for layer in module.modules():
        if isinstance(layer, LieBatchNorm):
            layer.synchronised = True
            layer.process_group = process_group
    return module
