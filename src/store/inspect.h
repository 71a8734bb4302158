/* Looking at all of a store, for `lagra check`: raw records, whatever room they belong to. Nobody
 * else uses the store meanwhile. */
#ifndef LAGRA_STORE_INSPECT_H
#define LAGRA_STORE_INSPECT_H

#include "store/store.h"

/* Where a record is. */
struct record_place {
    enum record_family family;
    struct guid space;
    struct bytes partition_key;
    struct bytes record_key;
};

/* All is valid during the call. */
typedef void inspect_visit(void *context, const struct record_place *place,
                           const struct record *record);
typedef void inspect_say(void *context, const char *sentence);

/* Visits every record of every space, and holds the index of pieces against what the records refer
 * to: each difference is said.
 * returns STORE_OK, STORE_CORRUPT (a record cannot be read: said; what follows it was not visited),
 * STORE_IO */
enum store_result store_inspect(struct store *store, inspect_visit *visit, inspect_say *say,
                                void *context);

struct salvage_listener {
    /* Something that has no name of a record. */
    inspect_say *say;
    /* The records behind one place and up to another were lost. NULL: the first, the last of all,
     * or not known. */
    void (*lost)(void *context, const struct record_place *after, const struct record_place *to);
    void *context;
};

/* Makes a new data folder of all that can be read in another, which is not changed. Bytes of pieces
 * that cannot be read are left out: a record that refers to them is kept, and reading them is
 * STORE_CORRUPT, as before.
 *
 * to       is made, or is an empty folder
 * returns  STORE_OK, STORE_BUSY, STORE_IO; *ret_problem as store_open_embedded() */
enum store_result store_salvage(const char *from, const char *to,
                                const struct salvage_listener *listener, const char **ret_problem);

#endif
