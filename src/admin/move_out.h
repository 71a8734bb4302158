/* Source of a move (service/placement_move.h): a thread copies and holds the contents of one name
 * at a time (move_copy.h), and then seals the name. Writes to a held name fail with 503 ServerBusy;
 * reads are still served. If a move fails or its process is killed before the seal, the source is
 * unchanged. Requests, encoded by base/codec.h:
 *
 *   /-/move/start   a move; 409 if another one is in progress at this source
 *   /-/move/status  u8 1; incarnation of the move, u64
 *                   response: u8 1; u8 state (enum move_state); numbers of copied records and
 *                   bytes, u64; problem as bytes
 *   /-/move/names   u8 1; response: u8 1; service, account, name of each container here, as bytes
 */
#ifndef LAGRA_ADMIN_MOVE_OUT_H
#define LAGRA_ADMIN_MOVE_OUT_H

#include "service/placement_move.h"

#define MOVE_START_PATH  "/-/move/start"
#define MOVE_STATUS_PATH "/-/move/status"
#define MOVE_NAMES_PATH  "/-/move/names"
#define MOVE_NAMES_MAX   1000u

enum move_state {
    MOVE_UNKNOWN, /* the source was restarted; the name is either sealed or unchanged */
    MOVE_COPIES,
    MOVE_SEALED, /* the destination has the contents and is making them visible */
    MOVE_DONE,
    MOVE_GONE,   /* the name no longer exists, so there is nothing to move */
    MOVE_UNDONE, /* the move failed; the source still has the contents */
};

/* Handlers of the requests (service/peer_requests.h). context: struct endpoint_set */
int move_start_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
int move_status_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
int move_names_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* Describes the move in progress, or writes "" if nothing is being copied. Thread-safe. */
void move_out_describe(char *to, size_t size);
/* Stops a move in progress, before the store is closed. No request may be in progress. */
void move_out_stop(void);

#endif
