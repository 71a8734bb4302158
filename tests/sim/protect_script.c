/* Requests of runs of protection. See protect.h. */
#include <string.h>

#include "judge.h"
#include "kept.h"
#include "model.h"
#include "protect.h"
#include "script_private.h"

#define SECOND_NS UINT64_C(1000000000)
#define DAY_S     86400

static const unsigned weights[OPS] = {
    [OP_CREATE_CONTAINER] = 6,
    [OP_DELETE_CONTAINER] = 3,
    [OP_GET_CONTAINER] = 2,
    [OP_SET_CONTAINER_METADATA] = 1,
    [OP_LEASE_CONTAINER] = 1,
    [OP_PROTECT] = 16,
    [OP_SHOW_PROTECTION] = 3,
    [OP_LIST_BLOBS] = 8,
    [OP_LIST_CONTAINERS] = 1,
    [OP_SET_SERVICE] = 3,
    [OP_GET_SERVICE] = 1,
    [OP_PUT_BLOB] = 22,
    [OP_GET_BLOB] = 14,
    [OP_HEAD_BLOB] = 7,
    [OP_SET_METADATA] = 8,
    [OP_GET_METADATA] = 2,
    [OP_SET_PROPERTIES] = 3,
    [OP_LEASE_BLOB] = 3,
    [OP_SNAPSHOT] = 7,
    [OP_DELETE_BLOB] = 18,
    [OP_PUT_BLOCK] = 7,
    [OP_PUT_BLOCK_LIST] = 6,
    [OP_GET_BLOCK_LIST] = 1,
    [OP_SET_TAGS] = 2,
    [OP_GET_TAGS] = 2,
    [OP_APPEND_BLOCK] = 10,
    [OP_SEAL] = 1,
    [OP_PUT_PAGE] = 6,
    [OP_CLEAR_PAGE] = 2,
    [OP_PAGE_RANGES] = 1,
    [OP_SET_TIER] = 3,
    [OP_COPY] = 10,
    [OP_ABORT_COPY] = 1,
    [OP_SET_POLICY] = 2,
    [OP_DELETE_POLICY] = 1,
    [OP_SET_HOLD] = 2,
};

/* Of runs with versions. */
static const unsigned version_weights[OPS] = {
    [OP_CREATE_CONTAINER] = 4, [OP_DELETE_CONTAINER] = 2,
    [OP_GET_CONTAINER] = 1,    [OP_PROTECT] = 9,
    [OP_SHOW_PROTECTION] = 2,  [OP_LIST_BLOBS] = 12,
    [OP_LIST_CONTAINERS] = 1,  [OP_SET_SERVICE] = 4,
    [OP_GET_SERVICE] = 1,      [OP_PUT_BLOB] = 18,
    [OP_GET_BLOB] = 12,        [OP_HEAD_BLOB] = 8,
    [OP_SET_METADATA] = 8,     [OP_SET_PROPERTIES] = 2,
    [OP_LEASE_BLOB] = 3,       [OP_SNAPSHOT] = 7,
    [OP_DELETE_BLOB] = 26,     [OP_UNDELETE] = 5,
    [OP_PUT_BLOCK] = 5,        [OP_PUT_BLOCK_LIST] = 5,
    [OP_GET_BLOCK_LIST] = 1,   [OP_SET_TAGS] = 3,
    [OP_GET_TAGS] = 2,         [OP_APPEND_BLOCK] = 5,
    [OP_PUT_PAGE] = 4,         [OP_CLEAR_PAGE] = 1,
    [OP_SET_TIER] = 3,         [OP_COPY] = 12,
    [OP_ABORT_COPY] = 1,       [OP_SET_POLICY] = 12,
    [OP_DELETE_POLICY] = 7,    [OP_SET_HOLD] = 12,
};

enum op protect_draw_op(struct draws *draws)
{
    return (enum op)draw_weighted(draws, kept_has_versions() ? version_weights : weights, OPS);
}

static const struct container_state *container_of(const struct ask *ask)
{
    return model_container_at(ask->container, world->commits);
}

static const struct blob_state *blob_of(const struct ask *ask)
{
    return model_blob_at(ask->container, ask->blob, world->commits);
}

/* ---- containers ---- */

