/* $filter from outside. What is understood can be evaluated, and an entity for which it holds is in
 * one of its ranges, which are in order. */
#include <stdlib.h>

#include "fuzz.h"
#include "table/filter.h"

static const struct property properties[] = {
    { BYTES("A"), { .type = EDM_STRING, .as.bytes = BYTES("x") } },
    { BYTES("B"), { .type = EDM_BOOLEAN, .as.boolean = true } },
    { BYTES("I"), { .type = EDM_INT32, .as.integer = 12 } },
};

static bool is_within(struct bytes key, struct key_interval interval)
{
    return bytes_compare(key, interval.from) >= 0 &&
           (!interval.to.ptr || bytes_compare(key, interval.to) < 0);
}

static void check_order(struct key_ranges ranges)
{
    if (ranges.count > FILTER_RANGES_MAX)
        abort();
    for (size_t i = 1; i < ranges.count; i++) {
        const struct key_range *a = &ranges.ranges[i - 1], *b = &ranges.ranges[i];
        bool same = a->one_partition && b->one_partition &&
                    bytes_equal(a->partitions.from, b->partitions.from);
        struct bytes end = same ? a->rows.to : a->partitions.to;

        if (!end.ptr || bytes_compare(end, same ? b->rows.from : b->partitions.from) > 0)
            abort();
    }
}

static void check_entity(struct arena *arena, const struct filter *filter, struct key_ranges ranges,
                         struct bytes key)
{
    struct entity entity = { .partition_key = key,
                             .row_key = key,
                             .properties = properties,
                             .count = sizeof properties / sizeof properties[0] };
    struct filter_subject subject = { .partition_key = key,
                                      .row_key = key,
                                      .record = entity_encode(arena, &entity) };
    struct bytes encoded = entity_key_encode(arena, key);
    int within = 0;

    for (size_t i = 0; i < ranges.count; i++)
        within += is_within(encoded, ranges.ranges[i].partitions) &&
                  is_within(encoded, ranges.ranges[i].rows);
    if (within > 1 || (within == 0 && filter_holds(filter, &subject)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bytes keys[] = { BYTES(""), BYTES("a"), BYTES("p"), BYTES("\xEE\x80\x80"),
                                         BYTES("\xF0\x9F\x98\x80") };
    struct arena *arena = arena_new(1u << 28);
    struct bytes text = bytes_of(data, size);
    struct filter_subject table = { .table_name = BYTES("table") };
    struct filter filter;
    const char *message;

    if (filter_parse(arena, text, FILTER_ENTITIES, &filter, &message) == OK) {
        struct key_ranges ranges = filter_ranges(arena, &filter);

        if (filter.comparison_count > FILTER_COMPARISONS_MAX ||
            filter.node_count > FILTER_NODES_MAX)
            abort();
        check_order(ranges);
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            check_entity(arena, &filter, ranges, keys[i]);
    }
    if (filter_parse(arena, text, FILTER_TABLES, &filter, &message) == OK)
        filter_holds(&filter, &table);
    arena_free(arena);
    return 0;
}
