/* The resource of a Table service request: names, partitions, permissions, and the state of the
 * table or entity; and the record of a table. */
#include "service/names.h"
#include "service/placement.h"
#include "service/small_record.h"
#include "table/entity.h"
#include "table/tables.h"

/* ---- names ---- */

#define TABLE_NAME_MIN 3
#define TABLE_NAME_MAX 63

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

enum error table_check_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!is_letter(c) && !(i > 0 && c >= '0' && c <= '9'))
            return E_InvalidResourceName;
    }
    if (name.len < TABLE_NAME_MIN || name.len > TABLE_NAME_MAX)
        return E_OutOfRangeName;
    return bytes_is_nocase(name, "tables") ? E_InvalidResourceName : OK;
}

static const char metrics[] = "$Metrics";
#define METRICS_LENGTH (sizeof metrics - 1)

/* "$MetricsHourPrimaryTransactionsBlob": a table that the service creates and fills. decision: 262,
 * 511 */
static bool is_of_service(struct bytes name)
{
    return name.len > METRICS_LENGTH &&
           bytes_is_nocase(bytes_of(name.ptr, METRICS_LENGTH), metrics);
}

enum error table_check_any_name(struct bytes name)
{
    return table_check_name(is_of_service(name) ? bytes_from(name, METRICS_LENGTH) : name);
}

enum error table_check_names(const struct resource *resource)
{
    const struct table_resource *named = table_resource(resource);
    enum error e = named->table.ptr ? table_check_any_name(named->table) : OK;

    if (!e && named->partition_key.ptr)
        e = entity_key_check(named->partition_key);
    if (!e && named->row_key.ptr)
        e = entity_key_check(named->row_key);
    return e;
}

void table_signed_names(const struct resource *resource, struct bytes *ret_table,
                        struct bytes *ret_object)
{
    *ret_table = table_resource(resource)->table;
    *ret_object = (struct bytes){ NULL, 0 };
}

/* ---- partitions ---- */

/* Reads the table of a request for an entity, which is in another partition. */
static enum error read_table(struct decision *d, struct partition at, struct table *ret_table)
{
    struct decision_part *owner = decision_open(d, at, NULL);
    enum store_result result = table_read(owner->before, d->arena, ret_table);

    enum error e = OK;

    if (result)
        e = result == STORE_NOT_FOUND ? placement_missing(d, owner->before, E_TableNotFound)
                                      : decision_fail_store(d, result);
    decision_leave_owner(d, owner);
    return e;
}

enum error table_locate(struct decision *d, struct partition *ret_partition)
{
    const struct table_resource *requested = table_requested(d);
    struct partition at = { .space = account_space("table", d->input->account), .key = BYTES("") };
    struct table_state *state = arena_alloc(d->arena, sizeof *state);
    enum error e;

    state->base.resource = d->input->resource;
    d->state = &state->base;
    if (d->level != LEVEL_SERVICE && requested->table.ptr)
        at.key = arena_copy_lower(d->arena, requested->table);
    if (d->level != LEVEL_SERVICE && requested->partition_key.ptr) {
        e = read_table(d, at, &state->table);
        if (e)
            return e;
        at.space = state->table.space;
        at.key = entity_key_encode(d->arena, requested->partition_key);
    }
    *ret_partition = at;
    return OK;
}

/* ---- subjects ---- */

static enum error load_table(struct decision *d, enum error missing)
{
    enum store_result result = table_read(d->before, d->arena, &table_state(d)->table);

    if (result == STORE_NOT_FOUND)
        return placement_missing(d, d->before, missing);
    if (result)
        return decision_fail_store(d, result);
    d->subject = (struct subject){ .exists = true };
    return OK;
}

enum error table_subject(struct decision *d)
{
    return load_table(d, E_TableNotFound);
}

enum error table_subject_named(struct decision *d)
{
    return load_table(d, E_ResourceNotFound);
}

/* Finds the entity. If the table's space was dropped after table_locate() read the table, the
 * entity's state is unknown, so it must be located again. Before the body names the entity, only
 * the table is checked. */
enum error entity_subject_optional(struct decision *d)
{
    const struct table_resource *requested = table_requested(d);
    struct table_state *state = table_state(d);
    struct entity_reader reader;
    struct record record;
    enum store_result result;

