/* The open state: checks each operation on a file or directory, REST or SMB, against the opens of
 * SMB clients. It reads the opens of the node (open_record.h) from the decision's part, applies the
 * rules (concurrency/opens.h, lock_sets.h), and returns
 *
 *   OK             proceed; breaks that need no acknowledgment are among the part's changes
 *   DECIDE_WAITS   clients must first acknowledge breaks or close; the breaks are among the
 *                  part's changes; decide again when service/waiting.h says so
 *   an error       E_SharingViolation, E_DeletePending, E_ReadOnlyAttribute, E_FileLockConflict;
 *                  E_ClientCacheFlushDelay: the wait has timed out
 *
 * REST operations are checked in file_enter(), as specified in the PASSES() column of their row in
 * rest/operations.c. SMB's open, read, write, lock and close call the functions below in their own
 * decisions. All functions are pure, like decide functions, and may run again.
 *
 * A disconnected open (open_record.h) cannot acknowledge a break. If it conflicts with an operation
 * or would have to give up caching, that operation's decision closes it; if it is persistent, it
 * remains open and loses the caching at once. concurrency/README.md rule 22
 *
 * Breaks are stored only in the record: until the client acknowledges one, `breaks_to` of its entry
 * has fewer flags than `holds`. Thread-safe. */
#ifndef LAGRA_OPENS_OPEN_STATE_H
#define LAGRA_OPENS_OPEN_STATE_H

#include "opens/open_record.h"
#include "service/decision.h"

struct tree;

/* Longest wait of a REST operation; the client may request less. semantics 8.4 */
#define REST_WAIT_MAX_S 30u
/* Longest wait of an SMB open. Longer than a client may take to acknowledge a break, after which
 * the server acknowledges it on the client's behalf. MS-SMB2 3.3.2.1 */
#define OPEN_WAIT_MAX_S 60u

/* The opens of one node, as seen by one attempt of a decision. */
struct open_state {
    struct decision *d;
    struct decision_part *part;
    uint64_t node;
    bool is_read_only; /* read-only attribute of the node */
    bool is_leased;    /* by Lease File, neither broken nor released */
    struct open_set set;
    struct byte_lock *locks; /* read on first use */
    size_t lock_count;
    bool has_locks;
    bool is_changed, locks_changed; /* not written yet */
    /* for operations without a handle: file_pass() */
    enum rest_use use;
    struct open_state *next;
};

/* Reads the opens of a node. tree: current state of the share. part: the node's. The caller sets
 * is_leased and is_read_only. Returns OK, or an error of decision_fail_store(). */
enum error open_state_read(struct open_state *opens, struct tree *tree, struct decision_part *part,
                           uint64_t node);
/* Reads the opens of a node. before: view of the node's partition. Returns STORE_OK, even if
 * nothing is open; STORE_CORRUPT, STORE_WAIT, STORE_CONFLICT, STORE_IO. */
enum store_result open_set_read(struct tree *tree, struct read_view *before,
                                struct open_set *ret_set);
/* Adds the record to the part's changes if it was changed or contains stale opens. The SMB
 * functions call this before they return OK or DECIDE_WAITS. */
void open_state_write(struct open_state *opens);
/* Deletes all records of the open state, in the decision that deletes the node. */
void open_state_delete(struct open_state *opens);

/* Returns the key under which blocked requests wait for this node's opens. */
static inline struct waiter_key open_state_waiting_key(const struct open_state *opens)
{
    return (struct waiter_key){ .space = opens->part->partition.space, .node = opens->node };
}

/* ---- operations without a handle ---- */

/* Checks an operation of the File REST API. If it returns OK, the caller calls open_state_write()
 * once the operation has succeeded.
 * Returns OK, DECIDE_WAITS, E_DeletePending, E_ReadOnlyAttribute, E_SharingViolation,
 * E_ClientCacheFlushDelay. */
enum error open_state_check_rest(struct open_state *opens, enum rest_use use);
/* Checks a read of these bytes: fails if an exclusive lock covers any of them.
 * Returns OK, E_FileLockConflict, or an error of decision_fail_store(). */
enum error open_state_check_read(struct open_state *opens, uint64_t offset, uint64_t length);
/* Checks a write, truncation or replacement: fails if the file has any byte-range lock.
 * semantics 8.1; decision: 337, 490 */
enum error open_state_check_write(struct open_state *opens);

/* ---- handles ---- */

struct open_state_open {
    uint8_t access, share; /* desired access, share access: ACCESS_* */
    uint8_t meets;         /* MEETS_* */
    bool replaces;         /* overwrites or supersedes: counts as a write regardless of `access` */
    uint8_t caching;       /* requested CACHING_* */
    struct guid caching_key; /* from the lease key; generated for an oplock */
    bool is_oplock;          /* caching is R, RW or RWH */
    /* a lease, possibly without caching flags; a later open with its key may request more */
    bool is_lease;
    uint16_t epoch; /* lease epoch sent by the client */
    bool persists;
    const struct durable_handle_state *durable; /* persistent only: reconnect state */
    bool deletes;                               /* FILE_DELETE_ON_CLOSE */
    uint64_t session;
    struct bytes client_address, client_name;
};
/* Caching of an open, or of all opens with its lease key. */
struct caching_given {
    uint8_t holds;  /* CACHING_* (rule 24); 0 if the node has CACHINGS_MAX entries */
    uint16_t epoch; /* lease epoch */
    bool breaks;    /* true if a break is in progress */
    instant at;     /* commit time, or 0 if nothing was committed */
};
/* Opens a handle, with an id that the node has never used before.
 *
 * returns OK, DECIDE_WAITS, the errors of open_state_check_rest()
 *         E_ServerBusy: OPENS_MAX handles are open. decision: 336 */
