/* Inside view.c, which reads what lies in one shard or limb, and view_limbs.c, which shows all: a view. */
#ifndef LAGRA_STORE_RADOS_VIEW_PRIVATE_H
#define LAGRA_STORE_RADOS_VIEW_PRIVATE_H

#include <stdatomic.h>

#include "store/rados/limb.h"
#include "store/rados/view.h"
#include "store/rados/view_rows.h"

enum view_step {
    VIEW_UNREAD,    /* nothing is known */
    VIEW_FIRST,     /* the first read is under way */
    VIEW_FATE,      /* of the transaction that has locked the partition */
    VIEW_RESOLVING, /* that lock; then it is read again */
    VIEW_READ,      /* there is a state; perhaps a later read is under way */
    VIEW_ENDED,
};

struct view {
    struct shards *shards;
    struct arena *arena;
    struct partition partition; /* the key in the arena */
    atomic_uint holders;

    enum view_step step;
    enum store_result ended; /* the state is gone, or cannot be read */
    struct bytes header_row;
    struct partition_header header;
    bool is_gone;
    struct attempt resolved;  /* the transaction that was to be got out of the way last */
    unsigned tries;           /* of that */
    struct view_rows rows[2]; /* by family */
    uint32_t page;
    bool reads_much;
    struct arrival *first; /* of the first read, whose rows it has; NULL: none */

    struct whole *whole; /* of a view ahead, in the place of rows; NULL: of none */
    struct shard_link *link;
    uint64_t sequence;

    struct view_limb *limbs; /* that were read, in the arena */
    struct view *waiting; /* that of a limb, which the last STORE_WAIT was about; NULL: of none */

    struct arrival *arrival; /* of what is under way; NULL: nothing */
    const struct port_step *bounds_step, *header_step, *at_step, *run_step; /* of a later read */
    enum record_family reading;
    struct bytes reading_from;
    uint32_t reading_rows; /* 0: that one alone */
};

/* It has ended so, for all further calls. Returns the result. */
enum store_result view_end(struct view *view, enum store_result result);
/* As view_end() of damage, logged. */
enum store_result view_damaged(struct view *view, const char *what);
/* The first row that the partition itself has at or after this one, which is of the family: a record, or where a limb ends.
 * is_single: no more of them are read than that. */
enum store_result view_home_row(struct view *view, enum record_family family, struct bytes from,
                                bool is_single, struct arena *arena, struct port_row *ret_row);

enum store_result view_home_get(struct view *view, enum record_family family, struct bytes key,
                                struct bytes *ret_row);
enum store_result view_home_read_all(struct view *view);

#endif
