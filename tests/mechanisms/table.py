"""Mechanisms that the promises of docs/reliability.md rest on, and how to disable each.

`old` is replaced by `new` once in a copy of the source; with that, `test` has to fail. A mechanism that can
be taken away without a test noticing is one that a change may take away.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mechanism:
    """One line (or few) that a promise rests on."""

    name: str
    file: str
    old: str
    new: str
    test: str


MECHANISMS = (
    Mechanism(
        "a job whose supervisor died does not work on beside its successor",
        "run/supervisor.py",
        "        _end_orphans(order, clock)",
        "        pass",
        "tests/flow/test_campaign.py::test_a_job_whose_supervisor_died_has_ended_before_the_new_code_begins",
    ),
    Mechanism(
        "a kill for want of memory is the job's only where something shows it",
        "run/oom.py",
        "return Victim.JOB if by_own_group else Victim.SOMEBODY",
        "return Victim.JOB",
        "tests/run/test_oom.py::"
        "test_a_job_killed_by_somebody_while_a_neighbour_in_its_group_ran_out_of_memory_is_not_blamed_on_it",
    ),
    Mechanism(
        "half of a program's own save does not count",
        "run/foreign.py",
        "if ended.code in _WHOLE:",
        "if True:",
        "tests/run/test_foreign.py::test_after_a_kill_only_what_was_closed_and_quiet_before_counts",
    ),
    Mechanism(
        "a save that is open for writing is not complete",
        "run/foreign.py",
        "if before is None or before.signature != save.signature or before.busy:",
        "if before is None or before.signature != save.signature:",
        "tests/run/test_foreign.py::test_a_save_settles_when_it_was_seen_unchanged_and_closed_for_long_enough",
    ),
    Mechanism(
        "what a process has open for writing is seen",
        "run/writers.py",
        "if below and path not in found and _writes(pid, descriptor):",
        "if False:",
        "tests/run/test_foreign.py::test_killed_in_the_middle_of_a_save_it_goes_on_from_the_one_before",
    ),
    Mechanism(
        "a damaged copy of a save is passed over",
        "run/resuming.py",
        'return "; ".join(store.verify(folder)) or None',
        "return None",
        "tests/run/test_foreign.py::test_the_latest_copy_that_verifies_is_chosen_and_a_damaged_one_is_named",
    ),
    Mechanism(
        "a save on which its program crashes gives way",
        "run/resuming.py",
        "elif folder.name in failed:",
        "elif False:",
        "tests/run/test_foreign.py::test_a_copy_from_which_a_start_failed_gives_way_to_an_earlier_one",
    ),
    Mechanism(
        "a program is not started from nothing after it had saved",
        "run/resuming.py",
        "        if stop is None:",
        "        if True:",
        "tests/run/test_foreign.py::test_with_nothing_usable_left_it_is_not_started_from_nothing",
    ),
    Mechanism(
        "a supervisor knows what one before it has copied",
        "run/foreign.py",
        "self._memory = _read_memory(self._folder)",
        "self._memory = _Memory()",
        "tests/run/test_foreign.py::test_a_supervisor_that_takes_over_takes_no_save_twice",
    ),
    Mechanism(
        "a save is put back on a fresh machine",
        "run/resuming.py",
        "    foreign.put_back(choice.folder, choice.manifest, original)",
        "    pass",
        "tests/run/test_foreign.py::test_on_a_fresh_machine_the_save_is_put_back_where_it_was",
    ),
    Mechanism(
        "two starts without progress end a run",
        "rules/restart.py",
        "if barren >= policy.starts_without_progress:",
        "if False:",
        "tests/test_rules.py::test_two_starts_without_progress_end_the_run",
    ),
    Mechanism(
        "the same failure twice ends a run",
        "rules/restart.py",
        "if cause.failure is not None:",
        "if False:",
        "tests/test_rules.py::test_the_same_failure_at_the_same_step_twice_stops_at_once",
    ),
    Mechanism(
        "a supervisor that died is replaced by one that finds its job",
        "run/attempt.py",
        "attempt._job = take_over(folder)",
        "attempt._job = None",
        "tests/run/test_supervisor.py::test_a_supervisor_killed_9_is_replaced_and_the_same_job_goes_on",
    ),
    Mechanism(
        "one supervisor per run",
        "run/seat.py",
        "if holder is not None and is_alive(holder):",
        "if False:",
        "tests/run/test_supervisor.py::test_of_many_supervisors_one_starts_the_job",
    ),
    Mechanism(
        "a supervisor whose seat was taken gives way",
        "run/seat.py",
        "return not os.path.exists(self._next)",
        "return True",
        "tests/run/test_supervisor.py::test_a_supervisor_whose_seat_was_taken_ends_its_job_and_is_fenced",
    ),
    Mechanism(
        "what a job leaves behind is ended with it",
        "run/attempt.py",
        "self._ended |= end_tree(self._marker, [job.job], spare=[job.shim])",
        "job.terminate()",
        "tests/run/test_supervisor.py::"
        "test_a_job_that_ignores_everything_is_ended_with_all_its_children_after_the_grace",
    ),
    Mechanism(
        "files are synced before they get their name",
        "atomic.py",
        "            os.fsync(file.fileno())\n    except BaseException:",
        "    except BaseException:",
        "tests/crash/test_power_cut.py::test_after_a_power_cut_at_any_call_everything_announced_is_there",
    ),
    Mechanism(
        "names are synced before they are announced",
        "atomic.py",
        "os.O_RDONLY | os.O_DIRECTORY)\n    try:\n        os.fsync(descriptor)",
        "os.O_RDONLY | os.O_DIRECTORY)\n    try:\n        pass",
        "tests/crash/test_power_cut.py::test_after_a_power_cut_at_any_call_everything_announced_is_there",
    ),
    Mechanism(
        "events that others act upon are synced",
        "journal/streams.py",
        "        if kind in DURABLE:\n",
        "        if False:\n",
        "tests/crash/test_power_cut.py::test_after_a_power_cut_at_any_call_everything_announced_is_there",
    ),
    Mechanism(
        "a torn last line is cut",
        "journal/streams.py",
        "os.truncate(path, path.stat().st_size - reading.torn)",
        "pass",
        "tests/journal/test_streams.py::test_a_torn_last_line_is_cut_and_told",
    ),
    Mechanism(
        "lines are chained",
        "journal/streams.py",
        "if prev != head.digest:",
        "if False:",
        "tests/journal/test_streams.py::test_a_changed_line_is_found_at_its_place",
    ),
    Mechanism(
        "a source that was rewritten is refused",
        "journal/streams.py",
        "if not whole.startswith(have) or reading.damage is not None:",
        "if reading.damage is not None:",
        "tests/journal/test_streams.py::test_a_source_that_was_rewritten_is_refused_and_the_copy_kept",
    ),
    Mechanism(
        "one home process drives a campaign",
        "flow/session.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        "tests/flow/test_journey.py::"
        "test_two_runs_started_at_once_give_one_attempt_each_and_both_tell_the_result",
    ),
    Mechanism(
        "rules of a frozen plan change only with a reason",
        "flow/freeze.py",
        "if changes.rules and revise is None:",
        "if False:",
        "tests/flow/test_journey.py::test_changed_rules_need_a_reason",
    ),
    Mechanism(
        "a limit asks the job to leave while its save fits",
        "rules/limits.py",
        "if seconds <= leaving]",
        "if seconds <= -1e18]",
        "tests/rules/test_limits.py::test_a_job_leaves_when_the_lease_lasts_no_longer_than_its_save",
    ),
    Mechanism(
        "a limit lets the machine go",
        "run/supervisor.py",
        "release_after(lives[-1].cause)",
        "pass",
        "tests/run/test_limits.py::test_a_budget_pauses_the_run_and_the_machine_is_asked_to_go",
    ),
    Mechanism(
        "a machine ends when its supervisor lets it go",
        "providers/local_machine.py",
        "if (released := _released(self._folder)) is not None:",
        "if (released := None) is not None:",
        "tests/providers/test_local.py::test_a_machine_ends_when_its_supervisor_lets_it_go",
    ),
    Mechanism(
        "an item is skipped while its file has its size",
        "job/items.py",
        "if size == line.bytes:",
        "if True:",
        "tests/job/test_items.py::test_a_published_item_that_changed_its_size_is_made_again_and_told",
    ),
    Mechanism(
        "a published item is listed",
        "job/items.py",
        "self._index.append(lines)",
        "pass",
        "tests/job/test_items.py::"
        "test_killed_three_times_no_published_item_is_made_again_and_at_most_a_batch_is_repeated",
    ),
    Mechanism(
        "a replaced attempt publishes no item",
        "job/items.py",
        "            self._fence()\n            left",
        "            left",
        "tests/job/test_items.py::test_a_replaced_attempt_publishes_no_item_and_cuts_nothing",
    ),
    Mechanism(
        "published items are progress",
        "rules/restart.py",
        " or _grew(self.items_before, self.items_after)",
        "",
        "tests/run/test_published.py::test_a_job_that_crashes_goes_on_while_its_items_grow_and_no_longer",
    ),
    Mechanism(
        "the bytes of many items are synced before they get their names",
        "atomic.py",
        "if syncfs(descriptor) != 0:",
        "if descriptor < 0:",
        "tests/crash/test_power_cut_items.py::"
        "test_after_a_power_cut_at_any_call_every_item_that_is_listed_is_whole",
    ),
    Mechanism(
        "bytes that move are no idleness",
        "run/idleness.py",
        "or moved > _BYTES_A_SECOND * elapsed",
        "",
        "tests/run/test_limits.py::test_what_takes_long_and_does_something_is_not_idle",
    ),
    Mechanism(
        "nothing begins where it would have to leave at once",
        "flow/policy.py",
        "return bars_start(limits, run, now.view.at) is None and",
        "return",
        "tests/flow/test_policy_money.py::test_nothing_begins_on_a_machine_whose_lease_ends_too_soon",
    ),
    Mechanism(
        "weather may cost so much and no more",
        "flow/money.py",
        "if lost.amount > 0 and lost.amount >= cap.amount:",
        "if False:",
        "tests/flow/test_policy_money.py::test_weather_stops_where_it_costs_more_than_it_may",
    ),
    Mechanism(
        "a refused machine is asked for again",
        "flow/drive.py",
        "except CapacityRefused as error:",
        "except ZeroDivisionError as error:",
        "tests/flow/test_limits.py::test_a_refused_machine_is_asked_for_again",
    ),
    Mechanism(
        "what came too late is passed over",
        "checkpoint/late.py",
        "if name not in seen:",
        "if False:",
        "tests/checkpoint/test_late.py::test_a_checkpoint_that_came_after_the_replacement_had_begun_is_passed_over",
    ),
    Mechanism(
        "a fenced attempt publishes nothing",
        "checkpoint/store.py",
        "        if not still_mine():",
        "        if False:",
        "tests/checkpoint/test_store.py::test_a_fenced_attempt_publishes_nothing",
    ),
    Mechanism(
        "a silent machine is given up",
        "flow/silence.py",
        "silent >= limit and",
        "False and",
        "tests/flow/test_silence.py::test_a_living_supervisor_that_is_silent_for_too_long_has_lost_its_machine",
    ),
    Mechanism(
        "no save is begun that cannot end",
        "rules/notice.py",
        "if save_seconds > room:",
        "if False:",
        "tests/rules/test_notice.py::test_what_a_notice_leaves_time_for",
    ),
    Mechanism(
        "a notice that is taken back lets the job stay",
        "run/attempt.py",
        "self._leave, self._deadline = None, None",
        "pass",
        "tests/run/test_noticed.py::test_a_notice_that_is_taken_back_lets_the_job_stay",
    ),
    Mechanism(
        "what descends from a spared parent is found",
        "procs/killtree.py",
        "known | marked | apart | left_out",
        "known | marked | apart",
        "tests/procs/test_rungs.py::test_all_rungs_together_miss_nothing",
    ),
    Mechanism(
        "a second home only reads",
        "flow/ownership.py",
        "if now is not None and not take_over:",
        "if False:",
        "tests/flow/test_two_homes.py::test_a_second_home_only_reads",
    ),
    Mechanism(
        "a save that finds no room is made when there is some",
        "job/saver.py",
        "            self._make_room()\n            return False",
        "            raise",
        "tests/job/test_room.py::test_a_save_waits_for_room_and_goes_on",
    ),
    Mechanism(
        "a line that finds no room is taken back whole",
        "journal/signals.py",
        "                self._take_back(done)",
        "                pass",
        "tests/job/test_room.py::test_measurements_wait_and_none_is_lost_or_half_written",
    ),
    Mechanism(
        "what the reserve leaves is not for work",
        "disk/reserve.py",
        "return max(0, self.free - max(0, self.wanted - self.held))",
        "return self.free",
        "tests/job/test_room.py::test_measurements_wait_and_none_is_lost_or_half_written",
    ),
    Mechanism(
        "what the next save makes superfluous goes before it",
        "job/saver.py",
        "if retention.make_room(checkpoints, keep, self._verified):",
        "if False:",
        "tests/job/test_room.py::test_what_the_next_save_makes_superfluous_goes_first",
    ),
    Mechanism(
        "dying of a full disk counts nothing against a run",
        "rules/ending.py",
        "            ended.full,\n",
        "            False,\n",
        "tests/run/test_room.py::test_a_job_that_dies_of_a_full_disk_is_started_again_when_there_is_room",
    ),
    Mechanism(
        "the reserve goes before an attempt begins",
        "run/room.py",
        "if room_on(disk).free < BEGINNING_BYTES:",
        "if False:",
        "tests/run/test_room.py::test_on_a_full_disk_an_attempt_begins_and_ends_with_its_last_words",
    ),
    Mechanism(
        "a disk that went away is seen on the machine",
        "run/room.py",
        "if seen.now - self.away_since < GONE_SECONDS:",
        "if True:",
        "tests/run/test_room.py::test_a_disk_that_goes_away_ends_the_job_and_leaves_nothing_alive",
    ),
    Mechanism(
        "another disk is refused on the machine",
        "run/room.py",
        "why = None if uuid is None else other_disk(disk, uuid)",
        "why = None",
        "tests/run/test_room.py::test_a_supervisor_that_was_sent_to_another_disk_refuses_by_name",
    ),
    Mechanism(
        "another disk is refused at home",
        "flow/freeze.py",
        "if any(run.attempts for run in session.view().runs):",
        "if False:",
        "tests/flow/test_disk_faults.py::test_another_disk_in_its_place_is_refused_by_name",
    ),
    Mechanism(
        "an order says what home has seen committed",
        "run/supervisor.py",
        "known = (committed_step(lives), self._order.committed_step)",
        "known = (committed_step(lives), None)",
        "tests/run/test_room.py::test_a_disk_without_the_checkpoints_that_home_has_seen_is_no_beginning_at_step_0",
    ),
    Mechanism(
        "the checkpoint of another run is no past of this one",
        "checkpoint/store.py",
        "if run is not None and manifest.facts.run != run:",
        "if False:",
        "tests/checkpoint/test_damage.py::test_a_later_checkpoint_of_an_older_run_is_no_past_of_this_one",
    ),
    Mechanism(
        "a cut tail is found by the heads that others hold",
        "flow/verifying.py",
        "        if why_not is not None:",
        "        if False:",
        "tests/journal/test_damage.py::test_damage_is_named_at_its_place_and_nothing_is_closed_over_it",
    ),
    Mechanism(
        "a stream that is missing is missed",
        "flow/verifying.py",
        "names = dict.fromkeys([*readings, *sorted(anchor.stream for anchor in anchors)])",
        "names = dict.fromkeys(readings)",
        "tests/journal/test_damage.py::test_damage_is_named_at_its_place_and_nothing_is_closed_over_it",
    ),
    Mechanism(
        "tracebacks are cleared of secrets",
        "job/hooks.py",
        'sys.stderr.write(redacted("".join(traceback.format_exception(error))))',
        'sys.stderr.write("".join(traceback.format_exception(error)))',
        "tests/flow/test_secrets.py::test_a_job_has_its_secrets_in_the_environment_and_nothing_writes_them_down",
    ),
    Mechanism(
        "code with a secret in it is not frozen",
        "flow/secrets.py",
        "    if in_code:",
        "    if False:",
        "tests/flow/test_secrets.py::test_code_with_a_key_in_it_is_refused_by_name_before_anything_is_frozen",
    ),
    Mechanism(
        "a gap between two clocks that is below zero is unknown",
        "journal/projections.py",
        "known = gap.total_seconds() >= 0",
        "known = True",
        "tests/journal/test_clock_back.py::test_what_happened_is_told_the_same_and_nothing_lasts_less_than_nothing",
    ),
    Mechanism(
        "a machine on which everything has ended does not wait for a dead home for ever",
        "run/__main__.py",
        "        if watched:\n",
        "        if False:\n",
        "tests/flow/test_limits.py::"
        "test_a_machine_on_which_everything_has_ended_lets_itself_go_when_home_is_dead",
    ),
    Mechanism(
        "a living home keeps its machines",
        "run/vigil.py",
        "        if seen != sign:\n",
        "        if False:\n",
        "tests/run/test_vigil.py::test_it_waits_so_long_after_the_last_sign_of_home",
    ),
    Mechanism(
        "whatever drives a campaign heeds a stop, also between two runs",
        "flow/policy.py",
        "    if now.halt is not None:\n        return Halt(",
        "    if False:\n        return Halt(",
        "tests/flow/test_halting.py::"
        "test_a_stop_while_nothing_is_alive_ends_the_command_that_would_start_the_next_run",
    ),
    Mechanism(
        "a run that begins in spite of a stop is asked to end",
        "flow/policy.py",
        "if now.halt is not None and now.halt.only in (None, run.id) and run.status not in _OVER:",
        "if False:",
        "tests/flow/test_halting.py::test_a_run_that_begins_in_spite_of_a_halt_is_asked_to_end",
    ),
)
