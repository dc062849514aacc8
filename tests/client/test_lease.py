"""Leader election as client-go does it, in virtual time."""

from __future__ import annotations

import asyncio
import json

import pytest

from scheduler.client.errors import ApiError, TransportError
from scheduler.client.lease import LeaderElector, LeaseSettings, identity

PATH = "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth"
SETTINGS = LeaseSettings(namespace="berth-system", name="berth")

pytestmark = pytest.mark.looptime


class Leases:
    """The API server's side: one Lease, with optimistic locking. ``trouble`` is raised instead of an answer."""

    def __init__(self):
        self.lease = None
        self.version = 0
        self.trouble = None
        self.requests = []
        self.delay = 0.0

    async def request(self, method, path, *, body=None, within=30.0):
        self.requests.append(method)
        await asyncio.sleep(self.delay)
        if self.trouble is not None:
            raise self.trouble
        if method == "GET":
            if self.lease is None:
                raise ApiError(404, "NotFound")
            assert path == PATH
            return json.dumps(self.lease).encode()
        sent = json.loads(body)
        if method == "POST":
            if self.lease is not None:
                raise ApiError(409, "AlreadyExists")
            assert path == PATH.rpartition("/")[0]
        elif sent["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]:
            raise ApiError(409, "Conflict")
        self.store(sent)
        return json.dumps(self.lease).encode()

    def store(self, lease):
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        self.lease = lease

    def hold(self, holder, *, renewed="1999-01-01T00:00:00.000000Z", transitions=4):
        """Another candidate writes the lease; its clock may say anything."""
        meta = {"name": "berth", "namespace": "berth-system", "annotations": {"kept": "yes"}}
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "acquireTime": renewed,
            "renewTime": renewed,
            "leaseTransitions": transitions,
        }
        self.store({"metadata": meta, "spec": spec})

    @property
    def holder(self):
        return self.lease["spec"]["holderIdentity"]


class Candidate:
    def __init__(self, leases, name, **options):
        self.events = []
        self.leaders = []
        self.elector = LeaderElector(
            leases, SETTINGS, me=name, on_new_leader=self.leaders.append, now=lambda: 1.8e9 + now(), **options
        )
        self.task = asyncio.create_task(self.elector.run(self.started, self.lost))

    async def started(self):
        self.events.append(("started", round(now(), 3)))

    def lost(self):
        self.events.append(("lost", round(now(), 3)))

    async def stop(self):
        self.task.cancel()
        await asyncio.wait({self.task})


def now():
    return asyncio.get_running_loop().time()


@pytest.fixture
async def leases():
    return Leases()


