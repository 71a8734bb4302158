/* Records of the opens of a file or directory by SMB clients. They are stored in its partition, so
 * that a decision reads them in the same snapshot as the file's content:
 *
 *   partition <id>   INNER "g"   opens, caching of clients, delete pending: struct open_set
 *                    INNER "k"   byte-range locks, if any
 *   index of the     'h' id id'  open id' of node id: struct handle. For List Handles
 *   share's space    'r' id'     node of open id', for reconnects
 *                    'p' id      node id has a pending delete. For directory listings
 *
 * If "g" does not exist, nothing is open, and an operation reads only this one key.
 *
 * Each open has the epoch of the process that holds it (open_epoch()). An open is stale if its
 * process has ended, unless it is persistent (SMB 3 persistent handle), or if it was made before
 * the share was deleted and restored. Handle ids are instants, so opens made before a restore have
 * smaller ids than the instant of the restore (decision: 379). Stale opens are ignored, and the
 * next write of the record removes them.
 *
 * An open whose client has disconnected may be retained until the instant in its entry. After a
 * restart, a persistent open counts as disconnected since the start of the new process, and as
 * stale once a later process has run for as long as the open's timeout (open_epoch.h). Breaks
 * started by its original process count as acknowledged.
 *
 * Reading a malformed record logs it and returns STORE_CORRUPT. Thread-safe. */
#ifndef LAGRA_OPENS_OPEN_RECORD_H
#define LAGRA_OPENS_OPEN_RECORD_H

#include "base/clock.h"
#include "concurrency/lock_sets.h"
#include "concurrency/opens.h"
#include "opens/open_epoch.h"
#include "store/store.h"

/* Limits per file. Azure allows 2,000 handles; the other limits keep the record small enough.
 * decision: 336 */
#define OPENS_MAX                2000
#define CACHINGS_MAX             512
#define BYTE_LOCKS_MAX           2000
/* Longest time that a disconnected open is retained */
#define HANDLE_TIMEOUT_TICKS_MAX (300 * TICKS_PER_SECOND)

struct open_entry {
    uint64_t id; /* handle id; not 0 */
    uint64_t epoch;
    struct file_open open; /* open.caching is an index into the set's cachings */
    bool persists;
    bool deletes;               /* FILE_DELETE_ON_CLOSE */
    uint64_t timeout_ticks;     /* persistent only: timeout after a disconnect */
    instant disconnected_until; /* expiry; 0 while the client is connected */
};

/* The caching of one open (an oplock) or of all opens that share a lease key. While a break is in
 * progress, further breaks only lower caching.breaks_to and are sent after the acknowledgment. */
struct caching_entry {
    struct guid key;
    struct file_caching caching;
    uint8_t reported; /* CACHING_*: `holds`, or the target of the break in progress */
    uint16_t epoch;   /* lease epoch, incremented by each grant and break. MS-SMB2 3.3.5.9.11 */
};
static inline bool caching_is_breaking(const struct caching_entry *entry)
{
    return entry->reported != entry->caching.holds;
}
/* Sets the caching and ends a break in progress. */
static inline void caching_settle(struct caching_entry *entry, uint8_t holds)
{
    entry->caching.holds = entry->caching.breaks_to = entry->reported = holds;
}

/* All opens of a node that are not stale, in the arena. */
struct open_set {
    struct open_entry *opens; /* sorted by id */
    size_t open_count;
    struct caching_entry *cachings; /* each used by at least one open */
    size_t caching_count;
    bool is_delete_pending;
    size_t lock_count;
    /* stale opens in the record; has capacity for all decoded opens */
    struct open_entry *stale;
    size_t stale_count;
};

/* Returns the open with the id, or NULL. */
struct open_entry *open_set_find(const struct open_set *set, uint64_t id);
/* Reads the record's value, for open_set_decode(). Returns like read_view_get(). */
enum store_result open_set_get(struct read_view *before, struct arena *arena,
                               struct bytes *ret_value);
