/* Transactions of the store, from the thread that begins one to the moment when its owner is told (ld --wrap). */
#include "fronts.h"
#include "store/rados/commit_private.h"
#include "world.h"

static _Thread_local struct attempt newest;

/* Whom its owner is: a commit of the store, or the thread that cuts partitions. Those of front ends that were killed stay. */
#define OWNERS_MAX 8192u
static struct owned {
    const struct transaction_owner *owner; /* NULL: free */
    void (*decided)(struct transaction_owner *owner, enum store_result result);
} owned[OWNERS_MAX];

/* NULL: it has none, and all are taken. */
static struct owned *find(const struct transaction_owner *owner)
{
    struct owned *unused = NULL;

    for (struct owned *o = owned; o < owned + OWNERS_MAX; o++) {
        if (o->owner == owner)
            return o;
        if (!o->owner && !unused)
            unused = o;
    }
    return unused;
}

static void decided(struct transaction_owner *owner, enum store_result result)
{
    struct owned *of = find(owner), told = *of;

    front_commits_decided(owner);
    of->owner = NULL;
    told.decided(owner, result);
}

__typeof__(shards_next_attempt) __real_shards_next_attempt, __wrap_shards_next_attempt;
struct attempt __wrap_shards_next_attempt(struct shards *shards)
{
    newest = __real_shards_next_attempt(shards);
    return newest;
}

__typeof__(transaction_new) __real_transaction_new, __wrap_transaction_new;
struct transaction *__wrap_transaction_new(struct shards *shards, struct arena *arena, instant now,
                                           struct transaction_owner *owner)
{
    struct transaction *transaction = __real_transaction_new(shards, arena, now, owner);
    struct owned *of = find(owner);

    if (!of)
        world_fail("too many transactions have an owner");
    *of = (struct owned){ owner, owner->decided };
    owner->decided = decided;
    front_commits_begun(newest, transaction, owner);
    return transaction;
}

__typeof__(transaction_add) __real_transaction_add, __wrap_transaction_add;
struct part_work *__wrap_transaction_add(struct transaction *transaction,
                                         const struct partition *partition,
                                         const struct partition_header *seen, bool has_pieces)
{
    front_commits_part(transaction, &partition->space, has_pieces);
    return __real_transaction_add(transaction, partition, seen, has_pieces);
}

__typeof__(commit_add_changes) __real_commit_add_changes, __wrap_commit_add_changes;
enum store_result __wrap_commit_add_changes(struct commit *c, struct commit_member *member,
                                            struct view *view, const struct changes *changes)
{
    enum store_result result = __real_commit_add_changes(c, member, view, changes);

    front_commits_drop_spaces(c->transaction, c->dropped, c->dropped_count);
    return result;
}

__typeof__(transaction_drop) __real_transaction_drop, __wrap_transaction_drop;
void __wrap_transaction_drop(struct transaction *transaction)
{
    front_commits_dropped(transaction);
    __real_transaction_drop(transaction);
}