async def test_a_lease_that_does_not_exist_is_created(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(1)
    assert candidate.events == [("started", 0)]
    assert candidate.elector.is_leader
    assert leases.lease["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2027-01-15T08:00:00.000000Z",
        "renewTime": "2027-01-15T08:00:00.000000Z",
        "leaseTransitions": 0,
    }
    await candidate.stop()


async def test_renewing_takes_one_request_each_retry_period_and_keeps_the_time_of_acquisition(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(9)
    assert leases.requests == ["GET", "POST", "PUT", "PUT", "PUT", "PUT"]
    assert leases.lease["spec"]["acquireTime"] == "2027-01-15T08:00:00.000000Z"
    assert leases.lease["spec"]["renewTime"] == "2027-01-15T08:00:08.000000Z"
    await candidate.stop()


async def test_anothers_lease_is_respected_for_its_duration_since_it_was_seen_to_change(leases):
    """Whatever its times say: the other's clock, or ours, may be wrong by years."""
    leases.hold("other")
    candidate = Candidate(leases, "me")
    await asyncio.sleep(14.9)
    assert candidate.events == []
    assert candidate.leaders == ["other"]
    leases.hold("other", renewed="1999-01-01T00:00:02.000000Z")
    await asyncio.sleep(14.9)
    assert candidate.events == []
    await asyncio.sleep(10)
    assert leases.holder == "me"
    assert candidate.leaders == ["other", "me"]
    assert leases.lease["spec"]["leaseTransitions"] == 5
    assert leases.lease["metadata"]["annotations"] == {"kept": "yes"}
    await candidate.stop()


async def test_the_lease_tells_of_its_holder_as_it_is_now(leases):
    leases.hold("")
    notes = {"certificate": "one"}
    candidate = Candidate(leases, "me", annotations=lambda: notes)
    await asyncio.sleep(1)
    assert leases.lease["metadata"]["annotations"] == {"kept": "yes", "certificate": "one"}
    notes["certificate"] = "two"
    await asyncio.sleep(2)
    assert leases.lease["metadata"]["annotations"] == {"kept": "yes", "certificate": "two"}
    await candidate.stop()


async def test_a_released_lease_is_taken_at_the_next_attempt(leases):
    leases.hold("")
    candidate = Candidate(leases, "me")
    await asyncio.sleep(0.1)
    assert candidate.events == [("started", 0)]
    await candidate.stop()


async def test_of_two_candidates_one_leads_and_the_other_follows_when_it_lets_go(leases):
    first = Candidate(leases, "first")
    second = Candidate(leases, "second")
    await asyncio.sleep(60)
    leader, follower = (first, second) if first.events else (second, first)
    assert follower.events == []
    await leader.stop()
    assert await leader.elector.release()
    assert not leader.elector.is_leader
    await asyncio.sleep(5)
    assert follower.elector.is_leader
    await follower.stop()


@pytest.mark.parametrize("trouble", [ApiError(500), TransportError("reset"), ApiError(429)], ids=["500", "cut", "429"])
async def test_a_hiccup_shorter_than_the_renew_deadline_changes_nothing(leases, trouble):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    leases.trouble = trouble
    await asyncio.sleep(8)
    assert candidate.elector.is_leader
    leases.trouble = None
    await asyncio.sleep(30)
    assert candidate.events == [("started", 0)]
    await candidate.stop()


async def test_leadership_is_lost_when_renewing_fails_for_the_renew_deadline(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    leases.trouble = ApiError(500)
    await asyncio.sleep(20)
    assert candidate.events == [("started", 0), ("lost", 12)]  # renewed last at 2 s
    assert not candidate.elector.is_leader
    assert candidate.task.done()


async def test_leadership_is_over_by_our_own_clock_even_while_a_request_hangs(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    leases.delay = 3600.0
    await asyncio.sleep(9.1)
    assert not candidate.elector.is_leader
    await asyncio.sleep(0.1)
    assert candidate.events[1:] == [("lost", 12)]


async def test_leadership_is_lost_at_once_when_another_one_leads(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    leases.hold("usurper")
    await asyncio.sleep(1.1)
    assert candidate.events == [("started", 0), ("lost", 4)]


async def test_a_lease_that_was_changed_by_hand_is_read_and_renewed(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    leases.hold("me", transitions=7)
    await asyncio.sleep(10)
    assert candidate.elector.is_leader
    assert leases.lease["spec"]["leaseTransitions"] == 7
    await candidate.stop()


async def test_releasing_leaves_the_lease_to_anybody(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    await candidate.stop()
    assert await candidate.elector.release()
    assert leases.holder == ""
    assert leases.lease["spec"]["leaseDurationSeconds"] == 1


async def test_releasing_what_another_one_holds_does_nothing(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    await candidate.stop()
    leases.hold("other")
    assert await candidate.elector.release()
    assert leases.holder == "other"


async def test_releasing_gives_up_after_the_renew_deadline(leases):
    candidate = Candidate(leases, "me")
    await asyncio.sleep(3)
    await candidate.stop()
    leases.delay = 3600.0
    assert not await candidate.elector.release()
    assert now() == pytest.approx(13)


async def test_a_lease_that_can_not_be_read_is_no_crash(leases):
    leases.lease = {"metadata": {}, "spec": {"leaseTransitions": "many"}}
    candidate = Candidate(leases, "me")
    await asyncio.sleep(10)
    assert candidate.events == []
    assert not candidate.task.done()
    await candidate.stop()


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ({"lease_duration": 10.0}, "leaseDuration must be greater than renewDeadline"),
        ({"renew_deadline": 2.4}, r"renewDeadline must be greater than retryPeriod\*1\.2"),
        ({"lease_duration": 0.9, "renew_deadline": 0.5, "retry_period": 0.1}, "leaseDuration must be at least"),
    ],
)
def test_times_that_could_leave_two_leaders_are_refused(times, text):
    with pytest.raises(ValueError, match=text):
        LeaseSettings(**times)


def test_no_two_candidates_have_the_same_identity():
    assert identity() != identity()
    assert identity().partition("_")[2].count("-") == 4
