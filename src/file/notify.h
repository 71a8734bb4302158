/* Reports changes in directories to their watchers: in this process, whoever makes the change, a
 * client of SMB or an operation of REST (decision: 358). A change is reported once, after its commit has been
 * applied, by the thread that has committed it. MS-FSA 2.1.5.11, MS-FSCC 2.4.42, 2.7.1
 *
 * (1) Every reported change has been committed. A watcher gets all changes that are decided after it was
 *     added, and perhaps of some that were decided before and committed after.
 * (2) Changes of one directory are reported in the order in which they were committed, as far as they are
 *     decided one after the other: two that are committed at the same time are reported in either order.
 * (3) A watcher is called on the thread that has committed, under a lock of the registry that changes of other
 *     shares seldom share: it notes the change, posts to its own thread, and returns. It may neither block nor call anything of this file.
 * (4) After watcher_remove() has returned it is not being called, and will not be.
 *
 * Without watchers of the share a change costs one load of a counter. Any thread. */
#ifndef LAGRA_FILE_NOTIFY_H
#define LAGRA_FILE_NOTIFY_H

#include "file/file.h"

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
    CHANGE_RENAMED_OLD = 4, /* followed by RENAMED_NEW, in the same call of changed() */
    CHANGE_RENAMED_NEW = 5,
    CHANGE_WATCHED_GONE = 0x100, /* the directory itself is deleted, or is to be: the watch ends */
};

struct change_news {
    enum change_action action;
    struct bytes path;     /* from the watched directory, with '/'; gone after the call */
    struct bytes new_path; /* of RENAMED_OLD: what it is called now; else ptr NULL */
};

/* Owned by the one who adds it, and the registry's while it is there. */
struct watcher {
    struct guid space;  /* of the share */
    uint64_t directory; /* its node */
    uint32_t filter;    /* CHANGE_*: the changes that it wants */
    bool is_recursive;  /* what is below its directories too */
    void (*changed)(struct watcher *watcher, const struct change_news *news);
    struct watcher *next, **link; /* the registry's */
};
void watcher_add(struct watcher *watcher);
void watcher_remove(struct watcher *watcher);

/* ---- by what changes something, in its decision ---- */

/* Reports, once the changes of the decision are committed, to the watchers of the directory that the place is in,
 * or one above it. place: as tree_find() has it, with the way from the root, or as tree_find_id() has it; its
 * way is then found here, if anybody watches. The root itself is in no directory: not reported. filter:
 * CHANGE_*, of which one has to be watched. No part is added.
 * returns OK, as decision_fail_store() */
enum error notify_change(struct decision *d, const struct tree_place *place,
                         enum change_action action, uint32_t filter);
/* By its kind: CHANGE_FILE_NAME or CHANGE_DIRECTORY_NAME. */
enum error notify_name(struct decision *d, const struct tree_place *place,
                       enum change_action action);
/* It had the name `from`, and has the name `to`. In another directory it is removed from the one and added to
 * the other. A rename to the same name is not reported. MS-FSA 2.1.5.15.12 */
enum error notify_rename(struct decision *d, const struct tree_place *from,
                         const struct tree_place *to);
/* The directory is deleted, or is to be. */
void notify_gone(struct decision *d, uint64_t directory);

#endif
