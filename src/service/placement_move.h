/* What is durable of the move of a container, queue, table or share from one cell to another: the records in the partition of its
 * name, and the steps that change them, each one commit in one cell. admin/move_out.h copies the contents before.
 *
 *   source        INNER "v"  u8 1; from, to, before, incarnation: sealed. The contents are in the destination, which alone has them;
 *                            requests get 503 until the move has ended
 *                 INNER "x"  u8 1; incarnation: moves up to that one are cancelled
 *   destination   INNER "w"  the body of MOVE_PREPARE_PATH: it is complete, and not visible yet
 *
 *   (1) prepare   destination: writes "w". Until (2) the source has the container, and the move may be cancelled
 *   (2) seal      source: deletes its records, drops their spaces, writes "v": the move cannot be cancelled any more
 *   (3) activate  destination: makes the records of "w" visible
 *   (4) switch    root: the row names the destination. In one commit with (3) if that is the root, with (5) if the source is
 *   (5) finish    source: deletes "v", and releases the name up to `before` (placement.h)
 *
 * A task of the source repeats (3) to (5) until they are done. A task of the destination asks the source to cancel what is prepared
 * and was not sealed. So whoever is killed at whatever time, exactly one cell has the container.
 *
 * The space of an account has counters "v" of seals and "vf" of finished moves in every cell, and in the root "vs" of switches. A
 * list during which one of them changes, or while a name is sealed, could miss the name: it gets 503. decision: 1070 to 1073 */
#ifndef LAGRA_SERVICE_PLACEMENT_MOVE_H
#define LAGRA_SERVICE_PLACEMENT_MOVE_H

#include "base/codec.h"
#include "service/decision.h"
#include "service/server.h"

/* Kinds of deferred tasks; their payload is placement_payload(). */
enum { TASK_FINISH_MOVE = 6, TASK_CHECK_INCOMING = 7 };

struct move {
    struct bytes service, account;
    struct bytes key;     /* of the partition: the name, of a table in lower case */
    uint64_t before;      /* incarnation of the placement in the source; 0: that is the root */
    uint64_t incarnation; /* of the placement in the destination */
    uint32_t from, to;    /* cells */
};
/* Encodes a move; all bodies of requests about one begin so. */
void move_write(struct text *out, const struct move *move);
bool move_read(struct decoder *in, struct move *ret_move);
struct partition move_partition(const struct move *move);

/* Returns true for an INNER record of such a partition that is about its placement, and stays in its cell. */
bool placement_is_own_record(struct bytes key);
/* The same of deferred tasks. */
bool placement_is_own_task(uint32_t kind);

/* Finds out whether a name is sealed here, and requests under this incarnation (0: in the root) have to wait. */
enum store_result placement_sealed(struct decision *d, struct snapshot *of, uint64_t placement,
                                   bool *ret_is_sealed);

/* ---- what moves ---- */

/* A record of the partition of the name; of those that name a space the value is the destination's. */
struct moved_record {
    enum record_family family;
    struct bytes key, value;
};
struct moved_task {
    instant due;
    uint32_t kind;
    struct bytes payload; /* ptr NULL: none */
};
/* A space of the destination with the contents, and the task that would drop it. */
struct moved_space {
    struct guid space, task;
    instant due;
};
struct moved {
    struct moved_record *records;
    struct moved_task *tasks;
    struct moved_space *spaces;
    size_t record_count, task_count, space_count;
};
void moved_write(struct text *out, const struct moved *moved);
bool moved_read(struct decoder *in, struct arena *arena, struct moved *ret_moved);

/* ---- steps, each as an attempt of deciding_run() ---- */

struct seal {
    struct move move;
    uint64_t digest;            /* of the records that were prepared: name_digest() */
    const struct guid *dropped; /* the source's spaces */
    size_t dropped_count;
    bool is_done; /* false: the name has changed, or the move was cancelled */
};
enum error placement_seal(struct decision *d, void *seal);
/* Returns the digest of the records of a partition that move. */
enum store_result placement_digest(struct snapshot *of, struct arena *arena, uint64_t *ret_digest);

/* ---- lists ---- */

/* Counts the moves that lists of this account have to heed. Thread that may block, unless the access says otherwise. */
enum store_result placement_count_moves(struct store *store, const char *service,
                                        struct bytes account, struct store_access access,
                                        struct move_count *ret_count);
/* After a list was decided: returns E_ServerBusy if it may have missed a name that is being moved. */
enum error placement_check_list(struct decision *d);

/* ---- requests (peer_requests.h), context: struct endpoint_set ---- */

#define MOVE_LOCATE_PATH   "/-/move/locate"
#define MOVE_PREPARE_PATH  "/-/move/prepare"
#define MOVE_ACTIVATE_PATH "/-/move/activate"
#define MOVE_SWITCH_PATH   "/-/move/switch"
#define MOVE_CANCEL_PATH   "/-/move/cancel"
#define MOVE_BODY_MAX      ((size_t)4096)
#define MOVE_PREPARE_MAX   ((size_t)3 << 20)

/* At the root. The body is a move whose cells and incarnations are not known yet; the response has the whole move. 404: nothing has
 * this name; 409: it is in that cell already, or always in the root. */
int move_locate_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* Steps (1), (3) and (4). 409: not now. */
int move_prepare_serve(void *context, struct bytes body, struct arena *arena,
                       struct text *ret_body);
int move_activate_serve(void *context, struct bytes body, struct arena *arena,
                        struct text *ret_body);
int move_switch_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* At the source: from now on the move cannot be sealed. 409: it is. */
int move_cancel_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

task_fn move_finish_task;
task_fn move_check_incoming_task;

#endif
