/* Of tables: entities, and nothing beside them. See census.h. */
#include "census_part.h"

#include "table/tables.h"

static bool read_table(struct bytes value, struct guid *ret_space)
{
    struct table table;
    bool makes_sense = table_decode(value, &table);

    if (makes_sense)
        *ret_space = table.space;
    return makes_sense;
}

static void note_entity(struct store *store, const struct record_place *place,
                        const struct record *record)
{
    (void)store;
    (void)place;
    (void)record;
}

static const char *judge_entity(const struct record_place *place, const struct record *record)
{
    (void)record;
    return place->family == RECORD_LISTED ? NULL : "a table has entities alone";
}

static const char *end_table(struct store *store, const struct guid *space, unsigned index_rows)
{
    (void)store;
    (void)space;
    return index_rows > 0 ? "a table has no index" : NULL;
}

const struct census_part census_table = { .service = "table",
                                          .record_key = "t",
                                          .read = read_table,
                                          .note = note_entity,
                                          .judge = judge_entity,
                                          .end = end_table };