static const unsigned change_weights[PROTECT_CHANGES] = {
    [CHANGE_VERSIONS] = 1, [CHANGE_POLICY] = 6, [CHANGE_LOCK] = 1,
    [CHANGE_EXTEND] = 1,   [CHANGE_REMOVE] = 6, [CHANGE_HOLD] = 4,
    [CHANGE_RELEASE] = 7,  [CHANGE_CLOSE] = 1,  [CHANGE_OPEN] = 2,
};

static void draw_change(struct draws *draws, unsigned client, unsigned number, struct ask *ask)
{
    const struct protection *known = &container_of(ask)->protection;
    struct protect_ask *p = &ask->protect;

    p->change = (enum protect_change)draw_weighted(draws, change_weights, PROTECT_CHANGES);
    if (kept_has_versions() && client == 0 && number == 2)
        p->change = CHANGE_VERSIONS;
    else if (known->is_closed && draw(draws, 2) == 0)
        p->change = CHANGE_OPEN;
    else if (known->mode == LOCKED && draw(draws, 4) == 0)
        p->change = CHANGE_EXTEND;
    p->days = draw(draws, 24) == 0 ? 0 : 1 + draw(draws, 4);
    if (p->change == CHANGE_EXTEND)
        p->days += known->days - (known->days > 0 && draw(draws, 3) == 0);
    p->append = (enum protect_append)draw(draws, 3);
    if (p->change == CHANGE_HOLD)
        p->append = draw(draws, 2) == 0 ? APPENDS_TO_ALL : APPENDS_NOTHING;
    if (p->change == CHANGE_POLICY && known->has_versions && draw(draws, 8) > 0)
        p->append = APPENDS_NOTHING;
    p->tags = 1 + draw(draws, (1u << HOLD_TAGS) - 1);
    if (p->change == CHANGE_RELEASE && draw(draws, 3) > 0)
        p->tags = (1u << HOLD_TAGS) - 1;
}

/* ---- blobs ---- */

static const struct shield *known_shield(const struct ask *ask, unsigned *ret_key)
{
    const struct blob_state *b = blob_of(ask);

    for (unsigned i = 0; ask->snapshot[0] && i < b->snapshot_count; i++)
        if (strcmp(b->snapshots[i].time->snapshot, ask->snapshot) == 0) {
            *ret_key = b->snapshots[i].contents.key;
            return &b->snapshots[i].shield;
        }
    *ret_key = b->contents.key;
    return &b->shield;
}

/* A few days ahead, sometimes past or a moment ahead. */
static void draw_policy(struct draws *draws, struct ask *ask)
{
    struct protect_ask *p = &ask->protect;
    int64_t now_s = ((int64_t)world->now_ns + world->wall_ns) / (int64_t)SECOND_NS;
    bool is_long = world->plan.faults & FAULT_CLOCK;

    p->has_policy = true;
    p->has_mode = draw(draws, 3) > 0;
    p->mode = draw(draws, 4) == 0 ? LOCKED : UNLOCKED;
    p->until_s = now_s + draw(draws, 16) - 2;
    if (is_long && draw(draws, 3) > 0)
        p->until_s = now_s + draw(draws, 3 * DAY_S);
    if (draw(draws, 40) == 0)
        p->until_s += INT64_C(400) * 366 * DAY_S;
}

static void draw_of_version(struct draws *draws, struct ask *ask)
{
    struct protect_ask *p = &ask->protect;
    const char *time = draw(draws, 4) == 0 ? judge_current_version(ask->container, ask->blob)
                                           : judge_known_snapshot(ask->container, ask->blob,
                                                                  draw(draws, SNAPSHOTS_MAX));
    const struct shield *shield;
    unsigned key;

    if (time[0] && draw(draws, 3) == 0) {
        memcpy(ask->snapshot, time, SNAPSHOT_SIZE);
        ask->is_version = judge_is_version(ask->container, ask->blob, time);
    }
    shield = known_shield(ask, &key);
    if (ask->op == OP_SET_POLICY)
        draw_policy(draws, ask);
    if (ask->op == OP_SET_POLICY && shield->mode == LOCKED && draw(draws, 2) == 0)
        p->until_s = (int64_t)((shield->until - UINT64_C(621355968000000000)) / 10000000) +
                     draw(draws, 3) - 1;
    if (ask->op != OP_SET_HOLD)
        return;
    p->has_hold = true;
    p->hold = draw(draws, 3) == 0;
}

