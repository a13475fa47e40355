"""The networks as scikit-learn classifiers, trained by skorch."""

from liebn.estimators.batches import DomainBalancedBatches
from liebn.estimators.lienet import LieNetClassifier
from liebn.estimators.spdnet import SPDNetClassifier
from liebn.estimators.tsmnet import TSMNetClassifier

__all__ = ["DomainBalancedBatches", "LieNetClassifier", "SPDNetClassifier", "TSMNetClassifier"]
