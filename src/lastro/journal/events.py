"""Every type of event, with the facts it carries. `docs/events.md` is tested against this list.

Each event also has `seq`, `prev` (the chain), `at` (wall time of its writer, for people) and `type`.
"""

from __future__ import annotations

from enum import Enum


class EventType(str, Enum):
    """Types of events; the first part of each name says whose life it belongs to."""

    # any stream
    STREAM_OPENED = (
        "stream.opened"  # campaign, stream, lastro, host; on a machine also home_stream, home_head
    )
    STREAM_CUT = "stream.cut"  # bytes: a torn last line, never acknowledged, that was cut off
    FILES_SETTLED = "files.settled"  # files (path, bytes, sha256): they have got their last bytes

    # home's stream
    PLAN_FROZEN = "plan.frozen"  # digest, plan
    HOME_TOOK_OVER = "home.took_over"  # number, from_home, from_host: another home drove it until now
    CAMPAIGN_HALTED = "campaign.halted"  # why, only: a person asked that nothing more is started
    CAMPAIGN_RESUMED = "campaign.resumed"  # why (it had been halted): `lastro run` was typed again
    PLAN_REVISED = "plan.revised"  # digest, plan, why
    RUN_SUPERSEDED = "run.superseded"  # run, by, why
    MACHINE_INTENDED = "machine.intended"  # tag, provider, lease, why
    MACHINE_CREATED = "machine.created"  # tag, machine, node, requested_at, level, queued
    MACHINE_READY = "machine.ready"  # machine, seconds, node, born
    DISK_ATTACHED = "disk.attached"  # machine, disk, state, why, fs_type, source, on_root, troubles
    # guard.rescued: machine, files, bytes, folder, left (what could not be), what (paths, at most twenty)
    GUARD_RESCUED = "guard.rescued"
    MACHINE_SILENT = "machine.silent"  # machine, run, seconds: its supervisor gives no sign of life
    MACHINE_GONE = "machine.gone"  # machine, cause, seconds (of use, by the provider's clock)
    MACHINE_REFUSED = "machine.refused"  # tag, why, tries (in a row), wait_seconds: there was no capacity
    # machine.rejected: machine, what (boot, queue, preflight, node), why, by_offer: no work on it
    MACHINE_REJECTED = "machine.rejected"
    # offer.left: offer, to, what (refused, boot, preflight, boxes, spot, region), why, figures
    OFFER_LEFT = "offer.left"
    OFFERS_SPENT = "offers.spent"  # why, then (stop, ask, wait), figures: no further offer is left
    OFFERS_REOPENED = "offers.reopened"  # why, asked (machines so far): a person has them asked again
    MACHINE_RECALLED = "machine.recalled"  # machine, node, why, faults, hours, notes: it is known from before
    # decision.awaited: stage, runs (name, worked_hours, planned_hours, steps, items_done, items_total,
    # lost_steps, committed_step, status), cost (known, by currency), unknown (why it is not complete)
    DECISION_AWAITED = "decision.awaited"
    DECISION_MADE = "decision.made"  # stage, choice, why
    DECISION_FOLLOWED = "decision.followed"  # stage, choice: `lastro run` goes on by it
    DRILL_DONE = "drill.done"  # run, code_digest, drilled_at, verdict, why, updates, different_from, cause
    LEASE_ADDED = "lease.added"  # order, host, lease: what was bought by hand
    EXPENSE_ADDED = "expense.added"  # id, what, amount, day, ref: paid beside, as a person typed it
    EXPENSE_UNDONE = "expense.undone"  # id, why: it was a mistake; the line is not counted any more
    RATE_GIVEN = "rate.given"  # base, to, rate, day, source: a rate of exchange
    INVOICE_ADDED = "invoice.added"  # number, day, source, lines (ref, what, amount)
    INVOICE_UNDONE = "invoice.undone"  # number, why
    STAGE_EXPLAINED = "stage.explained"  # stage, run, why, hours: a person says how a stage went
    DOUBT_SETTLED = "doubt.settled"  # doubt, why: a person says what became of an uncertainty of the plan
    LOCK_WRITTEN = "lock.written"  # digest, why (it was made anew), replaces (the digest before)
    PREFLIGHT_DONE = "preflight.done"  # machine, verdict, findings, stack, node_id, size, trusted, accepted
    RUN_DISPATCHED = "run.dispatched"  # run, machine, why
    RUN_MOOT = "run.moot"  # run, why: it can no longer change the answer, so it is not started
    RUN_GIVEN_UP = "run.given_up"  # run, why
    ATTEMPT_LOST = "attempt.lost"  # run, attempt, machine, why, step, committed_step, items
    STREAM_INGESTED = "stream.ingested"  # source, events (how many), head
    FAULT_FIRED = "fault.fired"  # index, key, run, step, notice_seconds, create, silent, ...
    # deliverable.judged: run, name, path, verdict, why, level, level_why, loader, versions, seconds, digest,
    # metric, content, duplicate_of, near, bases, warnings
    DELIVERABLE_JUDGED = "deliverable.judged"
    CAMPAIGN_CONCLUDED = "campaign.concluded"  # verdict, run, why, evidence, stopped
    # campaign.closed: exit_code, root_digest, report_html, report_json, sealed
    CAMPAIGN_CLOSED = "campaign.closed"
    CAMPAIGN_SIGNED = "campaign.signed"  # signature: the SHA-256 of what ssh-keygen has made
    COPY_VERIFIED = "copy.verified"  # where, root_digest, files, bytes, apart, rehearsal: a second copy
    COPY_WAIVED = "copy.waived"  # why: a person does without a second copy

    # the stream of one shell on a machine
    SHELL_OPENED = "shell.opened"  # machine, node, command (null: a terminal), why, silence_seconds
    SHELL_ENDED = "shell.ended"  # machine, seconds, code, ended_by (left, silence, or a limit), why

    # the stream of one attempt
    ATTEMPT_STARTED = "attempt.started"  # run, name, attempt, machine, node, token, committed_step
    ATTEMPT_LAUNCHED = "attempt.launched"  # shim, job (identities), supervisor, oom_score_adj
    ATTEMPT_ADOPTED = "attempt.adopted"  # supervisor: a new one found the job alive
    ATTEMPT_RESUMED = "attempt.resumed"  # step, folder, seconds
    ATTEMPT_STEPPED = "attempt.stepped"  # step, seconds: the first step completed by this attempt
    # checkpoint.committed: step, folder, bytes, seconds, why, healthy, manifest (its SHA-256)
    CHECKPOINT_COMMITTED = "checkpoint.committed"
    CHECKPOINT_MIRRORED = "checkpoint.mirrored"  # step, folder, bytes, seconds: it is off the machine too
    CHECKPOINT_COPIED = "checkpoint.copied"  # run, attempt, step, bytes, seconds: home has it, read again
    MIRROR_OPENED = "mirror.opened"  # place, bytes_per_second, why_not: rehearsed before step 0
    MIRROR_FAILED = "mirror.failed"  # what, why: it stays on the machine alone for now
    CHECKPOINT_REFUSED = "checkpoint.refused"  # folder, why: announced by the job, not believed
    CHECKPOINT_PASSED_OVER = "checkpoint.passed_over"  # folder, why
    CHECKPOINT_INTERVAL = "checkpoint.interval"  # seconds, why: what saves were measured to cost
    CHECKPOINT_SKIPPED = "checkpoint.skipped"  # step, in_flight: the step whose save was still being written
    OUTPUT_PUBLISHED = "output.published"  # path, bytes, sha256
    ITEMS_PUBLISHED = "items.published"  # done, total, offset (bytes of items.jsonl that are counted)
    INPUT_READ = "input.read"  # rows, digest
    NOTICE_RECEIVED = "notice.received"  # seconds, source, save, ask_in, loss_bound_seconds, why
    NOTICE_WITHDRAWN = "notice.withdrawn"  # source, why: the machine stays after all
    NOTICE_SILENT = "notice.silent"  # source, why: it is not asked any more
    DISK_SHORT = "disk.short"  # what, free, needed (bytes): what is still to come will not fit
    DISK_HELD = "disk.held"  # bytes, why_not (null: all): room for checkpoints that are still to come
    DISK_FULL = "disk.full"  # what, free, needed: it waits for room
    DISK_ROOM = "disk.room"  # what, free, seconds: it goes on
    CACHES_POINTED = "caches.pointed"  # variables, findings (of those set already), compiled (brought)
    CACHES_KEPT = "caches.kept"  # key, files, bytes, why: compiled kernels that were written to the disk
    ENVIRONMENT_DIFFERS = "environment.differs"  # differences (variable, told, found)
    GUARD_WARNED = "guard.warned"  # files, bytes, what (paths, at most ten): on what goes with the machine
    STOP_RULED = "stop.ruled"  # rule, why, step, metric, value
    ATTEMPT_HUNG = "attempt.hung"  # why, step, silent_seconds, longest_step_seconds, stacks
    ATTEMPT_ASKED = "attempt.asked"  # why: a person asked for save and stop
    LIMIT_REACHED = "limit.reached"  # limit, why, seconds (to leave), save_seconds (of the last save)
    ATTEMPT_ENDED = "attempt.ended"  # cause, step, committed_step, seconds, ended_by
    RUN_ENDED = "run.ended"  # verdict, why: this supervisor starts no further attempt


