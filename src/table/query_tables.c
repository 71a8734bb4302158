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

/* After all names that start with '$', the metrics tables, which "are not displayed when a table
 * listing operation is performed". rest: Storage-Analytics-Metrics-Table-Schema */
static const struct bytes first_shown = BYTES("%");

/* Passes a page of tables to the sink. The work per page is bounded: it ends after a maximum number
 * of tables, whether they match or not. Returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO.. */
static enum store_result add_page(struct space_iterator *iterator,
                                  const struct query_tables_parameters *p, struct decision *d,
                                  struct query_tables_result *r)
{
    struct filter_subject subject = { .steps = 0 };
    uint32_t shown = 0;

    for (uint32_t count = 0;; count++) {
        struct space_record at;
        struct table table;
        enum store_result result;

        if (!d->access.may_block && subject.steps > WORKER_STEPS_MAX)
            return STORE_WAIT;
        result = space_iterator_next(iterator, &at);
        if (result)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
        if (shown == p->top || p->sink->full || count == LISTING_RECORDS_MAX) {
            r->next = arena_copy(d->arena, at.partition_key);
            return STORE_OK;
        }
        if (!table_decode(at.value, &table)) {
            log_line(LOG_ERROR, "the record of table %.*s has an unrecognized format",
                     BYTES_ARG(at.partition_key));
            return STORE_CORRUPT;
        }
        subject.table_name = table.name;
        if (p->filter && !filter_holds(p->filter, &subject))
            continue;
        p->sink->add(p->sink, table.name);
        shown++;
    }
}

enum error query_tables_decide(struct decision *d, const struct query_tables_parameters *p,
                               struct query_tables_result *r)
{
    struct bytes from = bytes_compare(p->from, first_shown) > 0 ? p->from : first_shown;
    struct space_iterator *iterator;
    enum store_result result;

    p->sink->begin(p->sink);
    iterator = space_iterator_open(d->store, account_space("table", d->input->account), from,
                                   (struct bytes){ NULL, 0 }, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(iterator, p, d, r);
    space_iterator_close(iterator);
    return result ? decision_fail_store(d, result) : OK;
}
