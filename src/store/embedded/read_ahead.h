/* Records that are read one after the other in the order of their keys, each once (the texts of
 * messages): the first that has to be looked for in files brings those behind it into memory
 * (record_cache.h), so that a block is read and a level of files searched for many of them at once. */
#ifndef LAGRA_STORE_EMBEDDED_READ_AHEAD_H
#define LAGRA_STORE_EMBEDDED_READ_AHEAD_H

#include "store/store_private.h"

/* For the table of operations. */
enum store_result embedded_get_ahead(struct snapshot *snapshot, struct bytes key, struct bytes end,
                                     struct arena *arena, struct record *ret_record);

#endif
