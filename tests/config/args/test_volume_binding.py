from __future__ import annotations

from scheduler.config.args.scoring import UtilizationShapePoint
from scheduler.config.args.volume_binding import VolumeBindingArgs
from scheduler.config.features import FeatureGates

SHAPE = (UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0))


def test_emptier_storage_scores_higher_by_default(gates):
    assert VolumeBindingArgs().defaulted(gates).shape == SHAPE


def test_without_capacity_scoring_there_is_no_shape_and_none_may_be_given():
    gates = FeatureGates.parse("StorageCapacityScoring=false")
    assert VolumeBindingArgs().defaulted(gates).shape == ()
    assert VolumeBindingArgs().validate("a", gates) == []
    (error,) = VolumeBindingArgs(shape=SHAPE[:1]).validate("a", gates)
    assert str(error) == (
        'a.shape: Invalid value: [{"Utilization":0,"Score":10}]: '
        "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
    )


def test_the_timeout_is_not_negative(gates):
    (error,) = VolumeBindingArgs(bind_timeout_seconds=-1, shape=SHAPE).validate("a", gates)
    assert str(error) == (
        "a.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value"
    )
