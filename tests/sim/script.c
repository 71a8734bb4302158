/* Requests over few names, with values on the edges. */
#include "script.h"

#include <string.h>

#include "draws.h"
#include "judge.h"
#include "malformed.h"
#include "world.h"

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

/* There may be as many snapshots more than LAYERS as clients ask for one at once (SNAPSHOTS_MAX); and
 * of many clients and changes at once a judge has very many states to think of. */
#define LAYERS      5u
#define FEW_CLIENTS 8u

static bool is_layered(void)
{
    return world->plan.seed % 8 == 5 && world->plan.clients <= FEW_CLIENTS;
}

/* Of runs in which policies come and go beside those who use them. */
static bool is_of_policies(void)
{
    return world->plan.seed % 4 == 2 && world->plan.clients <= 2 * FEW_CLIENTS;
}

static enum op draw_op(struct draws *draws, const unsigned of[OPS])
{
    unsigned total = 0, at;

    for (unsigned i = 0; i < OPS; i++)
        total += of[i];
    at = draw(draws, total);
    for (unsigned i = 0; i < OPS; i++) {
        if (at < of[i])
            return (enum op)i;
        at -= of[i];
    }
    return OP_HEAD_BLOB;
}

static bool is_of_service(enum op op)
{
    return op == OP_SET_SERVICE || op == OP_GET_SERVICE;
}

static bool is_listing_op(enum op op)
{
    return op == OP_LIST_BLOBS || op == OP_LIST_CONTAINERS;
}

/* Small bodies lie in records, larger ones in pieces; sectors of pieces are 64 KiB. */
static uint32_t draw_length(struct draws *draws)
{
    static const uint32_t edges[] = { 0,     1,     2,     511,   512,   4095,   4096,   16383,
                                      16384, 16385, 65535, 65536, 65537, 131072, 200000, 10 };

    if (is_layered() && draw(draws, 4) > 0)
        return 16385 + draw(draws, 2000);
    /* Some runs are of large bodies, and all that are aimed at where those lie. */
    if ((world->plan.seed % 4 == 3 || world->plan.aim == FILE_EXTENT + 1) && draw(draws, 2) == 0)
        return 16385 + draw(draws, 60000);
    return draw(draws, 3) == 0 ? edges[draw(draws, 16)] : draw(draws, 2000);
}

