/* Watches of directories by SMB: what CHANGE_NOTIFY has to tell, beside what it tells. MS-SMB2 3.3.5.19, MS-FSA 2.1.5.11
 *
 * The state that a commit makes is compared with the one before: names that come and go, files that change. Whatever a
 * watch is told must be one of these changes, each once, but for those that it was said to have missed
 * (STATUS_NOTIFY_ENUM_DIR). What a request has made that began after the watch did has to be told; what was under way
 * then may be. A watch dies with its handle, and with the process. */
#ifndef LAGRA_SIM_SM_WATCH_H
#define LAGRA_SIM_SM_WATCH_H

#include "fs_model.h"

struct sm_message;
struct wire_writer;

void sm_watches_begin_life(void);
/* Requests and beginnings of watches are numbered in their order. */
uint64_t sm_watch_order(void);
/* Of states that were not looked at yet, the newest is of a request with that number; 0: nobody knows of which. */
void sm_watches_see(uint64_t order);

/* ---- what the client does ---- */

void sm_watch_write(struct wire_writer *w, const struct sm_ask *ask);
/* It is about to be sent. */
void sm_watch_asked(unsigned client, const struct sm_ask *ask, uint64_t message_id);
/* A message for a watch has come, interim or final. */
void sm_watch_told(unsigned client, const struct sm_message *message);
/* SM_PENDING, or how it was answered; false: neither yet. */
bool sm_watch_has_come(unsigned client, uint64_t message_id, uint32_t *ret_status);
/* The request that waits by this handle; 0: none does. *ret_async_id: to cancel it */
uint64_t sm_watch_waits(unsigned client, uint64_t open, uint64_t *ret_async_id);
/* It is cancelled, or its handle is closed: it may be answered so from now on. */
void sm_watch_cancels(unsigned client, uint64_t open);
void sm_watch_closes(unsigned client, uint64_t open, bool closes);
/* Whatever has to be told has been, by now: of all of the client's. */
void sm_watch_check(unsigned client);
/* The handle is closed; or all are. open: 0: all */
void sm_watch_end(unsigned client, uint64_t open);

#endif