static bool takes_key(enum op op)
{
    return op == OP_PUT_BLOB || op == OP_PUT_BLOCK || op == OP_PUT_BLOCK_LIST ||
           op == OP_APPEND_BLOCK || op == OP_PUT_PAGE || op == OP_CLEAR_PAGE || op == OP_GET_BLOB ||
           op == OP_HEAD_BLOB || op == OP_GET_METADATA || op == OP_SET_METADATA ||
           op == OP_SET_PROPERTIES || op == OP_SNAPSHOT;
}

/* A blob is mostly written with the key of its name, and mostly read with the right one. */
static void draw_key(struct draws *draws, struct ask *ask)
{
    bool replaces =
        ask->op == OP_PUT_BLOB || ask->op == OP_PUT_BLOCK || ask->op == OP_PUT_BLOCK_LIST;
    unsigned key;

    if (!protect_has_keys() || !takes_key(ask->op) || ask->signature != SIGNED || ask->token > 0)
        return;
    if (ask->op == OP_SET_PROPERTIES && draw(draws, 3) > 0)
        return;
    (void)known_shield(ask, &key);
    if (replaces)
        key = ask->blob % (KEYS + 1);
    ask->protect.key = draw(draws, 7) == 0 ? draw(draws, KEYS + 1) : key;
}

static void draw_shield(struct draws *draws, struct ask *ask)
{
    unsigned once_in = container_of(ask)->protection.has_versions ? 3 : 40;

    if (ask->signature != SIGNED || ask->token > 0 || ask->malformed)
        return;
    if (draw(draws, once_in) == 0)
        draw_policy(draws, ask);
    if (draw(draws, 2 * once_in) == 0) {
        ask->protect.has_hold = true;
        ask->protect.hold = draw(draws, 2) == 0;
    }
}

static bool is_of_protection(enum op op)
{
    return op == OP_PROTECT || op == OP_SHOW_PROTECTION || op >= OP_SET_POLICY;
}

/* Most requests are permitted, and find their container: other runs are about those that are not. */
static void be_plain(struct draws *draws, struct ask *ask)
{
    if (draw(draws, 8) > 0) {
        ask->signature = SIGNED;
        ask->malformed = NULL;
    }
    if (draw(draws, 4) > 0) {
        ask->condition = IF_NOTHING;
        ask->modified_since = ask->unmodified_since = 0;
        ask->if_tag = 0;
    }
    if (ask->op != OP_LEASE_BLOB && ask->op != OP_LEASE_CONTAINER &&
        blob_of(ask)->lease.kind == LEASE_FREE && draw(draws, 6) > 0)
        ask->lease_id = 0;
    for (unsigned i = 0; ask->op > OP_PUT_BLOB && !ask->snapshot[0] && i < BLOBS &&
                         !blob_of(ask)->exists && draw(draws, 6) > 0;
         i++)
        ask->blob = (ask->blob + 1) % BLOBS;
    if (!container_of(ask)->exists && draw(draws, 4) > 0 && !is_listing_op(ask->op) &&
        !is_of_service(ask->op) && model_has_spaces(world->plan.clients + 1))
        *ask =
            (struct ask){ .op = OP_CREATE_CONTAINER, .container = ask->container, .break_s = -1 };
}

void protect_draw(struct draws *draws, unsigned client, unsigned number, struct ask *ask)
{
    bool deletes;

    be_plain(draws, ask);
    deletes = ask->op == OP_DELETE_CONTAINER;
    if (is_of_protection(ask->op) ||
        (deletes && (container_of(ask)->protection.is_closed || draw(draws, 3) == 0))) {
        *ask = (struct ask){
            .op = ask->op, .container = ask->container, .blob = ask->blob, .break_s = -1
        };
        ask->protect.by_operator = deletes;
    }
    if (ask->op == OP_PROTECT)
        draw_change(draws, client, number, ask);
    else if (ask->op >= OP_SET_POLICY)
        draw_of_version(draws, ask);
    if (ask->op == OP_PUT_BLOB || ask->op == OP_PUT_BLOCK_LIST || ask->op == OP_COPY)
        draw_shield(draws, ask);
    draw_key(draws, ask);
    if (ask->op == OP_COPY && ask->is_remote)
        ask->is_sync =
            true; /* a pending copy is not refused by what protects its container meanwhile */
}
