"""What preemption would come to."""

from scheduler.explain.views.base import View


class Victim(View, frozen=True, kw_only=True):
    """A pod that would go for another one. `started`: when it began to run, "" if it has not; `leaving`: it goes."""

    pod: str
    priority: int
    started: str = ""
    leaving: bool = False


class PreemptionCandidate(View, frozen=True, kw_only=True):
    """A node on which preemption would help, and what that would cost, in the order in which it is compared.

    `pdb_violations`: how many victims go against a PodDisruptionBudget; `highest_priority` among the victims and
    `priority_sum` of them (kube-scheduler counts each from -2147483648, so that more pods never sum up to less);
    `started`: when the most important victim began to run, the later the better. `victims`, the most important first.

    `worse_by` names the first of these by which it is worse than the best: pdbViolations, highestPriority, prioritySum,
    victims, startTime; "" for one that is as good as the best. `words`: the same for people.
    """

    node: str
    victims: tuple[Victim, ...]
    pdb_violations: int = 0
    highest_priority: int
    priority_sum: int
    started: str = ""
    worse_by: str = ""
    words: str = ""
    cleared_nominations: tuple[str, ...] = ()


class PreemptionRefusal(View, frozen=True, kw_only=True):
    """Nodes on which preemption would not help, by why: kube-scheduler's `reason`, and `words` for people."""

    reason: str
    nodes: int
    words: str


class Preemption(View, frozen=True, kw_only=True):
    """What preemption would come to now, tried without evicting or nominating anything.

    `node`: where room would be made, "" where none would or chance would choose among several that are as good, which
    are `ties`. `candidates`, the best first, are some of `candidate_count`. `tried`: how many of the nodes were tried
    that an eviction might open (`might_help`); an attempt ends once it has enough candidates. `message` is what the
    attempt would say. `not_asked`: other PostFilter plugins, which may make room in their own ways.
    """

    helps: bool
    sentence: str
    message: str
    node: str = ""
    ties: tuple[str, ...] = ()
    candidates: tuple[PreemptionCandidate, ...] = ()
    candidate_count: int = 0
    refused: tuple[PreemptionRefusal, ...] = ()
    might_help: int = 0
    tried: int = 0
    not_asked: tuple[str, ...] = ()