static void draw_content(struct draws *draws, struct ask *ask)
{
    ask->content.seed = world_mix(draws->state);
    ask->content.length = draw_length(draws);
    if (ask->op == OP_PUT_BLOCK) {
        ask->content.block = (uint8_t)(1 + draw(draws, BLOCK_IDS));
        if (ask->content.length == 0)
            ask->content.length = 7;
    }
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

/* Of a run of layers: few of the blocks that there are. */
static void draw_known_list(struct draws *draws, struct ask *ask, unsigned known)
{
    unsigned wanted = 1 + draw(draws, BLOCK_IDS);

    for (unsigned i = 0, block = draw(draws, BLOCK_IDS); i < BLOCK_IDS; i++, block++)
        if ((known >> block % BLOCK_IDS & 1) && ask->list_count < wanted) {
            ask->list[ask->list_count].block = block % BLOCK_IDS;
            ask->list[ask->list_count++].source = FROM_LATEST;
        }
}

static void draw_list(struct draws *draws, struct ask *ask)
{
    unsigned known = judge_known_blocks(ask->container, ask->blob);

    if (is_layered() && known > 0 && draw(draws, 4) > 0) {
        draw_known_list(draws, ask, known);
        return;
    }
    ask->list_count = draw(draws, SEGMENTS_MAX + 1);
    for (unsigned i = 0; i < ask->list_count; i++) {
        unsigned block = draw(draws, BLOCK_IDS);
        enum list_source source =
            draw(draws, 3) > 0 ? FROM_LATEST : (enum list_source)draw(draws, 3);

        /* An id has one source in a list. */
        for (unsigned j = 0; j < i; j++) {
            if (ask->list[j].block == block)
                source = ask->list[j].source;
        }
        ask->list[i].block = block;
        ask->list[i].source = source;
    }
}

/* Often what is right when it is drawn, sometimes one beside it. */
static uint32_t draw_beside(struct draws *draws, uint32_t right)
{
    return right + (draw(draws, 4) == 0 ? draw(draws, 3) : 1) - 1 + (right == 0);
}

static void draw_append(struct draws *draws, struct ask *ask)
{
    uint32_t length = judge_known_length(ask->container, ask->blob);

    if (ask->op == OP_APPEND_BLOCK) {
        draw_content(draws, ask);
        if (ask->content.length == 0)
            ask->content.length = 1;
        ask->has_size_max = draw(draws, 6) == 0;
        ask->size_max = draw_beside(draws, length + ask->content.length);
    }
    ask->has_position = draw(draws, 3) == 0;
    ask->position = draw_beside(draws, length);
}

static void draw_pages(struct draws *draws, struct ask *ask)
{
    uint32_t pages = judge_known_length(ask->container, ask->blob) / PAGE_BYTES;
    uint32_t from = draw(draws, pages + 1), count = 1 + draw(draws, draw(draws, 3) > 0 ? 4 : 64);

    /* Where one unit of the server ends and the next begins. */
    if (pages > UNIT_PAGES && draw(draws, 2) == 0) {
        from = UNIT_PAGES * (1 + draw(draws, pages / UNIT_PAGES)) - draw(draws, 6);
        count = 1 + draw(draws, draw(draws, 4) > 0 ? 8 : UNIT_PAGES);
    }
    ask->has_range = true;
    if (from + count > pages && draw(draws, 8) != 0)
        from = count < pages ? pages - count : 0;
    ask->range_from = from * PAGE_BYTES;
    ask->range_to = (from + count) * PAGE_BYTES - 1;
    if (ask->op == OP_PUT_PAGE)
        ask->content =
            (struct segment){ .seed = world_mix(draws->state), .length = count * PAGE_BYTES };
    if (draw(draws, 4) == 0) {
        ask->sequence_condition = (enum sequence_condition)(1 + draw(draws, 3));
        ask->if_sequence = draw(draws, 5);
    }
}

static uint32_t draw_size(struct draws *draws)
{
    if (draw(draws, 8) == 0)
        return PAGE_BYTES * (UNIT_PAGES - 4 + draw(draws, PAGES_MAX - UNIT_PAGES + 5));
    return PAGE_BYTES * (draw(draws, 4) == 0 ? draw(draws, 256) : draw(draws, 24));
}

static void draw_sequence(struct draws *draws, struct ask *ask)
{
    static const uint64_t numbers[] = { 0, 1, 2, 3, 4, INT64_MAX };

    ask->sequence = numbers[draw(draws, draw(draws, 6) == 0 ? 6 : 5)];
}

static void draw_put_blob(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 6);

    if (kind < 3) {
        draw_content(draws, ask);
        return;
    }
    ask->kind = kind == 3 ? KIND_APPENDED : KIND_PAGES;
    if (ask->kind == KIND_PAGES) {
        ask->has_size = true;
        ask->size = draw_size(draws);
        draw_sequence(draws, ask);
    }
}

static void draw_properties(struct draws *draws, struct ask *ask)
{
    if (draw(draws, 2) == 0)
        return;
    if (draw(draws, 2) == 0)
        ask->type = 0;
    ask->has_size = draw(draws, 2) == 0;
    ask->size = draw_size(draws);
    ask->sequence_act = (enum sequence_act)draw(draws, 4);
    draw_sequence(draws, ask);
    if (!ask->has_size && ask->sequence_act == SEQUENCE_KEPT)
        ask->type = 1;
}

/* Of the blob or of a snapshot, all of them or what differs from a snapshot. */
static void draw_page_ranges(struct draws *draws, struct ask *ask)
{
    ask->has_range = draw(draws, 3) == 0;
    ask->range_from = draw_size(draws) + (draw(draws, 3) == 0);
    ask->range_to = ask->range_from + draw_length(draws);
    if (draw(draws, 2) == 0)
        memcpy(ask->previous, judge_known_snapshot(ask->container, ask->blob, draw(draws, 2)),
               SNAPSHOT_SIZE);
}

/* ---- copies of archived blobs. decision: 101 ---- */

/* What each client asks, or asked last, in this life. */
static struct ask drawn[CLIENTS_MAX];

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

