"""ImageLocality: prefer nodes that have the pod's images, by their size and by how many nodes have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.framework import names
from scheduler.framework.arithmetic import MAX_NODE_SCORE
from scheduler.framework.interface import ScorePlugin

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scheduler.api.objects import Pod
    from scheduler.cache.nodes import NodeView
    from scheduler.cache.shapes import PodShape
    from scheduler.framework.cycle import Cycle
    from scheduler.framework.handle import Handle
    from scheduler.framework.interface import Scores

NAME: Final = names.IMAGE_LOCALITY
MIB: Final = 1 << 20
MIN_THRESHOLD: Final = 23 * MIB
MAX_CONTAINER_THRESHOLD: Final = 1000 * MIB


def normalized_image_name(name: str) -> str:
    """The name with the tag ":latest" if it has neither tag nor digest."""
    return f"{name}:latest" if name.rfind(":") <= name.rfind("/") else name


def image_names(pod: Pod) -> tuple[str, ...]:
    """The images of init containers, containers and image volumes, each as often as it occurs."""
    spec = pod.spec
    images = [container.image for container in (*spec.init_containers, *spec.containers)]
    images += [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return tuple(normalized_image_name(image) for image in images)


def images_of(shape: PodShape) -> tuple[str, ...]:
    """The image names of a shape."""
    known: tuple[str, ...] | None = shape.common.get(NAME)
    if known is None:
        known = shape.common[NAME] = image_names(shape.pod)
    return known


class ImageLocality(ScorePlugin):
    """Source: pkg/scheduler/framework/plugins/imagelocality/image_locality.go.

    A node's score depends on how many other nodes have the images, so that a change to any of these concerns all nodes
    (`epoch`), and no other change any.
    """

    name = NAME
    sees_labels = False
    bounded = True

    def epoch(self, cycle: Cycle) -> Hashable:
        """The number of nodes and the state of the pod's images."""
        table = cycle.state.nodes
        states = table.images.states
        versions = []
        for image in images_of(cycle.shape):
            state = states.get(image)
            versions.append(state.version if state is not None else -1)
        return table.count, *versions

    def score_key(self, cycle: Cycle) -> Hashable:
        """The images."""
        return images_of(cycle.shape)

    def score(self, cycle: Cycle, nodes: NodeView) -> Scores:
        """100 for images of 1000 MiB each on every node, 0 for 23 MiB in all or less."""
        images = images_of(cycle.shape)
        table = nodes.table
        sums = np.zeros(table.size, np.int64)
        for image in images:
            state = table.images.states.get(image)
            if state is not None:
                spread = float(len(state.rows)) / float(table.count)
                sums[state.indices()] += int(float(state.size) * spread)
        upper = MAX_CONTAINER_THRESHOLD * len(images)
        if not images or not sums.any():
            return np.zeros(len(nodes), np.int64)
        clamped = np.clip(sums[nodes.rows], MIN_THRESHOLD, upper)
        scores: Scores = MAX_NODE_SCORE * (clamped - MIN_THRESHOLD) // (upper - MIN_THRESHOLD)
        return scores


def make(args: Any, handle: Handle) -> ImageLocality:
    """The plugin; it takes no arguments."""
    del args, handle
    return ImageLocality()
