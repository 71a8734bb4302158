/* Transactions of the store, from the thread that begins one to the moment when its owner is told (ld --wrap). */
#include "fronts.h"
#include "store/rados/commit_private.h"

static _Thread_local struct attempt newest;
static void (*decided_by_store)(struct transaction_owner *owner, enum store_result result);

static void decided(struct transaction_owner *owner, enum store_result result)
{
    front_commits_decided(owner);
    decided_by_store(owner, result);
}

__typeof__(shards_next_attempt) __real_shards_next_attempt, __wrap_shards_next_attempt;
struct attempt __wrap_shards_next_attempt(struct shards *shards)
{
    newest = __real_shards_next_attempt(shards);
    return newest;
}

/* All are of commits of the store, so they have one function. */
__typeof__(transaction_new) __real_transaction_new, __wrap_transaction_new;
struct transaction *__wrap_transaction_new(struct shards *shards, struct arena *arena, instant now,
                                           struct transaction_owner *owner)
{
    struct transaction *transaction = __real_transaction_new(shards, arena, now, owner);

    decided_by_store = owner->decided;
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
void __wrap_commit_add_changes(struct commit *c, struct commit_member *member,
                               const struct changes *changes)
{
    __real_commit_add_changes(c, member, changes);
    front_commits_drop_spaces(c->transaction, c->dropped, c->dropped_count);
}

__typeof__(transaction_drop) __real_transaction_drop, __wrap_transaction_drop;
void __wrap_transaction_drop(struct transaction *transaction)
{
    front_commits_dropped(transaction);
    __real_transaction_drop(transaction);
}
