/* Accounts in the store: see stored_accounts.h. */
#include "admin/stored_accounts.h"

#include <assert.h>

#include "admin/account_kinds.h"
#include "admin/stored_scopes.h"
#include "base/codec.h"
#include "base/encode.h"
#include "service/driver.h"
#include "service/names.h"
#include "service/small_record.h"

#define PLAIN_VERSION     1
#define LIMITS_VERSION    2
#define FLAG_DISABLED     1u
#define FLAG_HIERARCHICAL 2u
#define FLAG_NO_PUBLIC    4u
#define FLAG_NO_KEYS      8u
#define FLAG_TRACKS       16u
#define FLAGS_ALL         31u
#define KEY_PREFIX        "a"
#define KEY_COUNT         "n"
#define ARENA_MAX         ((size_t)64 << 20)

struct guid stored_accounts_space(void)
{
    return account_space("accounts", bytes_from_string(""));
}

static struct partition partition_of_all(void)
{
    return (struct partition){ .space = stored_accounts_space(), .key = BYTES("") };
}

static struct bytes record_key(struct arena *arena, struct bytes name)
{
    return arena_printf(arena, KEY_PREFIX "%.*s", BYTES_ARG(name));
}

bool stored_account_name_is_valid(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            return false;
    }
    return name.len >= STORED_NAME_MIN && name.len <= STORED_NAME_MAX;
}

bool stored_account_key_is_valid(struct arena *arena, struct bytes key)
{
    return key.len <= STORED_KEY_MAX && base64_decode(arena, key).len > 0;
}

/* ---- records ---- */

static bool has_limits(const struct account_limits *limits)
{
    bool has = false;

    for (size_t i = 0; i < ACCOUNT_LIMITS; i++)
        has |= limits->of[i] > 0;
    return has;
}

static void encode_limits(struct text *out, const struct account_limits *limits)
{
    for (size_t i = 0; i < ACCOUNT_LIMITS; i++)
        encode_u64(out, limits->of[i] == LIMIT_NONE ? 1
                        : limits->of[i] > 0         ? limits->of[i] + 1
                                                    : 0);
}

/* Decodes limits. Returns false if they are invalid. */
static bool decode_limits(struct decoder *in, struct account_limits *ret_limits)
{
    bool is_valid = true;

    for (size_t i = 0; i < ACCOUNT_LIMITS; i++) {
        uint64_t stored = decode_u64(in);

        is_valid &= stored <= LIMIT_MAX + 1;
        ret_limits->of[i] = stored == 1 ? LIMIT_NONE : stored > 0 ? stored - 1 : 0;
    }
    return is_valid;
}

static struct bytes encode(struct arena *arena, const struct account_record *record)
{
    struct text out;

    text_init(&out, arena, 256);
    encode_u8(&out, has_limits(&record->limits) ? LIMITS_VERSION : PLAIN_VERSION);
    encode_u64(&out, (record->disabled ? FLAG_DISABLED : 0) |
                         (record->hierarchical ? FLAG_HIERARCHICAL : 0) |
                         (record->no_public_access ? FLAG_NO_PUBLIC : 0) |
                         (record->no_shared_key ? FLAG_NO_KEYS : 0) |
                         (record->tracks_access ? FLAG_TRACKS : 0));
    encode_u64(&out, record->created);
    encode_u64(&out, record->changed);
    encode_u64(&out, record->key_count);
    for (size_t i = 0; i < record->key_count; i++)
        encode_bytes(&out, record->keys[i]);
    if (has_limits(&record->limits))
        encode_limits(&out, &record->limits);
    return text_bytes(&out);
}

/* Decodes a record. Returns false if it is malformed. */
static bool decode(struct bytes key, struct bytes value, struct account_record *ret_record)
{
    struct account_record record = { .name = bytes_from(key, sizeof KEY_PREFIX - 1) };
    struct decoder in;
    uint64_t flags;
    uint8_t version;

    decoder_init(&in, value);
    version = decode_u8(&in);
    if (version != PLAIN_VERSION && version != LIMITS_VERSION)
        return false;
    flags = decode_u64(&in);
    record.disabled = flags & FLAG_DISABLED;
    record.hierarchical = flags & FLAG_HIERARCHICAL;
    record.no_public_access = flags & FLAG_NO_PUBLIC;
    record.no_shared_key = flags & FLAG_NO_KEYS;
    record.tracks_access = flags & FLAG_TRACKS;
    record.created = decode_u64(&in);
    record.changed = decode_u64(&in);
    record.key_count = decode_u64(&in);
    if (flags > FLAGS_ALL || record.key_count == 0 || record.key_count > ACCOUNT_KEYS_MAX)
        return false;
    for (size_t i = 0; i < record.key_count; i++)
        record.keys[i] = decode_bytes(&in);
    if (version == LIMITS_VERSION && !decode_limits(&in, &record.limits))
        return false;
    *ret_record = record;
    return decoder_ok(&in) && stored_account_name_is_valid(record.name);
}

