/* The window of message ids (CommandSequenceWindow) of a connection. Pure.
 *
 *   low    all ids below have been used
 *   high   ids from here on have not been granted
 *
 * (1) Each id is used at most once.
 * (2) high - low <= SMB_CREDITS_MAX: a client that skips an id eventually gets no more credits
 *     until it uses that id.
 * ms-smb2: 3.3.1.1, 3.3.5.2.3 */
#ifndef LAGRA_SMB_PROTOCOL_CREDITS_H
#define LAGRA_SMB_PROTOCOL_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "smb_protocol/limits.h"

struct credit_window {
    uint64_t low, high;
    uint64_t taken[SMB_CREDITS_MAX / 64]; /* bit id % SMB_CREDITS_MAX for ids low to high - 1 */
};

/* Grants only id 0. */
void credits_init(struct credit_window *window);
/* Consumes the ids `first` to `first + count - 1`. count: 1 to 65535. Returns false, without
 * changes, if one of them is outside the window or already used. */
bool credits_take(struct credit_window *window, uint64_t first, uint32_t count);
/* Grants the requested credits, but at least one, as far as the window allows. Returns the number
 * granted. */
uint16_t credits_grant(struct credit_window *window, uint16_t requested);
/* Returns the number of credits that the client has left. */
uint32_t credits_left(const struct credit_window *window);

#endif
