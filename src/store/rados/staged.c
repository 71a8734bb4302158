#include "store/rados/staged.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/lock.h"
#include "base/log.h"
#include "store/rados/row_key.h"

#define BUCKETS         4096u
#define LABEL_ARENA_MAX (1u << 20)

struct entry {
    struct entry *next;
    uint64_t number;
    uint64_t lost_ms;   /* when it was; 0: it is not */
    struct bytes label; /* on the heap */
    uint32_t length;
    unsigned committing; /* commits under way that refer to it */
    bool is_closed;
};

struct staged {
    struct port *pieces;
    struct intents *intents;
    uint32_t incarnation;
    _Atomic int64_t live, released;
    atomic_bool has_left; /* what could not be deleted */
    struct lock lock;
    pthread_cond_t is_idle;
    unsigned deleting;              /* under lock: ops under way */
    struct entry *buckets[BUCKETS]; /* under lock */
};

struct staged *staged_new(struct port *pieces, uint32_t incarnation, struct intents *intents)
{
    struct staged *staged = xcalloc(1, sizeof *staged);

    staged->pieces = pieces;
    staged->incarnation = incarnation;
    staged->intents = intents;
    atomic_init(&staged->live, 0);
    atomic_init(&staged->released, 0);
    lock_init(&staged->lock, RANK_SYNCER);
    lock_condition_init(&staged->is_idle);
    return staged;
}

static void entry_free(struct entry *entry)
{
    if (entry)
        xcopy_free(entry->label);
    free(entry);
}

void staged_free(struct staged *staged)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        while (staged->buckets[i]) {
            struct entry *entry = staged->buckets[i];

            staged->buckets[i] = entry->next;
            entry_free(entry);
        }
    pthread_cond_destroy(&staged->is_idle);
    lock_release(&staged->lock);
    free(staged);
}

void piece_object(uint32_t incarnation, uint64_t number, char ret_object[PIECE_OBJECT_SIZE])
{
    (void)snprintf(ret_object, PIECE_OBJECT_SIZE, "p.%08x.%016llx", incarnation,
                   (unsigned long long)number);
}

bool piece_of_object(const char *object, uint32_t *ret_incarnation, uint64_t *ret_number)
{
    struct bytes name = bytes_from_string(object);
    uint64_t incarnation;

    if (name.len != 2 + 8 + 1 + 16 || strncmp(object, "p.", 2) != 0 || object[10] != '.' ||
        !row_key_hex(bytes_of(object + 2, 8), &incarnation) ||
        !row_key_hex(bytes_from(name, 11), ret_number))
        return false;
    *ret_incarnation = (uint32_t)incarnation;
    return true;
}

static struct entry **find(struct staged *staged, uint64_t number)
{
    struct entry **at = &staged->buckets[number % BUCKETS];

    lock_assert_held(&staged->lock);
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

/* The label of a staged piece, on the heap. */
static struct bytes label_of(const struct piece_label *label)
{
    struct arena *arena = arena_new(LABEL_ARENA_MAX);
    struct bytes copy = xcopy(piece_label_write(arena, label));

