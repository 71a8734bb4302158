/* The record of a table: LISTED "t" in partition (account space, name in lower case).
 *
 *   version 1:  u8 1; space, 16 raw; bytes name; created, ticks; bytes policies (auth/policies.h)
 * To change it, add a version number and keep the old reader. */
#include "service/small_record.h"
#include "table/tables.h"

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
