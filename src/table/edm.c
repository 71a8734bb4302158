/* Property values: see edm.h. */
#include "table/edm.h"

#include <assert.h>

/* size: 0 for types of variable size. */
static const struct {
    const char *name;
    size_t size;
} types[EDM_TYPES] = {
    [EDM_STRING] = { "Edm.String", 0 },   [EDM_INT32] = { "Edm.Int32", 4 },
    [EDM_INT64] = { "Edm.Int64", 8 },     [EDM_DOUBLE] = { "Edm.Double", 8 },
    [EDM_BOOLEAN] = { "Edm.Boolean", 1 }, [EDM_DATETIME] = { "Edm.DateTime", 8 },
    [EDM_GUID] = { "Edm.Guid", 16 },      [EDM_BINARY] = { "Edm.Binary", 0 },
};

const char *edm_type_name(enum edm_type type)
{
    assert(type < EDM_TYPES);
    return types[type].name;
}

bool edm_type_parse(struct bytes name, enum edm_type *ret_type)
{
    for (unsigned i = 0; i < EDM_TYPES; i++)
        if (bytes_is(name, types[i].name)) {
            *ret_type = (enum edm_type)i;
            return true;
        }
    return false;
}

int edm_compare_text(struct bytes a, struct bytes b)
{
    size_t common = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < common; i++) {
        uint8_t x = (uint8_t)a.ptr[i], y = (uint8_t)b.ptr[i];

        if (x == y)
            continue;
        /* U+E000..U+FFFF (EE and EF) sort after surrogate pairs (F0 to F4). */
        if ((x == 0xEE || x == 0xEF) != (y == 0xEE || y == 0xEF) && x >= 0xEE && y >= 0xEE)
            return x < 0xF0 ? 1 : -1;
        return x < y ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

/* The size of a String or Binary includes its length. */
#define LENGTH_SIZE 4

size_t edm_text_size(size_t units)
{
    return 2 * units + LENGTH_SIZE;
}

size_t edm_value_size(const struct edm_value *value)
{
    assert(value->type < EDM_TYPES);
    if (value->type == EDM_STRING)
        return edm_text_size(bytes_utf16_units(value->as.bytes));
    if (value->type == EDM_BINARY)
        return value->as.bytes.len + LENGTH_SIZE;
    return types[value->type].size;
}

size_t edm_datetime_format(instant t, char buffer[EDM_DATETIME_SIZE])
{
    size_t end = sizeof "2017-01-05T03:26:33" - 1;

    instant_format_iso(t, buffer);
    if (t % TICKS_PER_SECOND != 0) {
        end = INSTANT_ISO_SIZE - sizeof "Z";
        while (buffer[end - 1] == '0')
            end--;
    }
    memcpy(buffer + end, "Z", sizeof "Z");
    return end + 1;
}