    arena_free(arena);
    return copy;
}

void staged_add(struct staged *staged, uint64_t number, const struct piece_label *label)
{
    struct entry *entry = xcalloc(1, sizeof *entry), **at;

    *entry = (struct entry){ .number = number, .length = label->length, .label = label_of(label) };
    lock_take(&staged->lock);
    at = find(staged, number);
    assert(!*at);
    *at = entry;
    lock_give(&staged->lock);
}

/* The deletion of one piece, in the arena of its op. */
struct deletion {
    struct staged *staged;
    uint64_t number; /* of one that nobody has committed; 0: of another */
};

static void deleted(struct port_op *op)
{
    const struct deletion deletion = *(const struct deletion *)op->context;
    struct staged *staged = deletion.staged;
    bool is_gone = op->result == PORT_OK || op->result == PORT_ABSENT;

    if (!is_gone)
        log_line(LOG_ERROR, "rados: a piece cannot be deleted: %s", port_result_text(op->result));
    port_op_free(op);
    if (deletion.number > 0 && is_gone)
        intents_settle(staged->intents, deletion.number);
    else if (deletion.number > 0)
        atomic_store(&staged->has_left, true);
    lock_take(&staged->lock);
    if (--staged->deleting == 0)
        pthread_cond_broadcast(&staged->is_idle);
    lock_give(&staged->lock);
}

static void send_deletion(struct staged *staged, uint32_t incarnation, uint64_t number,
                          bool is_settled)
{
    struct port_op *op = port_op_new(deleted, NULL);
    struct deletion *deletion = arena_alloc(op->arena, sizeof *deletion);
    char object[PIECE_OBJECT_SIZE];

    *deletion = (struct deletion){ staged, is_settled ? 0 : number };
    op->context = deletion;
    lock_take(&staged->lock);
    staged->deleting++;
    lock_give(&staged->lock);
    piece_object(incarnation, number, object);
    port_delete_object(op);
    port_send(staged->pieces, object, op);
}

void staged_delete(struct staged *staged, uint32_t incarnation, uint64_t number)
{
    send_deletion(staged, incarnation, number, true);
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
    if (*at && ((*at)->committing > 0 || (*at)->lost_ms > 0)) {
        (*at)->is_closed = true;
    } else if (*at) {
        over = *at;
        *at = over->next;
    }
    lock_give(&staged->lock);
    if (over)
        send_deletion(staged, staged->incarnation, number, false);
    entry_free(over);
}

bool staged_is_fresh(struct staged *staged, uint64_t number)
{
    const struct entry *entry;
    bool is_fresh;

    lock_take(&staged->lock);
    entry = *find(staged, number);
    /* One commit is the asker's own. Of another's it is not known yet whether it has been applied. */
    is_fresh = entry && entry->lost_ms == 0 && entry->committing <= 1;
    lock_give(&staged->lock);
    return is_fresh;
}

/* Under the lock: the entry of a piece that nobody has committed. */
static struct entry *fresh_one(struct staged *staged, const struct piece_change *piece)
{
    return piece->extent == staged->incarnation ? *find(staged, piece->offset) : NULL;
}

void staged_committing(struct staged *staged, const struct piece_change *pieces, size_t count)
{
    lock_take(&staged->lock);
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = fresh_one(staged, &pieces[i]);

        if (entry)
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
    is_unused = result && result != STORE_UNKNOWN && entry->is_closed && entry->committing == 0 &&
                entry->lost_ms == 0;
    is_over = is_unused || result == STORE_OK;
    if (is_over)
        *at = entry->next;
    else if (result == STORE_UNKNOWN)
        entry->lost_ms = clock_monotonic_ms();
    lock_give(&staged->lock);
    if (result == STORE_OK) {
        atomic_fetch_add(&staged->live, entry->length);
        intents_settle(staged->intents, number);
    }
    if (is_over)
        entry_free(entry);
    return is_unused;
}

void staged_committed(struct staged *staged, const struct piece_change *pieces, size_t count,
                      enum store_result result)
{
    for (size_t i = 0; i < count; i++)
        if (pieces[i].extent == staged->incarnation && end_one(staged, pieces[i].offset, result))
            send_deletion(staged, staged->incarnation, pieces[i].offset, false);
}

/* ---- owners ---- */

/* Those that one commit makes a partition's. */
struct adoption {
    struct staged *staged;
    struct arrival *outcome;
    atomic_uint left;
};

/* One of them, in the arena of its op. */
struct adopted {
    struct adoption *adoption;
    uint64_t number;
    struct bytes label; /* in the arena */
};

static void let_go(struct adoption *adoption)
{
    struct arrival *outcome = adoption->outcome;

    if (atomic_fetch_sub(&adoption->left, 1) > 1)
        return;
    free(adoption);
    arrival_tell(outcome);
}

static void take_label(struct adoption *adoption, const struct adopted *adopted)
{
    struct staged *staged = adoption->staged;
    struct entry *entry;

    lock_take(&staged->lock);
    entry = *find(staged, adopted->number);
    if (entry) {
        xcopy_free(entry->label);
        entry->label = xcopy(adopted->label);
    }
    lock_give(&staged->lock);
}

static void looked(struct port_op *op)
{
    const struct adopted *adopted = op->context;
    struct adoption *adoption = adopted->adoption;

    if (!op->result && bytes_equal(port_value(op->first), adopted->label))
        take_label(adoption, adopted);
    else
        log_line(LOG_ERROR, "rados: a piece is another's by now, or left over");
    port_op_free(op);
    let_go(adoption);
}

/* A refusal may be the second answer. port.h (6) */
static void look(const struct adopted *adopted)
{
    struct port_op *op = port_op_new(looked, NULL);
    struct adopted *again = arena_alloc(op->arena, sizeof *again);
    char object[PIECE_OBJECT_SIZE];

    *again = (struct adopted){ adopted->adoption, adopted->number,
                               arena_copy(op->arena, adopted->label) };
    op->context = again;
    (void)port_get_label(op);
    piece_object(adopted->adoption->staged->incarnation, adopted->number, object);
    port_send(adopted->adoption->staged->pieces, object, op);
}

static void relabelled(struct port_op *op)
{
    const struct adopted *adopted = op->context;
    struct adoption *adoption = adopted->adoption;
    enum port_result result = op->result;

    if (result == PORT_REFUSED)
        look(adopted);
    else if (result)
        log_line(LOG_ERROR, "rados: the label of a piece: %s", port_result_text(result));
    else
        take_label(adoption, adopted);
    port_op_free(op);
    if (result != PORT_REFUSED)
        let_go(adoption);
}

static bool is_of(const struct entry *entry, const struct partition *partition)
{
    struct piece_label label;

    return piece_label_read(entry->label, &label) &&
           guid_equal(&label.owner.space, &partition->space) &&
           bytes_equal(label.owner.key, partition->key);
}

/* The op that changes the label of a piece; NULL: it is right as it is. */
static struct port_op *relabel(struct adoption *adoption, const struct partition *partition,
                               const struct piece_change *piece)
{
    const struct piece_label label = { PIECE_STAGED, piece->length, *partition };
    struct port_op *op = port_op_new(relabelled, NULL);
    struct adopted *adopted = arena_alloc(op->arena, sizeof *adopted);
    const struct entry *entry;

    *adopted = (struct adopted){ adoption, piece->offset, piece_label_write(op->arena, &label) };
    op->context = adopted;
    lock_take(&adoption->staged->lock);
    entry = fresh_one(adoption->staged, piece);
    if (entry && !is_of(entry, partition)) {
        port_compare_label(op, entry->label);
        port_set_label(op, adopted->label);
    }
    lock_give(&adoption->staged->lock);
    if (op->first)
        return op;
    port_op_free(op);
    return NULL;
}

bool staged_are_of(struct staged *staged, const struct partition *partition,
                   const struct piece_change *pieces, size_t count)
{
    bool are_own = true;

    lock_take(&staged->lock);
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = fresh_one(staged, &pieces[i]);

        are_own = are_own && (!entry || is_of(entry, partition));
    }
    lock_give(&staged->lock);
    return are_own;
}

