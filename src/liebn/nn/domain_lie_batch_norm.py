"""Momentum batch normalization with statistics for each domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from liebn.groups import Gyrogroup, Rule
from liebn.groups.mean import EXACT
from liebn.nn.momentum_lie_batch_norm import MomentumLieBatchNorm
from liebn.nn.samples import Layout, admit
from liebn.nn.statistics import ProcessTotal, Running, Update, streamed_statistics


class DomainLieBatchNorm(MomentumLieBatchNorm):
    """Domain-specific momentum batch normalization, the paper's DSMLieBN.

    Every domain, such as one session of one subject, has running averages of its own; the scale is
    shared and the bias is the neutral element, so that all domains end up centred at one place.
    Before a new domain is used its statistics are recomputed from its unlabelled data by `refit`.

    Shape:
        As in `LieBatchNorm`; the domain is one integer, or one per element of the batch, (batch,).

    Args:
        group: the space.
        domains: how many there are, named 0, 1, ..., or their integer names.
        channels: as in `LieBatchNorm`, and so are the arguments not named here.
        gamma: as in `MomentumLieBatchNorm`.
        schedule: as in `MomentumLieBatchNorm`.
        allow_unseen: add a domain where it first appears, instead of refusing it.
        eps: ε.
        affine: learn the scale.
        statistics: how the batch mean is found.
        mean_only: translate and do not scale.
        correction: for the running variances.
        device: of parameters and running averages.
        dtype: of parameters and running averages.

    Attributes:
        domain_names: the integer names, (domains,).
        running_mean: (domains, *channels, *point); and likewise the other statistics.
    """

    domain_names: Tensor

    def __init__(
        self,
        group: Gyrogroup,
        domains: int | Iterable[int],
        channels: int | tuple[int, ...] = (),
        *,
        gamma: float = 0.1,
        schedule: tuple[int, float] | None = None,
        allow_unseen: bool = False,
        eps: float = 1e-5,
        affine: bool = True,
        statistics: str | Rule = "exact",
        mean_only: bool = False,
        correction: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            group,
            channels,
            gamma=gamma,
            schedule=schedule,
            eps=eps,
            affine=affine,
            statistics=statistics,
            mean_only=mean_only,
            correction=correction,
            device=device,
            dtype=dtype,
        )
        self.allow_unseen = allow_unseen
        self.register_parameter("bias_tangent", None)
        names = range(domains) if isinstance(domains, int) else domains
        self.register_buffer("domain_names", torch.empty(0, dtype=torch.long, device=device))
        for name in self._per_domain:
            setattr(self, name, getattr(self, name).unsqueeze(0)[:0])
        for domain in names:
            self.add_domain(domain)

    @property
    def _per_domain(self) -> tuple[str, ...]:
        return "running_mean", "running_var", "train_mean", "train_var", "num_batches_tracked"

    @torch.no_grad()
    def add_domain(self, domain: int) -> None:
        """Make room for a domain; its statistics are the identity and 1 until it is trained."""
        if domain in self.domain_names:
            raise ValueError(f"domain {domain} is there already")
        mean, device = self.running_mean, self.running_mean.device
        start = {
            "running_mean": self.group.identity(1, *self.channels, dtype=mean.dtype, device=device),
            "running_var": torch.ones(1, *self.channels, device=device),
            "num_batches_tracked": torch.zeros(1, device=device),
        }
        start |= {"train_mean": start["running_mean"], "train_var": start["running_var"]}
        start["domain_names"] = torch.tensor([domain], device=device)
        for name, value in start.items():
            buffer = getattr(self, name)
            setattr(self, name, torch.cat([buffer, value.to(buffer)]))

    def forward(  # type: ignore[override]
        self, x: Tensor, domain: int | Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """Normalize each point with the statistics of its domain."""
        own = (*self._per_domain, "domain_names")
        before = {name: getattr(self, name) for name in own}

        def normalise(y: Tensor, w: Tensor | None, layout: Layout) -> tuple[Tensor, list[Update]]:
            numbers = layout.flatten(self._numbers(domain, layout.batch, x.device), "domains")
            rest = torch.ones_like(numbers, dtype=torch.bool)  # of weight 0, in domains of weight 0
            parts, order, updates = [], [], []
            for number in self._present(numbers if w is None else numbers[w > 0]):
                chosen = numbers == number
                rest &= ~chosen
                with layout.among(chosen):
                    weights_here = None if w is None else w[chosen]
                    part, new = self._normalise_domain(number, y[chosen], weights_here)
                parts.append(part)
                updates += new
                order.append(chosen)
            places = torch.cat([torch.nonzero(mask).squeeze(1) for mask in (*order, rest)])
            return torch.cat([*parts, y[rest]])[places.argsort()], updates

        try:
            return self._forward(x, weights, normalise)
        except Exception:
            for name, buffer in before.items():  # without the domains that this batch has added
                setattr(self, name, buffer)
            raise

    def _normalise_domain(
        self, number: int, y: Tensor, weights: Tensor | None
    ) -> tuple[Tensor, list[Update]]:
        running = Running(self.running_mean[number], self.running_var[number])
        if not self._learns:
            return self._normalise_with(running, y), []
        running_train = Running(self.train_mean[number], self.train_var[number])
        count = self.num_batches_tracked[number]
        return self._normalise_running(y, weights, running, running_train, count)

    def _numbers(self, domain: int | Tensor, batch: int, device: torch.device) -> Tensor:
        """The place of each sample's domain among the names, (batch,)."""
        given = torch.as_tensor(domain, device=device).long()
        given = given.expand(batch) if given.dim() == 0 else given
        present, member = given.unique(return_inverse=True)
        found = present.unsqueeze(1) == self.domain_names.to(device).unsqueeze(0)
        unseen = present[~found.any(1)].tolist()
        if unseen and not self.allow_unseen:
            raise ValueError(
                f"unseen domains {unseen}: add them with add_domain, and refit them on their data, "
                "or construct the layer with allow_unseen=True"
            )
        if self._sums_over_processes and self.allow_unseen:
            everywhere: list[list[int]] = [
                [] for _ in range(dist.get_world_size(self.process_group))
            ]
            ProcessTotal(self.process_group).agree(device)
            dist.all_gather_object(everywhere, unseen, group=self.process_group)
            unseen = sorted({name for names in everywhere for name in names})
        for name in unseen:
            self.add_domain(name)
        if unseen:
            found = present.unsqueeze(1) == self.domain_names.to(device).unsqueeze(0)
        return found.long().argmax(1)[member]

    def _present(self, numbers: Tensor) -> list[int]:
        """Which domains the batch holds: on all processes, where statistics are synchronised."""
        here = torch.zeros(len(self.domain_names), device=numbers.device)
        here[numbers] = 1
        if self._sums_over_processes:
            ProcessTotal(self.process_group).agree(here.device)
            dist.all_reduce(here, dist.ReduceOp.MAX, group=self.process_group)
        (present,) = torch.nonzero(here, as_tuple=True)
        return present.tolist()

    @torch.no_grad()
    def refit(
        self,
        data: Tensor | Iterable[tuple[Tensor, int | Tensor]],
        domain: int | Tensor | None = None,
    ) -> None:
        """Recompute the statistics of domains from their unlabelled data.

        Args:
            data: points as for `forward`, with `domain`; or an iterable of (points, domain), such
                as a `DataLoader`, that brings the same data on every pass. It is passed over
                repeatedly and only one batch of it is held at a time.
            domain: the domain of each element of `data`, where that is a tensor.
        """
        if isinstance(data, Tensor):
            if domain is None:
                raise ValueError("refit(x, domain) needs the domain of the points")
            points, numbers = self._for_refit(data, domain, strict=True)
            y, updates = self.group.to_model(points), []
            for number in numbers.unique().tolist():
                centred = self.group.model.centre(y[numbers == number], rule=EXACT)
                updates += self._updates(number, centred.mean, centred.variance)
            for update in updates:
                update.apply()
            return
        if isinstance(data, Iterator):
            raise ValueError(
                "refit passes over its data repeatedly: give a loader or a list, not an iterator"
            )

        rows = sorted(
            {n for x, d in data for n in self._for_refit(x, d, strict=True)[1].unique().tolist()}
        )
        place = {number: row for row, number in enumerate(rows)}

        def chunks() -> Iterator[tuple[Tensor, Tensor]]:
            for x, d in data:
                points, numbers = self._for_refit(x, d)
                own = torch.tensor([place[n] for n in numbers.tolist()], device=points.device)
                yield self.group.to_model(points), own

        means, variances = streamed_statistics(self.group.model, chunks, len(rows))
        updates = [
            update
            for number, mean, variance in zip(rows, means, variances, strict=True)
            for update in self._updates(number, mean, variance)
        ]
        for update in updates:
            update.apply()

    def _for_refit(
        self, x: Tensor, domain: int | Tensor, *, strict: bool = False
    ) -> tuple[Tensor, Tensor]:
        layout = Layout.of(x, self.channels, tuple(self.group.point_shape))
        if layout.batch == 0:
            raise ValueError("refit needs at least one sample, got an empty batch")
        numbers = layout.flatten(self._numbers(domain, layout.batch, x.device), "domains")
        with layout.naming_samples():
            samples = layout.gather(x).to(self._computing_dtype(x))
            return admit(self.group, samples, None, strict=strict), numbers

    def _updates(self, number: int, mean: Tensor, variance: Tensor) -> list[Update]:
        return [
            Running(point[number], var[number]).update(mean, variance, self.group)
            for point, var in (
                (self.running_mean, self.running_var),
                (self.train_mean, self.train_var),
            )
        ]

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        # A saved layer may know other domains than this one: take its list of them.
        for name in (*self._per_domain, "domain_names"):
            saved, buffer = state_dict.get(prefix + name), getattr(self, name)
            if saved is not None and saved.shape[1:] == buffer.shape[1:]:
                setattr(self, name, buffer.new_empty(saved.shape))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:  # noqa: D102
        return f"domains={len(self.domain_names)}, {super().extra_repr()}"