static bool copies(const struct ask *ask, unsigned container, unsigned blob)
{
    return ask->op == OP_COPY && !ask->is_sync && !ask->is_remote &&
           ask->source_container == container && ask->source_blob == blob;
}

/* A copy of an archived blob is on its way back, and its answer does not say whether the source was
 * read before or after its tier changed, which leaves the ETag alone. So a source whose tier may
 * change meanwhile is copied at once, which is refused while it is archived; and none changes that
 * is being copied. */
static bool may_change_tier(const struct ask *copy)
{
    return judge_comes_back(copy->source_container, copy->source_blob) ||
           is_drawn(sets_tier, copy->source_container, copy->source_blob);
}

/* Most names are not archived, so that there is something to be read. */
static enum tier tier_for(const struct ask *ask, enum tier tier)
{
    return tier == AT_ARCHIVE && ask->blob < BLOBS / 2 ? AT_COLD : tier;
}

static void draw_remote(struct draws *draws, struct ask *ask)
{
    ask->is_remote = true;
    ask->is_sync = draw(draws, 4) == 0;
    ask->source_snapshot[0] = '\0';
    ask->source_etag = 0;
    ask->kind = draw(draws, 3) == 0 ? KIND_PAGES : KIND_BLOCKS;
    ask->fate = draw(draws, 3) == 0 ? (enum fate)draw(draws, FATES) : FATE_STAYS;
    ask->content.seed = world_mix(draws->state);
    ask->content.length = ask->kind == KIND_PAGES ? draw_size(draws) : draw_length(draws);
}

/* Of what is there, by its ETag, so that it is known which version was copied; or of a snapshot. */
static void draw_copy(struct draws *draws, struct ask *ask)
{
    struct ask source = { .op = OP_COPY, .container = ask->container, .blob = draw(draws, BLOBS) };

    if (draw(draws, 4) > 0)
        judge_aim(&source, (enum blob_kind)draw(draws, 3), draw(draws, 64));
    ask->source_container = source.container;
    ask->source_blob = source.blob;
    ask->is_sync = draw(draws, 2) == 0;
    ask->is_fast = !ask->is_sync && draw(draws, 2) == 0;
    ask->source_etag = judge_known_etag(ask->source_container, ask->source_blob);
    if (draw(draws, 4) == 0)
        memcpy(ask->source_snapshot,
               judge_known_snapshot(ask->source_container, ask->source_blob, draw(draws, 2)),
               SNAPSHOT_SIZE);
    if (ask->source_snapshot[0])
        ask->source_etag = 0;
    else if (ask->source_etag == 0 || draw(draws, 12) == 0)
        ask->source_etag = 0x8DE000000000001;
    ask->metadata = draw(draws, 3) == 0 ? 1 + draw(draws, 99) : 0;
    if (draw(draws, 4) == 0)
        draw_remote(draws, ask);
}

/* Most can be used, and all that can be wrong is, here and there. */
static void draw_terms(struct draws *draws, struct ask *ask)
{
    struct sas_terms *terms = &ask->terms;
    unsigned wrong = draw(draws, 20);

    terms->start = draw(draws, 3) == 0 ? LONG_PAST : AT_NO_TIME;
    terms->expiry = FAR_AHEAD;
    terms->key_start = LONG_PAST;
    terms->key_expiry = FAR_AHEAD;
    terms->address = draw(draws, 4) == 0 ? 1 + draw(draws, 2) : ANY_ADDRESS;
    terms->protocol = draw(draws, 4) == 0 ? BOTH_PROTOCOLS : ANY_PROTOCOL;
    if (ask->signature == SIGNED_BY_POLICY) {
        terms->expiry = draw(draws, 2) == 0 ? AT_NO_TIME : FAR_AHEAD;
        terms->letters = draw(draws, 3) > 0    ? 0
                         : draw(draws, 2) == 0 ? SAS_ALL
                                               : 1 + draw(draws, SAS_LETTERS - 1);
    }
    if (wrong == 0)
        terms->start = FAR_AHEAD;
    else if (wrong == 1)
        terms->expiry = LONG_PAST;
    else if (wrong == 2)
        terms->address = draw(draws, 2) == 0 ? OTHER_ADDRESS : ADDRESSES_BESIDE;
    else if (wrong == 3)
        terms->protocol = HTTPS_ALONE;
    else if (wrong < 6)
        terms->key_start = FAR_AHEAD;
    else if (wrong < 8)
        terms->key_expiry = LONG_PAST;
}

