/* The destination of a move (service/placement_move.h): receives the contents of a space into a new one of its own, from the owner of
 * the source. Each space is received like a restore from a backup (restore_state.h), and dropped a day later unless it was
 * prepared (MOVE_PREPARE_PATH) by then. Requests, with the encodings of base/codec.h:
 *
 *   /-/move/begin  u8 1; service, account, name as bytes; the source's clock and store_time_passed() of it, u64
 *                  response: u8 1; id of the copy, space, task that drops it, 16 raw each; when that is due, u64
 *   /-/move/put    16 raw, id; the rest is a batch of restore_state.h
 *   /-/move/end    16 raw, id: the space is complete
 *
 * 409: the clocks of the two cells differ by too much; 404: there is no such copy. Copies that are silent for a minute are given up. */
#ifndef LAGRA_ADMIN_MOVE_IN_H
#define LAGRA_ADMIN_MOVE_IN_H

#include "admin/restore_state.h"

#define MOVE_BEGIN_PATH "/-/move/begin"
#define MOVE_PUT_PATH   "/-/move/put"
#define MOVE_END_PATH   "/-/move/end"
#define MOVE_PUT_MAX    (RESTORE_BATCH_MAX + sizeof(struct guid))

/* Handlers of the requests (service/peer_requests.h). context: struct endpoint_set */
int move_begin_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
int move_put_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
int move_end_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* Gives up all copies, before the store is closed. No request is executed any more. */
void move_in_stop(void);

#endif
