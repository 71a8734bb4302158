/* Requests over few names, with values on the edges. */
#include "script.h"

#include <string.h>

#include "commits.h"
#include "judge.h"
#include "kept.h"
#include "model.h"
#include "script_private.h"

#define SECOND_NS UINT64_C(1000000000)

static const unsigned weights[OPS] = {
    [OP_CREATE_CONTAINER] = 6,
    [OP_DELETE_CONTAINER] = 1,
    [OP_GET_CONTAINER] = 2,
    [OP_SET_CONTAINER_METADATA] = 2,
    [OP_GET_ACL] = 1,
    [OP_SET_ACL] = 2,
    [OP_LEASE_CONTAINER] = 2,
    [OP_LIST_BLOBS] = 6,
    [OP_LIST_CONTAINERS] = 2,
    [OP_SET_SERVICE] = 3,
    [OP_GET_SERVICE] = 1,
    [OP_PUT_BLOB] = 20,
    [OP_GET_BLOB] = 16,
    [OP_HEAD_BLOB] = 8,
    [OP_SET_METADATA] = 6,
    [OP_GET_METADATA] = 2,
    [OP_SET_PROPERTIES] = 3,
    [OP_LEASE_BLOB] = 8,
    [OP_SNAPSHOT] = 4,
    [OP_DELETE_BLOB] = 7,
    [OP_PUT_BLOCK] = 8,
    [OP_PUT_BLOCK_LIST] = 6,
    [OP_GET_BLOCK_LIST] = 3,
    [OP_SET_TAGS] = 4,
    [OP_GET_TAGS] = 4,
    [OP_APPEND_BLOCK] = 10,
    [OP_SEAL] = 1,
    [OP_PUT_PAGE] = 9,
    [OP_CLEAR_PAGE] = 4,
    [OP_PAGE_RANGES] = 8,
    [OP_FIND] = 4,
    [OP_SET_TIER] = 6,
    [OP_COPY] = 12,
    [OP_ABORT_COPY] = 3,
    [OP_BATCH] = 7,
};

/* Of runs in which snapshots share blocks, and go in any order. */
static const unsigned layer_weights[OPS] = {
    [OP_PUT_BLOCK] = 6,   [OP_PUT_BLOCK_LIST] = 6, [OP_SNAPSHOT] = 5,
    [OP_DELETE_BLOB] = 5, [OP_GET_BLOB] = 4,       [OP_PUT_BLOB] = 1,
};

/* Of runs in which the account keeps what is deleted. */
static const unsigned kept_weights[OPS] = {
    [OP_CREATE_CONTAINER] = 4,
    [OP_DELETE_CONTAINER] = 1,
    [OP_LIST_BLOBS] = 16,
    [OP_SET_SERVICE] = 4,
    [OP_GET_SERVICE] = 1,
    [OP_PUT_BLOB] = 20,
    [OP_GET_BLOB] = 10,
    [OP_HEAD_BLOB] = 6,
    [OP_SET_METADATA] = 3,
    [OP_LEASE_BLOB] = 4,
    [OP_SNAPSHOT] = 8,
    [OP_DELETE_BLOB] = 20,
    [OP_UNDELETE] = 12,
    [OP_PUT_BLOCK] = 6,
    [OP_PUT_BLOCK_LIST] = 6,
    [OP_GET_BLOCK_LIST] = 2,
    [OP_SET_TAGS] = 2,
    [OP_GET_TAGS] = 2,
    [OP_APPEND_BLOCK] = 4,
    [OP_PUT_PAGE] = 6,
    [OP_CLEAR_PAGE] = 2,
    [OP_PAGE_RANGES] = 4,
    [OP_FIND] = 4,
    [OP_SET_TIER] = 3,
    [OP_COPY] = 8,
    [OP_ABORT_COPY] = 2,
};

