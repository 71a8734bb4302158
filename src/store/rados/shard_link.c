/* Between a commit and those that rest on it: see shard.h. */
#include "store/rados/shard_link.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/bytes.h"

struct shard_link {
    atomic_uint holders;
    _Atomic enum store_result result;
    atomic_bool is_sent;
};

struct shard_link *shard_link_new(void)
{
    struct shard_link *link = xcalloc(1, sizeof *link);

    atomic_init(&link->holders, 1);
    atomic_init(&link->result, STORE_WAIT);
    atomic_init(&link->is_sent, false);
    return link;
}

struct shard_link *shard_link_hold(struct shard_link *link)
{
    if (link)
        atomic_fetch_add(&link->holders, 1);
    return link;
}

void shard_link_release(struct shard_link *link)
{
    if (link && atomic_fetch_sub(&link->holders, 1) == 1)
        free(link);
}

void shard_link_send(struct shard_link *link)
{
    atomic_store(&link->is_sent, true);
}

bool shard_link_is_sent(const struct shard_link *link)
{
    return atomic_load(&link->is_sent);
}

enum store_result shard_link_result(const struct shard_link *link)
{
    return atomic_load(&link->result);
}

void shard_link_tell(struct shard_link *link, bool was_applied)
{
    enum store_result unknown = STORE_WAIT;

    atomic_compare_exchange_strong(&link->result, &unknown,
                                   was_applied ? STORE_OK : STORE_CONFLICT);
}
