/* The window of message ids of a connection: which may come, and which have. Pure.
 *
 *   low    every id below has been taken
 *   high   every id from here on has not been granted
 *
 * (1) An id is taken once.
 * (2) high - low <= SMB_CREDITS_MAX: a client that leaves an id out gets no further ones in the end, until it
 *     sends it.
 * ms-smb2: 3.3.1.1, 3.3.5.2.3 */
#ifndef LAGRA_SMB_CREDITS_H
#define LAGRA_SMB_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

#include "smb/limits.h"

struct credit_window {
    uint64_t low, high;
    uint64_t
        taken[SMB_CREDITS_MAX / 64]; /* a bit for each id of low..high-1, at id % SMB_CREDITS_MAX */
};

/* One id: 0. */
void credits_init(struct credit_window *window);
/* Takes the ids first .. first + count - 1. count: 1..65535
 * returns false: one of them is not within the window, or was taken; nothing is changed */
bool credits_take(struct credit_window *window, uint64_t first, uint32_t count);
/* Grants what is asked, at least one, as far as the window may grow. returns what was granted */
uint16_t credits_grant(struct credit_window *window, uint16_t asked);
/* What the client may send now. */
uint32_t credits_left(const struct credit_window *window);

#endif
