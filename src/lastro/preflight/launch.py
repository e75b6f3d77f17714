"""Does the job's own PyTorch have kernels for this card, and does one run, in each type of number?

A wheel without kernels for a new card says that CUDA is available, and ends at the first operation. So one
product of matrices is computed in each type that the configurations name, in the job's own Python, and is
compared with the same one of small whole numbers, which every type holds exactly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.procs.child import run_with_deadline
from lastro.providers.environment import with_interpreter

#: How configurations spell types, and how PyTorch does.
DTYPES: Mapping[str, str] = {
    "float64": "float64", "fp64": "float64", "double": "float64",
    "float32": "float32", "fp32": "float32", "float": "float32", "tf32": "float32",
    "float16": "float16", "fp16": "float16", "half": "float16",
    "bfloat16": "bfloat16", "bf16": "bfloat16",
}  # fmt: skip

_ASK = """
import json, sys
try:
    import torch
except Exception as error:
    print(json.dumps({"absent": type(error).__name__ + ": " + str(error)}))
    raise SystemExit
cpu = sys.argv[1] == "cpu"
told = {"torch": torch.__version__, "archs": [] if cpu else torch.cuda.get_arch_list(), "cards": []}
devices = ["cpu"] if cpu else ["cuda:%d" % at for at in range(torch.cuda.device_count())]
for device in devices:
    card = {"device": device, "results": {}}
    if not cpu:
        card["capability"] = "%d.%d" % torch.cuda.get_device_capability(device)
    for name in sys.argv[2:]:
        try:
            kind = getattr(torch, name)
            whole = torch.arange(64 * 64, device=device).reshape(64, 64) % 3
            product = (whole.to(kind) @ whole.to(kind)).to(torch.float64).cpu()
            right = whole.cpu().to(torch.float64) @ whole.cpu().to(torch.float64)
            card["results"][name] = "right" if torch.equal(product, right) else "wrong"
        except Exception as error:
            card["results"][name] = type(error).__name__ + ": " + str(error).splitlines()[0]
    told["cards"].append(card)
print(json.dumps(told))
"""


def dtypes_of(configs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the types of numbers that configurations name, as PyTorch spells them; else float32."""
    named = [
        DTYPES[value.lower()]
        for config in configs
        for value in config.values()
        if isinstance(value, str) and value.lower() in DTYPES
    ]
    return tuple(dict.fromkeys(named)) or ("float32",)


def launch(subject: Subject, seconds: float) -> Iterator[Finding]:
    """Launch one kernel for each type and card, or on the processor where GPUs are not asked for."""
    cpu = subject.cpu_only or subject.driver.reason is not None
    python = subject.versions.path
    if python is None or "torch" not in subject.versions.installed:
        yield Finding(
            code="kernel",
            level=Level.NO_ANSWER,
            fact=_("kernels"),
            value=_("not covered: the job's Python has no PyTorch"),
        )
        return
    try:
        done = run_with_deadline(
            [python, "-c", _ASK, "cpu" if cpu else "gpu", *subject.dtypes],
            seconds=seconds,
            cwd=subject.workdir,
            env=with_interpreter(os.environ),
        )
        if done.timed_out:
            # A processor that is busy with something else loads PyTorch slowly, and has no driver to hang in.
            yield _no_answer(_("none after {seconds:.0f} s").format(seconds=seconds), required=not cpu)
            return
        told = strictjson.loads((done.out.strip() or done.err.strip()).splitlines()[-1])
    except (LastroError, ValueError, IndexError) as error:
        last = str(error)
        yield _no_answer(last)
        return
    yield from judge(told, expected_cards=None if cpu else len(subject.driver.cards))


def _no_answer(why: str, *, required: bool = True) -> Finding:
    return Finding(
        code="kernel",
        level=Level.NO_ANSWER,
        fact=_("kernels"),
        value=_("PyTorch gave no answer: {why}").format(why=why),
        expected=_("one product of matrices in each type"),
        consequence=_("the job ends, or hangs, at its first operation"),
        next_step=_("start python -c 'import torch' by hand on this machine"),
        required=required,
    )


def judge(told: Mapping[str, Any], *, expected_cards: int | None) -> Iterator[Finding]:
    """Return the findings for what the job's PyTorch has said.

    Args:
        told: what it printed.
        expected_cards: as the driver counts them; None: no card was asked for.
    """
    if "absent" in told:
        yield _no_answer(str(told["absent"]))
        return
    cards = told["cards"]
    if expected_cards is not None and len(cards) != expected_cards:
        yield _fails(
            _("GPUs that PyTorch sees"),
            str(len(cards)),
            str(expected_cards),
            _("take a PyTorch that is built for this CUDA, and look at CUDA_VISIBLE_DEVICES"),
        )
    for card in cards:
        capability = card.get("capability")
        if capability is not None and not has_kernels(capability, told["archs"]):
            yield _fails(
                _("kernels for {device}").format(device=card["device"]),
                _("none for capability {capability}: PyTorch {version} has {archs}").format(
                    capability=capability, version=told["torch"], archs=", ".join(told["archs"]) or _("none")
                ),
                _("its own, or one that is compiled on the machine"),
                _("install a PyTorch that is built for this card"),
            )
        for name, result in card["results"].items():
            if result == "right":
                yield Finding(
                    code="kernel",
                    level=Level.PASS,
                    fact=_("{dtype} on {device}").format(dtype=name, device=card["device"]),
                    value=_("one product of matrices, right"),
                )
            else:
                yield _fails(
                    _("{dtype} on {device}").format(dtype=name, device=card["device"]),
                    _("another product came out") if result == "wrong" else str(result),
                    _("one product of matrices, right"),
                    _("install a PyTorch that is built for this card, or use another type of number"),
                )


def has_kernels(capability: str, archs: Sequence[str]) -> bool:
    """Say whether architectures serve a card: one of its major version, not newer; or PTX of an older one."""
    major, minor = (int(part) for part in capability.split("."))
    for arch in archs:
        kind, _underscore, number = arch.partition("_")
        digits = number.rstrip("af")
        if not digits.isdigit():
            continue
        built = (int(digits[:-1]), int(digits[-1]))
        if kind == "sm" and built[0] == major and built[1] <= minor:
            return True
        if kind == "compute" and built <= (major, minor):
            return True
    return False


def _fails(fact: str, value: str, expected: str, next_step: str) -> Finding:
    return Finding(
        code="kernel",
        level=Level.FAIL,
        fact=fact,
        value=value,
        expected=expected,
        consequence=_("the job ends at its first operation, or computes something else"),
        next_step=next_step,
    )