/* Of runs in which blobs have versions. */
static const unsigned version_weights[OPS] = {
    [OP_CREATE_CONTAINER] = 4,
    [OP_DELETE_CONTAINER] = 1,
    [OP_LIST_BLOBS] = 16,
    [OP_SET_SERVICE] = 4,
    [OP_GET_SERVICE] = 1,
    [OP_PUT_BLOB] = 20,
    [OP_GET_BLOB] = 12,
    [OP_HEAD_BLOB] = 8,
    [OP_SET_METADATA] = 10,
    [OP_GET_METADATA] = 2,
    [OP_SET_PROPERTIES] = 3,
    [OP_LEASE_BLOB] = 6,
    [OP_SNAPSHOT] = 8,
    [OP_DELETE_BLOB] = 24,
    [OP_UNDELETE] = 5,
    [OP_PUT_BLOCK] = 6,
    [OP_PUT_BLOCK_LIST] = 6,
    [OP_GET_BLOCK_LIST] = 2,
    [OP_SET_TAGS] = 5,
    [OP_GET_TAGS] = 5,
    [OP_APPEND_BLOCK] = 5,
    [OP_PUT_PAGE] = 6,
    [OP_CLEAR_PAGE] = 2,
    [OP_PAGE_RANGES] = 4,
    [OP_FIND] = 4,
    [OP_SET_TIER] = 6,
    [OP_COPY] = 14,
    [OP_ABORT_COPY] = 2,
};

/* A copy of an archived blob is on its way back, and its answer does not say whether the source was
 * read before or after its tier changed, which leaves the ETag alone. So a source whose tier may
 * change meanwhile is copied at once, which is refused while it is archived; and none changes that
 * is being copied. decision: 101 */
static bool may_change_tier(const struct ask *copy)
{
    return judge_comes_back(copy->source_container, copy->source_blob) ||
           script_sets_tier(copy->source_container, copy->source_blob);
}

/* Most names are not archived, so that there is something to be read. */
static enum tier tier_for(const struct ask *ask, enum tier tier)
{
    bool is_kept = kept_is_on() || kept_has_versions();

    return tier == AT_ARCHIVE && (ask->blob < BLOBS / 2 || is_kept) ? AT_COLD : tier;
}

static unsigned draw_tag(struct draws *draws)
{
    return draw(draws, 2) == 0 ? 1 + draw(draws, 3) : 0;
}

/* Deletions, or tiers, of several blobs. */
static void draw_batch(struct draws *draws, unsigned client, struct ask *ask)
{
    static struct ask parts[CLIENTS_MAX][PARTS_MAX];
    enum op op = draw(draws, 3) == 0 ? OP_SET_TIER : OP_DELETE_BLOB;

    ask->is_of_account = commits_are_divided() && draw(draws, 2) == 0;
    if (ask->is_of_account)
        op = OP_DELETE_BLOB; /* what may be tiered is known of one container */

    for (unsigned b = 0; b < BLOBS; b++) {
        if (script_copies(ask->container, b))
            op = OP_DELETE_BLOB;
    }

    /* More than eight are done in the pool, several in one commit. */
    ask->part_count = draw(draws, 2) == 0 ? 9 + draw(draws, PARTS_MAX - 8) : 1 + draw(draws, 4);
    ask->parts = parts[client];
    for (unsigned i = 0; i < ask->part_count; i++) {
        struct ask part = { .op = op, .container = ask->container, .break_s = -1 };

        if (ask->is_of_account)
            part.container = draw(draws, CONTAINERS);
        part.blob = draw(draws, BLOBS);
        for (unsigned b = 0; b < BLOBS && !judge_known_etag(part.container, part.blob); b++)
            part.blob = (part.blob + 1) % BLOBS;
        if (draw(draws, 4) == 0)
            part.lease_id = 1 + draw(draws, LEASE_IDS);
        part.delete_mode = op == OP_DELETE_BLOB ? (enum delete_mode)draw(draws, 3) : DELETE_BASE;
        if (op == OP_SET_TIER)
            part.tier = tier_for(&part, (enum tier)(1 + draw(draws, TIERS - 1)));
        script_signature(draws, &part);
        if (draw(draws, 24) == 0)
            part.signature = draw(draws, 2) == 0 ? UNSIGNED : SIGNED_WRONGLY;
        parts[client][i] = part;
    }
}

/* Else most of what only one kind of blob takes would be refused: most names have no blob of it. */
static void draw_aim(struct draws *draws, struct ask *ask)
{
    static const struct {
        bool aims;
        enum blob_kind kind;
    } kinds[OPS] = {
        [OP_APPEND_BLOCK] = { true, KIND_APPENDED }, [OP_SEAL] = { true, KIND_APPENDED },
        [OP_PUT_PAGE] = { true, KIND_PAGES },        [OP_CLEAR_PAGE] = { true, KIND_PAGES },
        [OP_PAGE_RANGES] = { true, KIND_PAGES },     [OP_SET_TIER] = { true, KIND_BLOCKS },
    };
    bool pages = ask->op == OP_SNAPSHOT && draw(draws, 2) == 0;

    if ((kinds[ask->op].aims || pages) && draw(draws, 4) > 0)
        judge_aim(ask, pages ? KIND_PAGES : kinds[ask->op].kind, draw(draws, CONTAINERS * BLOBS));
}

