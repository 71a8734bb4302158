/* The records of the opens of a file or directory by SMB clients. They lie in its partition, so that a
 * decision sees them in the same state as the contents:
 *
 *   partition <id>   INNER "g"   the opens, the caching of clients, delete pending: struct open_set
 *                    INNER "k"   the byte-range locks, where there are any
 *   index of the     'h' id id'  the open id' of the node id: struct handle. For lists of handles
 *   share's space    'r' id'     the node of the open id', which its client may come back to
 *                    'p' id      a delete of the node id is pending. For lists of directories
 *
 * Absent: nothing is open, and an operation reads only that one absent record.
 *
 * Each open has the epoch of the process that holds it (open_epoch()). The opens of a
 * process that has ended are ignored, but for those that persist (persistent handles of SMB 3). So are the
 * opens that were made before the share was deleted and restored: ids are instants, and those of older ones are
 * below the restoration's (decision: 379). They need no clean-up: the next write of the record leaves them out.
 *
 * An open whose client has lost its connection may be kept for a while: it is *away*, until an instant that its
 * entry has. One that persists is away, too, from the start of a process that is not its own. Once its time has
 * ended in any later process (open_epoch.h) it does not count any more, and what it was asked to give up by its own
 * process it has given up.
 *
 * No record is trusted: malformed ones are logged, and STORE_CORRUPT. Any thread. */
#ifndef LAGRA_FILE_OPEN_RECORD_H
#define LAGRA_FILE_OPEN_RECORD_H

#include "base/clock.h"
#include "concurrency/byte_locks.h"
#include "concurrency/opens.h"
#include "file/open_epoch.h"
#include "store/store.h"

/* Of a file. Azure has 2,000 handles to a file; the rest is what fits one record. decision: 336 */
#define OPENS_MAX             2000
#define CACHINGS_MAX          512
#define BYTE_LOCKS_MAX        2000
/* The longest that an open is kept for its client to come back. */
#define HANDLE_KEPT_TICKS_MAX (300 * TICKS_PER_SECOND)

struct open_entry {
    uint64_t id; /* of the handle; not 0 */
    uint64_t epoch;
    struct file_open open; /* its caching: index into the set's */
    bool persists;
    bool deletes;        /* FILE_DELETE_ON_CLOSE */
    uint64_t kept_ticks; /* of one that persists: so long it is away at most */
    instant away_until;  /* 0: its client is there */
};

/* The caching of a client, for one open (an oplock) or for all opens with one lease key. A break is under way
 * while a break has been sent to its client. What is asked of it meanwhile
 * (caching.breaks_to) is sent when it has answered. */
struct caching_entry {
    struct guid key;
    struct file_caching caching;
    uint8_t reported; /* CACHING_*: `holds`, or while a break is under way, what it may keep */
    uint16_t epoch;   /* of a lease: one more with each grant and each break. MS-SMB2 3.3.5.9.11 */
};
static inline bool caching_is_breaking(const struct caching_entry *entry)
{
    return entry->reported != entry->caching.holds;
}
/* It has this from now on, and nothing is asked of it. */
static inline void caching_settle(struct caching_entry *entry, uint8_t holds)
{
    entry->caching.holds = entry->caching.breaks_to = entry->reported = holds;
}

/* All opens of a node that count. In the arena. */
struct open_set {
    struct open_entry *opens; /* by id */
    size_t open_count;
    struct caching_entry *cachings; /* each has an open */
    size_t caching_count;
    bool is_delete_pending;
    size_t lock_count;
    /* Stale opens of the record, which do not count any more. Has space for all opens that were decoded. */
    struct open_entry *left;
    size_t left_count;
};

/* NULL: no open that counts has the id. */
struct open_entry *open_set_find(const struct open_set *set, uint64_t id);
/* The record; open_set_decode(). returns as snapshot_get() */
enum store_result open_set_get(struct snapshot *before, struct arena *arena,
                               struct bytes *ret_value);