    state->stored = (struct bytes){ NULL, 0 };
    d->subject = (struct subject){ .exists = false };
    if (!requested->partition_key.ptr) {
        enum error e = load_table(d, E_TableNotFound);

        d->subject.exists = false;
        return e;
    }
    result = read_view_get(d->before, RECORD_LISTED,
                           entity_key_encode(d->arena, requested->row_key), d->arena, &record);
    if (result == STORE_NOT_FOUND)
        return read_view_is_deleted(d->before) ? DECIDE_AGAIN : OK;
    if (result)
        return decision_fail_store(d, result);
    if (!entity_reader_init(&reader, record.value))
        return decision_fail_store(d, record_is_unknown("an entity's record", record.value));
    state->stored = record.value;
    d->subject = (struct subject){ .exists = true,
                                   .etag = { reader.timestamp },
                                   .modified = reader.timestamp };
    return OK;
}

enum error entity_subject(struct decision *d)
{
    enum error e = entity_subject_optional(d);

    if (e)
        return e;
    return d->subject.exists ? OK : E_ResourceNotFound;
}

/* ---- permissions ---- */

/* Checks the limits of a table SAS, which grants access to one table only, or to its entities
 * between two keys: other entities cannot be written and are invisible to reads. decision: 145 */
static enum error check_limits(const struct decision *d)
{
    const struct table_resource *requested = table_requested(d);
    const struct identity *identity = &d->input->identity;
    struct key_limits limits;
    struct entity_place place;

    if (identity->kind != IDENTITY_SAS || identity->sas->kind != SAS_SERVICE)
        return OK;
    if (!bytes_equal_nocase(requested->table, identity->sas->entities.table))
        return E_AuthorizationFailure;
    if (!requested->partition_key.ptr)
        return OK;
    limits = key_limits_of(d->arena, identity);
    place = (struct entity_place){ entity_key_encode(d->arena, requested->partition_key),
                                   entity_key_encode(d->arena, requested->row_key) };
    if (key_limits_hold(&limits, place))
        return OK;
    return decision_may_change(d) ? E_AuthorizationFailure : E_ResourceNotFound;
}

enum error table_permit_facts(struct decision *d, struct permit_facts *ret_facts)
{
    /* Clients may read and delete its entities. */
    if (decision_may_change(d) && !d->input->by_service &&
        is_of_service(table_requested(d)->table) && decision_action(d) != ACTION_ENTITY_DELETE)
        return E_WriteNotAllowed;
    /* A batch is authorized part by part. */
    if (d->level == LEVEL_BATCH) {
        ret_facts->known = false;
        return OK;
    }
    if (d->level != LEVEL_SERVICE)
        ret_facts->outside = check_limits(d);
    if (decision_rests_on_policy(d) &&
        !policies_decode(table_state(d)->table.policies, &ret_facts->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}

/* The record of a table: LISTED "t" in partition (account space, name in lower case).
 *
 *   version 1:  u8 1; space, 16 raw; bytes name; created, ticks; bytes policies (auth/policies.h)
 * To change it, add a version number and keep the old reader. */

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("t");

bool table_decode(struct bytes value, struct table *ret_table)
{
    struct table table = { .created = 0 };
    struct decoder in;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    decode_fixed(&in, table.space.b, sizeof table.space.b);
    table.name = decode_bytes(&in);
    table.created = decode_u64(&in);
    table.policies = decode_bytes(&in);
    if (!decoder_ok(&in) || !table.name.ptr)
        return false;
    *ret_table = table;
    return true;
}

enum store_result table_read(struct read_view *snapshot, struct arena *arena,
                             struct table *ret_table)
{
    struct record record;
    enum store_result result;

    result = read_view_get(snapshot, RECORD_LISTED, record_key, arena, &record);
    if (result != STORE_OK)
        return result;
    if (!table_decode(record.value, ret_table))
        return record_is_unknown("a table's record", record.value);
    return STORE_OK;
}

void table_write(struct changes *changes, struct arena *arena, const struct table *table)
{
    struct text out;

    text_init(&out, arena, 64 + table->name.len + table->policies.len);
    encode_u8(&out, RECORD_VERSION);
    encode_fixed(&out, table->space.b, sizeof table->space.b);
    encode_bytes(&out, table->name);
    encode_u64(&out, table->created);
    encode_bytes(&out, table->policies);
    changes_put(changes, RECORD_LISTED, record_key, text_bytes(&out), NULL, 0);
}

void table_delete_record(struct changes *changes)
{
    changes_delete(changes, RECORD_LISTED, record_key);
}
