/* What requests under way must know of each other. */
#include "script_private.h"

/* Of each client the one that it asks, or asked last. */
static struct ask drawn[CLIENTS_MAX];

void script_note_drawn(unsigned client, const struct ask *ask)
{
    drawn[client] = *ask;
}

static bool is_drawn(bool (*is_such)(const struct ask *ask, unsigned container, unsigned blob),
                     unsigned container, unsigned blob)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (is_such(&drawn[i], container, blob))
            return true;
    }
    return false;
}

static bool sets_tier(const struct ask *ask, unsigned container, unsigned blob)
{
    for (unsigned i = 0; i < ask->part_count; i++) {
        if (sets_tier(&ask->parts[i], container, blob))
            return true;
    }
    return ask->op == OP_SET_TIER && ask->container == container && ask->blob == blob;
}

bool script_sets_tier(unsigned container, unsigned blob)
{
    return is_drawn(sets_tier, container, blob);
}

static bool copies(const struct ask *ask, unsigned container, unsigned blob)
{
    return ask->op == OP_COPY && !ask->is_sync && !ask->is_remote &&
           ask->source_container == container && ask->source_blob == blob;
}

bool script_copies(unsigned container, unsigned blob)
{
    return is_drawn(copies, container, blob);
}

static bool sets_policies(const struct ask *ask, unsigned container, unsigned blob)
{
    (void)blob;
    return ask->op == OP_SET_ACL && ask->container == container;
}

bool script_sets_policies(unsigned container)
{
    return is_drawn(sets_policies, container, 0);
}

static bool rests_on_policy(const struct ask *ask, unsigned container, unsigned blob)
{
    (void)blob;
    return ask->signature == SIGNED_BY_POLICY && ask->container == container;
}

bool script_rests_on_policy(unsigned container)
{
    return is_drawn(rests_on_policy, container, 0);
}
