/* LOCK: acquires byte-range locks, all or none, or releases them one at a time. A request that must
 * wait for a lock is parked. ms-smb2: 2.2.26, 2.2.27, 3.3.5.14 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"

#include "handles/handle_locks.h"

#define LOCKS_MAX      1024u
#define FLAG_SHARED    0x01u
#define FLAG_EXCLUSIVE 0x02u
#define FLAG_UNLOCK    0x04u
#define FLAG_AT_ONCE   0x10u /* FAIL_IMMEDIATELY */

/* Reads a lock element. Returns false for an invalid combination of flags. ms-smb2: 3.3.5.14.2 */
static bool read_element(struct wire_reader *r, struct lock_element *element, bool *ret_waits)
{
    uint32_t flags;

    element->range.offset = wire_u64(r);
    element->range.length = wire_u64(r);
    flags = wire_u32(r);
    wire_skip(r, 4);
    *ret_waits = !(flags & FLAG_AT_ONCE);
    switch (flags & ~FLAG_AT_ONCE) {
    case FLAG_SHARED:
        element->action = LOCK_SHARED;
        return true;
    case FLAG_EXCLUSIVE:
        element->action = LOCK_EXCLUSIVE;
        return true;
    case FLAG_UNLOCK:
        element->action = LOCK_RELEASED;
        *ret_waits = false;
        return !(flags & FLAG_AT_ONCE);
    default:
        return false;
    }
}

struct locking {
    struct lock_sequence sequence;
    struct handle_lock lock;
    bool is_cut; /* an invalid element follows */
};

/* Reads the elements before the first invalid one. They must all acquire or all release; only a
 * single one may wait. */
static void read_elements(struct wire_reader *r, struct locking *lock,
                          struct lock_element *elements, uint16_t count)
{
    lock->lock.elements = elements;
    for (uint16_t i = 0; i < count && !lock->is_cut; i++) {
        bool waits;

        lock->is_cut =
            !read_element(r, &elements[i], &waits) || (waits && count > 1) ||
            (elements[i].action == LOCK_RELEASED) != (elements[0].action == LOCK_RELEASED);
        if (lock->is_cut)
            return;
        lock->lock.waits = waits;
        lock->lock.count++;
    }
}

/* Returns whether the client may replay a LOCK after losing its connection. ms-smb2: 3.3.5.14 */
static bool keeps_sequences(const struct smb_request *request)
{
    return request->open->durable.kind != DURABLE_NONE ||
           request->message->connection->agreed.dialect >= SMB_300;
}

enum smb_step smb_lock_begin(struct smb_request *request, struct wire_reader *r)
{
    struct arena *arena = request->message->arena;
    uint16_t count = wire_u16(r);
    struct lock_sequence sequence;
    struct locking *lock;

    sequence = lock_sequence_read(wire_u32(r));
    wire_skip(r, 16); /* FileId */
    if (count == 0 || count > LOCKS_MAX || wire_left(r) < (size_t)count * 24)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    lock = arena_alloc(arena, sizeof *lock);
    lock->sequence = sequence;
    lock->lock.tree_connect = &request->tree->tree_connect;
    lock->lock.handle = &request->open->handle;
    read_elements(r, lock, arena_array(arena, count, sizeof *lock->lock.elements), count);
    /* Releases before the invalid element are carried out. ms-smb2: 3.3.5.14.1 */
    if (lock->is_cut && (lock->lock.count == 0 || lock->lock.elements[0].action != LOCK_RELEASED))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (request->open->handle.kind == TREE_DIRECTORY)
        return smb_refuse(request, STATUS_INVALID_DEVICE_REQUEST);
    if (keeps_sequences(request) &&
        lock_sequence_is_repeated(open_lock_sequences(request->open), &sequence))
        return smb_refuse(request, STATUS_SUCCESS);
    request->parameters = lock;
    return smb_decide(request, handle_lock_attempt, &lock->lock);
}

/* Returns the status. E_ResourceNotFound in lock->stopped means that the lock does not exist. As
 * the error of the decision, it means that the handle is closed; the status is the same if the lock
 * had been waiting. */
static enum nt_status status_of(const struct handle_lock *lock, enum error e, bool has_waited)
{
    if ((e ? has_waited && e == E_ResourceNotFound : lock->stopped == E_ResourceNotFound))
        return STATUS_RANGE_NOT_LOCKED;
    e = e ? e : lock->stopped;
    if (e == E_FileLockConflict)
        return STATUS_LOCK_NOT_GRANTED;
    if (e == E_InvalidRange)
        return STATUS_INVALID_LOCK_RANGE;
    return e == E_ServerBusy ? STATUS_INSUFFICIENT_RESOURCES : nt_status_of_handle(e);
}

enum smb_step smb_lock_decided(struct smb_request *request)
{
    const struct locking *lock = request->parameters;
    enum nt_status status = status_of(&lock->lock, request->error, request->is_parked);

    if (!status && keeps_sequences(request))
        lock_sequence_done(open_lock_sequences(request->open), &lock->sequence);
    if (!status && request->open->durable.kind == DURABLE_PERSISTENT)
        request->lasting = LASTING; /* survives a restart with its handle */
    return smb_refuse(request, !status && lock->is_cut ? STATUS_INVALID_PARAMETER : status);
}
