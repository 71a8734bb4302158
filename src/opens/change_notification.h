/* Notifies watchers of changes in directories that this process makes over SMB or REST (decision:
 * 358). Each change is reported once, after its commit, on the committing thread. MS-FSA 2.1.5.11,
 * MS-FSCC 2.4.42, 2.7.1
 * (1) Every reported change is committed. A watcher receives all changes decided after it was
 *     added, and possibly some that were decided earlier and committed later.
 * (2) Two changes of one directory are reported in commit order if the second was decided after the
 *     first was committed; concurrent changes are reported in any order.
 * (3) Watchers run on the committing thread, under a registry lock that is rarely shared with other
 *     shares. A watcher must not block or call any function of this file. It should record the
 *     change and post it to its own thread.
 * (4) After watcher_remove() has returned, the watcher is not running and will not be called again.
 *
 * If a share has no watchers, a change costs one atomic load. Thread-safe. */
#ifndef LAGRA_OPENS_CHANGE_NOTIFICATION_H
#define LAGRA_OPENS_CHANGE_NOTIFICATION_H

#include "tree/tree.h"

/* MS-SMB2 2.2.35 "CompletionFilter". */
enum {
    CHANGE_FILE_NAME = 0x001,
    CHANGE_DIRECTORY_NAME = 0x002,
    CHANGE_ATTRIBUTES = 0x004,
    CHANGE_SIZE = 0x008,
    CHANGE_LAST_WRITE = 0x010,
    CHANGE_LAST_ACCESS = 0x020,
    CHANGE_CREATION = 0x040,
    CHANGE_EA = 0x080,
    CHANGE_SECURITY = 0x100,
};

/* MS-FSCC 2.7.1 "Action". */
enum change_action {
    CHANGE_ADDED = 1,
    CHANGE_REMOVED = 2,
    CHANGE_MODIFIED = 3,
    CHANGE_RENAMED_OLD = 4, /* followed by RENAMED_NEW in the same call of changed() */
    CHANGE_RENAMED_NEW = 5,
    CHANGE_WATCHED_GONE =
        0x100, /* the directory was deleted or is pending delete; ends the watch */
};

struct change_notification {
    enum change_action action;
    struct bytes path;     /* relative to the watched directory, with '/'; valid during the call */
    struct bytes new_path; /* RENAMED_OLD only: the new path; otherwise ptr NULL */
};

/* Owned by the caller; linked into the registry between add and remove. */
struct watcher {
    struct guid space;  /* of the share */
    uint64_t directory; /* watched node */
    uint32_t filter;    /* CHANGE_* flags to report */
    bool is_recursive;  /* watches the whole subtree */
    void (*changed)(struct watcher *watcher, const struct change_notification *notification);
    struct watcher *next, **link; /* registry links */
};
void watcher_add(struct watcher *watcher);
void watcher_remove(struct watcher *watcher);

/* ---- reporting changes, in the decision that makes them ---- */

/* Reports a change to the watchers of the directory that contains `place`, and to recursive
 * watchers of the directories above it, once the decision's changes are committed. Changes of the
 * root itself are not reported. Opens no part of the decision.
 *
 * place    returned by tree_find(), with the path from the root; or by tree_find_id(), in which
 *          case the path is looked up if the share has watchers
 * filter   CHANGE_*; a watcher is notified if it has any of these flags
 * returns  OK, or an error of decision_fail_store() */
enum error notify_change(struct tree *tree, const struct tree_place *place,
                         enum change_action action, uint32_t filter);
/* Like notify_change(), for CHANGE_FILE_NAME or CHANGE_DIRECTORY_NAME, depending on the node. */
enum error notify_name(struct tree *tree, const struct tree_place *place,
                       enum change_action action);
/* Reports a rename. A rename to another directory is reported as a removal and an addition. A
 * rename to the same name is not reported. MS-FSA 2.1.5.15.12 */
enum error notify_rename(struct tree *tree, const struct tree_place *from,
                         const struct tree_place *to);
/* Reports that the directory is deleted or has a pending delete. */
void notify_gone(struct tree *tree, uint64_t directory);

#endif
