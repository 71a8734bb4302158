/* Records that are read one after another in key order, each once (the texts of messages): the
 * first one not in memory brings the following ones into memory too (record_cache.h), so that a
 * block is read and a level of files searched for many of them at once. */
#ifndef LAGRA_STORE_EMBEDDED_READ_AHEAD_H
#define LAGRA_STORE_EMBEDDED_READ_AHEAD_H

#include "store/store_private.h"

/* For the table of operations. */
enum store_result embedded_get_ahead(struct read_view *snapshot, struct bytes key, struct bytes end,
                                     struct arena *arena, struct record *ret_record);

#endif