static struct stored_policy draw_policy(struct draws *draws)
{
    struct stored_policy policy = { .exists = draw(draws, 3) > 0 };

    if (is_of_policies())
        return draw(draws, 2) == 0 ? (struct stored_policy){ .exists = false }
                                   : (struct stored_policy){ .exists = true,
                                                             .letters = SAS_ALL,
                                                             .expiry = FAR_AHEAD };
    if (!policy.exists)
        return policy;
    policy.letters = draw(draws, 4) == 0   ? 0
                     : draw(draws, 2) == 0 ? SAS_ALL
                                           : 1 + draw(draws, SAS_LETTERS - 1);
    policy.start = draw(draws, 2) == 0 ? AT_NO_TIME : (enum moment)draw(draws, MOMENTS);
    policy.expiry = draw(draws, 2) == 0 ? AT_NO_TIME : draw(draws, 4) == 0 ? LONG_PAST : FAR_AHEAD;
    return policy;
}

static bool sets_policies(const struct ask *ask, unsigned container, unsigned blob)
{
    (void)blob;
    return ask->op == OP_SET_ACL && ask->container == container;
}

static bool rests_on_policy(const struct ask *ask, unsigned container, unsigned blob)
{
    (void)blob;
    return ask->signature == SIGNED_BY_POLICY && ask->container == container;
}

/* One that asks while the policy that it rests on may be going. */
static bool draw_revoked(struct draws *draws, struct ask *ask)
{
    if (!is_of_policies() || !is_drawn(sets_policies, ask->container, 0) || draw(draws, 2) == 0)
        return false;
    ask->signature = SIGNED_BY_POLICY;
    ask->sas = draw(draws, POLICIES);
    return true;
}

static void draw_signature(struct draws *draws, struct ask *ask)
{
    static const enum signature signatures[] = { SIGNED_BY_SAS, SIGNED_BY_POLICY, SIGNED_BY_POLICY,
                                                 SIGNED_BY_USER, SIGNED_BY_ACCOUNT_SAS };
    unsigned kind = draw(draws, 20);
    bool of_container = ask->op >= OP_FIND && ask->op != OP_LIST_CONTAINERS;

    if (ask->op == OP_BATCH || is_of_service(ask->op) || (of_container && draw_revoked(draws, ask)))
        return;
    if (kind > 4)
        return;
    if (signatures[kind] != SIGNED_BY_ACCOUNT_SAS && !of_container)
        return;
    ask->signature = signatures[kind];
    ask->sas = draw(draws, 2) == 0 ? SAS_ALL : 1 + draw(draws, SAS_LETTERS - 1);
    ask->sas_types = draw(draws, 2) == 0 ? 0 : draw(draws, SAS_TYPES);
    if (ask->signature == SIGNED_BY_POLICY)
        ask->sas = draw(draws, POLICIES);
    draw_terms(draws, ask);
}

