/* The part of RADOS that the store uses, as one interface with two implementations: librados, and the
 * RADOS in memory of tests/rados/fake.h. Written from Ceph's sources and from trials on a cluster; the
 * conformance tests (tests/rados/conformance.c) say the same of any implementation.
 *
 * An op is a list of steps on one object, applied atomically: all or none. Rules:
 *  (1) Steps are checked in order, and the first that fails is the result of the op.
 *  (2) Compares see the object as it was before the op, not the op's own changes. A row that is not there
 *      compares as an empty one.
 *  (3) On an object that is not there a compare, a read, a removal and a deletion are PORT_ABSENT. The
 *      steps that write make it; behind them, compares see it empty.
 *  (4) Ops of one client on one object are applied, and answered, in the order in which they were sent. A
 *      read waits for the writes before it: what is read is durable.
 *  (5) PORT_OK of a write: it is durable on all replicas. Without an answer nothing is known.
 *  (6) An op may have been applied although it is PORT_REFUSED: it was resent, and its first answer
 *      was lost. The guard then sees the op's own changes. So what must happen once says in the
 *      object who did it. */
#ifndef LAGRA_STORE_RADOS_PORT_H
#define LAGRA_STORE_RADOS_PORT_H

#include "base/arena.h"
#include "base/waiter.h"

/* OSDs return no more in one read op, whatever is asked (osd_max_omap_entries_per_request). */
#define PORT_ROWS_MAX     1024u
/* Larger ops are PORT_TOO_LARGE (osd_max_write_size). */
#define PORT_OP_BYTES_MAX (90u << 20)

enum port_result {
    PORT_OK = 0,
    PORT_REFUSED,   /* a compare failed */
    PORT_ABSENT,    /* no such object */
    PORT_EXISTS,    /* an exclusive creation found one */
    PORT_FULL,      /* the pool is full; what does not grow goes through */
    PORT_TOO_LARGE, /* the op, or the object it would make */
    PORT_FAILED,    /* anything else, logged by the port */
};
const char *port_result_text(enum port_result result);

enum port_verb {
    PORT_CREATE,        /* makes the object; exclusive: it must not be there */
    PORT_COMPARE,       /* row `key` must equal `value` */
    PORT_SET,           /* row */
    PORT_REMOVE,        /* row; may be absent */
    PORT_REMOVE_RANGE,  /* rows from `key` up to, not including, `value` */
    PORT_DELETE_OBJECT, /* with all rows */
    PORT_GET,           /* row */
    PORT_LIST,          /* rows after `key` that begin with `value` */
    PORT_WRITE,         /* all bytes of the object: `value` */
    PORT_READ,          /* `max` of its bytes from `offset` on; fewer at its end */
    PORT_SET_LABEL,     /* the label of the object: `value` */
    PORT_GET_LABEL,
    PORT_COMPARE_LABEL, /* the label must equal `value`; in ops that write */
};

struct port_row {
    struct bytes key, value;
};

struct port_step {
    struct port_step *next;
    enum port_verb verb;
    bool is_exclusive;       /* PORT_CREATE */
    struct bytes key, value; /* in the arena of the op */
    uint32_t max;            /* PORT_LIST: rows, 1..PORT_ROWS_MAX. PORT_READ: bytes */
    uint64_t offset;         /* PORT_READ */

    /* The answer of PORT_GET and PORT_GET_LABEL (one row or none), PORT_LIST and PORT_READ (one, without a key), in the
     * arena of the op. */
    struct port_row *rows;
    uint32_t row_count;
    bool is_cut; /* there are more */
};

/* One op: built by one thread, sent, and from then on the port's until done() is called. */
struct port_op {
    struct arena *arena;
    struct port_step *first, **end;
    size_t bytes; /* of keys and values given */
    bool is_write;
    const char *object;      /* once sent; in the arena */
    enum port_result result; /* once done */
    /* Called once, by a thread of the port, never inside port_send(). The op is the owner's again. */
    void (*done)(struct port_op *op);
    void *context; /* the owner's */
};

struct port_op *port_op_new(void (*done)(struct port_op *op), void *context);
void port_op_free(struct port_op *op);

/* Add a step; bytes are copied. Keys are not empty and have no 00: the C API takes some as strings.
 * An op either writes and compares, or reads and compares. */
void port_create(struct port_op *op, bool is_exclusive);
void port_compare(struct port_op *op, struct bytes key, struct bytes value);
void port_set(struct port_op *op, struct bytes key, struct bytes value);
void port_remove(struct port_op *op, struct bytes key);
void port_remove_range(struct port_op *op, struct bytes from, struct bytes to);
void port_delete_object(struct port_op *op);
struct port_step *port_get(struct port_op *op, struct bytes key);
/* after, prefix: may be empty. */
struct port_step *port_list(struct port_op *op, struct bytes after, struct bytes prefix,
                            uint32_t max);

/* The value of the row that a PORT_GET has found; empty: there is none. */
static inline struct bytes port_value(const struct port_step *step)
{
    return step->row_count > 0 ? step->rows[0].value : (struct bytes){ NULL, 0 };
}

/* An object has rows, or bytes; in a pool of pieces bytes only. */
void port_write(struct port_op *op, struct bytes bytes);
struct port_step *port_read(struct port_op *op, uint64_t offset, uint32_t length);
/* Some bytes beside those of an object, also in a pool of pieces (an extended attribute). Not empty. */
void port_set_label(struct port_op *op, struct bytes label);
struct port_step *port_get_label(struct port_op *op);
void port_compare_label(struct port_op *op, struct bytes label);

/* A client's view of one pool. The first member of an implementation's. */
struct port {
    void (*send)(struct port *port, const char *object, struct port_op *op);
    void (*pause)(struct port *port, unsigned ms, struct waiter *waiter);
    bool (*each_object)(struct port *port, void (*found)(void *context, const char *object),
                        void *context);
};
/* Never waits. object: NUL-terminated, copied. Any thread. */
void port_send(struct port *port, const char *object, struct port_op *op);
/* Wakes the waiter, once, after about so long; never in this call. Any thread. */
void port_pause(struct port *port, unsigned ms, struct waiter *waiter);
/* Tells the name of each object once, in no order; of one that comes or goes meanwhile, or not. Waits for the cluster.
 * False: they cannot be read. Not on a thread of the port. */
bool port_each_object(struct port *port, void (*found)(void *context, const char *object),
                      void *context);

#endif
