/* Byte-range locks of an open file, and answers to breaks. ms-smb2: 3.3.5.14, 3.3.5.22; MS-FSA 2.1.5.7,
 * 2.1.5.8, 2.1.5.18 */
#ifndef LAGRA_FILE_HANDLE_LOCKS_H
#define LAGRA_FILE_HANDLE_LOCKS_H

#include "file/gate.h"
#include "file/handle.h"

enum lock_action { LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_RELEASED };
struct lock_element {
    struct byte_range range;
    enum lock_action action;
};
struct handle_lock {
    const struct mount *mount;
    const struct held_handle *handle;
    const struct lock_element *elements; /* all of them taken, or all released */
    size_t count;
    /* Of one that is taken: waits until it can be had, however long that is (DECIDE_WAITS, until INSTANT_MAX).
     * Else it is refused at once. */
    bool waits;

    /* ---- what comes of it ---- */
    /* Of LOCK_RELEASED: why it stopped; the elements before are released. E_ResourceNotFound: there is no
     * such lock. MS-SMB2 3.3.5.14.1 */
    enum error stopped;
};
/* Of those that are taken, all are or none. MS-SMB2 3.3.5.14.2
 * returns OK, DECIDE_WAITS, E_FileLockConflict; E_InvalidRange: ends beyond 2^64; E_ServerBusy: BYTE_LOCKS_MAX
 *         E_ResourceTypeMismatch: it is a directory */
attempt_fn handle_lock_attempt;

/* A client's answer to a break, or its server's in its place.
 * returns OK; E_ResourceNotFound: nothing is cached under the key, or no such break is under way
 *         E_InvalidInput: it may not keep so much */
struct handle_acknowledge {
    const struct mount *mount;
    uint64_t node;
    struct gate_answer answer;
};
attempt_fn handle_acknowledge_attempt;

#endif
