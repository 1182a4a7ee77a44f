#include "upkeep/upgrade.h"

#include "table/update.h"

static void add_change(firn_upgrade_plan *plan, const char *line) {
    if (plan->change_count < FIRN_UPGRADE_MAX_LINES) plan->changes[plan->change_count++] = line;
}

static void add_loss(firn_upgrade_plan *plan, const char *line) {
    if (plan->loss_count < FIRN_UPGRADE_MAX_LINES) plan->losses[plan->loss_count++] = line;
}

static void explain_v2(firn_upgrade_plan *plan) {
    add_change(plan, "files and snapshots so far have sequence number 0; the next commit has 1");
    add_change(plan, "rows can be deleted by position and equality delete files");
    add_loss(plan,
             "programs that know format version 1 only can't read or write the table any more");
    add_loss(
        plan,
        "until the next commit to it, DuckDB 1.5 refuses the table (\"required field "
        "'sequence_number' is NULL\"), and while manifests of version 1 hold EXISTING entries, "
        "after it, too; compact --rewrite-all makes it readable");
}

static void explain_v3(firn_upgrade_plan *plan) {
    add_change(plan, "next-row-id starts at 0; the next commit to a branch gives each row of it an "
                     "id, and from then on rows keep theirs");
    add_change(plan, "snapshots so far have no row ids, and stay readable as they are");
    add_change(plan, "row deletes are written as deletion vectors; no new position delete files "
                     "may be added, the ones there hold until a vector replaces them");
    add_change(plan, "columns may have default values and the types of version 3");
    add_loss(plan, "programs that know format versions 1 and 2 only can't read or write the table "
                   "any more");
}

static firn_status check_snapshots(const firn_table *table, firn_error *error) {
    const firn_table_metadata *metadata = table->metadata;
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        if (metadata->snapshots[i].manifest_list != NULL) continue;
        return firn_fail(
            error, FIRN_UNSUPPORTED,
            "table %s: snapshot %lld has no manifest list, which format version 2 "
            "needs; write to the table and expire that snapshot first, by the engine that "
            "writes it (Spark's expire_snapshots procedure)",
            table->display_name, (long long)metadata->snapshots[i].snapshot_id);
    }
    return FIRN_OK;
}

firn_status firn_upgrade_plan_table(const firn_table *table, int64_t to, firn_upgrade_plan *out,
                                    firn_error *error) {
    const firn_table_metadata *metadata = table->metadata;
    *out = (firn_upgrade_plan){.from = metadata->format_version};
    if (to != 2 && to != 3) {
        return firn_fail(error, FIRN_INVALID, "a table can be upgraded to format version 2 or 3");
    }
    out->to = (int)to;
    if (out->from > out->to) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "table %s: has format version %d; a version can't be taken back to %d",
                         table->display_name, out->from, out->to);
    }
    out->needed = out->from < out->to;
    if (!out->needed) return FIRN_OK;
    if (metadata->has_encryption_keys) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "table %s: is encrypted (encryption-keys in its metadata); upgrade can't "
                         "work on it",
                         table->display_name);
    }
    FIRN_TRY(check_snapshots(table, error));
    if (out->from == 1) explain_v2(out);
    if (out->to == 3) explain_v3(out);
    add_loss(out, "it can't be undone");
    return FIRN_OK;
}

static firn_status build(void *context, const firn_table *table, firn_table_update *update,
                         firn_error *error) {
    int to = *(const int *)context;
    firn_upgrade_plan plan;
    FIRN_TRY(firn_upgrade_plan_table(table, to, &plan, error));
    return plan.needed ? firn_update_upgrade_format_version(update, to, error) : FIRN_OK;
}

firn_status firn_upgrade_run(firn_table *table, int64_t to, int64_t lock_timeout_ms,
                             firn_upgrade_result *out, firn_error *error) {
    firn_upgrade_plan plan;
    firn_journal *journal = NULL;
    *out = (firn_upgrade_result){0};
    FIRN_TRY(firn_upgrade_plan_table(table, to, &plan, error));
    if (!plan.needed) {
        bool leftovers = false;
        FIRN_TRY(firn_journal_has_leftovers(table, &leftovers, error));
        if (!leftovers) return FIRN_OK;
    }
    firn_update_source source = {build, &plan.to};
    FIRN_TRY(firn_catalog_check_writable(table->catalog, firn_table_own_name(table), error));
    FIRN_TRY(firn_journal_open(table, lock_timeout_ms, &journal, &out->leftovers_removed, error));
    firn_status status = firn_table_commit_update(table, journal, &source, &out->committed, error);
    firn_journal_end(journal, table->storage, status);
    firn_journal_close(journal);
    return status;
}