static void draw_page(struct draws *draws, unsigned client, struct ask *ask)
{
    const struct page_ask *next = judge_next_page(client, ask->op);
    struct page_ask *page = &ask->page;

    if (next->max > 0 && draw(draws, 4) > 0) {
        *page = *next;
        if (ask->op == OP_FIND) {
            ask->container = next->container;
            ask->tag = next->tag;
        }
        return;
    }
    if (ask->op == OP_FIND) {
        page->max = draw(draws, 2) == 0 ? 1 + draw(draws, 3) : 0;
        return;
    }
    page->include = draw(draws, INCLUDE_DELETED);
    if (kept_is_on() && draw(draws, 4) > 0)
        page->include |= INCLUDE_DELETED;
    if (kept_has_versions() && draw(draws, 4) > 0)
        page->include |= INCLUDE_VERSIONS | (draw(draws, 2) == 0 ? INCLUDE_VERSIONS_ONLY : 0);
    if (draw(draws, 3) == 0)
        page->prefix = draw(draws, LIST_PREFIXES);
    if (draw(draws, 2) == 0)
        page->max = draw(draws, 3) > 0 ? 1 + draw(draws, 4) : 5000;
    if (protect_is_on() && ask->op == OP_LIST_BLOBS && draw(draws, 3) > 0)
        page->include |= INCLUDE_PROTECTION;
    page->by_delimiter = ask->op == OP_LIST_BLOBS && draw(draws, 3) == 0;
    if (ask->op == OP_LIST_CONTAINERS)
        page->include &= INCLUDE_METADATA | (kept_has_containers() ? INCLUDE_DELETED : 0);
    else if (page->by_delimiter)
        page->include &= ~(unsigned)INCLUDE_SNAPSHOTS;
}

static void draw_lease(struct draws *draws, struct ask *ask)
{
    static const int breaks[] = { -1, -1, 0, 1, 30, 60 };

    ask->act = (enum lease_act)draw(draws, ACTS);
    ask->lease_id = 0;
    if (ask->act == ACT_RENEW || ask->act == ACT_CHANGE || ask->act == ACT_RELEASE)
        ask->lease_id = 1 + draw(draws, LEASE_IDS);
    if (ask->act == ACT_ACQUIRE || ask->act == ACT_CHANGE)
        ask->proposed = 1 + draw(draws, LEASE_IDS);
    ask->duration_s = draw(draws, 2) == 0 ? -1 : 15 + (int)draw(draws, 46);
    ask->break_s = breaks[draw(draws, 6)];
}

static bool takes_lease_id(enum op op)
{
    return !is_of_service(op) && op != OP_CREATE_CONTAINER && !is_listing_op(op) &&
           op != OP_LEASE_BLOB && op != OP_LEASE_CONTAINER && op != OP_FIND && op != OP_BATCH &&
           op != OP_UNDELETE && op != OP_RESTORE_CONTAINER && op != OP_SHOW_PROTECTION;
}

static void draw_particular(struct draws *draws, struct ask *ask)
{
    switch ((int)ask->op) {
    case OP_PUT_BLOB:
        script_put_blob(draws, ask);
        break;
    case OP_PUT_BLOCK:
        script_content(draws, ask);
        break;
    case OP_APPEND_BLOCK:
    case OP_SEAL:
        script_append(draws, ask);
        break;
    case OP_PUT_PAGE:
    case OP_CLEAR_PAGE:
        script_pages(draws, ask);
        break;
    case OP_SET_PROPERTIES:
        script_properties(draws, ask);
        break;
    case OP_PAGE_RANGES:
        script_page_ranges(draws, ask);
        break;
    case OP_PUT_BLOCK_LIST:
        script_block_list(draws, ask);
        break;
    case OP_LEASE_BLOB:
    case OP_LEASE_CONTAINER:
        draw_lease(draws, ask);
        break;
    case OP_SET_ACL:
        ask->access = draw(draws, 3);
        for (unsigned i = 0; i < POLICIES; i++)
            ask->policies[i] = script_policy(draws);
        break;
    case OP_SET_TIER:
        ask->tier = (enum tier)(1 + draw(draws, TIERS - 1));
        ask->is_fast = draw(draws, 2) == 0;
        break;
    case OP_COPY:
        script_copy(draws, ask);
        break;
    case OP_ABORT_COPY:
        if (draw(draws, 8) != 0)
            judge_aim_pending(ask, draw(draws, CONTAINERS * BLOBS));
        if (draw(draws, 4) == 0)
            ask->copy_id.bytes[0] ^= 1;
        break;
    case OP_GET_BLOB:
        ask->has_range = draw(draws, 3) == 0;
        ask->range_from = draw(draws, 2) == 0 ? script_length(draws) : 0;
        ask->range_to = ask->range_from + script_length(draws);
        break;
    case OP_DELETE_BLOB:
        ask->delete_mode = (enum delete_mode)draw(draws, 3);
        break;
    default:
        break;
    }
}

