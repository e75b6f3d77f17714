"""The list of commands, in the order of the journey. Each lives in a module and is named like it."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """Where a command lives (`lastro.cli.<module>.<module>`), and its line in the help.

    No dataclass: to import that module and to make this class would take a twentieth of `lastro --help`.
    """

    module: str
    text: str


COMMANDS: dict[str, Command] = {
    "init": Command("init", "Write a commented campaign.yaml beside your own script."),
    "plan": Command("plan", "Show calendar, cost and risk of a campaign. Rents nothing."),
    "offers": Command("offers", "List what can be rented, or import it from a catalogue."),
    "disk": Command("disk", "What outlives the machine: prove it, keep it, guard what is not on it."),
    "preflight": Command("preflight", "Check this machine against what the campaign wants."),
    "lease": Command("lease", "List or add what was bought by hand, such as on a website."),
    "expense": Command("expense", "List or add what else was paid; give rates of exchange."),
    "invoice": Command("invoice", "Hold a bill that came against the campaign's own."),
    "run": Command("run", "Run the campaign, or one run of it, to the end."),
    "decide": Command("decide", "Say how it goes on after a pilot, where the plan asks for it."),
    "drill": Command("drill", "Prove that kill and resume equals no kill, for your own job."),
    "rehearse": Command("rehearse", "Play the plan in small with drawn faults: which promises hold?"),
    "status": Command("status", "Show what runs, what it has cost, what is at risk."),
    "logs": Command("logs", "Show what a run has printed, over all its attempts."),
    "shell": Command("shell", "Open a terminal on a machine of the campaign, or run a command there."),
    "stop": Command("stop", "Save and end what runs, so that `lastro run` can go on."),
    "items": Command("items", "Call a command for each item that is missing: render, convert, infer."),
    "explain": Command("explain", "Show forecast and actual, and say why they differ."),
    "close": Command("close", "Reload every output, add up the cost, conclude."),
    "export": Command("export", "Write files that start the campaign without lastro."),
    "journal": Command("journal", "Check the record of a campaign."),
    "doctor": Command("doctor", "Tell what is missing on this machine, and what that costs."),
}

#: The commands of `lastro disk`, in the order of a disk's life. They live in `lastro.cli.disk_<name>`.
DISK_COMMANDS: dict[str, Command] = {
    "prove": Command("disk_prove", "Say how well it is known that a folder outlives this machine."),
    "guard": Command("disk_guard", "Find what would be lost with the machine; rescue it or let it go."),
    "create": Command("disk_create", "Make a disk that outlives machines."),
    "attach": Command("disk_attach", "Show a disk at a path."),
    "detach": Command("disk_detach", "Take a disk off this box; what lies on it stays."),
    "list": Command("disk_list", "List disks and what they cost, idle ones too."),
    "delete": Command("disk_delete", "Delete a disk that holds the only copy of nothing."),
    "env": Command("disk_env", 'Point caches to the disk: eval "$(lastro disk env)".'),
    "usage": Command("disk_usage", "Who uses what, what it costs, when it is full, what packing saves."),
    "prune": Command("disk_prune", "Say what can go from the disk, and why; let it go."),
    "pack": Command("disk_pack", "Pack many files into few: tar shards with an index."),
    "unpack": Command("disk_unpack", "Write a pack's files into a new folder, or verify it."),
    "push": Command("disk_push", "Send files to a bucket or a machine; goes on after a kill."),
    "pull": Command("disk_pull", "Fetch them, or the nearest copy of a digest, and check them."),
}
