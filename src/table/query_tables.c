/* Query Tables: an iterator over the account's space, where every table is a partition; and a query
 * for a single table. rest: Query-Tables */
#include "base/log.h"
#include "service/listing.h"
#include "service/names.h"
#include "table/filter.h"
#include "table/table_operations.h"

enum error get_table_decide(struct decision *d, const struct get_table_parameters *p,
                            struct get_table_result *r)
{
    (void)p;
    r->name = table_state(d)->table.name;
    return OK;
}

/* Steps of filter_holds() that a worker spends on a page with a long filter; a page that needs more
 * is computed in the pool. decision: 254 */
#define WORKER_STEPS_MAX 500000u

/* Comes after all names that start with '$': the metrics tables, which "are not displayed when a
 * table listing operation is performed". rest: Storage-Analytics-Metrics-Table-Schema */
static const struct bytes first_shown = BYTES("%");

/* A page while it is filled. */
struct filling {
    struct decision *d;
    const struct query_tables_parameters *p;
    struct page_merge others;
    struct filter_subject subject;
    uint32_t shown;
    struct bytes next;
};

static bool is_full(const struct filling *f)
{
    return f->shown == f->p->top || f->p->sink->full;
}

/* Adds a table, or ends the page before it. key: its name in lower case */
static void add(struct filling *f, struct bytes key, struct bytes name)
{
    if (is_full(f)) {
        f->next = arena_copy(f->d->arena, key);
        return;
    }
    f->p->sink->add(f->p->sink, key, name);
    f->shown++;
}

/* Adds the tables of other cells that precede `before`, one of our own, or all of them if it is
 * NULL. Ends the page where a page of another cell ends. */
static enum store_result add_others(struct filling *f, const struct page_key *before)
{
    struct page_entry entry;

    while (!f->next.ptr) {
        struct bytes key;

        switch (page_merge_next(&f->others, before, &entry)) {
        case MERGED_NONE:
            return STORE_OK;
        case MERGED_END:
            f->next = arena_copy(f->d->arena, entry.key.parts[0]);
            return STORE_OK;
        case MERGED_ENTRY:
            break;
        }
        key = entry.key.parts[0];
        if (table_check_name(entry.value) ||
            !bytes_equal(arena_copy_lower(f->d->arena, entry.value), key)) {
            log_line(LOG_ERROR, "another cell has sent an entry that is not a table");
            return STORE_CORRUPT;
        }
        add(f, key, entry.value);
    }
    return STORE_OK;
}

/* Ends the page at this table of our own, or at one of another cell that precedes it. */
static enum store_result stop_at(struct filling *f, const struct page_key *at)
{
    enum store_result result = add_others(f, at);

    if (!result && !f->next.ptr)
        f->next = arena_copy(f->d->arena, at->parts[0]);
    return result;
}

static enum store_result add_own(struct filling *f, const struct space_record *at)
{
    const struct page_key key = { { at->partition_key } };
    enum store_result result;
    struct table table;

    if (!table_decode(at->value, &table)) {
        log_line(LOG_ERROR, "the record of table %.*s has an unrecognized format",
                 BYTES_ARG(at->partition_key));
        return STORE_CORRUPT;
    }
    f->subject.table_name = table.name;
    if (f->p->filter && !filter_holds(f->p->filter, &f->subject))
        return STORE_OK;
    result = add_others(f, &key);
    if (!result && !f->next.ptr)
        add(f, at->partition_key, table.name);
    return result;
}

/* Passes a page of tables to the sink. The work per page is bounded: it ends after a maximum number
 * of tables, whether they match or not. Returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO.. */
static enum store_result add_page(struct filling *f, struct space_iterator *iterator)
{
    for (uint32_t count = 0; !f->next.ptr; count++) {
        struct space_record at;
        enum store_result result;

        if (!f->d->access.may_block && f->subject.steps > WORKER_STEPS_MAX)
            return STORE_WAIT;
        result = space_iterator_next(iterator, &at);
        if (result == STORE_NOT_FOUND)
            return add_others(f, NULL);
        if (result)
            return result;
        if (is_full(f) || count == LISTING_RECORDS_MAX)
            return stop_at(f, &(struct page_key){ { at.partition_key } });
        result = add_own(f, &at);
        if (result)
            return result;
    }
    return STORE_OK;
}

enum error query_tables_decide(struct decision *d, const struct query_tables_parameters *p,
                               struct query_tables_result *r)
{
    struct bytes from = bytes_compare(p->from, first_shown) > 0 ? p->from : first_shown;
    struct filling filling = { .d = d, .p = p };
    struct space_iterator *iterator;
    enum store_result result;

    p->sink->begin(p->sink);
    page_merge_begin(&filling.others, d->arena, &d->input->merged);
    iterator = space_iterator_open(d->store, account_space("table", d->input->account), from,
                                   (struct bytes){ NULL, 0 }, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(&filling, iterator);
    space_iterator_close(iterator);
    r->next = filling.next;
    return result ? decision_fail_store(d, result) : OK;
}
