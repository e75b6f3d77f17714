"""What is decided about a run while it lives: stop, restart, leave, as pure functions of frozen values.

Standard library only: the job, the supervisor and the closing all call these, on machines where nothing
else is installed. Each decision comes with its reason.
"""

from lastro.rules.corpus import Corpus
from lastro.rules.ending import Cause, End, Ended, Leave, Stay, cause_of
from lastro.rules.hang import HangPolicy, Silence, judge_silence
from lastro.rules.limits import LimitKind, Limits, judge_limits, leaving_seconds
from lastro.rules.moving import MoveOn
from lastro.rules.notice import NoticePlan
from lastro.rules.notice import decide as decide_notice
from lastro.rules.order import (
    Attempt,
    Best,
    CheckpointPolicy,
    CodeIdentity,
    ExpectedSave,
    Order,
    RestartPolicy,
)
from lastro.rules.restart import Life, Next, Verdict, after_attempt
from lastro.rules.stop import Stop, StopKind, StopRule, judge_input, judge_resume, judge_values

__all__ = [
    "Attempt",
    "Best",
    "Cause",
    "CheckpointPolicy",
    "CodeIdentity",
    "Corpus",
    "End",
    "Ended",
    "ExpectedSave",
    "HangPolicy",
    "Leave",
    "Life",
    "LimitKind",
    "Limits",
    "MoveOn",
    "Next",
    "NoticePlan",
    "Order",
    "RestartPolicy",
    "Silence",
    "Stay",
    "Stop",
    "StopKind",
    "StopRule",
    "Verdict",
    "after_attempt",
    "cause_of",
    "decide_notice",
    "judge_input",
    "judge_limits",
    "judge_resume",
    "judge_silence",
    "judge_values",
    "leaving_seconds",
]
