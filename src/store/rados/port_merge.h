/* What the steps of an op make of rows, in two lists: each step of its own costs every OSD of the object as much as the row that
 * it writes, and of several changes of one row only the last counts. decision: 814 */
#ifndef LAGRA_STORE_RADOS_PORT_MERGE_H
#define LAGRA_STORE_RADOS_PORT_MERGE_H

#include "store/rados/port.h"

/* As librados takes them. In the arena of the op. */
struct port_rows {
    const char **keys, **values;
    size_t *key_sizes, *value_sizes;
    size_t count;
};
struct port_merged {
    struct port_rows set, removed; /* values of the second: none */
};

/* Of an op that compares, sets and removes rows, and nothing else, and compares first, so that the object is there: else false.
 * Its compares are to be sent before; since they see the object as it was before the op, that is the same. */
bool port_merge(struct port_op *op, struct port_merged *ret_merged);

#endif