enum account_record_kind stored_account_inspect(const struct partition *at, struct bytes key,
                                                struct bytes value)
{
    const struct partition own = partition_of_all();
    struct encryption_scope scope;
    struct account_record record;

    if (!guid_equal(&at->space, &own.space))
        return NO_ACCOUNT_RECORD;
    if (bytes_is(key, KEY_COUNT) || account_kind_is_key(key) ||
        stored_scope_decode(key, value, &scope) ||
        (bytes_has_prefix(key, bytes_from_string(KEY_PREFIX)) && decode(key, value, &record)))
        return ACCOUNT_RECORD;
    return ACCOUNT_RECORD_DAMAGED;
}

static enum store_result read_record(struct read_view *before, struct arena *arena,
                                     struct bytes name, struct account_record *ret_record)
{
    struct record record;
    enum store_result result =
        read_view_get(before, RECORD_INNER, record_key(arena, name), arena, &record);

    if (result)
        return result;
    return decode(record_key(arena, name), record.value, ret_record)
               ? STORE_OK
               : record_is_unknown("the record of an account", record.value);
}

/* ---- decisions ---- */

struct deciding {
    struct bytes name;
    enum account_change how;
    account_change_fn *change; /* NULL to only read the record */
    void *context;
    struct account_record record;
    struct account_record *all; /* for listing */
    size_t count;
    bool has_containers; /* of the name that is added */
};

/* Increments the number of accounts. */
static enum error increment_count(struct decision *d)
{
    const struct bytes key = BYTES(KEY_COUNT);
    uint64_t count;
    enum store_result result =
        small_record_read(d->before, d->arena, key, "the number of accounts", &count, 1);

    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (count >= STORED_ACCOUNTS_MAX)
        return E_OutOfRangeInput;
    count++;
    small_record_write(d->changes, d->arena, key, &count, 1);
    return OK;
}

/* Checks the kind of an added account against that of earlier containers of its name. */
static enum error check_kind(struct decision *d, const struct deciding *deciding)
{
    bool is_hierarchical = false;
    enum store_result result =
        account_kind_read(d->before, d->arena, deciding->name, &is_hierarchical);

    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    return (!result || deciding->has_containers) && is_hierarchical != deciding->record.hierarchical
               ? E_ResourceAlreadyExists
               : OK;
}

static enum error attempt_change(struct decision *d, void *of)
{
    struct deciding *deciding = of;
    struct account_record *record = &deciding->record;
    enum store_result result;
    enum error e = OK;

    decision_open_subject(d, partition_of_all());
    decision_read_clock(d);
    result = read_record(d->before, d->arena, deciding->name, record);
    if (result && result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    if (!deciding->change)
        return result ? E_ResourceNotFound : OK;
    if (deciding->how == ACCOUNT_ADD && !result)
        return E_AccountAlreadyExists;
    if (deciding->how == ACCOUNT_CHANGE && result)
        return E_ResourceNotFound;
    if (deciding->how == ACCOUNT_ADD) {
        *record = (struct account_record){ .name = deciding->name, .created = d->now };
        e = increment_count(d);
    }
    if (e)
        return e;
    deciding->change(record, deciding->context);
    if (deciding->how == ACCOUNT_ADD)
        e = check_kind(d, deciding);
    if (e)
        return e;
    record->changed = d->now;
    assert(record->key_count > 0 && record->key_count <= ACCOUNT_KEYS_MAX);
    changes_put(d->changes, RECORD_INNER, record_key(d->arena, record->name),
                encode(d->arena, record), NULL, 0);
    return OK;
}

/* Applies a record to `accounts`, unless a newer version has already been applied. */
static enum account_put apply_record(struct accounts *accounts, const struct account_record *record)
{
    return accounts_put_stored(
        accounts, &(struct stored_account){ .name = record->name,
                                            .keys = { record->keys[0], record->keys[1] },
                                            .key_count = record->key_count,
                                            .disabled = record->disabled,
                                            .hierarchical = record->hierarchical,
                                            .no_public_access = record->no_public_access,
                                            .no_shared_key = record->no_shared_key,
                                            .tracks_access = record->tracks_access,
                                            .limits = &record->limits,
                                            .version = record->changed });
}

bool stored_account_follow(struct accounts *accounts, struct bytes key, struct bytes value)
{
    struct account_record record;

    if (bytes_is(key, KEY_COUNT))
        return true;
    if (account_kind_is_key(key))
        return account_kind_follow(accounts, key, value);
    return bytes_has_prefix(key, bytes_from_string(KEY_PREFIX)) && decode(key, value, &record) &&
           apply_record(accounts, &record) == ACCOUNT_PUT;
}

enum error stored_account_change(struct store *store, struct accounts *accounts,
                                 struct arena *arena, struct bytes name, enum account_change how,
                                 account_change_fn *change, void *context,
                                 struct account_record *ret_record)
{
    struct deciding deciding = { .name = name, .how = how, .change = change, .context = context };
    enum account_put put = ACCOUNT_PUT;
    enum error e;

