/* Encodes and decodes entities as record values; the format is in entity.h. */
#include "base/endian.h"
#include "table/entity.h"

#include <assert.h>

#define RECORD_VERSION 1

/* Maps small numbers of either sign to small ones: 0, -1, 1, -2, .. to 0, 1, 2, 3, .. */
static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

static void encode_value(struct text *out, const struct edm_value *value)
{
    uint64_t bits;
    char raw[sizeof bits];

    switch (value->type) {
    case EDM_STRING:
    case EDM_BINARY:
        encode_bytes(out, value->as.bytes);
        return;
    case EDM_INT32:
    case EDM_INT64:
        encode_u64(out, zigzag(value->as.integer));
        return;
    case EDM_DOUBLE:
        memcpy(&bits, &value->as.real, sizeof bits);
        le64_put(raw, bits);
        encode_fixed(out, raw, sizeof raw);
        return;
    case EDM_BOOLEAN:
        encode_u8(out, value->as.boolean);
        return;
    case EDM_DATETIME:
        encode_u64(out, value->as.time);
        return;
    case EDM_GUID:
        encode_fixed(out, value->as.guid.b, sizeof value->as.guid.b);
        return;
    case EDM_TYPES:
        break;
    }
    assert(false); /* unknown type */
}

/* Returns an upper bound for the size of the value: types, varints, and variable-size data. */
static size_t value_capacity(const struct entity *entity)
{
    size_t capacity = 1 + 2 * VARINT_BYTES_MAX;

    for (size_t i = 0; i < entity->count; i++) {
        const struct property *p = &entity->properties[i];

        capacity += 1 + 2 * VARINT_BYTES_MAX + p->name.len + sizeof p->value.as;
        if (p->value.type == EDM_STRING || p->value.type == EDM_BINARY)
            capacity += p->value.as.bytes.len;
    }
    return capacity;
}

struct bytes entity_encode(struct arena *arena, const struct entity *entity)
{
    struct text out;

    assert(entity->count <= ENTITY_PROPERTIES_MAX);
    text_init(&out, arena, value_capacity(entity));
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, entity->timestamp);
    encode_u64(&out, entity->count);
    for (size_t i = 0; i < entity->count; i++) {
        encode_u8(&out, (uint8_t)entity->properties[i].value.type);
        encode_bytes(&out, entity->properties[i].name);
        encode_value(&out, &entity->properties[i].value);
    }
    return text_bytes(&out);
}

static struct edm_value decode_value(struct decoder *in, uint8_t type)
{
    struct edm_value value = { .type = (enum edm_type)type };
    char raw[8];
    uint64_t bits;

    switch (value.type) {
    case EDM_STRING:
    case EDM_BINARY:
        value.as.bytes = decode_bytes(in);
        return value;
    case EDM_INT32:
    case EDM_INT64:
        value.as.integer = unzigzag(decode_u64(in));
        return value;
    case EDM_DOUBLE:
        decode_fixed(in, raw, sizeof raw);
        bits = le64_get(raw);
        memcpy(&value.as.real, &bits, sizeof bits);
        return value;
    case EDM_BOOLEAN:
        value.as.boolean = decode_u8(in) != 0;
        return value;
    case EDM_DATETIME:
        value.as.time = decode_u64(in);
        return value;
    case EDM_GUID:
        decode_fixed(in, value.as.guid.b, sizeof value.as.guid.b);
        return value;
    case EDM_TYPES:
        break;
    }
    in->bad = true;
    return (struct edm_value){ .type = EDM_STRING };
}

bool entity_reader_init(struct entity_reader *reader, struct bytes value)
{
    struct entity_reader r = { .left = 0 };

    decoder_init(&r.in, value);
    if (decode_u8(&r.in) != RECORD_VERSION)
        return false;
    r.timestamp = decode_u64(&r.in);
    r.left = decode_u64(&r.in);
    if (r.in.bad || r.left > ENTITY_PROPERTIES_MAX)
        return false;
    *reader = r;
    return true;
}

bool entity_reader_next(struct entity_reader *reader, struct property *ret_property)
{
    struct property p;
    uint8_t type;

    if (reader->left == 0 || reader->in.bad)
        return false;
    reader->left--;
    type = decode_u8(&reader->in);
    p.name = decode_bytes(&reader->in);
    p.value = decode_value(&reader->in, type);
    if (reader->in.bad)
        return false;
    *ret_property = p;
    return true;
}

bool entity_decode(struct arena *arena, struct bytes value, struct entity *ret_entity)
{
    struct entity_reader reader;
    struct entity e = { .count = 0 };
    struct property *to;

    if (!entity_reader_init(&reader, value))
        return false;
    e.timestamp = reader.timestamp;
    e.properties = to = arena_array(arena, (size_t)reader.left, sizeof *to);
    while (entity_reader_next(&reader, &to[e.count]))
        e.count++;
    if (reader.left > 0 || !decoder_ok(&reader.in))
        return false;
    *ret_entity = e;
    return true;
}
