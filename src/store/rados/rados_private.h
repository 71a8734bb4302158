/* Inside src/store/rados only: the engine's state, and what its files share. */
#ifndef LAGRA_STORE_RADOS_RADOS_PRIVATE_H
#define LAGRA_STORE_RADOS_RADOS_PRIVATE_H

#include <stdatomic.h>

#include "store/rados/outcomes.h"
#include "store/rados/pending.h"
#include "store/rados/shards.h"
#include "store/rados/view.h"
#include "store/rados/walk.h"
#include "store/store_private.h"

#define RADOS_STRIPES    4096u
/* So long a partition counts as wanted by many after a conflict, or two changes within a second or two; or as too large to be
 * kept. */
#define RADOS_BUSY_TICKS (10 * TICKS_PER_SECOND)

/* What this front end knows of the partitions of one hash. */
struct rados_stripe {
    _Atomic uint64_t newest;      /* instant: not below that of any commit seen */
    _Atomic uint64_t busy_until;  /* many want one of them: states that are pending are shown */
    _Atomic uint64_t large_until; /* one of them is too large for that */
    _Atomic uint64_t changed; /* the last one that was: when in seconds (32 bits), and its hash */
};

struct staged;
struct intents;
struct piece_reads;
struct patience;
struct todo;
struct keeper;
struct beat;
struct splits;

struct rados {
    struct store base;
    struct deferred deferred;
    struct port *port, *pieces; /* pools */
    void (*closed)(void *of);
    void *closed_of;
    struct shards *shards;
    struct outcomes *outcomes;
    struct intents *intents;
    struct pending *pending;
    bool is_always_busy;
    struct staged *staged;
    struct patience *patience;
    struct piece_reads *piece_reads;
    struct todo *todo;
    struct keeper *keeper;
    struct splits *splits; /* NULL: shards are not split */
    struct beat *beat;
    _Atomic uint64_t newest_sequence; /* of any commit that is durable */
    uint64_t grace;                   /* ticks that pieces stay after they were released */
    uint64_t again;                   /* ticks: of struct departed */
    bool has_told_leftovers;          /* of who checks */
    struct lock lock;
    pthread_cond_t is_idle;
    unsigned commits;                       /* under lock: that have not ended */
    struct rados_snapshot *oldest, *newest; /* under lock: open ones, as they were opened */
    struct rados_stripe stripes[RADOS_STRIPES];
};

struct rados_snapshot {
    struct snapshot base;
    struct partition partition; /* its key is its own */
    struct view *view;          /* NULL: nothing was read */
    struct rados_stripe *stripe;
    instant opened;
    struct rados_snapshot *older, *newer; /* under the store's lock */
    char room[];                          /* prefix of keys, key of the partition */
};

static inline struct rados *rados_of(struct store *base)
{
    return (struct rados *)(void *)base;
}

static inline struct rados_snapshot *rados_snapshot_of(struct snapshot *base)
{
    return (struct rados_snapshot *)(void *)base;
}

static inline uint64_t rados_newest_sequence(struct rados *rados)
{
    return atomic_load(&rados->newest_sequence);
}

/* ---- fetches.c: what is fetched for readers that do not wait ---- */

struct fetch_set *rados_fetch_set_open(struct store *base);
void rados_fetch_set_close(struct fetch_set *set);
void rados_fetch_set_begin(struct fetch_set *set, bool is_repetition);
bool rados_fetch_set_wait(struct fetch_set *set, struct waiter *waiter);
/* The view of a partition for a reader: one that the set has, or a new one. */
struct view *rados_fetch_view(struct rados *rados, struct store_access access,
                              const struct partition *partition);
/* One that is read anew, though the set has another: in each repetition the same, by the order in which they are asked for. */
struct view *rados_fetch_afresh(struct rados *rados, struct store_access access,
                                const struct partition *partition);
/* The same as rados_fetch_view(), for a reader that may be shown what is pending: at most one such view while a reader decides, so that it
 * rests on one commit. */
struct view *rados_fetch_pending(struct rados *rados, struct store_access access,
                                 const struct partition *partition);
/* The view ahead that the reader was shown, if any; and whether it was, though it is its no longer. */
struct view *rados_fetched_ahead(struct store_access access);
bool rados_fetch_rests(struct store_access access);
/* The reader is about to read what has no states ahead, and would see it older than the rest. False: it was shown a view ahead; it
 * is to decide again, and is shown none from then on. */
