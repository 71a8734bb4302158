/* Of hierarchical containers, at the end of a run before retention ends: the index of deleted paths has exactly one entry
 * for each record of a deleted path, with its path, its time and its value. See census.h. */
#include <inttypes.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "blob/blob.h"
#include "census_part.h"
#include "engine.h"
#include "scheduler.h"
#include "store/embedded/cursor.h"
#include "store/record_key.h"
#include "store/record_value.h"
#include "world.h"

#define SECOND_NS  UINT64_C(1000000000)
#define KEPT_MAX   1024u
#define KEY_MAX    256u
#define ARENA_MAX  (1u << 20)
/* Tasks may change records in the meantime. */
#define TRIES_MAX  200u
#define KEY_PREFIX 'p'

/* A record of a deleted path, and whether an entry was found. */
static struct kept_record {
    char key[KEY_MAX];
    size_t key_size;
    uint64_t node;
    uint32_t hash; /* of the value */
    bool is_indexed;
} records[KEPT_MAX];
static unsigned record_count;
static const char *problem;

/* Builds the key that the entry must have. */
static void set_key(struct kept_record *record, const struct blob *blob)
{
    char *at = record->key;

    if (blob->deleted_path.len + 10 > KEY_MAX)
        world_fail("census: a deleted path is too long");
    *at++ = KEY_PREFIX;
    for (size_t i = 0; i < blob->deleted_path.len; i++)
        *at++ = blob->deleted_path.ptr[i] == '/' ? '\x02' : blob->deleted_path.ptr[i];
    *at++ = '\x01';
    be64_put(at, ~blob->deletion.at);
    record->key_size = (size_t)(at + 8 - record->key);
}

static bool read_node(struct bytes escaped, uint64_t *ret_node)
{
    char key[KEY_MAX];
    size_t size;

    if (escaped.len > sizeof key || !key_unescape(escaped, key, &size) || size != sizeof *ret_node)
        return false;
    *ret_node = be64_get(key);
    return true;
}

static void note_record(const struct cursor *cursor, void *context)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct bytes escaped, record_key;
    struct kept_record *record = &records[record_count];
    struct record read;
    struct blob blob;

    (void)context;
    if (record_count < KEPT_MAX && key_split(cursor->key, &escaped, &record_key) &&
        record_key.len == 1 && (unsigned char)record_key.ptr[0] == 0xFF &&
        read_node(escaped, &record->node) && !record_value_read(cursor->value, arena, &read) &&
        blob_decode(read.value, &blob) && blob.deletion.at > 0 && blob.deleted_path.ptr) {
        record->hash = crc32c(0, read.value.ptr, read.value.len);
        record->is_indexed = false;
        set_key(record, &blob);
        record_count++;
    }
    arena_free(arena);
}

static void check_entry(const struct cursor *cursor, void *context)
{
    struct bytes escaped, partition;
    char key[2 * KEY_MAX];
    uint64_t node;
    size_t size;

    (void)context;
    if (cursor->key.len > KEY_SPACE_SIZE && cursor->key.ptr[KEY_SPACE_SIZE] != KEY_PREFIX)
        return; /* of a tag */
    if (!key_split(cursor->key, &escaped, &partition) || escaped.len > sizeof key ||
        !key_unescape(escaped, key, &size) || partition.len < 2 ||
        !read_node(bytes_of(partition.ptr, partition.len - 2), &node)) { /* its terminator */
        problem = "an entry of the index of deleted paths makes no sense";
        return;
    }
    for (unsigned i = 0; i < record_count; i++) {
        struct kept_record *record = &records[i];

        if (record->node != node || record->key_size != size || memcmp(record->key, key, size) != 0)
            continue;
        if (record->is_indexed)
            problem = "a second entry of a deleted path";
        if (record->hash != crc32c(0, cursor->value.ptr, cursor->value.len))
            problem = "an entry that differs from the record of its deleted path";
        record->is_indexed = true;
        return;
    }
    problem = "an entry of a path that is not deleted";
}

static void look(struct store *store)
{
    record_count = 0;
    problem = NULL;
    census_rows(store, KEY_KIND_LISTED, note_record, NULL);
    census_rows(store, KEY_KIND_INDEX, check_entry, NULL);
    for (unsigned i = 0; i < record_count && !problem; i++)
        if (!records[i].is_indexed)
            problem = "a deleted path without its entry in the index";
}

void census_kept_paths(struct store *store)
{
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        uint64_t before = engine_sequence();

        look(store);
        if (before == engine_sequence()) {
            if (problem)
                world_fail("census: %s", problem);
            return;
        }
        sched_sleep(SECOND_NS / 20);
    }
    world_fail("census: the store is never quiet");
}