static bool takes_snapshot(enum op op)
{
    return op == OP_GET_BLOB || op == OP_HEAD_BLOB || op == OP_GET_METADATA || op == OP_GET_TAGS ||
           op == OP_DELETE_BLOB || op == OP_PAGE_RANGES;
}

/* Conditions and leases stay: those of a version are its own. */
static void draw_version(struct draws *draws, struct ask *ask)
{
    bool takes = takes_snapshot(ask->op) || ask->op == OP_SET_TIER || ask->op == OP_SET_TAGS;
    const char *time = judge_gone_snapshot(ask->container, ask->blob);

    if (!takes || ask->op == OP_PAGE_RANGES || draw(draws, 5) > 1)
        return;
    if (draw(draws, 8) > 0)
        time = draw(draws, 4) == 0
                   ? judge_current_version(ask->container, ask->blob)
                   : judge_known_snapshot(ask->container, ask->blob, draw(draws, SNAPSHOTS_MAX));
    ask->is_version = judge_is_version(ask->container, ask->blob, time) || draw(draws, 16) == 0;
    if (!time[0] || (!ask->is_version && !takes_snapshot(ask->op)))
        ask->is_version = false;
    else
        memcpy(ask->snapshot, time, SNAPSHOT_SIZE);
    if (!ask->snapshot[0])
        return;
    ask->delete_mode = DELETE_BASE;
    if (ask->is_version)
        return;
    ask->condition = IF_NOTHING;
    ask->modified_since = ask->unmodified_since = 0;
    ask->lease_id = 0;
}

static void draw_snapshot(struct draws *draws, struct ask *ask)
{
    if (kept_has_versions() && ask->op != OP_PAGE_RANGES) {
        draw_version(draws, ask);
        return;
    }
    if (!takes_snapshot(ask->op) || draw(draws, is_layered() ? 4 : 5) > (is_layered() ? 2 : 0))
        return;
    memcpy(ask->snapshot,
           draw(draws, 8) == 0 ? judge_gone_snapshot(ask->container, ask->blob)
                               : judge_known_snapshot(ask->container, ask->blob,
                                                      draw(draws, is_layered() ? LAYERS : 2)),
           SNAPSHOT_SIZE);
    if (!ask->snapshot[0])
        return;
    ask->delete_mode = DELETE_BASE;
    ask->condition = IF_NOTHING;
    ask->modified_since = ask->unmodified_since = 0;
    ask->lease_id = 0;
}

/* Perhaps one more state that is kept. */
static bool makes_one(const struct ask *ask)
{
    bool is_versioned = kept_has_versions() && (ask->op == OP_SET_METADATA ||
                                                (ask->op == OP_DELETE_BLOB && !ask->snapshot[0]));

    return is_versioned || ask->op == OP_SNAPSHOT || ask->op == OP_PUT_BLOB ||
           ask->op == OP_PUT_BLOCK || ask->op == OP_PUT_BLOCK_LIST || ask->op == OP_COPY;
}

/* A snapshot of those that are kept goes for good, where there are as many as the model has room for, and else now and then.
 * A version is soft-deleted first. */
static void draw_permanent(struct draws *draws, struct ask *ask)
{
    unsigned count = judge_known_snapshots(ask->container, ask->blob);
    bool is_full = makes_one(ask) && count >= kept_snapshots_max();

    if (count == 0 || (!is_full && (ask->op != OP_DELETE_BLOB || draw(draws, 4) > 0)))
        return;
    *ask = (struct ask){
        .op = OP_DELETE_BLOB, .container = ask->container, .blob = ask->blob, .break_s = -1
    };
    memcpy(ask->snapshot, judge_known_snapshot(ask->container, ask->blob, draw(draws, count)),
           SNAPSHOT_SIZE);
    ask->is_version = judge_is_version(ask->container, ask->blob, ask->snapshot);
    if (!ask->snapshot[0])
        ask->op = OP_HEAD_BLOB;
    else
        ask->is_permanent = kept_is_on() && (!kept_has_versions() || draw(draws, 2) == 0);
}