#: Events that are durable before the writer goes on: what others act upon, or what cannot be said again.
DURABLE = frozenset(
    {
        EventType.PLAN_FROZEN,
        EventType.HOME_TOOK_OVER,
        EventType.CAMPAIGN_HALTED,
        EventType.CAMPAIGN_RESUMED,
        EventType.PLAN_REVISED,
        EventType.RUN_SUPERSEDED,
        EventType.DECISION_AWAITED,
        EventType.DECISION_MADE,
        EventType.DECISION_FOLLOWED,
        EventType.MACHINE_INTENDED,
        EventType.MACHINE_CREATED,
        EventType.MACHINE_GONE,
        EventType.MACHINE_REJECTED,
        EventType.OFFER_LEFT,
        EventType.OFFERS_REOPENED,
        EventType.GUARD_RESCUED,
        EventType.LEASE_ADDED,
        EventType.EXPENSE_ADDED,
        EventType.EXPENSE_UNDONE,
        EventType.RATE_GIVEN,
        EventType.INVOICE_ADDED,
        EventType.INVOICE_UNDONE,
        EventType.STAGE_EXPLAINED,
        EventType.DOUBT_SETTLED,
        EventType.ATTEMPT_LOST,
        EventType.DELIVERABLE_JUDGED,
        EventType.CAMPAIGN_CONCLUDED,
        EventType.CAMPAIGN_CLOSED,
        EventType.CAMPAIGN_SIGNED,
        EventType.COPY_VERIFIED,
        EventType.COPY_WAIVED,
        EventType.ATTEMPT_STARTED,
        EventType.CHECKPOINT_COMMITTED,
        EventType.CHECKPOINT_MIRRORED,
        EventType.OUTPUT_PUBLISHED,
        EventType.STOP_RULED,
        EventType.ATTEMPT_ENDED,
        EventType.RUN_ENDED,
    }
)
