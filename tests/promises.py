"""What users may rely on, part by part: the promise, the tests that prove it, and how often a release tries.

``python -m tests.torture`` runs the parts; docs/reliability.md shows what came out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["PARTS", "Part"]

N_PROMISES = 36


@dataclass(frozen=True)
class Part:
    """Some tests that prove a promise, or a piece of it."""

    name: str
    promises: tuple[int, ...]
    what: str
    nodes: tuple[str, ...] = ()
    """Files below tests/, or tests in them, as pytest names them."""
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Environment variable -> its value for a change, and for a release."""
    unit: str = "cases"
    """What is counted: the property "count" that tests record, or else the tests themselves. Other properties that they
    record are figures, and shown as they are."""
    minutes: float = 1
    """About how long the counts of a release take on two cores."""
    needs: tuple[str, ...] = ()
    """Packages that only this part needs; it installs them."""
    is_open: str = ""
    """What of the promise nobody has proved yet."""


KILLS = {"MANYVIEW_KILLS": (20, 200)}
FUZZ = {"MANYVIEW_FUZZ": (2_000, 100_000)}

PARTS = (
    # --- durability ---
    Part(
        "kills",
        (1,),
        "kill -9 at any moment of init, fit, add, answering and write-back: nothing acknowledged is lost, and the same "
        "command again reaches the same end",
        (
            "collection/test_kills.py::test_many_kills",
            "end_to_end/test_stops.py::test_many_kills",
            "end_to_end/test_add_kills.py",
            "end_to_end/test_write_kills.py::test_kills_while_tags_are_accepted_written_and_taken_back",
            "end_to_end/test_decisions.py::test_many_kills_while_answering",
            "ground/test_persist.py::test_a_kill_at_any_moment_leaves_a_whole_model",
        ),
        KILLS,
        "kills",
        25,
    ),
    Part(
        "faults",
        (2,),
        "any write, sync or rename fails: the old state or the new one, an error that names the path, no strays",
        (
            "collection/test_system_faults.py::test_calls_fail",
            "collection/test_faults.py",
            "workflow/test_undo.py::test_the_nth_step_fails_for_every_n",
            "ground/test_persist.py::test_every_failing_step_leaves_the_old_state",
        ),
        {"MANYVIEW_FAULTS": (61, 1)},
        "failing calls",
        12,
    ),
    Part(
        "full-disk",
        (3,),
        "on a full disk init, fit, write-back and answers each fail with one sentence, lose nothing, and work again",
        (
            "end_to_end/test_full_disk.py",
            "collection/test_system_faults.py::test_a_disk_that_is_really_full",
            "cli/test_write_back_commands.py::test_a_disk_that_is_full",
        ),
        unit="refusals",
    ),
    Part(
        "originals",
        (4,),
        "tags written into files, killed at any moment: every picture, mode and foreign field as it was",
        (
            "end_to_end/test_write_kills.py::test_kills_while_tags_are_written_into_files_and_taken_back",
            "writeback/test_embed.py",
            "writeback/test_embed_words.py",
        ),
        {"MANYVIEW_EMBED_KILLS": (8, 200)},
        "kills",
        6,
    ),
    Part(
        "no-writes",
        (4,),
        "no command but `apply --to embedded` opens an original for writing, removes, renames or touches it",
        ("end_to_end/test_watched.py", "ingest/test_folder.py::test_ingest_opens_no_original_for_writing"),
        unit="originals watched",
    ),
    Part(
        "sidecars",
        (5,),
        "other programs' sidecars keep every byte that is not ours; a failed write stays pending; removals are written",
        (
            "writeback/test_write_back.py::test_a_hundred_sidecars_of_other_programs_survive",
            "writeback/test_write_back.py::test_removal_writes_too_also_of_what_we_wrote",
            "writeback/test_write_back.py::test_mode_is_kept_and_nothing_else_is_touched",
            "writeback/test_write_back.py::TestRefusals",
            "writeback/test_editor.py::test_other_programs_documents_keep_every_byte",
        ),
        unit="sidecars",
    ),
    Part(
        "writers",
        (6,),
        "eight processes write at once: no answer lost, nobody sees a locked database",
        ("end_to_end/test_decisions.py::test_eight_writers", "collection/safety/test_lock.py"),
        {"MANYVIEW_WRITERS_SECONDS": (10, 60)},
        "answers",
        2,
    ),
    Part(
        "reads",
        (7,),
        "the gallery reads while an update runs: each answer from one state, none an error",
        ("web/test_reads.py",),
        {"MANYVIEW_READS": (1_000, 10_000)},
        "reads",
        5,
    ),
    # --- hostile input ---
    Part(
        "hostile-files",
        (8,),
        "files made to do harm: each bad one named with its reason, each good one taken, memory below 2 GiB",
        ("ingest/test_hostile.py::test_every_file_ends_where_it_should", "end_to_end/test_hostile.py"),
        unit="files",
    ),
    Part(
        "fuzz",
        (9,),
        "mutated pictures, metadata, sidecars, tables and feature files: read, or refused in a sentence",
        (
            "end_to_end/test_fuzz.py",
            "writeback/test_editor.py::test_mutated_documents_are_edited_or_refused",
            "features/opening/test_decode_pool.py::TestPool::test_harm_is_charged_to_its_file",
        ),
        FUZZ,
        "mutated files",
        60,
    ),
    Part(
        "parsers",
        (9,),
        "our own parsers under atheris, ten minutes each: no input breaks one",
        ("end_to_end/test_parser_fuzz.py",),
        {"MANYVIEW_ATHERIS_SECONDS": (3, 600)},
        "inputs",
        105,
        needs=("atheris>=3.0",),
    ),
    Part(
        "bombs",
        (10,),
        "small files that claim to be huge are refused, quickly and in little memory",
        (
            "ingest/test_hostile.py::test_each_bomb_is_over_soon_and_takes_little",
            "ingest/test_ready.py::test_features_made_to_do_harm",
            "features/opening/test_decode.py::TestBadFiles",
        ),
        unit="bombs",
    ),
    Part(
        "names",
        (11,),
        "forty names made to do harm come through catalogue, command line, gallery and write-back",
        (
            "ingest/test_folder.py::test_forty_names_make_the_round_trip",
            "writeback/test_write_back.py::test_forty_names_make_the_round_trip",
            "writeback/test_embed.py::test_names_that_would_be_commands",
            "web/test_names.py",
            "end_to_end/test_command_line.py::test_names_cannot_command_the_terminal",
        ),
        unit="round trips of a name",
    ),
    Part(
        "trees",
        (12,),
        "links, loops, pipes, deep and wide folders, files that change while they are read: nothing outside is read",
        (
            "ingest/test_folder.py::test_trees_of_every_kind",
            "ingest/test_folder.py::test_what_may_not_be_read_is_named_and_what_was_known_below_is_not_gone",
            "ingest/test_folder.py::test_a_file_that_vanishes_or_is_swapped_between_scan_and_read",
            "ingest/test_folder.py::test_a_folder_that_is_not_there_takes_nothing_away",
            "ingest/test_folder.py::test_reading_again_notices_what_is_new_changed_and_gone",
            "ingest/test_folder.py::test_a_folder_of_very_many_files",
        ),
        {"MANYVIEW_WIDE_FOLDER": (3_000, 100_000)},
        "files in one folder",
        4,
    ),
    # --- numbers ---
    Part(
        "scikit-learn",
        (13,),
        "scikit-learn's own checks, with at most three reasoned exceptions a method",
        (
            "methods/test_common.py",
            "methods/fusion_art/test_fusion_art.py::test_scikit_learn_checks",
            "methods/topics/test_plsa.py::test_scikit_learn_checks",
            "methods/canonical/test_canonical_fusion.py::test_scikit_learn_checks",
        ),
        minutes=5,
    ),
    Part(
        "degenerate",
        (14,),
        "empty, constant, missing, huge and tiny data: a right answer, or an error that names the view",
        ("methods/test_degenerate.py",),
        {"MANYVIEW_EXAMPLES": (50, 500)},
        "examples",
        15,
    ),
    Part(
        "same-answer",
        (15,),
        "the same seed gives the same bits for any number of threads and blocks",
        (
            "methods/kmeans/test_robust_kmeans.py::TestSameAnswer",
            "methods/consensus/test_consensus.py::test_threads_and_blocks_change_nothing",
            "methods/topics/test_plsa_reference.py::test_blocks_and_threads_do_not_change_the_answer",
            "methods/forest/test_tag_forest.py::test_any_number_of_threads_gives_the_same_forest",
            "methods/test_spectral.py::test_cluster_rows_for_any_number_of_threads",
            "methods/canonical/test_canonical_fusion_reference.py::test_blocks_and_threads_change_nothing",
            "methods/kmeans/test_accelerated_kmeans.py::test_the_result_does_not_depend_on_threads_or_blocks",
            "completion/test_completer.py::test_same_result_for_any_number_of_threads",
        ),
    ),
    Part(
        "workers",
        (15,),
        "the k-means family, PLSA and canonical correlations on a Dask cluster have the bits of one thread: any "
        "chunks, one, two and three workers; so has FusionART in shards, from files and memory; a fit of the k-means "
        "family or of PLSA that was stopped goes on to the same bits",
        (
            "methods/kmeans/test_canonical.py",
            "engines/test_cluster.py",
            "engines/test_checkpoint.py",
            "engines/test_other_methods.py",
        ),
        {"MANYVIEW_CLIENT_KILLS": (1, 5)},
        "kills",
        10,
    ),
    Part(
        "deaths",
        (15,),
        "workers of a cluster killed at random moments, and the process that fits on it: every fit (k-means family, "
        "PLSA, canonical correlations) ends with the bits of one that nobody disturbed",
        ("engines/test_kills.py",),
        {"MANYVIEW_WORKER_KILLS": (1, 50), "MANYVIEW_CLIENT_KILLS": (1, 5)},
        "kills",
        10,
    ),
    Part(
        "fits",
        (15,),
        "a process that fits a collection killed at random moments: the same fit again goes on from its last rounds "
        "and keeps the run that nobody disturbed",
        ("workflow/fitting/test_going_on.py", "engines/test_stages.py"),
        {"MANYVIEW_FIT_KILLS": (2, 50)},
        "kills",
        10,
    ),
    Part(
        "batches",
        (16,),
        "items that come in any batches lead to the same state; what is removed leaves no trace",
        (
            "methods/fusion_art/test_fusion_art_stream.py::test_any_split_gives_the_same_state_bit_for_bit",
            "methods/fusion_art/test_fusion_art_stream.py::test_saving_mid_stream_and_going_on_equals_never_having_stopped",
            "end_to_end/test_living_story.py",
        ),
        minutes=3,
    ),
    # --- the gallery ---
    Part(
        "hosts",
        (17,),
        "other Hosts are refused, by HTTP and WebSocket, through a browser too; only this machine is listened to",
        (
            "web/test_security.py::test_other_hosts_are_refused",
            "web/test_security.py::test_there_are_no_web_sockets",
            "web/test_security.py::test_two_hosts_or_none_are_refused",
            "web/test_server.py::test_hosts_through_the_socket",
            "web/test_server.py::test_it_listens_on_this_machine_only",
            "web/test_rebinding.py",
        ),
    ),
    Part(
        "forgery",
        (18,),
        "changes forged by other pages are refused on every route, none with an error of ours",
        (
            "web/test_security.py::test_forged_changes_are_refused",
            "web/test_security.py::test_looking_changes_nothing_and_is_for_our_pages",
        ),
    ),
    Part(
        "traversal",
        (19,),
        "no path, however spelt, and no link swapped in gives a byte from outside the folders that were read",
        ("web/test_traversal.py", "web/test_server.py::test_no_address_leads_outside"),
        unit="addresses",
    ),
    Part(
        "script",
        (20,),
        "a hundred words that try to become markup stay words in every view, report, site and notebook",
        ("browser/test_hostile.py", "report/test_page_in_browser.py", "report/test_notebook_in_browser.py"),
        minutes=4,
    ),
    Part(
        "secret",
        (21,),
        "no route answers without the secret, which is in no log and on no page",
        (
            "web/test_security.py::test_nothing_without_the_secret",
            "web/test_security.py::test_a_printed_address_is_swapped_for_a_cookie_once",
            "web/test_security.py::test_no_file_of_the_pages_without_the_secret_and_none_with_it_inside",
            "web/test_server.py::test_the_command_prints_the_secret_once_and_ends_with_ctrl_c",
        ),
    ),
    Part(
        "abuse",
        (22,),
        "huge headers, bodies and ranges, slow clients and generated requests: no error of ours, others are served",
        ("web/test_server.py", "web/test_description.py"),
        {"MANYVIEW_SLOW_CLIENTS": (20, 50), "MANYVIEW_SCHEMA_EXAMPLES": (4, 60)},
        minutes=10,
    ),
    Part(
        "headers",
        (23,),
        "the policy and its companions are on every answer, errors included",
        (
            "web/test_security.py::test_errors_carry_the_headers",
            "web/test_security.py::test_nothing_without_the_secret",
            "web/test_security.py::test_odd_questions_at_the_entrance",
        ),
    ),
    # --- supply chain and persistence ---
    Part(
        "no-code",
        (24,),
        "nothing that is opened can run code: the suites run while pickle, eval and shells are refused",
        ("end_to_end/test_no_code.py", "ground/test_persist.py::test_nothing_on_the_way_can_unpickle"),
        {"MANYVIEW_GUARDED_SUITES": (1, 6)},
        "tests under guard",
        6,
    ),
    Part(
        "old-files",
        (25,),
        "older collections and models open; newer ones are refused untouched",
        (
            "collection/test_collection.py::test_an_older_format_becomes_the_newest_when_opened_for_writing",
            "collection/test_collection.py::test_a_newer_format_is_refused_untouched",
            "ground/test_persist.py::TestHostileFolders::test_a_newer_format_is_refused_untouched",
            "golden/test_golden.py",
        ),
    ),
    Part(
        "no-network",
        (26,),
        "every command works without a network and asks for none; dependencies are locked by hash",
        ("end_to_end/test_no_network.py", "test_dependencies.py"),
    ),
    Part(
        "rows",
        (27,),
        "feature rows are taken from a file and clustered as they lie there, in less than 2 GiB",
        ("end_to_end/test_rows.py",),
        {"MANYVIEW_ROWS": (50_000, 1_000_000)},
        "rows",
        12,
        is_open="memory of 1.5 times a chunk and the model",
    ),
    Part(
        "gallery-hour",
        (27,),
        "a gallery of many items stays open without growing",
        ("web/test_open_for_long.py",),
        {"MANYVIEW_GALLERY_SECONDS": (12, 3_600), "MANYVIEW_GALLERY_ITEMS": (2_000, 50_000)},
        "seconds",
        62,
    ),
    Part(
        "ctrl-c",
        (28,),
        "Ctrl-C at any moment: out within five seconds with code 130, nothing left behind, the same command goes on",
        ("end_to_end/test_stops.py::test_many_interrupts",),
        {"MANYVIEW_STOPS": (5, 50)},
        "stops",
        4,
    ),
    # --- what a hostile tester broke once ---
    Part(
        "every-byte",
        (29,),
        "originals arrive byte for byte, whole and by ranges, beside slow readers",
        ("web/test_originals.py::test_every_byte_arrives",),
        {"MANYVIEW_ORIGINALS": (10, 200), "MANYVIEW_RANGES": (50, 1_000)},
        "files and ranges",
        3,
    ),
    Part(
        "owner-only",
        (30,),
        "no other user of the machine sees the gallery's secret; an address is good once",
        ("web/test_secret.py",),
        {"MANYVIEW_WATCH_SECONDS": (3, 10)},
        "seconds looked at",
    ),
    Part(
        "private",
        (31,),
        "collections, reports and exports are readable by their owner only",
        ("end_to_end/test_private.py::test_private_after_every_command", "collection/test_modes.py"),
        unit="commands",
    ),
    Part(
        "moves",
        (32,),
        "files and folders that were moved are the same items, with all that was said of them",
        ("end_to_end/test_moves.py",),
        {"MANYVIEW_MOVES": (8, 100)},
        "moves",
        2,
    ),
    Part(
        "repair",
        (33,),
        "after damage to the catalogue every acknowledged answer comes back; no damage is an internal error",
        (
            "workflow/test_repair.py::test_every_answer_is_there_after_a_repair",
            "workflow/test_repair.py::test_no_damage_is_an_internal_error",
        ),
        {"MANYVIEW_DAMAGED": (8, 50)},
        "damaged catalogues",
        4,
    ),
    Part(
        "malformed",
        (34,),
        "malformed matrices, sparse and dense: an error of ours or a right answer, never a crash",
        ("end_to_end/test_malformed_input.py::test_malformed_matrices_at_every_door",),
        {"MANYVIEW_MALFORMED": (30, 500)},
        "matrices",
        10,
    ),
    Part(
        "fast-hands",
        (35,),
        "answers given faster than anybody types are kept, and undo takes back the last",
        ("browser/test_fast_hands.py",),
        {"MANYVIEW_ANSWERS": (40, 200)},
        "answers a story",
        3,
    ),
    Part(
        "corpus",
        (36,),
        "any folder of real files goes the whole way, and what fails is named",
        ("end_to_end/test_corpus.py",),
        unit="folders",
    ),
)
