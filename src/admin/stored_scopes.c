/* See stored_scopes.h. */
#include "admin/stored_scopes.h"

#include "base/codec.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/small_record.h"

#define RECORD_VERSION 1
#define FLAG_DISABLED  1u
#define KEY_PREFIX     "e"
#define ARENA_MAX      ((size_t)64 << 20)

static struct partition partition_of_all(void)
{
    return (struct partition){ .space = account_space("accounts", bytes_from_string("")),
                               .key = BYTES("") };
}

/* ---- records ---- */

static struct bytes record_key(struct arena *arena, struct bytes account, struct bytes name)
{
    return arena_printf(arena, KEY_PREFIX "%.*s/%.*s", BYTES_ARG(account), BYTES_ARG(name));
}

bool stored_scope_is_key(struct bytes key)
{
    return bytes_has_prefix(key, bytes_from_string(KEY_PREFIX));
}

static struct bytes encode(struct arena *arena, const struct encryption_scope *scope)
{
    struct text out;

    text_init(&out, arena, 128);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, scope->is_disabled ? FLAG_DISABLED : 0);
    encode_u64(&out, scope->created);
    encode_u64(&out, scope->changed);
    encode_fixed(&out, scope->wrapped, sizeof scope->wrapped);
    return text_bytes(&out);
}

bool stored_scope_decode(struct bytes key, struct bytes value, struct encryption_scope *ret_scope)
{
    struct encryption_scope scope = { .is_disabled = false };
    struct decoder in;
    uint64_t flags;

    if (!stored_scope_is_key(key))
        return false;
    bytes_cut(bytes_from(key, sizeof KEY_PREFIX - 1), '/', &scope.account, &scope.name);
    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    flags = decode_u64(&in);
    scope.is_disabled = (flags & FLAG_DISABLED) != 0;
    scope.created = decode_u64(&in);
    scope.changed = decode_u64(&in);
    decode_fixed(&in, scope.wrapped, sizeof scope.wrapped);
    *ret_scope = scope;
    return decoder_ok(&in) && flags <= FLAG_DISABLED && scope.account.len > 0 &&
           encryption_scope_name_is_valid(scope.name);
}

bool stored_scope_follow(struct encryption_scopes *scopes, struct bytes key, struct bytes value)
{
    struct encryption_scope scope;

    if (!stored_scope_decode(key, value, &scope))
        return false;
    encryption_scopes_put(scopes, &scope);
    return true;
}

/* ---- changes ---- */

struct changing {
    struct encryption_scope scope; /* a new one has its key */
    enum scope_change change;
};

static enum error attempt_change(struct decision *d, void *of)
{
    struct changing *changing = of;
    struct encryption_scope *scope = &changing->scope;
    struct bytes key = record_key(d->arena, scope->account, scope->name);
    struct record record;
    enum store_result result;

    decision_open_subject(d, partition_of_all());
    decision_read_clock(d);
    result = read_view_get(d->before, RECORD_INNER, key, d->arena, &record);
    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (changing->change == SCOPE_ADD && !result)
        return E_ResourceAlreadyExists;
    if (changing->change != SCOPE_ADD && result)
        return E_ResourceNotFound;
    if (!result && !stored_scope_decode(key, record.value, scope))
        return decision_fail_store(d,
                                   record_is_unknown("an encryption scope's record", record.value));
    if (result)
        scope->created = d->now;
    scope->changed = d->now;
    scope->is_disabled = changing->change == SCOPE_DISABLE;
    changes_put(d->changes, RECORD_INNER, key, encode(d->arena, scope), NULL, 0);
    return OK;
}

enum error stored_scope_change(struct store *store, struct encryption_scopes *scopes,
                               struct arena *arena, struct bytes account, struct bytes name,
                               enum scope_change change, struct encryption_scope *ret_scope)
{
    struct changing changing = { .scope = { .account = account, .name = name }, .change = change };
    enum error e;

    if (!encryption_scope_name_is_valid(name))
        return E_InvalidInput;
    if (change == SCOPE_ADD && encryption_scopes_are_full(scopes))
        return E_OutOfRangeInput;
    if (change == SCOPE_ADD && !encryption_scopes_new_key(scopes, &changing.scope))
        return E_NotImplemented;
    e = deciding_run_in(store, NULL, arena, attempt_change, &changing);
    if (e)
        return e;
    encryption_scopes_put(scopes, &changing.scope);
    *ret_scope = changing.scope;
    return OK;
}

/* ---- listing ---- */

struct listing {
    struct bytes prefix; /* of the keys */
    struct encryption_scope *all;
    size_t count, capacity;
};

static void add(struct listing *listing, struct arena *arena, const struct encryption_scope *scope)
{
    struct encryption_scope *more;

    if (listing->count == listing->capacity) {
        listing->capacity = 2 * listing->capacity + 16;
        more = arena_array(arena, listing->capacity, sizeof *more);
        if (listing->count > 0)
            memcpy(more, listing->all, listing->count * sizeof *more);
        listing->all = more;
    }
    listing->all[listing->count++] = *scope;
}

static enum store_result scan_all(struct decision *d, struct listing *listing)
{
    struct scan *scan = scan_open(d->before, RECORD_INNER, listing->prefix, listing->prefix);
    struct encryption_scope scope;
    enum store_result result;
    struct record record;

    while (!(result = scan_next(scan, d->arena, &record))) {
        if (!stored_scope_decode(record.key, record.value, &scope)) {
            result = record_is_unknown("an encryption scope's record", record.value);
            break;
        }
        add(listing, d->arena, &scope);
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum error attempt_list(struct decision *d, void *of)
{
    struct listing *listing = of;
    enum store_result result;

    listing->all = NULL;
    listing->count = listing->capacity = 0;
    decision_open_subject(d, partition_of_all());
    decision_read_clock(d);
    result = scan_all(d, listing);
    return result ? decision_fail_store(d, result) : OK;
}

enum error stored_scopes_list(struct store *store, struct arena *arena, struct bytes account,
                              struct encryption_scope **ret_scopes, size_t *ret_count)
{
    struct listing listing = { .prefix = record_key(arena, account, bytes_of("", 0)) };
    enum error e = deciding_run_in(store, NULL, arena, attempt_list, &listing);

    *ret_scopes = listing.all;
    *ret_count = listing.count;
    return e;
}

bool stored_scopes_load(struct store *store, struct encryption_scopes *scopes)
{
    struct listing listing = { .prefix = bytes_from_string(KEY_PREFIX) };
    struct arena *arena = arena_new(ARENA_MAX);
    enum error e = deciding_run_in(store, NULL, arena, attempt_list, &listing);

    for (size_t i = 0; i < listing.count && !e; i++)
        encryption_scopes_put(scopes, &listing.all[i]);
    arena_free(arena);
    return !e;
}
