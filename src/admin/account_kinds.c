/* See account_kinds.h. */
#include "admin/account_kinds.h"

#include "base/codec.h"
#include "base/log.h"
#include "cluster/folder.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/placement.h"
#include "service/small_record.h"

#define KEY_PREFIX "k"
#define ARENA_MAX  ((size_t)16 << 20)

static const char record_name[] = "the kind of an account";

static struct bytes record_key(struct arena *arena, struct bytes name)
{
    return arena_printf(arena, KEY_PREFIX "%.*s", BYTES_ARG(name));
}

bool account_kind_is_key(struct bytes key)
{
    return bytes_has_prefix(key, bytes_from_string(KEY_PREFIX));
}

enum store_result account_kind_read(struct read_view *before, struct arena *arena,
                                    struct bytes name, bool *ret_is_hierarchical)
{
    uint64_t kind;
    enum store_result result =
        small_record_read(before, arena, record_key(arena, name), record_name, &kind, 1);

    *ret_is_hierarchical = kind != 0;
    return result;
}

bool account_has_containers(struct store *store, struct bytes name)
{
    const struct bytes none = BYTES("");
    struct guid space = account_space("blob", name);
    struct space_iterator *iterator =
        space_iterator_open(store, space, none, none, STORE_MAY_BLOCK);
    struct space_record record;
    bool has = space_iterator_next(iterator, &record) != STORE_NOT_FOUND;
    int64_t count;

    space_iterator_close(iterator);
    for (uint32_t cell = 1; cell <= CLUSTER_CELLS_MAX && !has; cell++)
        has = placement_count(store, space, cell, STORE_MAY_BLOCK, &count) || count > 0;
    return has;
}

/* ---- recording ---- */

struct deciding {
    struct bytes name;
    bool is_hierarchical; /* if it has no record yet */
    bool records;
};

static enum error attempt(struct decision *d, void *of)
{
    struct deciding *deciding = of;
    uint64_t kind = deciding->is_hierarchical;
    bool was;
    enum store_result result;

    decision_open_subject(
        d, (struct partition){ .space = account_space("accounts", bytes_from_string("")),
                               .key = BYTES("") });
    decision_read_clock(d);
    result = account_kind_read(d->before, d->arena, deciding->name, &was);
    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (!result)
        deciding->is_hierarchical = was;
    else if (deciding->records)
        small_record_write(d->changes, d->arena, record_key(d->arena, deciding->name), &kind, 1);
    return OK;
}

struct loading {
    struct store *store;
    bool hierarchical, records, failed;
};

static void load_one(const struct account *account, void *context)
{
    struct loading *loading = context;
    struct deciding deciding = { .name = account_name(account) };
    struct arena *arena;

    if (account_source(account) == ACCOUNT_STORED)
        return;
    arena = arena_new(ARENA_MAX);
    deciding.is_hierarchical =
        loading->hierarchical && !account_has_containers(loading->store, deciding.name);
    deciding.records = loading->hierarchical && loading->records;
    if (deciding_run_in(loading->store, NULL, arena, attempt, &deciding))
        loading->failed = true;
    else if (loading->hierarchical && !deciding.is_hierarchical)
        log_line(LOG_WARN, "account %.*s remains flat, as it was before --hierarchical",
                 BYTES_ARG(deciding.name));
    account_set_hierarchical(account, deciding.is_hierarchical);
    arena_free(arena);
}

bool account_kinds_load(struct store *store, struct accounts *accounts, bool hierarchical,
                        bool records)
{
    struct loading loading = { .store = store, .hierarchical = hierarchical, .records = records };

    accounts_each(accounts, load_one, &loading);
    if (loading.failed)
        log_line(LOG_ERROR, "the kinds of accounts cannot be read or recorded");
    return !loading.failed;
}

bool account_kind_follow(struct accounts *accounts, struct bytes key, struct bytes value)
{
    const struct account *account = accounts_find(accounts, bytes_from(key, sizeof KEY_PREFIX - 1));
    struct decoder in;
    uint64_t kind;

    decoder_init(&in, value);
    if (decode_u8(&in) != 1)
        return false;
    kind = decode_u64(&in);
    if (!decoder_ok(&in))
        return false;
    if (account && account_source(account) != ACCOUNT_STORED)
        account_set_hierarchical(account, kind != 0);
    return true;
}
