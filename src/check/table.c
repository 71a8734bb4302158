/* Checks records of tables: see records.h. */
#include "check/records.h"

#include "table/tables.h"

bool check_table(struct bytes value, struct guid *ret_space)
{
    struct table table;
    bool is_valid = table_decode(value, &table);

    if (is_valid)
        *ret_space = table.space;
    return is_valid;
}

const char *check_entity(struct store *store, struct arena *arena, const struct record_place *place,
                         const struct record *record, bool *ret_counts)
{
    struct entity entity;

    (void)store;
    *ret_counts = place->family == RECORD_LISTED;
    if (!*ret_counts || entity_decode(arena, record->value, &entity))
        return NULL;
    return arena_string(arena, arena_printf(arena, "the entity with RowKey %.*s is corrupt",
                                            BYTES_ARG(entity_key_decode(arena, record->key))));
}