/* Of runs in which deleted containers are retained, for one request in three. */
static const unsigned kept_container_weights[OPS] = {
    [OP_CREATE_CONTAINER] = 8, [OP_DELETE_CONTAINER] = 5,       [OP_RESTORE_CONTAINER] = 7,
    [OP_GET_CONTAINER] = 1,    [OP_SET_CONTAINER_METADATA] = 2, [OP_SET_ACL] = 1,
    [OP_LEASE_CONTAINER] = 1,  [OP_LIST_CONTAINERS] = 6,        [OP_LIST_BLOBS] = 3,
};

static enum op draw_op(struct draws *draws, bool layered)
{
    const unsigned *of_run = layered               ? layer_weights
                             : kept_has_versions() ? version_weights
                             : kept_is_on()        ? kept_weights
                                                   : weights;

    if (protect_is_on() && (!kept_has_containers() || draw(draws, 3) > 0))
        return protect_draw_op(draws);
    if (kept_has_containers() && (protect_is_on() || draw(draws, 3) == 0))
        of_run = kept_container_weights;
    return (enum op)draw_weighted(draws, of_run, OPS);
}

/* Keeps the deleted containers of a name, and all containers of the run, below the bounds of the model. */
static void draw_deleted(struct draws *draws, struct ask *ask)
{
    unsigned clients = world->plan.clients;

    if (ask->op == OP_DELETE_CONTAINER &&
        judge_known_deleted(ask->container) + clients >= KEPT_CONTAINERS)
        ask->op = OP_RESTORE_CONTAINER;
    if (ask->op == OP_CREATE_CONTAINER && !model_has_spaces(clients + 1))
        ask->op = OP_GET_CONTAINER;
    if (ask->op == OP_FIND)
        ask->op = OP_LIST_BLOBS;
    if (ask->op != OP_RESTORE_CONTAINER)
        return;
    ask->condition = IF_NOTHING;
    ask->modified_since = ask->unmodified_since = 0;
    ask->lease_id = 0;
    if (!judge_draw_deleted(ask->container, draw(draws, KEPT_CONTAINERS), ask->deleted) ||
        draw(draws, 16) == 0)
        memcpy(ask->deleted, "01D6954159845195", 17);
}

/* The first that is set keeps all that the run is about. */
static void draw_policies(struct draws *draws, struct ask *ask, bool is_first)
{
    if (kept_is_on() && draw(draws, 3) > 0)
        ask->retention = 1 + draw(draws, KEPT_DAYS_MAX);
    if (kept_has_versions())
        ask->is_versioned = is_first || draw(draws, 4) > 0;
    if (kept_has_containers() && (is_first || draw(draws, 4) > 0))
        ask->container_retention = 1 + draw(draws, KEPT_DAYS_MAX);
}

static unsigned draw_container(struct draws *draws, bool layered)
{
    if (commits_are_divided())
        return draw(draws, CONTAINERS);
    if (protect_is_on())
        return draw(draws, 3) > 0 ? 0 : draw(draws, CONTAINERS - 1);
    return !layered && draw(draws, 8) == 0 ? 1 + draw(draws, CONTAINERS - 1) : 0;
}

/* A name may be placed in another cell when it has been deleted for a while. Cells read the service properties some
 * time after the root, which the model does not know. */
static void draw_for_cells(struct draws *draws, struct ask *ask)
{
    ask->origin = 0;
    if (ask->op == OP_SET_SERVICE)
        *ask = (struct ask){ .op = draw(draws, 2) == 0 ? OP_DELETE_CONTAINER : OP_LIST_CONTAINERS,
                             .container = ask->container,
                             .break_s = -1 };
    if (ask->op == OP_CREATE_CONTAINER && judge_rests(ask->container) && draw(draws, 8) > 0)
        *ask = (struct ask){ .op = OP_GET_CONTAINER, .container = ask->container, .break_s = -1 };
    if (draw(draws, 24) == 0)
        ask->think_ns = draw(draws, 20) * SECOND_NS;
}

