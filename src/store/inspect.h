/* Inspects a whole store, for `lagra check`: raw records of all services. Nothing else uses the
 * store at the same time. */
#ifndef LAGRA_STORE_INSPECT_H
#define LAGRA_STORE_INSPECT_H

#include "store/store.h"

/* The place of a record. */
struct record_place {
    enum record_family family;
    struct guid space;
    struct bytes partition_key;
    struct bytes record_key;
};

/* Its arguments are valid during the call. */
typedef void inspect_visit(void *context, const struct record_place *place,
                           const struct record *record);
typedef void inspect_say(void *context, const char *sentence);

/* Visits every record of every space, and compares the index of pieces with the references in the
 * records: reports each difference.
 *
 * Returns STORE_OK; STORE_CORRUPT if a record cannot be read (reported; the records after it were
 * not visited); STORE_IO. */
enum store_result store_inspect(struct store *store, inspect_visit *visit, inspect_say *say,
                                void *context);

struct salvage_listener {
    /* Reports damage that cannot be described by a record. */
    inspect_say *say;
    /* Reports that the records between two places were lost. NULL: from the first, or to the last,
     * or unknown. */
    void (*lost)(void *context, const struct record_place *after, const struct record_place *to);
    void *context;
};

/* Makes a new data folder from everything readable in another one, which is not changed. Unreadable
 * bytes of pieces are left out: records that refer to them are kept, and reading the bytes returns
 * STORE_CORRUPT, as before.
 *
 * to  created, or an empty folder
 *
 * Returns STORE_OK, STORE_BUSY, STORE_IO; *ret_problem as store_open_embedded(). */
enum store_result store_salvage(const char *from, const char *to,
                                const struct salvage_listener *listener, const char **ret_problem);

#endif
