/* Inspects all raw records of a store, for `lagra check`. No other code may use the store at the
 * same time. */
#ifndef LAGRA_STORE_INSPECT_H
#define LAGRA_STORE_INSPECT_H

#include "store/store.h"

/* Full key of a record. */
struct record_place {
    enum record_family family;
    struct guid space;
    struct bytes partition_key;
    struct bytes record_key;
};

/* The arguments are valid only during the call. */
typedef void inspect_visit(void *context, const struct record_place *place,
                           const struct record *record);
typedef void inspect_say(void *context, const char *sentence);

/* Visits every record of every space, compares the index of pieces with the references in the
 * records, and reports each difference.
 *
 * Returns STORE_OK; STORE_CORRUPT if a record cannot be read (it is reported, and the records
 * after it are not visited); STORE_IO. */
enum store_result store_inspect(struct store *store, inspect_visit *visit, inspect_say *say,
                                void *context);

struct salvage_listener {
    /* Reports damage that does not belong to a record. */
    inspect_say *say;
    /* Reports that the records between two places were lost. after: NULL for the beginning, to:
     * NULL for the end; both NULL if unknown. */
    void (*lost)(void *context, const struct record_place *after, const struct record_place *to);
    void *context;
};

/* Creates a data folder from everything readable in another one, which is not changed. Unreadable
 * bytes of pieces are not copied; records that refer to them are, and reading those bytes still
 * returns STORE_CORRUPT.
 *
 * to       new or empty folder
 * masters  keys of the operator, for a folder that is encrypted at rest, or NULL. The new folder
 *          has the same store keys
 *
 * Returns STORE_OK, STORE_BUSY, STORE_IO; *ret_problem: like store_open_embedded(). */
enum store_result store_salvage(const char *from, const char *to, const struct master_keys *masters,
                                const struct salvage_listener *listener, const char **ret_problem);

#endif
