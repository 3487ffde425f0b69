"""Three tiers of tests: `make check` after an edit, `make test` before a commit, `make test-all` with other random examples each time.

`test` has every kind of fault once: all tests but those of `NIGHT`, and of the tests in `SAMPLED` one case in so many. `rest` is what it
leaves out. `check` has of `test` what takes at most `QUICK` seconds without a browser or a release; `tests/seconds.json` knows how long
others take, and `python -m tests.seconds` writes it anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from hypothesis import HealthCheck, settings

EXAMPLES = {"check": 0.2, "test": 0.5, "rest": 2.0, "all": 2.0}
"""How many examples of a property a tier tries, as a multiple of what its test states."""
QUICK = 0.08

NIGHT: Mapping[str, frozenset[str]] = {
    "a shorter walk of the same pages is in `test`": frozenset(
        (
            "test_adult_from_upload_to_rows",
            "test_titanic_from_the_raw_file_to_rows_with_every_default",
            "test_from_the_demo_over_a_sweep_to_a_release",
            "test_a_sweep_goes_on_after_it_was_stopped_and_after_server_and_workers_were_killed",
            "test_what_is_ticked_survives_a_reload_and_what_is_said_is_kept_in_every_row",
            "test_adult_is_described_by_learning_in_few_interactions",
            "test_adult_is_described_by_pasting_in_few_interactions",
            "test_a_reload_loses_nothing_on_any_page",
            "test_no_condition_of_the_budget_has_a_serious_finding",
            "test_models_beside_those_of_real_rows_have_no_serious_finding",
            "test_a_killed_worker_is_said_to_be_lost_its_charge_stays_and_the_next_run_starts",
            "test_a_cancelled_run_stays_charged_and_says_so",
            "test_the_page_is_accessible",
            "test_browsers_are_one_owner_with_the_token_and_nobody_without_it",
            "test_people_see_their_own_projects_and_nobody_elses",
            "test_an_open_tab_goes_on_after_a_restart_of_the_server",
            "test_thirty_columns_are_all_in_sight_and_the_keyboard_goes_through_them",
            "test_the_domain_is_edited_in_the_table_and_downloaded",
            "test_a_second_tab_sees_the_same_draft",
            "test_a_bad_file_is_explained",
            "test_text_that_is_no_budget_is_explained_and_stops",
            "test_a_curator_only_chart_is_not_offered",
            "test_a_chart_is_saved_as_the_drawing_on_the_screen",
            "test_chart_images_are_made_in_the_browser_without_any_network",
            "test_a_page_on_another_port_reaches_nothing_with_the_owners_cookie",
            "test_the_token_reaches_no_log",
            "test_a_link_in_a_message_opens_the_wizard_for_who_is_in",
            "test_latin_1_text_is_read",
            "test_what_is_said_of_a_hostile_column_shows_its_name_as_it_is",
            "test_light_and_dark_follow_the_browser",
            "test_a_page_file_served_on_its_own_refuses",
            "test_the_report_has_no_serious_finding_and_asks_for_nothing",
        )
    ),
    "the program is copied and its tests run in it": frozenset(
        (
            "test_the_tests_of_all_mechanisms_try_it_and_the_wizard_shows_it",
            "test_the_tests_of_all_kinds_try_it",
            "test_the_suite_of_sources_asks_it_what_it_asks_of_all",
            "test_the_tests_of_all_claims_and_criteria_try_them",
            "test_the_core_loads_without_the_wing_and_keeps_its_own_mechanisms_and_operations",
        )
    ),
    "it waits for a limit, or fills it": frozenset(
        (
            "test_the_report_is_the_same_as_without_limits",
            "test_a_small_file_of_many_objects_is_refused",
            "test_all_products_of_a_run_have_one_thread",
            "test_a_large_document_is_refused_before_it_is_unpacked",
            "test_a_worker_that_is_killed_while_it_counts_changes_nothing",
            "test_racing_processes_never_overspend_nor_underspend",
            "test_more_work_ends_it",
        )
    ),
    "a smaller case of the same is in `test`": frozenset(
        (
            "test_a_small_class_is_measured_whole_and_not_spent_on_choices",
            "test_what_is_released_does_not_tell_two_tables_apart_by_the_order_in_which_a_list_was_found",
            "test_the_script_in_the_bundle_does_the_same",
            "test_the_form_of_a_decision_list_does_not_tell_who_is_in_the_table",
            "test_commands_make_releases",
            "test_a_release_that_was_recovered_here_is_signed",
            "test_a_key_that_is_spoilt_meanwhile_is_no_reason_to_lose_the_release",
            "test_each_purpose_is_one_click_with_its_cost_beside_it",
            "test_intervals_are_not_wider_than_their_confidence_needs",
            "test_decision_lists_as_the_solver_writes_them_are_found",
            "test_half_the_noise_is_found_in_a_whole_mechanism",
            "test_a_person_with_two_rows_who_is_taken_for_one_with_one_is_found_in_a_whole_mechanism",
            "test_a_release_as_published_says_so_everywhere_and_can_be_made_again",
            "test_a_terminal_that_cannot_show_a_letter_is_no_verdict",
            "test_tables_differ_and_follow_the_same_law",
        )
    ),
}
NIGHT_FOLDERS = ("tests/benchmarks/",)
"""What is not shipped."""
PREPARED = ("tests/app/", "tests/audit/", "tests/bundle/", "tests/report/test_notebook", "tests/test_fences", "tests/store/")
"""What makes whole releases or pages before a quick test can look at them: not in `check`."""

SAMPLED: Mapping[str, int] = {
    "test_one_person_changes_their_own_records_alone": 6,
    "test_a_record_is_the_same_row_alone_and_in_every_table": 3,
    "test_noisy_counts_are_those_of_all_tables_that_hold_the_columns": 3,
    "test_a_line_of_wide_characters_is_one_record": 4,
    "test_whatever_a_row_of_any_other_file_holds_it_is_one_record": 3,
    "test_whatever_a_quoted_cell_of_a_well_formed_file_holds_it_is_one_record": 3,
    "test_whatever_a_row_of_a_parquet_file_holds_it_is_one_record": 3,
    "test_whatever_the_line_end_a_line_is_one_record": 3,
    "test_no_view_reads_all_rows_of_a_release": 2,
    "test_a_picture_saved_from_the_chart_names_its_zone": 6,
    "test_the_page_answers_as_the_core_does": 5,
    "test_the_page_breaks_down_and_finds_the_worst_subgroups_as_the_core_does": 5,
    "test_the_certified_largest_error_is_that_of_the_questions_asked": 4,
    "test_what_runs_is_the_split_that_is_shown": 4,
    "test_every_mechanism_runs_as_if_the_certificate_s_share_did_not_exist": 4,
    "test_a_mechanism_with_hardly_any_noise_is_found_with_the_draws_of_a_build": 3,
    "test_a_delta_that_is_not_charged_is_found": 4,
    "test_selections_have_the_probabilities_of_the_exponential_mechanism": 2,
    "test_texts_of_any_kind_are_in_the_same_cells": 3,
    "test_random_neighbours_differ_by_the_records_of_one_person": 2,
    "test_the_rows_of_a_person_that_count_are_the_same": 2,
    "test_neighbours_differ_by_one_person": 2,
    "test_missing_values_and_those_outside_count_the_same": 2,
    "test_an_odd_cell_of_a_workbook_is_one_record_at_most_and_refuses_nothing": 4,
    "test_hostile_input_ends_as_promised": 6,
    "test_whole_processes_end_as_promised_within_two_gigabytes": 4,
    "test_bounds_hold_in_95_percent_of_whole_runs": 4,
    "test_the_largest_error_is_unbiased_and_its_bound_holds_in_95_percent_of_200_runs": 5,
    "test_bounds_hold_in_95_percent_of_200_runs_and_hardly_more_where_the_total_is_public": 4,
    "test_errors_are_unbiased_and_as_noisy_as_stated": 4,
    "test_no_noisy_answer_tells_more_than_it_is_charged_for": 4,
    "test_no_mechanism_tells_more_than_its_budget": 5,
    "test_half_the_noise_is_found": 4,
    "test_two_rows_at_the_price_of_one_are_found": 4,
    "test_every_kind_of_column_counts_the_same": 3,
    "test_all_of_the_export_is_used": 4,
    "test_one_person_changes_their_own_record_alone": 3,
    "test_a_table_in_a_store_counts_as_on_disk": 4,
    "test_every_mechanism_is_reproduced_to_the_last_row_and_bound": 4,
    "test_every_entry_of_the_list_is_really_unseen": 4,
    "test_no_brand_can_be_removed_or_reworded": 4,
    "test_a_bundle_of_this_version_is_consistent_with_nothing_left_open": 5,
    "test_what_was_not_signed_is_not_taken_for_signed": 4,
    "test_no_synthetic_row_is_impossible": 4,
    "test_records_that_contradict_the_domain_are_counted_where_they_are": 4,
    "test_every_mechanism_spends_its_budget_and_no_more": 3,
    "test_a_persons_lines_are_at_most_as_many_records_as_a_person_may_have": 3,
    "test_whatever_a_line_of_a_csv_holds_it_is_one_record": 4,
    "test_random_damage_ends_in_values_or_in_a_sentence": 2,
    "test_with_a_large_budget_the_rows_come_close_to_the_table": 4,
    "test_the_page_of_a_release_as_the_wizard_makes_it_answers_as_the_core_does": 3,
    "test_a_slower_table_changes_no_byte_of_what_is_published": 5,
    "test_release_json_has_no_time_but_a_day": 5,
    "test_a_signal_after_any_line_ends_the_run_in_order_and_is_never_dropped": 3,
    "test_only_curator_only_charts_carry_the_watermark": 4,
    "test_the_specification_is_valid": 4,
    "test_every_import_rule_notices_a_new_file_in_every_room": 3,
    "test_a_seeded_release_is_the_same_byte_for_byte": 4,
    "test_every_view_of_every_kind_of_release_can_be_drawn": 4,
    "test_no_record_is_impossible_however_many_people_are": 4,
    "test_gaussian_noise_is_a_rounded_normal": 2,
    "test_no_neighbour_changes_a_score_by_more_than_a_selection_is_charged_for": 2,
    "test_no_neighbour_changes_a_score_by_more_than_permute_and_flip_is_charged_for": 3,
    "test_no_neighbour_is_further_than_measured_queries_and_errors_are_charged_for": 2,
    "test_the_worst_query_is_drawn_by_the_exponential_mechanism": 3,
    "test_measured_queries_have_rounded_normal_noise_of_sigma": 3,
    "test_residual_planner_answers_are_as_far_off_as_expected": 2,
    "test_intervals_hold_at_their_confidence": 3,
    "test_a_forger_who_writes_all_files_anew_is_seen": 3,
    "test_a_forged_number_is_found_though_the_manifest_was_made_anew": 2,
    "test_the_readme_examples_make_a_release_that_is_worth_reading": 2,
    "test_no_brand_can_be_added": 3,
    "test_a_run_from_the_page_is_done_charged_once_in_closed_form_and_shown": 3,
    "test_a_run_that_is_cancelled_in_the_middle_of_a_search_stops_at_once_and_stays_charged": 2,
    "test_a_search_over_records_without_a_proof_ends_in_a_release_of_no_rule": 2,
    "test_a_release_is_made_and_a_seed_repeats_it": 3,
}
"""Of these one case in so many is in `test`: the cases differ in the data that they try, not in what they look for."""

_NIGHT = frozenset().union(*NIGHT.values())
_SECONDS = Path(__file__).with_name("seconds.json")
_now = "test"


def begin(tier: str) -> None:
    """Before any test is imported. With `all`, examples are drawn anew each time; --hypothesis-seed says which."""
    global _now
    _now = tier
    settings.register_profile(tier, derandomize=tier != "all", deadline=None, max_examples=_scaled(100), print_blob=True)
    settings.load_profile(tier)


def examples(usual: int, *, suppress_health_check: tuple[HealthCheck, ...] = ()) -> settings:
    """So many examples of a property, as the tier wants."""
    return settings(max_examples=_scaled(usual), deadline=None, suppress_health_check=suppress_health_check)


def of(tier: str, tests: Iterable[tuple[str, str, bool]]) -> list[bool]:
    """Which tests are of the tier, by their files, names without the case, and whether they need a browser; in the order of collection."""
    seconds, seen, chosen = json.loads(_SECONDS.read_text(encoding="utf-8")), Counter[str](), []
    for file, name, browser in tests:
        in_test = name not in _NIGHT and not file.startswith(NIGHT_FOLDERS) and seen[name] % SAMPLED.get(name, 1) == 0
        seen[name] += 1
        quick = not browser and not file.startswith(PREPARED) and seconds.get(name, 0.0) <= QUICK
        chosen.append({"check": in_test and quick, "test": in_test, "rest": not in_test}.get(tier, True))
    return chosen


def _scaled(usual: int) -> int:
    return max(1, round(usual * EXAMPLES[_now]))