static void draw_if_tag(struct draws *draws, struct ask *ask)
{
    if (ask->op >= OP_PUT_BLOB && draw(draws, 12) == 0)
        ask->if_tag = 1 + draw(draws, 3);
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

    for (unsigned b = 0; b < BLOBS; b++) {
        if (is_drawn(copies, ask->container, b))
            op = OP_DELETE_BLOB;
    }

    /* More than eight are done in the pool, several in one commit. */
    ask->part_count = draw(draws, 2) == 0 ? 9 + draw(draws, PARTS_MAX - 8) : 1 + draw(draws, 4);
    ask->parts = parts[client];
    for (unsigned i = 0; i < ask->part_count; i++) {
        struct ask part = { .op = op, .container = ask->container, .break_s = -1 };

        part.blob = draw(draws, BLOBS);
        for (unsigned b = 0; b < BLOBS && !judge_known_etag(part.container, part.blob); b++)
            part.blob = (part.blob + 1) % BLOBS;
        if (draw(draws, 4) == 0)
            part.lease_id = 1 + draw(draws, LEASE_IDS);
        part.delete_mode = op == OP_DELETE_BLOB ? (enum delete_mode)draw(draws, 3) : DELETE_BASE;
        if (op == OP_SET_TIER)
            part.tier = tier_for(&part, (enum tier)(1 + draw(draws, TIERS - 1)));
        draw_signature(draws, &part);
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

/* A second beside the one that decides, or far from it. */
static int64_t draw_date(struct draws *draws, const struct ask *ask)
{
    int64_t known = judge_known_date(ask);

    if (known == 0 || draw(draws, 4) == 0)
        return draw(draws, 2) == 0 ? 1000000000 : 4000000000;
    return known + (int64_t)draw(draws, 3) - 1;
}

/* All that there are, also where an operation does not take them, and any two together. */
static void draw_condition(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 10);

    if (draw(draws, ask->op >= OP_PUT_BLOB ? 5 : 8) != 0 || is_listing_op(ask->op) ||
        ask->op == OP_FIND || ask->op == OP_BATCH || is_of_service(ask->op))
        return;
    if (kind >= 7 || kind == 3)
        ask->modified_since = draw_date(draws, ask);
    if (kind >= 8 || kind == 4)
        ask->unmodified_since = draw_date(draws, ask);
    if (kind == 3 || kind == 4 || kind == 8)
        return;
    ask->condition = (enum condition)draw(draws, 5);
    if (ask->condition == IF_MATCH_TAG || ask->condition == IF_NONE_MATCH_TAG) {
        ask->etag = judge_known_etag(ask->container, ask->blob);
        if (ask->etag == 0 || draw(draws, 6) == 0)
            ask->etag = 0x8DE000000000000 + draw(draws, 1000);
        else if (draw(draws, 8) == 0)
            ask->etag--; /* the next one might be the blob's already */
        ask->is_weak = draw(draws, 8) == 0;
    }
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
    page->include = draw(draws, INCLUDES);
    if (draw(draws, 3) == 0)
        page->prefix = draw(draws, LIST_PREFIXES);
    if (draw(draws, 2) == 0)
        page->max = draw(draws, 3) > 0 ? 1 + draw(draws, 4) : 5000;
    page->by_delimiter = ask->op == OP_LIST_BLOBS && draw(draws, 3) == 0;
    if (ask->op == OP_LIST_CONTAINERS)
        page->include &= INCLUDE_METADATA;
    else if (page->by_delimiter)
        page->include &= ~(unsigned)INCLUDE_SNAPSHOTS;
}

/* Who may not, and what is out of range. */
static void draw_offence(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 60);

    if (ask->op == OP_BATCH || is_of_service(ask->op) || ask->signature != SIGNED)
        return;
    if (kind < 3) {
        ask->signature = kind < 2 ? UNSIGNED : (enum signature)(SIGNED_WRONGLY + draw(draws, 2));
        /* A clock that is set back would make it right. */
        if (ask->signature == SIGNED_LONG_AGO && (world->plan.faults & FAULT_CLOCK))
            ask->signature = SIGNED_WRONGLY;
        ask->condition = IF_NOTHING;
        ask->modified_since = ask->unmodified_since = 0;
        ask->if_tag = 0;
        ask->page.include &= INCLUDE_METADATA;
        return;
    }
    if (kind > 5)
        return;
    ask->malformed = malformed_draw(ask, draw(draws, 1 << 20));
    if (ask->malformed)
        ask->page = (struct page_ask){ 0 };
}

static bool takes_lease_id(enum op op)
{
    return !is_of_service(op) && op != OP_CREATE_CONTAINER && !is_listing_op(op) &&
           op != OP_LEASE_BLOB && op != OP_LEASE_CONTAINER && op != OP_FIND && op != OP_BATCH;
}