/* Drops caching entries without an open, and writes the set; deletes the record of an empty one. */
void open_set_write(struct changes *changes, struct arena *arena, struct open_set *set);

/* Those of opens that count. As open_set_get(), but STORE_OK where there is no record. */
enum store_result byte_locks_read(struct snapshot *before, struct arena *arena,
                                  const struct open_set *set, struct byte_lock **ret_locks,
                                  size_t *ret_count);
void byte_locks_write(struct changes *changes, struct arena *arena, const struct byte_lock *locks,
                      size_t count);

/* closed: opens with an id up to this have been closed, though they are still in the record (struct tree_state,
 * `reopened`). now: those that persist, of an earlier process, do not count when their time is over. False: it is malformed. */
bool open_set_decode(struct arena *arena, struct bytes value, uint64_t closed, instant now,
                     struct open_set *ret_set);
bool byte_locks_decode(struct arena *arena, struct bytes value, struct byte_lock **ret_locks,
                       size_t *ret_count);

/* ---- the index: for lists of handles ---- */

/* When a handle's own times move no more by themselves, and what it shows meanwhile. Value of the open, from
 * command to command: a command that returns new ones says so, and the caller puts them in the place of the
 * old ones once it is committed. MS-FSA 2.1.1.6 "UserSet..Time", 2.1.5.15.2; decision: 357 */
struct handle_times {
    bool keeps_accessed, keeps_written, keeps_changed; /* a client set them, or said -1 */
    /* The last write time that the handle shows although it has written since: until shown_until, or where
     * that is 0 until it flushes, sets something or closes. 0: it shows what is. */
    instant shown_written, shown_until;
    bool has_written; /* since it was opened, or since what is named above */
};

/* What a client that comes back to its open finds again. */
struct handle_kept {
    uint64_t ticks;   /* it is away so long at most */
    uint32_t granted; /* MAY_* */
    struct handle_times times;
    struct bytes of_client; /* what smb/ keeps; ptr NULL: nobody can come back to it */
};

struct handle {
    uint64_t node, id;
    uint64_t epoch;
    bool persists;
    uint8_t access;              /* ACCESS_* */
    uint64_t session;            /* of the client */
    struct bytes client_address; /* "203.0.113.7:53412" */
    struct bytes client_name;    /* may be empty */
    instant opened;
    instant reconnected; /* 0: never */
    instant away_until;  /* 0: its client is there */
    struct handle_kept kept;
};
/* closed: as open_set_decode() */
bool handle_counts(const struct handle *handle, instant now, uint64_t closed);

/* Also what finds it by its id, if there is something kept. */
void handle_put(struct changes *changes, struct arena *arena, const struct handle *handle);
/* Also what finds it by its id, if it persists or is away. */
void handle_delete(struct changes *changes, uint64_t node, const struct open_entry *open);
/* Its client has come back: nothing finds it by its id any more. */
void handle_delete_return(struct changes *changes, uint64_t id);
/* The key by which it is found by its id, and the node in its value; false: malformed. */
struct bytes handle_return_key(struct arena *arena, uint64_t id);
bool handle_return_decode(struct bytes value, uint64_t *ret_node);
bool handle_decode(struct bytes key, struct bytes value, struct handle *ret_handle);
/* The prefix for all handles of a node or, with NULL, of the share; in the arena. */
struct bytes handle_prefix(struct arena *arena, const uint64_t *node);
/* The key of one handle. */
struct bytes handle_key(struct arena *arena, uint64_t node, uint64_t id);

/* Nodes whose delete was pending when their record was written. The record says whether it still is. */
#define PENDING_PREFIX "p"
void pending_put(struct changes *changes, uint64_t node);
void pending_delete(struct changes *changes, uint64_t node);
/* From which on the index has those from this one on. */
struct bytes pending_first(struct arena *arena, uint64_t node);
/* False: it makes no sense. */
bool pending_decode(struct bytes key, uint64_t *ret_node);

#endif
