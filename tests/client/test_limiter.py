from __future__ import annotations

import asyncio

import pytest

from scheduler.client.limiter import RateLimiter


@pytest.mark.parametrize("qps", [0, -1])
def test_zero_or_negative_qps_means_no_limit(qps):
    assert RateLimiter.of(qps, 100) is None


def test_a_burst_goes_at_once_and_then_one_each_period():
    limiter = RateLimiter(qps=50, burst=3)
    assert [limiter.reserve(10.0) for _ in range(5)] == pytest.approx([0, 0, 0, 0.02, 0.04])


def test_unused_time_fills_the_bucket_up_to_the_burst():
    limiter = RateLimiter(qps=50, burst=3)
    for _ in range(3):
        limiter.reserve(0.0)
    assert limiter.reserve(0.02) == pytest.approx(0)
    assert [limiter.reserve(100.0) for _ in range(4)] == pytest.approx([0, 0, 0, 0.02])


@pytest.mark.looptime
async def test_a_cancelled_wait_gives_its_token_back():
    limiter = RateLimiter(qps=1, burst=1)
    assert [limiter.reserve(0.0) for _ in range(2)] == [0, 1]
    waiting = asyncio.create_task(limiter.pause(1))
    await asyncio.sleep(0.5)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert limiter.reserve(0.5) == pytest.approx(0.5)
