/* The gate: every operation on a file or directory passes it, whether it comes by REST or by SMB. It
 * reads what SMB clients have open of the node (open_record.h) from the decision's part of it, asks the
 * rules (concurrency/opens.h, byte_locks.h), and answers
 *
 *   OK             go on; caching that other clients lose by it is changed in the same commit
 *   DECIDE_WAITS   other clients must give up something first: the breaks are among the changes of the part;
 *                  decide again when service/waiting.h says so
 *   an error       E_SharingViolation, E_DeletePending, E_ReadOnlyAttribute, E_FileLockConflict;
 *                  E_ClientCacheFlushDelay: it has waited long enough
 *
 * Operations of REST pass by a column of their row (PASSES() in rest/operations.c), in one place,
 * file_enter(); none is built without. SMB's open, read, write, lock and close call the functions below
 * in decisions of their own. All are pure, as decide functions are, and may run again.
 *
 * Nobody answers for an open that is away (open_record.h): where it is in the way, or would have to give up
 * something, it is ended in the decision that meets it; one that persists stays, and loses what it cached at
 * once. concurrency/README.md rule 22
 *
 * Breaks are stored in the record alone: `breaks_to` of an entry is less than what it `holds` until its client
 * has answered. Any thread. */
#ifndef LAGRA_FILE_GATE_H
#define LAGRA_FILE_GATE_H

#include "file/open_record.h"
#include "service/decision.h"

struct tree;

/* The most that an operation of REST waits; its client may say less. semantics 8.4 */
#define GATE_WAIT_MAX_S      30u
/* The same of an open by SMB: longer than a client has to answer a break, after which its server answers in
 * its place. MS-SMB2 3.3.2.1 */
#define GATE_OPEN_WAIT_MAX_S 60u

/* The opens of one node, as one attempt of a decision sees them. */
struct file_gate {
    struct decision *d;
    struct decision_part *part;
    uint64_t node;
    bool is_read_only; /* the node's attribute */
    bool is_leased;    /* by Lease File, and neither broken nor released */
    struct open_set set;
    struct byte_lock *locks; /* once they have been needed */
    size_t lock_count;
    bool has_locks;
    bool is_changed, locks_changed; /* and not written yet */
    /* Of an operation without a handle: file_pass(). */
    enum rest_use use;
    struct file_gate *next;
};

/* tree: of the share, as it is now. part: the node's. Its lease and attributes are the caller's to fill in.
 * returns OK, as decision_fail_store() */
enum error gate_read(struct file_gate *gate, struct tree *tree, struct decision_part *part,
                     uint64_t node);
/* What is open of a node, whose partition `before` is of. returns STORE_OK, also when nothing is; STORE_CORRUPT,
 * STORE_WAIT, STORE_CONFLICT, STORE_IO */
enum store_result gate_read_opens(struct tree *tree, struct snapshot *before,
                                  struct open_set *ret_set);
/* Adds the record to the part's changes, if it has changed or has entries of processes that ended. The
 * functions of SMB do so before they return OK or DECIDE_WAITS. */
void gate_write(struct file_gate *gate);
/* Deletes all records of the gate, in the decision that deletes the node. */
void gate_delete(struct file_gate *gate);

/* Returns the key that requests wait for while the gate is in their way. */
static inline struct waiting_key gate_key(const struct file_gate *gate)
{
    return (struct waiting_key){ .space = gate->part->partition.space, .node = gate->node };
}

/* ---- operations without a handle ---- */

/* If it returns OK, call gate_write() once the operation has succeeded.
 * returns OK, DECIDE_WAITS, E_DeletePending, E_ReadOnlyAttribute, E_SharingViolation,
 *         E_ClientCacheFlushDelay */
enum error gate_pass(struct file_gate *gate, enum rest_use use);
/* Before these bytes are read: fails if an exclusive lock covers any of them.
 * returns OK, E_FileLockConflict, as decision_fail_store() */
enum error gate_pass_read(struct file_gate *gate, uint64_t offset, uint64_t length);
/* Before bytes are written, cut off or replaced: fails if there is any lock on the file. semantics 8.1;
 * decision: 337, 490 */
enum error gate_pass_write(struct file_gate *gate);

/* ---- handles ---- */

struct gate_open {
    uint8_t access, share; /* ACCESS_* */
    uint8_t meets;         /* MEETS_* */
    bool replaces;   /* overwrites or supersedes the file: it writes once, whatever its access */
    uint8_t caching; /* CACHING_* that the client would like */
    struct guid caching_key; /* of its lease; of its own making where it has none */
    bool is_oplock;          /* which is R, RW or RWH */
    bool is_lease;           /* though of nothing: other opens of its key may ask for more */
    uint16_t epoch;          /* of a lease, as the client counts */
    bool persists;
    const struct handle_kept *kept; /* of one that persists; its ticks and what is its client's */
    bool deletes;                   /* FILE_DELETE_ON_CLOSE */
    uint64_t session;
    struct bytes client_address, client_name;
};
/* What an open has of the caching, by itself or with the other opens of its key. */
struct caching_given {
    uint8_t holds;  /* CACHING_*; rule 24 of concurrency/. Nothing beyond CACHINGS_MAX */
    uint16_t epoch; /* of a lease */
    bool breaks;    /* a break of it is under way */
    instant at;     /* instant of the commit, or 0 if nothing was committed */
};
/* Opens a handle, with an id that no handle of the node ever had.
 *
 * returns      OK, DECIDE_WAITS, the errors of gate_pass()
 *              E_ServerBusy: OPENS_MAX handles are open. decision: 336 */
