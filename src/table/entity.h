/* An entity: its keys, the instant of its last change, and its properties in the order given (or of
 * a merge). Limits, merging, and the two stored forms: the value of its record, and a key as bytes.
 * Pure functions. Thread-safe. rest: Understanding-the-Table-Service-Data-Model,
 * Inserting-and-Updating-Entities */
#ifndef LAGRA_TABLE_ENTITY_H
#define LAGRA_TABLE_ENTITY_H

#include "auth/identity.h"
#include "base/arena.h"
#include "base/codec.h"
#include "base/errors.h"
#include "table/edm.h"

/* Names are unique in an entity, case-sensitive, and never those of system properties. */
struct property {
    struct bytes name;
    struct edm_value value;
};

struct entity {
    struct bytes partition_key; /* UTF-8, like all texts */
    struct bytes row_key;
    instant timestamp; /* also its ETag */
    const struct property *properties;
    size_t count;
};

/* In addition to PartitionKey, RowKey and Timestamp. */
#define ENTITY_PROPERTIES_MAX 252
#define ENTITY_BYTES_MAX      (1u << 20) /* as counted by entity_size() */
#define ENTITY_NAME_UNITS_MAX 255        /* UTF-16 code units of a property's name */
#define ENTITY_KEY_UNITS_MAX  512        /* of a key: 1 KiB. decision: 161 */

/* Returns a property, or NULL if the entity does not have it. Does not find system properties. */
const struct property *entity_find(const struct entity *entity, struct bytes name);
/* Returns the size as counted by the service. decision: 160 */
size_t entity_size(const struct entity *entity);
/* Checks the limits of an entity. Called for an entity in a request, and for the result of a merge.
 * Returns OK, E_TooManyProperties, E_EntityTooLarge. */
enum error entity_check(const struct entity *entity);
/* Merges two entities: returns the properties of both in ordinal order of their names, and those of
 * `over` where both have a name, whatever the types. Keys and timestamp are those of `over`. Points
 * into both. rest: Merge-Entity "Remarks"; decision: 890 */
struct entity entity_merge(struct arena *arena, const struct entity *base,
                           const struct entity *over);

/* ---- value of a record ----
 *
 *   version 1:  u8 1; timestamp, ticks; count; for each property u8 type, bytes name, value:
 *               String, Binary: bytes; Int32, Int64: zigzag varint; Double: 8 le; Boolean: u8;
 *               DateTime: ticks; Guid: 16 raw
 * The keys are in the record's key. To change it, add a version number and keep the old reader. */
struct bytes entity_encode(struct arena *arena, const struct entity *entity);
/* Decodes a value; the result has empty keys and points into the value. Returns false if the format
 * is unrecognized. */
bool entity_decode(struct arena *arena, struct bytes value, struct entity *ret_entity);

/* Decodes property by property, for callers that need only a few. */
struct entity_reader {
    struct decoder in;
    instant timestamp;
    uint64_t left; /* properties left */
};
/* Returns false if the format is unrecognized. */
bool entity_reader_init(struct entity_reader *reader, struct bytes value);
/* Returns false at the end, or if the value is truncated (see decoder_ok()). */
bool entity_reader_next(struct entity_reader *reader, struct property *ret_property);

/* ---- keys ----
 * The service orders keys by UTF-16 code units: characters above U+FFFF come before U+E000..U+FFFF.
 * An encoded key has the length of its UTF-8, and that order as its bytewise order: the first bytes
 * of U+E000..U+FFFF, EE and EF, are written as F8 and F9, which UTF-8 does not use. Bytes below
 * 0x20 do not occur in keys, so they can terminate one: 00 and 01 sort before any continuation of a
 * key. */
struct bytes entity_key_encode(struct arena *arena, struct bytes utf8);
struct bytes entity_key_decode(struct arena *arena, struct bytes encoded);
/* Checks whether a text may be a key: no / \ # ? or control characters (U+0000..U+001F,
 * U+007F..U+009F), at most ENTITY_KEY_UNITS_MAX. Returns OK, E_OutOfRangeInput, E_KeyValueTooLarge.
 * rest: Understanding-the-Table-Service-Data-Model "Characters Disallowed in Key Fields" */
enum error entity_key_check(struct bytes utf8);

/* The entities that the caller may see and write: all, or a range of keys allowed by its SAS. rest:
 * Create-service-SAS "Restrict access to table entities"; decision: 145. Pure. */

/* A position among the entities of a table, with keys as stored (entity_key_encode()). */
struct entity_place {
    struct bytes partition, row;
};
/* Compares like strcmp(). */
int entity_place_compare(struct entity_place a, struct entity_place b);

struct key_limits {
    struct entity_place first; /* first permitted position */
    /* last permitted position; row.ptr NULL means all rows of the partition. partition.ptr NULL:
     * unlimited */
    struct entity_place last;
};
struct key_limits key_limits_of(struct arena *arena, const struct identity *identity);
bool key_limits_hold(const struct key_limits *limits, struct entity_place place);
/* Returns true if the position is after the last permitted one. */
bool key_limits_end_before(const struct key_limits *limits, struct entity_place place);

#endif