/* Writes the set, except caching entries that no open uses. Deletes the record if the set is
 * empty. */
void open_set_write(struct changes *changes, struct arena *arena, struct open_set *set);

/* Reads the locks of opens in the set. Returns like open_set_get(), but STORE_OK if the record does
 * not exist. */
enum store_result byte_locks_read(struct read_view *before, struct arena *arena,
                                  const struct open_set *set, struct byte_lock **ret_locks,
                                  size_t *ret_count);
void byte_locks_write(struct changes *changes, struct arena *arena, const struct byte_lock *locks,
                      size_t count);

/* Decodes the set. Returns false if the record is malformed.
 * closed: opens with ids up to this one are stale (`reopened` in struct tree_state)
 * now: persistent opens of earlier processes that have expired by then are stale */
bool open_set_decode(struct arena *arena, struct bytes value, uint64_t closed, instant now,
                     struct open_set *ret_set);
bool byte_locks_decode(struct arena *arena, struct bytes value, struct byte_lock **ret_locks,
                       size_t *ret_count);

/* ---- the index of handles ---- */

/* File times that operations through this handle no longer update, and the last write time that it
 * reports. Commands return a new value, which the caller stores in the open after the commit.
 * MS-FSA 2.1.1.6 "UserSet..Time", 2.1.5.15.2; decision: 357 */
struct handle_times {
    bool keeps_accessed, keeps_written,
        keeps_changed; /* set by the client, or frozen with the value -1 */
    /* Last write time reported instead of the file's; 0 if the file's is reported. Valid until
     * shown_until; if that is 0, until the next flush, set-information or close of the handle. */
    instant shown_written, shown_until;
    bool has_written; /* written since the open or the last flush or set-information */
};

/* State of an open that a reconnect restores. */
struct durable_handle_state {
    uint64_t ticks;   /* timeout after a disconnect */
    uint32_t granted; /* MAY_* */
    struct handle_times times;
    struct bytes
        of_client; /* opaque to this module; ptr NULL if the handle cannot be reconnected */
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
    instant reconnected;        /* 0 if never */
    instant disconnected_until; /* expiry; 0 while the client is connected */
    struct durable_handle_state durable;
};
/* Returns true if the handle is not stale. closed: as for open_set_decode() */
bool handle_counts(const struct handle *handle, instant now, uint64_t closed);

/* Writes the handle's index entry and, if it can be reconnected, its entry for reconnects. */
void handle_put(struct changes *changes, struct arena *arena, const struct handle *handle);
/* Deletes the handle's index entry, and its entry for reconnects if it is persistent or
 * disconnected. */
void handle_delete(struct changes *changes, uint64_t node, const struct open_entry *open);
/* Deletes the entry for reconnects, after the client has reconnected. */
void handle_delete_reconnect(struct changes *changes, uint64_t id);
/* Encode and decode the entry for reconnects, whose value is the node's id. Returns false if
 * malformed. */
struct bytes handle_reconnect_key(struct arena *arena, uint64_t id);
bool handle_reconnect_decode(struct bytes value, uint64_t *ret_node);
bool handle_decode(struct bytes key, struct bytes value, struct handle *ret_handle);
/* Returns the key prefix of the handles of a node (of the share if node is NULL), in the arena. */
struct bytes handle_prefix(struct arena *arena, const uint64_t *node);
/* Returns the key of a handle. */
struct bytes handle_key(struct arena *arena, uint64_t node, uint64_t id);

/* Index of nodes with a pending delete. An entry may be out of date, because opens can become stale
 * after it was written; the record "g" is authoritative. */
#define PENDING_PREFIX "p"
void pending_put(struct changes *changes, uint64_t node);
void pending_delete(struct changes *changes, uint64_t node);
/* Returns the key at which a scan for this and later nodes starts. */
struct bytes pending_first(struct arena *arena, uint64_t node);
/* Decodes a key. Returns false if it is malformed. */
bool pending_decode(struct bytes key, uint64_t *ret_node);

#endif
