/* Durable state of moving a container, queue, table or share to another cell: records in the
 * partition of its name, and the steps that change them, each of them one commit in one cell.
 * admin/move_out.h copies the contents first.
 *
 *   source        INNER "v"  u8 1; from, to, before, incarnation: sealed. Only the destination
 *                            has the contents; requests get 503 until the move has ended
 *                 INNER "x"  u8 1; incarnation: moves up to that one are cancelled
 *   destination   INNER "w"  body of MOVE_PREPARE_PATH: complete, and not visible yet
 *
 *   (1) prepare   destination: writes "w". Until (2) the source has the container, and the move
 *                 can be cancelled
 *   (2) seal      source: deletes its records, drops their spaces, writes "v". The move can
 *                 no longer be cancelled
 *   (3) activate  destination: makes the records in "w" visible
 *   (4) switch    root: sets the row to the destination. In one commit with (3) if the
 *                 destination is the root, with (5) if the source is
 *   (5) finish    source: deletes "v", and releases the name up to `before` (placement.h)
 *
 * A task of the source repeats (3) to (5) until they are done. A task of the destination asks the
 * source to cancel a prepared move that was not sealed; a later move from the same source replaces
 * it, because that source has cancelled all earlier ones first. So exactly one cell has the
 * container, whichever process is killed and when.
 *
 * In each cell the space of an account has counters "v" of seals and "vf" of finished moves, and in
 * the root also "vs" of switches. A list could miss a name if one of them changes while it is
 * decided, or while a name is sealed. It then gets 503. decision: 1070 to 1073 */
#ifndef LAGRA_SERVICE_PLACEMENT_MOVE_H
#define LAGRA_SERVICE_PLACEMENT_MOVE_H

#include "base/codec.h"
#include "service/decision.h"
#include "service/server.h"

/* Kinds of deferred tasks; their payload is placement_payload(). */
enum { TASK_FINISH_MOVE = 6, TASK_CHECK_INCOMING = 7 };

struct move {
    struct bytes service, account;
    struct bytes key; /* partition key: the name, in lower case for tables */
    /* incarnation of the placement in the source; 0 if the source is the root */
    uint64_t before;
    uint64_t incarnation; /* incarnation of the placement in the destination */
    uint32_t from, to;    /* cells */
};
/* Encodes a move. The bodies of all requests about a move start with it. */
void move_write(struct text *out, const struct move *move);
bool move_read(struct decoder *in, struct move *ret_move);
/* Returns the partition of the name. service: name of the service, which must be that of the
 * move */
struct partition move_partition(const char *service, const struct move *move);

/* Returns true if this INNER record describes the placement, so it stays in its cell. */
bool placement_is_own_record(struct bytes key);
/* Returns true if tasks of this kind concern the placement, so they stay in their cell. */
bool placement_is_own_task(uint32_t kind);

/* Determines whether a name is sealed here, so that requests under this incarnation (0 in the root)
 * must wait. */
enum store_result placement_sealed(struct decision *d, struct read_view *of, uint64_t placement,
                                   bool *ret_is_sealed);

/* ---- moved data ---- */

/* A record of the partition of the name. If it contains the id of a space, the value has the
 * destination's. */
struct moved_record {
    enum record_family family;
    struct bytes key, value;
};
struct moved_task {
    instant due;
    uint32_t kind;
    struct bytes payload; /* ptr NULL if none */
};
/* A space of the destination that contains the contents, and the task that would drop it. */
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

/* ---- steps, each an attempt for deciding_run() ---- */

struct seal {
    struct move move;
    uint64_t digest;            /* of the prepared records: placement_digest() */
    const struct guid *dropped; /* spaces of the source */
    size_t dropped_count;
    bool is_done; /* false if the name has changed or the move was cancelled */
};
enum error placement_seal(struct decision *d, void *seal);
/* Computes the digest of a partition's records that move. */
enum store_result placement_digest(struct read_view *of, struct arena *arena, uint64_t *ret_digest);

/* ---- lists ---- */

/* Counts the moves that may affect lists of this account. May block, depending on the access. */
enum store_result placement_count_moves(struct store *store, const char *service,
                                        struct bytes account, struct store_access access,
                                        struct move_count *ret_count);
/* Returns E_ServerBusy if a decided list may have missed a name that is being moved. */
enum error placement_check_list(struct decision *d);

/* ---- request handlers (peer_requests.h), context: struct endpoint_set ---- */

#define MOVE_LOCATE_PATH   "/-/move/locate"
#define MOVE_PREPARE_PATH  "/-/move/prepare"
#define MOVE_ACTIVATE_PATH "/-/move/activate"
#define MOVE_SWITCH_PATH   "/-/move/switch"
#define MOVE_CANCEL_PATH   "/-/move/cancel"
#define MOVE_BODY_MAX      ((size_t)4096)
#define MOVE_PREPARE_MAX   ((size_t)3 << 20)

/* Handles a request to the root. The body is a move without cells and incarnations; the response is
 * the complete move. Returns 404 if the name does not exist; 409 if it is already in that cell, or
 * must stay in the root. */
int move_locate_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* Run steps (1), (3) and (4). Return 409 if the step is currently impossible. */
int move_prepare_serve(void *context, struct bytes body, struct arena *arena,
                       struct text *ret_body);
int move_activate_serve(void *context, struct bytes body, struct arena *arena,
                        struct text *ret_body);
int move_switch_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* Cancels a move at the source, so that it cannot be sealed. Returns 409 if it is sealed
 * already. */
int move_cancel_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

/* Cancels all moves of the name before this one, in the source. Returns false if one of them is
 * sealed, or the store fails. */
bool move_cancel_earlier(const struct endpoint *endpoint, const struct move *move);

task_fn move_finish_task;
task_fn move_check_incoming_task;

#endif
