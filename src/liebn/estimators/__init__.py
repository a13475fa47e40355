"""The networks as scikit-learn classifiers, trained by skorch.

They need the extra `experiments`, and `DomainBalancedBatches` gives the batches of domain-specific
normalization.
"""

from liebn.estimators.batches import DomainBalancedBatches
from liebn.estimators.lienet import LieNetClassifier
from liebn.estimators.spdnet import SPDNetClassifier
from liebn.estimators.tsmnet import TSMNetClassifier

__all__ = ["DomainBalancedBatches", "LieNetClassifier", "SPDNetClassifier", "TSMNetClassifier"]
