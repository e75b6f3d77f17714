"""What lastro in a job reads when no supervisor has started it: an `attempt.json` that a shell writes. Pure.

By hand a job would get a seed of 0, no stop rules and the default checkpoint policy; here it gets those of
the campaign, and so the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from lastro import strictjson
from lastro.export.recipe import Recipe, Start
from lastro.rules import CheckpointPolicy, Order, StopRule

_ATTEMPT = """\
# --- what lastro in the job reads, which is there as a library only: seed, stop rules, when to save
escaped() {{ printf '%s' "$1" | sed 's/[\\\\"]/\\\\&/g'; }}
number=1
while [ -e "$mine/attempts/$number" ]; do number=$((number + 1)); done
LASTRO_ATTEMPT=$mine/attempts/$number
export LASTRO_ATTEMPT
mkdir -p "$mine/attempts"
mkdir "$LASTRO_ATTEMPT"
{{
    printf '{{"number": %s, "token": "exported-%s", ' "$number" "$number"
    printf '"claimed_at": "%s", "committed_step": null, ' "$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)"
    printf '"order": {{"workdir": "%s", ' "$(escaped "$work")"
    printf '"campaign_folder": "%s", ' "$(escaped "$STATE/campaigns/{campaign}")"
    printf '%s, ' "$order"
    cat <<'ORDER'
{common}}}}}
ORDER
}} >"$LASTRO_ATTEMPT/attempt.json"
"""


def attempt(recipe: Recipe) -> str:
    """Return the lines that write it, and name it to the job. They need `order` of `order_of`, and `work`."""
    common = _common_order(recipe)
    return _ATTEMPT.format(campaign=recipe.name, common=strictjson.dumps(common)[1:-1])


def order_of(one: Start) -> str:
    """Return what an order says of one run, as the inside of a JSON object."""
    own = {
        "run": one.name,
        "name": one.name,
        "command": [one.name],
        "config": dict(one.config),
    }
    return strictjson.dumps(own)[1:-1]


def _common_order(recipe: Recipe) -> dict[str, Any]:
    """Return what an order says of every run, without what it would say by itself."""
    spec = recipe.spec
    outputs = tuple(deliverable.path for deliverable in spec.deliverables.values())
    told = Order(
        campaign=spec.campaign, run="", name="", command=(), config={}, seed=spec.seed, resume=spec.resume,
        workdir="", campaign_folder="", machine="exported", node="exported", home_stream="", home_head="",
        stop=recipe.stop, checkpoint=recipe.checkpoint, outputs=outputs,
    )  # fmt: skip
    kept = ("campaign", "seed", "resume", "machine", "node", "home_stream", "home_head")
    return {
        **{name: getattr(told, name) for name in kept},
        "outputs": list(told.outputs),
        "stop": [_unusual(rule, StopRule(kind=rule.kind)) | {"kind": rule.kind.value} for rule in told.stop],
        "checkpoint": _unusual(told.checkpoint, CheckpointPolicy()),
    }


def _unusual(value: Any, usual: Any) -> dict[str, Any]:
    """Return the fields of a record that are not as usual, in JSON's kinds."""
    said, by_itself = asdict(value), asdict(usual)
    names: Iterable[str] = (field.name for field in fields(value))
    return {name: said[name] for name in names if said[name] != by_itself[name]}
