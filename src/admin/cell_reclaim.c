/* See cell_reclaim.h. */
#include "admin/cell_reclaim.h"

#include "auth/auth.h"
#include "base/codec.h"
#include "service/names.h"
#include "service/operation.h"
#include "service/placement_release.h"
#include "service/server.h"
#include "service/usage.h"

#define VERSION   1
#define ARENA_MAX ((size_t)64 << 10)

struct reclaiming {
    uint32_t cell;
    const struct endpoint *endpoint;
    struct bytes account;
    struct text conflicts;
    unsigned conflict_count;
    uint64_t placed;
    enum error failed;
};

static void add_conflict(struct reclaiming *r, struct bytes name, uint32_t cell)
{
    if (r->conflict_count++ >= RECLAIM_CONFLICTS_MAX)
        return;
    encode_bytes(&r->conflicts, bytes_from_string(r->endpoint->service->name));
    encode_bytes(&r->conflicts, r->account);
    encode_bytes(&r->conflicts, name);
    encode_u64(&r->conflicts, cell);
}

static bool claim(void *context, struct bytes name, const struct usage *usage)
{
    struct reclaiming *r = context;
    struct arena *arena;
    struct placement where;

    (void)usage;
    if (name.ptr[0] == '$') /* in the root */
        return true;
    arena = arena_new(ARENA_MAX);
    r->failed = placement_claim(
        r->endpoint,
        &(struct partition){ .space = account_space(r->endpoint->service->name, r->account),
                             .key = r->endpoint->service->restore->folds_case
                                        ? arena_copy_lower(arena, name)
                                        : name },
        r->account, r->cell, arena, &where);
    r->placed += r->failed == OK;
    if (r->failed == E_MisdirectedRequest) {
        add_conflict(r, name, where.cell);
        r->failed = OK;
    }
    arena_free(arena);
    return r->failed == OK;
}

static void claim_account(const struct account *account, void *context)
{
    struct reclaiming *r = context;
    const struct usage_walk walk = { .store = r->endpoint->store,
                                     .service = r->endpoint->service,
                                     .account = account_name(account),
                                     .found = claim,
                                     .context = r };

    r->account = account_name(account);
    if (!r->failed && usage_look(&walk))
        r->failed = E_InternalError;
}

int cell_reclaim_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    const struct endpoint_set *all = context;
    struct reclaiming r = { .failed = OK };
    struct decoder in;
    uint64_t cell;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return 400;
    cell = decode_u64(&in);
    if (!decoder_ok(&in) || cell == CLUSTER_ROOT || cell == 0 || cell > PLACEMENT_CELL_MAX)
        return 400;
    r.cell = (uint32_t)cell;
    text_init(&r.conflicts, arena, 256);
    for (size_t i = 0; i < all->count; i++) {
        r.endpoint = &all->endpoints[i];
        if (r.endpoint->service->data_of)
            continue;
        accounts_each(r.endpoint->accounts, claim_account, &r);
    }
    encode_u8(ret_body, VERSION);
    encode_u64(ret_body, r.placed);
    text_add(ret_body, text_bytes(&r.conflicts));
    return r.failed == OK ? 200 : r.failed == E_ServerBusy ? 503 : 500;
}
