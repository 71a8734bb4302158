/* Deletes the data in the backlog, in steps. */
#include <assert.h>

#include "base/endian.h"
#include "content/sparse.h"

/* Segments of a run that are deleted at once. A run has few segments, and finding each costs as
 * much as reading a record. */
#define SEGMENTS_OF_RUN 4u

struct step {
    struct read_view *before;
    struct changes *changes;
    struct arena *arena;
    struct budget budget;
    bool has_started; /* has processed a record */
};

static enum store_result delete_run(struct step *step, uint64_t run)
{
    budget_spend(&step->budget, run != 0 ? SEGMENTS_OF_RUN : 1);
    return content_run_delete(step->before, step->changes, run);
}

static enum store_result collect_runs(struct step *step, const struct backlog *backlog)
{
    uint64_t *runs = arena_array(step->arena, backlog->run_count, sizeof runs[0]);
    size_t done = 0;

    for (size_t i = 0; i < backlog->run_count; i++)
        runs[i] = le64_get(backlog->runs + 8 * i);
    while (done < backlog->run_count && !budget_is_spent(&step->budget)) {
        enum store_result result = delete_run(step, runs[done++]);

        if (result)
            return result;
    }
    assert(done <= backlog->run_count);
    if (done == backlog->run_count)
        return STORE_NOT_FOUND;
    backlog_put_runs(step->changes, backlog, runs + done, backlog->run_count - done);
    return STORE_OK;
}

static enum store_result delete_record(struct step *step, const struct backlog *backlog,
                                       const struct record *record)
{
    struct content_block block;

    changes_delete(step->changes, RECORD_INNER, record->key);
    budget_spend(&step->budget, 1);
    if (backlog->with_runs && content_block_decode(record, &block))
        return delete_run(step, block.run);
    changes_release(step->changes, record->pieces, record->piece_count);
    return STORE_OK;
}

/* Deletes the records of a BACKLOG_RECORDS. If the budget is exhausted, the next step starts at the
 * current record, because scanning deleted records is slow. */
static enum store_result collect_records(struct step *step, const struct backlog *backlog)
{
    struct scan *scan = scan_open(step->before, RECORD_INNER, backlog->prefix, backlog->from);
    struct backlog rest = *backlog;
    enum store_result result;
    struct record record;

    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (budget_is_spent(&step->budget)) {
            rest.from = record.key;
            backlog_put_records(step->changes, &rest);
            break;
        }
        result = delete_record(step, backlog, &record);
        if (result)
            break;
    }
    scan_close(scan);
    return result;
}

static enum store_result collect_chain(struct step *step, const struct backlog *backlog)
{
    enum store_result result = chain_leave(step->before, step->changes, step->arena, backlog->id);

    step->budget.records = 0; /* chain invariant 3 */
    return result ? result : STORE_NOT_FOUND;
}

/* Processes a deleted generation or a hole. It needs a step of its own, because it does not see
 * changes made for other backlog records: a hole could rewrite the rest of a page that was deleted
 * for an earlier record. The remaining work starts at `backlog->from`, which the step advances. */
static enum store_result collect_sparse(struct step *step, const struct backlog *backlog)
{
    struct backlog rest = *backlog;
    enum store_result result = STORE_OK;

    if (!step->has_started)
        result = backlog->kind == BACKLOG_HOLE
                     ? sparse_collect_hole(step->before, step->changes, &rest, &step->budget)
                     : sparse_collect_generation(step->before, step->changes, &rest, &step->budget);
    step->budget.records = 0;
    if (!result)
        backlog_put_records(step->changes, &rest);
    return result;
}

/* Processes one backlog record. Returns STORE_NOT_FOUND if no work is left, STORE_OK otherwise. */
static enum store_result collect_one(struct step *step, const struct backlog *backlog)
{
    switch (backlog->kind) {
    case BACKLOG_RECORDS:
        return collect_records(step, backlog);
    case BACKLOG_RUNS:
        return collect_runs(step, backlog);
    case BACKLOG_CHAIN:
        return collect_chain(step, backlog);
    case BACKLOG_GENERATION:
    case BACKLOG_HOLE:
        return collect_sparse(step, backlog);
    case BACKLOG_KINDS:
        break;
    }
    return STORE_CORRUPT;
}

/* Processes one record. Removes it if it is corrupt; the data that it identifies is then never
 * deleted. */
static enum store_result collect_record(struct step *step, const struct record *record)
{
    enum store_result result = STORE_NOT_FOUND;
    struct backlog backlog;

    if (backlog_decode(record, &backlog))
        result = collect_one(step, &backlog);
    else
        (void)content_damaged(0, 0, "corrupt backlog record");
    step->has_started = true;
    budget_spend(&step->budget, 1); /* since many records may refer to data that no longer exists */
    if (result != STORE_NOT_FOUND)
        return result;
    changes_delete(step->changes, RECORD_INNER, record->key);
    return STORE_OK;
}

enum store_result content_collect(struct read_view *before, struct changes *changes,
                                  struct arena *arena, size_t records, bool *ret_more)
{
    static const char prefix = BACKLOG_PREFIX;
    struct step step = {
        before, changes, arena, { records, changes, arena_held(changes_arena(changes)) }, false
    };
    enum store_result result = STORE_OK;
    struct record record;
    struct scan *scan;

    assert(records > 0);
    scan = scan_open(before, RECORD_INNER, bytes_of(&prefix, 1), bytes_of("", 0));
    while (!result && !budget_is_spent(&step.budget)) {
        result = scan_next(scan, arena, &record);
        if (!result)
            result = collect_record(&step, &record);
    }
    scan_close(scan);
    if (result && result != STORE_NOT_FOUND)
        return result;
    *ret_more = result != STORE_NOT_FOUND;
    return STORE_OK;
}
