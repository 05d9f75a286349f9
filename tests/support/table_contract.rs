//! The table's contract: every promise of the `Table` port as a named function, to run over every table.
//!
//! [`table_contract!`](crate::table_contract!) makes one test of each promise. A promise takes a [`Scope`] of its
//! own, so all of them can share one table. [`broken`] holds tables that each break one promise: they show that
//! the suite would notice.

pub mod broken;
pub mod conditions;
pub mod indexes;
pub mod items;
pub mod model;
pub mod queries;
pub mod races;
pub mod scope;
pub mod updates;
pub mod writes;

use std::sync::Arc;
use std::time::Duration;

use dormouse_store::table::Table;

pub use scope::Scope;

/// A table under test, with whatever must live as long as it.
pub struct Fixture {
    table: Arc<dyn Table>,
    index_lag_max: Duration,
    _guard: Box<dyn std::any::Any + Send>,
}

impl Fixture {
    /// A table that needs nothing else.
    pub fn new(table: impl Table) -> Self {
        Self::guarded(Arc::new(table), ())
    }

    /// A table, and something to drop after it: its folder, its server.
    pub fn guarded(table: Arc<dyn Table>, guard: impl Send + 'static) -> Self {
        Self {
            table,
            index_lag_max: Duration::ZERO,
            _guard: Box::new(guard),
        }
    }

    /// Allows the table's indexes to lag behind for so long.
    #[must_use]
    pub fn with_index_lag(self, index_lag_max: Duration) -> Self {
        Self {
            index_lag_max,
            ..self
        }
    }

    /// A corner of the table for the promise of this name.
    #[must_use]
    pub fn scope(&self, name: &str) -> Scope {
        Scope {
            index_lag_max: self.index_lag_max,
            ..Scope::new(Arc::clone(&self.table), name)
        }
    }
}

/// Calls a macro with every promise of the contract, by file.
#[macro_export]
macro_rules! table_promises {
    ($run:path, ($($argument:tt)*)) => {
        $run! { ($($argument)*)
            items: [
                an_absent_key_has_no_item,
                a_put_item_is_read_back_whole,
                a_put_replaces_the_whole_item,
                equal_sort_keys_in_two_partitions_are_two_items,
                bytes_of_every_value_survive,
                texts_and_keys_of_every_script_survive,
                empty_text_and_empty_bytes_are_values,
                an_empty_set_is_no_attribute,
                the_time_to_live_is_kept_as_given,
                a_deleted_item_is_gone,
                an_item_of_the_largest_size_is_kept,
                a_larger_item_is_refused_and_nothing_changes,
                empty_and_overlong_keys_are_invalid,
                reserved_attribute_names_are_invalid,
            ],
            updates: [
                an_update_creates_the_item,
                an_update_returns_the_whole_new_item,
                an_update_sets_removes_and_adds_in_one,
                an_update_that_makes_a_set_empty_removes_it,
                each_update_returns_its_own_result,
                a_refused_update_returns_the_item_as_it_stands,
                adding_to_a_text_is_invalid_and_changes_nothing,
                two_changes_of_one_attribute_are_invalid,
                an_ordered_update_is_seen_by_all_that_follows,
            ],
            conditions: [
                conditions_hold_or_fail_alike_in_updates,
                conditions_hold_or_fail_alike_in_puts,
                conditions_hold_or_fail_alike_in_deletes,
                conditions_hold_or_fail_alike_in_checks,
            ],
            writes: [
                all_kinds_of_writes_happen_together,
                one_refused_write_of_any_kind_stops_the_others,
                a_refusal_returns_the_items_as_they_stand,
                a_refused_single_write_returns_the_item,
                conditions_are_judged_before_any_of_the_writes,
                a_check_changes_nothing,
                a_hundred_writes_happen_together,
                more_than_a_hundred_writes_are_too_large,
                no_writes_are_invalid,
                two_writes_about_one_key_are_invalid,
                over_four_mebibytes_are_too_large,
            ],
            queries: [
                items_come_in_the_order_of_bytes,
                a_range_includes_its_start_and_excludes_its_end,
                a_prefix_finds_exactly_its_items,
                a_query_shows_no_other_partition,
                a_query_shows_the_last_write,
                pages_visit_every_item_once,
                a_page_continues_where_items_came_and_went,
                large_items_end_a_page_early,
                a_limit_out_of_range_counts_as_the_nearest,
                a_cursor_from_elsewhere_is_refused,
            ],
            indexes: [
                index_one_shows_its_keys_and_the_summary,
                a_count_is_what_the_pages_hold_up_to_a_number,
                indexes_two_and_three_show_keys_only,
                an_item_without_both_keys_is_in_no_index,
                an_item_moves_within_its_index,
                index_pages_visit_every_item_once,
                index_keys_that_are_not_text_are_invalid,
            ],
            races: [
                increments_of_sixteen_tasks_are_all_counted,
                additions_of_sixteen_tasks_are_all_counted,
                a_lease_race_has_one_winner,
                a_race_to_create_has_one_winner,
                transfers_keep_the_sum,
            ],
            model: [
                random_calls_agree_with_the_table_in_memory,
            ],
        }
    };
}

/// Makes one test of each promise. The argument is an expression that makes a [`Fixture`]; it may await.
#[macro_export]
macro_rules! table_contract {
    ((@tests $fixture:expr) $($file:ident: [$($promise:ident),* $(,)?],)*) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() -> anyhow::Result<()> {
                let fixture = $fixture;
                let scope = fixture.scope(stringify!($promise));
                $crate::table_contract::$file::$promise(scope).await
            }
        )*)*
    };
    ($fixture:expr) => {
        $crate::table_promises! { $crate::table_contract, (@tests $fixture) }
    };
}
