/* An entity: its keys, the instant of its last change, and its properties in the order in which
 * they were given, or that of a merge. What is limited, how two are merged, and the two forms that are stored: the
 * value of its record, and a key as bytes. Pure functions, any thread.
 * rest: Understanding-the-Table-Service-Data-Model, Inserting-and-Updating-Entities */
#ifndef LAGRA_TABLE_ENTITY_H
#define LAGRA_TABLE_ENTITY_H

#include "base/codec.h"
#include "base/errors.h"
#include "table/edm.h"

/* A name is unique in its entity, with its case; never that of a system property. */
struct property {
    struct bytes name;
    struct edm_value value;
};

struct entity {
    struct bytes partition_key; /* UTF-8, as are all texts */
    struct bytes row_key;
    instant timestamp; /* also its ETag */
    const struct property *properties;
    size_t count;
};

/* Beside PartitionKey, RowKey and Timestamp. */
#define ENTITY_PROPERTIES_MAX 252
#define ENTITY_BYTES_MAX      (1u << 20) /* as entity_size() counts */
#define ENTITY_NAME_UNITS_MAX 255        /* code units of a property's name */
#define ENTITY_KEY_UNITS_MAX  512        /* of a key: 1 KiB. decision: 161 */

/* NULL: it has no such property. System properties are not among them. */
const struct property *entity_find(const struct entity *entity, struct bytes name);
/* Bytes as the service counts them. decision: 160 */
size_t entity_size(const struct entity *entity);
/* Whether an entity may be stored: of one entity of a request, and again of what a merge makes.
 * returns  OK, E_TooManyProperties, E_EntityTooLarge */
enum error entity_check(const struct entity *entity);
/* Returns the properties of both, in ordinal order of their names; of two with one name that of
 * `over`, whatever their types. Keys and timestamp are those of `over`. Points into both.
 * rest: Merge-Entity "Remarks"; decision: 890 */
struct entity entity_merge(struct arena *arena, const struct entity *base,
                           const struct entity *over);

/* ---- the value of a record ----
 *
 *   version 1:  u8 1; timestamp, ticks; count; for each property u8 type, bytes name, value:
 *               String, Binary: bytes; Int32, Int64: zigzag varint; Double: 8 le; Boolean: u8;
 *               DateTime: ticks; Guid: 16 raw
 * The keys are in the record's key. To change it: a new version number, the old reader kept. */
struct bytes entity_encode(struct arena *arena, const struct entity *entity);
/* Keys of the result are empty; the rest points into the value.
 * returns false: the value has an unknown form */
bool entity_decode(struct arena *arena, struct bytes value, struct entity *ret_entity);

/* The same, property by property, for who looks at few of them. */
struct entity_reader {
    struct decoder in;
    instant timestamp;
    uint64_t left; /* properties */
};
/* returns false: unknown form */
bool entity_reader_init(struct entity_reader *reader, struct bytes value);
/* returns false at the end, or where the value is cut (decoder_ok() tells) */
bool entity_reader_next(struct entity_reader *reader, struct property *ret_property);

/* ---- keys ----
 * The service orders keys by UTF-16 code units: characters above U+FFFF come before U+E000..U+FFFF.
 * An encoded key has the length of its UTF-8, and its bytewise order is that order: the two first
 * bytes of U+E000..U+FFFF, EE and EF, are written as F8 and F9, which UTF-8 does not use. Bytes
 * below 20 occur in no key, so they may end one: 00 and 01 sort before all that a key may go on
 * with. */
struct bytes entity_key_encode(struct arena *arena, struct bytes utf8);
struct bytes entity_key_decode(struct arena *arena, struct bytes encoded);
/* Whether a text may be a key: no / \ # ? nor control characters (U+0000..U+001F,
 * U+007F..U+009F), at most ENTITY_KEY_UNITS_MAX. rest:
 * Understanding-the-Table-Service-Data-Model "Characters Disallowed in Key Fields"
 * returns  OK, E_OutOfRangeInput, E_KeyValueTooLarge */
enum error entity_key_check(struct bytes utf8);

#endif