    if (how == ACCOUNT_ADD && !accounts_reserve(accounts, name))
        return E_ResourceTypeMismatch;
    deciding.has_containers = how == ACCOUNT_ADD && account_has_containers(store, name);
    e = deciding_run_in(store, NULL, arena, attempt_change, &deciding);
    if (!e) {
        *ret_record = deciding.record;
        put = apply_record(accounts, ret_record);
    }
    /* If it is unknown whether the record exists, the name remains reserved. */
    if (how == ACCOUNT_ADD && e != E_InternalError)
        accounts_release(accounts, name);
    assert(put != ACCOUNT_ELSEWHERE); /* reserved, or already in the store */
    assert(put != ACCOUNT_TOO_MANY);  /* lists always have space for all stored accounts */
    return put == ACCOUNT_PUT ? e : E_InternalError;
}

enum error stored_account_read(struct store *store, struct arena *arena, struct bytes name,
                               struct account_record *ret_record)
{
    struct deciding deciding = { .name = name };
    enum error e = deciding_run_in(store, NULL, arena, attempt_change, &deciding);

    if (!e)
        *ret_record = deciding.record;
    return e;
}

/* ---- listing ---- */

static enum store_result scan_all(struct scan *scan, struct arena *arena, struct deciding *deciding)
{
    enum store_result result;
    struct record record;

    while (!(result = scan_next(scan, arena, &record))) {
        if (deciding->count == STORED_ACCOUNTS_MAX ||
            !decode(record.key, record.value, &deciding->all[deciding->count]))
            return record_is_unknown("the record of an account", record.value);
        deciding->count++;
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum error attempt_list(struct decision *d, void *of)
{
    struct deciding *deciding = of;
    enum store_result result;
    struct scan *scan;

    decision_open_subject(d, partition_of_all());
    decision_read_clock(d);
    deciding->count = 0;
    deciding->all = arena_array(d->arena, STORED_ACCOUNTS_MAX, sizeof deciding->all[0]);
    scan = scan_open(d->before, RECORD_INNER, bytes_from_string(KEY_PREFIX),
                     bytes_from_string(KEY_PREFIX));
    result = scan_all(scan, d->arena, deciding);
    scan_close(scan);
    return result ? decision_fail_store(d, result) : OK;
}

enum error stored_accounts_list(struct store *store, struct arena *arena,
                                struct account_record **ret_records, size_t *ret_count)
{
    struct deciding deciding = { .count = 0 };
    enum error e = deciding_run_in(store, NULL, arena, attempt_list, &deciding);

    *ret_records = deciding.all;
    *ret_count = deciding.count;
    return e;
}

bool stored_accounts_load(struct store *store, struct accounts *accounts, size_t *ret_count,
                          const char **ret_problem)
{
    static const char *const problems[] = {
        [ACCOUNT_MALFORMED] = "a stored account has an invalid key",
        [ACCOUNT_TOO_MANY] = "there are too many accounts",
        [ACCOUNT_ELSEWHERE] = "a configured account already exists in the store (lagra account)",
    };
    struct arena *arena = arena_new(ARENA_MAX);
    struct account_record *records;
    enum account_put put = ACCOUNT_PUT;

    if (stored_accounts_list(store, arena, &records, ret_count)) {
        arena_free(arena);
        *ret_problem = "stored accounts cannot be read";
        return false;
    }
    for (size_t i = 0; i < *ret_count && put == ACCOUNT_PUT; i++)
        put = apply_record(accounts, &records[i]);
    arena_free(arena);
    *ret_problem = problems[put];
    return put == ACCOUNT_PUT;
}