enum error gate_open(struct file_gate *gate, const struct gate_open *asked,
                     struct handle *ret_handle, struct caching_given *ret_given);
/* Closes a handle. *ret_deletes: it was the last one, and a delete is pending: the caller deletes the node in
 * the same decision. by_force: a handle that deletes on close then deletes nothing. semantics 8.3
 * returns OK, E_ResourceNotFound: no such handle */
enum error gate_close(struct file_gate *gate, uint64_t handle, bool by_force, bool *ret_deletes);
/* Closes all handles by force. Does nothing if none is open. */
void gate_close_all(struct file_gate *gate, bool *ret_deletes);
/* A client's answer to a break. */
struct gate_answer {
    struct guid key;
    uint8_t keeps;   /* CACHING_*; of an oplock: as far as it may */
    bool is_overdue; /* the server's own, since the client gives none: to the break of this epoch */
    uint16_t epoch;
};
/* A break that was asked for meanwhile is sent next. MS-SMB2 3.3.5.22
 * returns OK, E_ResourceNotFound: nothing was asked; E_InvalidInput: more than the break allowed */
enum error gate_acknowledge(struct file_gate *gate, const struct gate_answer *answer);

/* ---- a client that is away, and comes back: gate_away.c ---- */

/* Its client has lost the connection. *ret_stays: it is kept until d->now and kept->ticks; false: nothing has
 * changed, and the caller closes it. It stays if it persists, or if its client caches the handle and was not
 * asked for anything; not if it deletes, or is to be deleted. MS-SMB2 3.3.7.1
 * returns OK, E_ResourceNotFound, as decision_fail_store() */
enum error gate_leave(struct file_gate *gate, uint64_t handle, const struct handle_kept *kept,
                      bool *ret_stays);
/* A handle that is away, as it was left. returns OK, E_ResourceNotFound: it is not, or its time is over;
 * as decision_fail_store() */
enum error gate_away(struct file_gate *gate, uint64_t handle, struct handle *ret_handle);
/* Its client is there again. Of *from session, client_address and client_name count. *ret_given: what it has; zeros:
 * nothing. returns as gate_away() */
enum error gate_return(struct file_gate *gate, uint64_t handle, const struct handle *from,
                       struct caching_given *ret_given);
/* What a handle has now. returns OK, E_ResourceNotFound */
enum error gate_now(struct file_gate *gate, uint64_t handle, struct caching_given *ret_given);
/* It is away, and its time is over. */
bool gate_is_overdue(const struct file_gate *gate, uint64_t handle);

/* ---- what is done by a handle ---- */

/* The disposition of the file. Before it is to be deleted, others lose their cached handles.
 * returns OK, E_ResourceNotFound, E_ReadOnlyAttribute, E_SharingViolation: not opened to be deleted; as
 * gate_take_handles() */
enum error gate_set_delete_pending(struct file_gate *gate, uint64_t handle, bool is_pending);
/* Acquires all of these locks, in their order, each next to those before it, or none. Their owner is the handle.
 * returns OK, E_ResourceNotFound, E_FileLockConflict, E_InvalidRange: ends beyond 2^64, E_ServerBusy:
 * BYTE_LOCKS_MAX. decision: 336 */
enum error gate_lock(struct file_gate *gate, uint64_t handle, const struct byte_lock *wanted,
                     size_t count);
/* Releases exactly such a lock, an exclusive one first. The caller calls gate_write() after the last one.
 * returns OK, E_ResourceNotFound: the handle has no such lock */
enum error gate_unlock(struct file_gate *gate, uint64_t handle, const struct byte_range *range);
/* Before bytes are read or written by a handle. A write breaks what other clients have cached, and the handle's
 * own oplock of level II.
 * returns OK, E_ResourceNotFound, E_FileLockConflict */
enum error gate_read_bytes(struct file_gate *gate, uint64_t handle, const struct byte_range *range);
enum error gate_write_bytes(struct file_gate *gate, uint64_t handle,
                            const struct byte_range *range);
/* Others lose what they have cached of the data: its length is changed. returns OK, E_ResourceNotFound */
enum error gate_change_data(struct file_gate *gate, uint64_t handle);
/* Before the node is renamed, to be deleted, or its descriptor changed: others lose their cached handles, which
 * may be closed in truth, and were opened by its name and rights. MS-FSA 2.1.4.12, SET_INFORMATION and SET_SECURITY
 * returns OK, DECIDE_WAITS, E_ResourceNotFound, E_DeletePending, E_ClientCacheFlushDelay */
enum error gate_take_handles(struct file_gate *gate, uint64_t handle);
/* A name is made in, or renamed into, the directory of this gate. E_DeletePending, E_SharingViolation.
 * MS-FSA 2.1.5.15.12 */
enum error gate_add_name(struct file_gate *gate, bool is_rename);

#endif
