/* Byte-range locks of an open file, and acknowledgments of breaks. ms-smb2: 3.3.5.14, 3.3.5.22;
 * MS-FSA 2.1.5.7, 2.1.5.8, 2.1.5.18 */
#ifndef LAGRA_HANDLES_HANDLE_LOCKS_H
#define LAGRA_HANDLES_HANDLE_LOCKS_H

#include "opens/open_state.h"
#include "handles/handle.h"

enum lock_action { LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_RELEASED };
struct lock_element {
    struct byte_range range;
    enum lock_action action;
};
struct handle_lock {
    const struct tree_connect *tree_connect;
    const struct held_handle *handle;
    const struct lock_element *elements; /* all acquire, or all release */
    size_t count;
    /* true: wait for the lock without a timeout (DECIDE_WAITS, until INSTANT_MAX); false: fail at
     * once on a conflict */
    bool waits;

    /* ---- results ---- */
    /* For LOCK_RELEASED: error of the element that failed; those before it are released.
     * E_ResourceNotFound: no such lock. MS-SMB2 3.3.5.14.1 */
    enum error stopped;
};
/* Acquires all locks or none (MS-SMB2 3.3.5.14.2), or releases them.
 * Returns OK, DECIDE_WAITS, E_FileLockConflict; E_InvalidRange: ends beyond 2^64;
 *         E_ServerBusy: BYTE_LOCKS_MAX; E_ResourceTypeMismatch: a directory. */
attempt_fn handle_lock_attempt;

/* Acknowledges a break, for the client or by the server after a timeout.
 * Returns OK; E_ResourceNotFound: the key has no caching, or no such break is in progress
 *         E_InvalidInput: retains more than the break allows. */
struct handle_acknowledge {
    const struct tree_connect *tree_connect;
    uint64_t node;
    struct break_acknowledgment answer;
};
attempt_fn handle_acknowledge_attempt;

#endif
