/* Notifies the connections that hold an oplock or lease of its breaks. Listeners are identified by
 * the key with which the file was opened. A REST or SMB operation that breaks caching commits the
 * break (open_state.h). After the commit, each listener of the key is called once for each break.
 *
 * (1) A listener that was added before its open was committed receives all breaks of that open.
 * (2) Listeners run on the committing thread, one thread at a time, under a registry lock that
 *     is rarely shared with other keys. A listener must not block or call any function of this
 *     file. It records the break and posts it to its own thread.
 * (3) A listener may be called before the response to its open has been sent, and for an open
 *     that later fails.
 * (4) After break_listener_remove() has returned, the listener is not running and will not be
 *     called again. Thread-safe. */
#ifndef LAGRA_OPENS_BREAK_NOTIFICATION_H
#define LAGRA_OPENS_BREAK_NOTIFICATION_H

#include "base/ids.h"
#include "service/decision.h"

struct break_notification {
    struct guid space; /* of the share */
    uint64_t node;
    struct guid key;
    uint8_t holds,
        to;         /* CACHING_*: current caching, and caching to retain after the acknowledgment */
    uint16_t epoch; /* lease epoch */
    instant at;     /* commit time */
};

/* Owned by the caller; linked into the registry between add and remove. */
struct break_listener {
    struct guid space;
    struct guid key;
    /* Called for each break. If several connections have opens with the lease key, all their
     * listeners are called. The oldest, for which is_first is set, must notify the client. */
    void (*on_break)(struct break_listener *listener, const struct break_notification *notification,
                     bool is_first);
    uint64_t node;               /* set by break_listener_has() */
    struct break_listener *next; /* registry link */
};
void break_listener_add(struct break_listener *listener);
void break_listener_remove(struct break_listener *listener);
/* Records that an open of this node uses the listener's key. */
void break_listener_has(struct break_listener *listener, uint64_t node);
/* Finds the node that was opened with this key. Returns false if the share has no listener with it.
 */
bool break_listener_find(const struct guid *space, const struct guid *key, uint64_t *ret_node);

/* Reports a break to the oldest remaining listener of its key, after the listener that should have
 * notified the client was removed. */
void break_notification_forward(const struct break_notification *notification);

/* Reports the break once the decision's changes are committed. Called by the open state only. */
void break_notification_add(struct decision *d, const struct break_notification *notification);

#endif
