#include "store/rados/staged.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"

#define BUCKETS 4096u

struct entry {
    struct entry *next;
    uint64_t number;
    uint32_t length;
    unsigned committing; /* commits under way that refer to it */
    bool is_closed;
};

struct staged {
    struct port *pieces;
    uint32_t incarnation;
    _Atomic uint64_t newest;
    _Atomic int64_t live, released;
    atomic_bool has_lost;
    struct lock lock;
    pthread_cond_t is_idle;
    unsigned deleting;              /* under lock: ops under way */
    struct entry *buckets[BUCKETS]; /* under lock */
};

struct staged *staged_new(struct port *pieces, uint32_t incarnation)
{
    struct staged *staged = xcalloc(1, sizeof *staged);

    staged->pieces = pieces;
    staged->incarnation = incarnation;
    atomic_init(&staged->newest, 0);
    atomic_init(&staged->live, 0);
    atomic_init(&staged->released, 0);
    lock_init(&staged->lock, RANK_SYNCER);
    lock_condition_init(&staged->is_idle);
    return staged;
}

void staged_free(struct staged *staged)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        while (staged->buckets[i]) {
            struct entry *entry = staged->buckets[i];

            staged->buckets[i] = entry->next;
            free(entry);
        }
    pthread_cond_destroy(&staged->is_idle);
    lock_release(&staged->lock);
    free(staged);
}

uint64_t staged_next(struct staged *staged)
{
    return atomic_fetch_add(&staged->newest, 1) + 1;
}

void piece_object(uint32_t incarnation, uint64_t number, char ret_object[PIECE_OBJECT_SIZE])
{
    (void)snprintf(ret_object, PIECE_OBJECT_SIZE, "p.%08x.%016llx", incarnation,
                   (unsigned long long)number);
}

static struct entry **find(struct staged *staged, uint64_t number)
{
    struct entry **at = &staged->buckets[number % BUCKETS];

    lock_assert_held(&staged->lock);
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

void staged_add(struct staged *staged, uint64_t number, uint32_t length)
{
    struct entry *entry = xcalloc(1, sizeof *entry), **at;

    lock_take(&staged->lock);
    at = find(staged, number);
    assert(!*at);
    *entry = (struct entry){ .number = number, .length = length };
    *at = entry;
    lock_give(&staged->lock);
}

static void deleted(struct port_op *op)
{
    struct staged *staged = op->context;

    if (op->result && op->result != PORT_ABSENT)
        log_line(LOG_ERROR, "rados: a piece cannot be deleted: %s", port_result_text(op->result));
    port_op_free(op);
    lock_take(&staged->lock);
    if (--staged->deleting == 0)
        pthread_cond_broadcast(&staged->is_idle);
    lock_give(&staged->lock);
}

void staged_delete(struct staged *staged, uint32_t incarnation, uint64_t number)
{
    struct port_op *op = port_op_new(deleted, staged);
    char object[PIECE_OBJECT_SIZE];

    lock_take(&staged->lock);
    staged->deleting++;
    lock_give(&staged->lock);
    piece_object(incarnation, number, object);
    port_delete_object(op);
    port_send(staged->pieces, object, op);
}

void staged_used(struct staged *staged, int64_t live, int64_t released)
{
    atomic_fetch_add(&staged->live, live);
    atomic_fetch_add(&staged->released, released);
}

struct staged_usage staged_usage(struct staged *staged)
{
    return (struct staged_usage){ atomic_load(&staged->live), atomic_load(&staged->released) };
}

uint64_t staged_bytes(struct staged *staged)
{
    uint64_t bytes = 0;

    lock_take(&staged->lock);
    for (unsigned i = 0; i < BUCKETS; i++)
        for (const struct entry *entry = staged->buckets[i]; entry; entry = entry->next)
            bytes += entry->length;
    lock_give(&staged->lock);
    return bytes;
}

void staged_wait(struct staged *staged)
{
    lock_take(&staged->lock);
    while (staged->deleting > 0)
        lock_wait(&staged->lock, &staged->is_idle, -1);
    lock_give(&staged->lock);
}

void staged_close(struct staged *staged, uint64_t number)
{
    struct entry **at, *over = NULL;

    lock_take(&staged->lock);
    at = find(staged, number);
    if (*at && (*at)->committing > 0) {
        (*at)->is_closed = true;
    } else if (*at) {
        over = *at;
        *at = over->next;
    }
    lock_give(&staged->lock);
    if (over)
        staged_delete(staged, staged->incarnation, number);
    free(over);
}

bool staged_is_fresh(struct staged *staged, uint64_t number)
{
    bool is_fresh;

    lock_take(&staged->lock);
    is_fresh = *find(staged, number) != NULL;
    lock_give(&staged->lock);
    return is_fresh;
}

void staged_committing(struct staged *staged, const struct piece_change *pieces, size_t count)
{
    lock_take(&staged->lock);
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = *find(staged, pieces[i].offset);

        if (entry && pieces[i].extent == staged->incarnation)
            entry->committing++;
    }
    lock_give(&staged->lock);
}

/* True: to be deleted. */
static bool end_one(struct staged *staged, uint64_t number, enum store_result result)
{
    struct entry **at, *entry;
    bool is_over, is_unused;

    lock_take(&staged->lock);
    at = find(staged, number);
    entry = *at;
    if (!entry || entry->committing == 0) {
        lock_give(&staged->lock);
        return false;
    }
    entry->committing--;
    is_unused = result && result != STORE_UNKNOWN && entry->is_closed && entry->committing == 0;
    is_over = is_unused || result == STORE_OK || result == STORE_UNKNOWN;
    if (is_over)
        *at = entry->next;
    lock_give(&staged->lock);
    if (result == STORE_OK)
        atomic_fetch_add(&staged->live, entry->length);
    if (result == STORE_UNKNOWN)
        atomic_store(&staged->has_lost, true);
    if (is_over)
        free(entry);
    return is_unused;
}

bool staged_has_lost(struct staged *staged)
{
    return atomic_load(&staged->has_lost);
}

void staged_committed(struct staged *staged, const struct piece_change *pieces, size_t count,
                      enum store_result result)
{
    for (size_t i = 0; i < count; i++)
        if (pieces[i].extent == staged->incarnation && end_one(staged, pieces[i].offset, result))
            staged_delete(staged, staged->incarnation, pieces[i].offset);
}
