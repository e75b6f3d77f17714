"""What home does with a machine on which somebody has a shell open: pure."""

from __future__ import annotations

import pytest

from lastro.flow import policy
from lastro.flow.halting import HaltRequest
from tests.flow.test_policy_money import fresh_story, plan_of, situation

STOP = HaltRequest(token="t", why="enough", only=None)


@pytest.mark.parametrize(
    ("shells", "halt", "action"),
    [
        ((), None, policy.Release),
        (("m-1",), None, policy.Wait),
        (("m-2",), None, policy.Release),
        (("m-1",), STOP, policy.Release),  # a person's word is more than a person's shell
    ],
)
def test_a_machine_with_nothing_to_run_stays_while_a_shell_is_open_on_it(
    shells: tuple[str, ...], halt: HaltRequest | None, action: type[policy.Action]
) -> None:
    story = fresh_story()
    story.machine("m-1", 1)
    story.start("control", 1, 2, machine="m-1")
    story.end("control", 1, 9, "done", 4)
    now = situation(story.view(minutes=10), plan_of(), shells=frozenset(shells), halt=halt, wanted=())

    assert isinstance(policy.next_action(now), action)
