/* Destination of a move (service/placement_move.h): receives the contents of a space from the owner
 * of the source cell and writes them to a new space, like a restore from a backup
 * (restore_state.h). The new space is dropped unless it is prepared (MOVE_PREPARE_PATH) within a
 * day. Its tasks do not run until it is complete. Requests, encoded by base/codec.h:
 *
 *   /-/move/begin  u8 2; service, account, name as bytes; the source's clock and its
 *                  store_time_passed(), u64
 *                  response: u8 2; ids of the copy, of the space and of the task that drops it, 16
 *                  raw bytes each; when that task is due, u64
 *   /-/move/put    16 raw, id; the rest is a batch of restore_state.h
 *   /-/move/end    16 raw, id; the two times as above. The space is complete, and nothing in it is
 *                  newer than these times
 *
 * Status 409 means that the clocks of the two cells differ too much, and 404 that the copy does not
 * exist. A copy is abandoned if there is no request for it within a minute. */
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
/* Abandons all copies, before the store is closed. No request may be in progress. */
void move_in_stop(void);

#endif
