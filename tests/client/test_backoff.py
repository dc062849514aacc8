from __future__ import annotations

import random

from scheduler.client.backoff import Backoff


class Always(random.Random):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def random(self):
        return self.value


def test_delays_double_up_to_the_cap():
    backoff = Backoff(0.8, 30.0, rng=Always(0.0))
    assert [backoff.next() for _ in range(8)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_jitter_lengthens_a_delay_up_to_twice_and_never_beyond_the_cap():
    assert Backoff(0.8, 30.0, rng=Always(0.5)).next() == 0.8 * 1.5
    assert Backoff(20.0, 30.0, rng=Always(0.9)).next() == 30.0


def test_reset_begins_with_the_shortest_delay_again():
    backoff = Backoff(1.0, 30.0, rng=Always(0.0))
    assert [backoff.next(), backoff.next()] == [1.0, 2.0]
    assert backoff.failures == 2
    backoff.reset()
    assert backoff.next() == 1.0


def test_a_million_failures_do_not_overflow():
    backoff = Backoff(rng=Always(0.0))
    for _ in range(5000):
        assert backoff.next() <= 30.0
