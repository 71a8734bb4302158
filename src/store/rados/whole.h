/* All records of one small partition, as an immutable map from the keys of their rows to the rows' values: the state
 * that a commit will leave is that of before it with its changes, and shares with it what they do not touch. Any
 * thread; each has one holder. */
#ifndef LAGRA_STORE_RADOS_WHOLE_H
#define LAGRA_STORE_RADOS_WHOLE_H

#include "store/rados/shard.h"
#include "store/rados/view_rows.h"

/* More is not kept. */
#define WHOLE_ROWS_MAX  1024u
#define WHOLE_BYTES_MAX (1u << 20)

struct whole;
/* By family. NULL: they are not all rows that there are, or too many. */
struct whole *whole_of_rows(const struct view_rows rows[2], const struct bytes prefixes[2]);
/* What the changes make of it; those of other rows than records are passed over. NULL: too much. */
struct whole *whole_after(const struct whole *before, const struct bytes prefixes[2],
                          const struct shard_change *changes);
/* Of keys and values. */
size_t whole_bytes(const struct whole *whole);
/* NULL: nothing. */
void whole_free(struct whole *whole);
/* Valid as long as the whole is. False: there is no such row. */
bool whole_get(const struct whole *whole, struct bytes key, struct bytes *ret_value);
/* The first row at or after the key. False: none. */
bool whole_next(const struct whole *whole, struct bytes from, struct port_row *ret_row);

#endif