static void draw_particular(struct draws *draws, struct ask *ask)
{
    switch ((int)ask->op) {
    case OP_PUT_BLOB:
        draw_put_blob(draws, ask);
        break;
    case OP_PUT_BLOCK:
        draw_content(draws, ask);
        break;
    case OP_APPEND_BLOCK:
    case OP_SEAL:
        draw_append(draws, ask);
        break;
    case OP_PUT_PAGE:
    case OP_CLEAR_PAGE:
        draw_pages(draws, ask);
        break;
    case OP_SET_PROPERTIES:
        draw_properties(draws, ask);
        break;
    case OP_PAGE_RANGES:
        draw_page_ranges(draws, ask);
        break;
    case OP_PUT_BLOCK_LIST:
        draw_list(draws, ask);
        break;
    case OP_LEASE_BLOB:
    case OP_LEASE_CONTAINER:
        draw_lease(draws, ask);
        break;
    case OP_SET_ACL:
        ask->access = draw(draws, 3);
        for (unsigned i = 0; i < POLICIES; i++)
            ask->policies[i] = draw_policy(draws);
        break;
    case OP_SET_TIER:
        ask->tier = (enum tier)(1 + draw(draws, TIERS - 1));
        ask->is_fast = draw(draws, 2) == 0;
        break;
    case OP_COPY:
        draw_copy(draws, ask);
        break;
    case OP_ABORT_COPY:
        if (draw(draws, 8) != 0)
            judge_aim_pending(ask, draw(draws, CONTAINERS * BLOBS));
        if (draw(draws, 4) == 0)
            ask->copy_id.bytes[0] ^= 1;
        break;
    case OP_GET_BLOB:
        ask->has_range = draw(draws, 3) == 0;
        ask->range_from = draw(draws, 2) == 0 ? draw_length(draws) : 0;
        ask->range_to = ask->range_from + draw_length(draws);
        break;
    case OP_DELETE_BLOB:
        ask->delete_mode = (enum delete_mode)draw(draws, 3);
        break;
    default:
        break;
    }
}

static void draw_snapshot(struct draws *draws, struct ask *ask)
{
    bool takes = ask->op == OP_GET_BLOB || ask->op == OP_HEAD_BLOB || ask->op == OP_GET_METADATA ||
                 ask->op == OP_GET_TAGS || ask->op == OP_DELETE_BLOB || ask->op == OP_PAGE_RANGES;

    if (!takes || draw(draws, is_layered() ? 4 : 5) > (is_layered() ? 2 : 0))
        return;
    memcpy(ask->snapshot,
           judge_known_snapshot(ask->container, ask->blob, draw(draws, is_layered() ? LAYERS : 2)),
           SNAPSHOT_SIZE);
    if (!ask->snapshot[0])
        return;
    ask->delete_mode = DELETE_BASE;
    ask->condition = IF_NOTHING;
    ask->modified_since = ask->unmodified_since = 0;
    ask->lease_id = 0;
}

void script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    bool layered = is_layered() && draw(&draws, 4) > 0;
    struct ask ask = { .op = draw_op(&draws, layered ? layer_weights : weights), .break_s = -1 };

    draws.state = world_mix(draws.state);
    ask.container = !layered && draw(&draws, 8) == 0 ? 1 + draw(&draws, CONTAINERS - 1) : 0;
    ask.blob = layered || draw(&draws, 2) == 0 ? 0 : draw(&draws, BLOBS);
    if (is_of_policies() && draw(&draws, 6) == 0 && is_drawn(rests_on_policy, ask.container, 0))
        ask.op = OP_SET_ACL;
    if (number == 0 && client % 2 == 0)
        ask.op = OP_CREATE_CONTAINER;
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
    draw_if_tag(&draws, &ask);
    draw_condition(&draws, &ask);
    draw_particular(&draws, &ask);
    draw_snapshot(&draws, &ask);
    if (ask.op == OP_SNAPSHOT &&
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
    draw_signature(&draws, &ask);
    if (ask.op == OP_SET_TIER)
        ask.tier = tier_for(&ask, ask.tier);
    if (ask.op == OP_SET_TIER && is_drawn(copies, ask.container, ask.blob))
        ask.op = OP_HEAD_BLOB;
    if (ask.op == OP_COPY && !ask.is_remote && may_change_tier(&ask))
        ask.is_sync = true;
    if (ask.op == OP_COPY && ask.signature != SIGNED)
        ask.is_sync = true; /* its source is in a URL that has a signature of its own */
    if (is_listing_op(ask.op) || ask.op == OP_FIND)
        draw_page(&draws, client, &ask);
    draw_offence(&draws, &ask);
    if (ask.op == OP_SET_SERVICE || draw(&draws, 3) == 0)
        ask.origin = draw(&draws, 3);
    draw_behaviour(&draws, &ask, 40, 30);
    drawn[client] = *ret_ask = ask;
}