bool rados_fetch_applied(struct store_access access);
/* Was that of a commit that may have been applied before the reader was shown it? */
bool rados_fetch_is_late(struct store_access access);
/* A commit was made on what the set has of the partition: nobody else is given it. */
void rados_forget_view(struct store_access access, struct view *view);
struct walk *rados_fetch_walk(struct rados *rados, struct store_access access,
                              const struct guid *space, enum walk_kind kind);
/* After STORE_WAIT of something that waits for `arrival`: waits for it where that is allowed.
 * returns STORE_OK: call again; STORE_WAIT: the caller's caller is to repeat itself; STORE_SHORTAGE: it has waited for
 *         it too long already */
enum store_result rados_await(struct store_access access, struct arrival *arrival);
/* Can it be waited for at all? If not, nothing is to be sent. */
static inline bool rados_may_fetch(struct store_access access)
{
    return access.may_block || access.fetches;
}

/* ---- inspect.c ---- */

enum store_result rados_inspect(struct store *base, inspect_visit *visit, inspect_say *tell,
                                void *context);

/* ---- snapshots.c ---- */

struct snapshot *rados_snapshot_open(struct store *base, struct partition partition);
void rados_snapshot_show_pending(struct snapshot *base);
instant rados_snapshot_instant(const struct snapshot *base);
/* Do many want the partitions of the stripe? */
bool rados_is_busy(const struct rados *rados, const struct rados_stripe *stripe);
void rados_set_busy(struct rados_stripe *stripe);
void rados_snapshot_close(struct snapshot *base);
enum store_result rados_snapshot_confirm(struct snapshot *base, struct snapshot *now);
enum store_result rados_snapshot_hold(struct snapshot *base);
enum store_result rados_get(struct snapshot *base, struct bytes key, struct arena *arena,
                            struct record *ret_record);
/* The limb that has the place of a record (view_limb()). After rados_begin(). returns as snapshot_get() */
enum store_result rados_limb(struct rados_snapshot *snapshot, enum record_family family,
                             struct bytes key, struct arena *arena, struct view_limb **ret_limb);
/* Reads what a snapshot shows at first. */
enum store_result rados_begin(struct rados_snapshot *snapshot);
/* The family and the key of a record, by its full key. */
enum record_family rados_family(struct bytes key);
void rados_raise(_Atomic uint64_t *value, uint64_t to);
/* After a commit at `now`. Another partition of the stripe may have had a later one. store.h snapshot_instant() */
void rados_raise_newest(struct rados_stripe *stripe, instant now);
/* No snapshot of this front end that is open was opened before this instant. */
instant rados_oldest_opened(struct rados *rados);

/* ---- cursors.c ---- */

struct cursor *rados_scan_cursor(struct snapshot *base, struct bytes end, enum scan_kind kind);
struct cursor *rados_space_cursor(struct store *base, const struct guid *space, struct bytes end,
                                  struct store_access access, uint64_t *ret_sequence);
struct cursor *rados_row_cursor(struct store *base, struct bytes end);
enum store_result rados_cursor_seek(struct cursor *base, struct bytes key);
enum store_result rados_cursor_next(struct cursor *base);
void rados_cursor_close(struct cursor *base);
enum store_result rados_count(struct store *base, const struct guid *space, struct bytes key,
                              struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence);

/* ---- commit.c ---- */

enum store_result rados_commit(struct store *base, const struct commit_part *parts, size_t count,
                               instant now, struct store_access access, uint64_t *ret_sequence);

/* ---- pieces.c ---- */

struct stage *rados_stage_open(struct store *base, struct partition partition,
                               uint64_t length_hint);
enum store_result rados_stage_write(struct stage *base, struct bytes data, struct waiter *waiter,
                                    size_t *ret_taken);
enum store_result rados_stage_finish(struct stage *base, struct waiter *waiter);
const struct piece *rados_stage_pieces(const struct stage *base, size_t *ret_count);
void rados_stage_close(struct stage *base);
enum store_result rados_piece_read(struct store *base, const struct piece *piece, uint32_t offset,
                                   uint32_t length, void *to, struct waiter *waiter);

#endif