/* The first requests make what others need. */
static void draw_first(unsigned client, unsigned number, struct ask *ask)
{
    if (number == 0 && client % 2 == 0)
        ask->op = OP_CREATE_CONTAINER;
    if (number == 1 && client == 0 && (kept_has_versions() || kept_has_containers()))
        ask->op = OP_SET_SERVICE;
    if (protect_is_on() && number < 3 && client == 0 && number != 1) {
        ask->op = number == 0 ? OP_CREATE_CONTAINER : OP_PROTECT;
        ask->container = 0;
    }
}

void script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    bool layered = is_layered() && draw(&draws, 4) > 0;
    struct ask ask = { .op = draw_op(&draws, layered), .break_s = -1 };

    draws.state = world_mix(draws.state);
    ask.container = draw_container(&draws, layered);
    ask.blob = layered || draw(&draws, 2) == 0 ? 0 : draw(&draws, BLOBS);
    if (is_of_policies() && draw(&draws, 6) == 0 && script_rests_on_policy(ask.container))
        ask.op = OP_SET_ACL;
    draw_first(client, number, &ask);
    if (ask.op >= OP_PUT_BLOB || ask.op == OP_CREATE_CONTAINER ||
        ask.op == OP_SET_CONTAINER_METADATA)
        ask.metadata = draw(&draws, 1000);
    if (ask.op == OP_PUT_BLOB || ask.op == OP_PUT_BLOCK_LIST || ask.op == OP_SET_PROPERTIES)
        ask.type = 1 + draw(&draws, 3);
    if (ask.op == OP_PUT_BLOB || ask.op == OP_PUT_BLOCK_LIST || ask.op == OP_SET_TAGS)
        ask.tag = draw_tag(&draws);
    if (takes_lease_id(ask.op) && draw(&draws, 8) == 0)
        ask.lease_id = 1 + draw(&draws, LEASE_IDS);
    draw_aim(&draws, &ask);
    script_conditions(&draws, &ask);
    if (kept_has_containers())
        draw_deleted(&draws, &ask);
    draw_particular(&draws, &ask);
    draw_snapshot(&draws, &ask);
    if (ask.op == OP_SNAPSHOT && !kept_is_on() && !kept_has_versions() &&
        judge_known_snapshots(ask.container, ask.blob) >= (is_layered() ? LAYERS : 2)) {
        ask.op = OP_HEAD_BLOB;
        ask.condition = IF_NOTHING;
        ask.modified_since = ask.unmodified_since = 0;
    }
    if (ask.op != OP_PUT_BLOB && ask.op != OP_SET_METADATA && ask.op != OP_PUT_BLOCK_LIST &&
        ask.op != OP_SNAPSHOT && ask.op != OP_CREATE_CONTAINER && ask.op != OP_COPY &&
        ask.op != OP_SET_CONTAINER_METADATA)
        ask.metadata = 0;
    if (ask.op == OP_FIND)
        ask.tag = 1 + draw(&draws, 3);
    if (ask.op == OP_BATCH)
        draw_batch(&draws, client, &ask);
    if (kept_is_on() || kept_has_versions())
        draw_permanent(&draws, &ask);
    if (!ask.is_permanent && !ask.is_version && ask.op != OP_RESTORE_CONTAINER)
        script_signature(&draws, &ask);
    if (ask.op == OP_SET_TIER)
        ask.tier = tier_for(&ask, ask.tier);
    if (ask.op == OP_SET_TIER && script_copies(ask.container, ask.blob))
        ask.op = OP_HEAD_BLOB;
    if (ask.op == OP_COPY && !ask.is_remote && may_change_tier(&ask))
        ask.is_sync = true;
    if (ask.op == OP_COPY && ask.signature != SIGNED)
        ask.is_sync = true; /* its source is in a URL that has a signature of its own */
    if (is_listing_op(ask.op) || ask.op == OP_FIND)
        draw_page(&draws, client, &ask);
    if (!ask.is_version && ask.op != OP_RESTORE_CONTAINER)
        script_offence(&draws, &ask);
    if (ask.op == OP_SET_SERVICE)
        draw_policies(&draws, &ask, number == 1);
    if (ask.op == OP_SET_SERVICE || draw(&draws, 3) == 0)
        ask.origin = draw(&draws, 3);
    if (protect_is_on())
        protect_draw(&draws, client, number, &ask);
    draw_behaviour(&draws, &ask, protect_is_on() ? 12 : 40, protect_is_on() ? 12 : 30);
    if (commits_are_divided())
        draw_for_cells(&draws, &ask);
    *ret_ask = ask;
    script_note_drawn(client, &ask);
}