enum error open_state_open(struct open_state *opens, const struct open_state_open *request,
                           struct handle *ret_handle, struct caching_given *ret_given);
/* Closes a handle. Sets *ret_deletes if it was the last one and a delete is pending; the caller
 * must then delete the node in the same decision. by_force: ignore delete-on-close. semantics 8.3
 * Returns OK, E_ResourceNotFound: no such handle */
enum error open_state_close(struct open_state *opens, uint64_t handle, bool by_force,
                            bool *ret_deletes);
/* Closes all handles by force. Sets *ret_deletes like open_state_close(). */
void open_state_close_all(struct open_state *opens, bool *ret_deletes);
/* An acknowledgment of a break. */
struct break_acknowledgment {
    struct guid key;
    uint8_t
        keeps; /* CACHING_* that the client retains; for an oplock, at most the break's target */
    bool is_overdue; /* made by the server after a timeout, for the break with this epoch */
    uint16_t epoch;
};
/* Applies the acknowledgment, and starts the next break if one was requested in the meantime.
 * MS-SMB2 3.3.5.22
 * Returns OK; E_ResourceNotFound: no break in progress; E_InvalidInput: retains more than the break
 * allows */
enum error open_state_acknowledge(struct open_state *opens,
                                  const struct break_acknowledgment *answer);

/* ---- disconnect and reconnect of a handle: open_state_durable.c ---- */

/* Called when the client's connection is lost. Retains the handle for durable->ticks from d->now
 * and sets *ret_stays if it is persistent, or if it has handle caching and no break in progress,
 * unless it is to be deleted on close or a delete is pending. Otherwise nothing changes, and the
 * caller closes the handle. MS-SMB2 3.3.7.1
 * Returns OK, E_ResourceNotFound, or an error of decision_fail_store() */
enum error open_state_disconnect(struct open_state *opens, uint64_t handle,
                                 const struct durable_handle_state *durable, bool *ret_stays);
/* Reads a disconnected handle. Returns OK; E_ResourceNotFound: not disconnected, or expired; or an
 * error of decision_fail_store(). */
enum error open_state_disconnected(struct open_state *opens, uint64_t handle,
                                   struct handle *ret_handle);
/* Reconnects a handle. Uses only session, client_address and client_name of *from. Sets *ret_given
 * to its caching, or zeros if it has none. Returns like open_state_disconnected(). */
enum error open_state_reconnect(struct open_state *opens, uint64_t handle,
                                const struct handle *from, struct caching_given *ret_given);
/* Returns the current caching of a handle. Returns OK, E_ResourceNotFound. */
enum error open_state_caching(struct open_state *opens, uint64_t handle,
                              struct caching_given *ret_given);
/* Returns true if the handle is disconnected and has expired. */
bool open_state_has_expired(const struct open_state *opens, uint64_t handle);

/* ---- operations on a handle ---- */

/* Sets or clears delete pending. Setting it first breaks the handle caching of others.
 * Returns OK; E_ResourceNotFound; E_ReadOnlyAttribute; E_SharingViolation: the handle lacks DELETE;
 * or an error of open_state_break_handles(). */
enum error open_state_set_delete_pending(struct open_state *opens, uint64_t handle,
                                         bool is_pending);
/* Acquires all of these locks for the handle, in order, or none of them. Each must conflict neither
 * with existing locks nor with earlier ones in the array.
 * Returns OK; E_ResourceNotFound; E_FileLockConflict; E_InvalidRange: ends beyond 2^64;
 * E_ServerBusy: BYTE_LOCKS_MAX. decision: 336 */
enum error open_state_lock(struct open_state *opens, uint64_t handle,
                           const struct byte_lock *wanted, size_t count);
/* Releases the locks on exactly these ranges, in order; if a range has several, the exclusive one
 * first. The caller calls open_state_write().
 * Returns OK; E_ResourceNotFound: no such lock; the locks of earlier ranges have then been
 * released. */
enum error open_state_unlock(struct open_state *opens, uint64_t handle,
                             const struct byte_range *ranges, size_t count);
/* Check reads and writes of bytes by a handle. A write breaks the caching of other clients, and
 * the handle's own level II oplock.
 * Returns OK, E_ResourceNotFound, E_FileLockConflict. */
enum error open_state_read_bytes(struct open_state *opens, uint64_t handle,
                                 const struct byte_range *range);
enum error open_state_write_bytes(struct open_state *opens, uint64_t handle,
                                  const struct byte_range *range);
/* Breaks the caching of data by others because the length changes. Returns OK,
 * E_ResourceNotFound. */
enum error open_state_change_data(struct open_state *opens, uint64_t handle);
/* Breaks the handle caching of others before the node is renamed, marked for deletion or given a
 * new security descriptor. A client that caches a handle may have closed it already, and had opened
 * it with the old name and rights. MS-FSA 2.1.4.12, SET_INFORMATION and SET_SECURITY
 * Returns OK, DECIDE_WAITS, E_ResourceNotFound, E_DeletePending, E_ClientCacheFlushDelay */
enum error open_state_break_handles(struct open_state *opens, uint64_t handle);
/* Checks the creation of an entry in this directory, or a rename into it. Returns OK,
 * E_DeletePending, E_SharingViolation. MS-FSA 2.1.5.15.12 */
enum error open_state_add_name(struct open_state *opens, bool is_rename);

#endif