struct arrival *staged_adopt(struct staged *staged, const struct partition *partition,
                             const struct piece_change *pieces, size_t count)
{
    struct adoption *adoption;
    struct arrival *outcome;

    if (staged_are_of(staged, partition, pieces, count))
        return NULL;
    adoption = xcalloc(1, sizeof *adoption);
    adoption->staged = staged;
    adoption->outcome = outcome = arrival_new();
    atomic_init(&adoption->left, 1); /* this call's */
    for (size_t i = 0; i < count; i++) {
        struct port_op *op = relabel(adoption, partition, &pieces[i]);
        char object[PIECE_OBJECT_SIZE];

        if (!op)
            continue;
        atomic_fetch_add(&adoption->left, 1);
        piece_object(staged->incarnation, pieces[i].offset, object);
        port_send(staged->pieces, object, op);
    }
    let_go(adoption);
    return outcome;
}

/* ---- lost ones ---- */

size_t staged_lost(struct staged *staged, uint64_t for_ms, uint64_t *ret_numbers, size_t max)
{
    uint64_t now = clock_monotonic_ms();
    size_t count = 0;

    lock_take(&staged->lock);
    for (unsigned i = 0; i < BUCKETS; i++)
        for (const struct entry *entry = staged->buckets[i]; entry; entry = entry->next)
            if (entry->lost_ms > 0 && entry->committing == 0 && now - entry->lost_ms >= for_ms &&
                count < max)
                ret_numbers[count++] = entry->number;
    lock_give(&staged->lock);
    return count;
}

void staged_found(struct staged *staged, uint64_t number)
{
    struct entry **at, *entry;

    lock_take(&staged->lock);
    at = find(staged, number);
    entry = *at;
    assert(entry && entry->lost_ms > 0);
    *at = entry->next;
    lock_give(&staged->lock);
    entry_free(entry);
    intents_settle(staged->intents, number);
}

bool staged_is_clean(struct staged *staged)
{
    bool is_clean = !atomic_load(&staged->has_left);

    lock_take(&staged->lock);
    for (unsigned i = 0; i < BUCKETS; i++)
        is_clean = is_clean && !staged->buckets[i];
    lock_give(&staged->lock);
    return is_clean;
}
