/* Versions of records, retained for snapshots: see versions.h. */
#include "tree/versions.h"

#include "base/codec.h"
#include "base/endian.h"
#include "service/small_record.h"

#define VERSION_PREFIX 'V'
#define UNTIL_SIZE     8

static const struct bytes mark_key = BYTES("v");

/* ---- records with a generation ---- */

bool version_split(struct bytes value, struct tree_record *ret_record)
{
    struct bytes rest = value;
    uint64_t written;

    if (!varint_take(&rest, &written) || written < 1 || written > TREE_GENERATION_MAX)
        return false;
    *ret_record = (struct tree_record){ .value = rest, .written = written };
    return true;
}

/* ---- keys ---- */

struct bytes version_prefix(struct arena *arena, struct bytes key)
{
    char *room = arena_bytes(arena, 1 + key.len);

    room[0] = VERSION_PREFIX;
    if (key.len > 0)
        memcpy(room + 1, key.ptr, key.len);
    return bytes_of(room, 1 + key.len);
}

struct bytes version_key(struct arena *arena, struct bytes key, uint64_t until)
{
    char *room = arena_bytes(arena, 1 + key.len + UNTIL_SIZE);

    room[0] = VERSION_PREFIX;
    memcpy(room + 1, key.ptr, key.len);
    be64_put(room + 1 + key.len, until);
    return bytes_of(room, 1 + key.len + UNTIL_SIZE);
}

bool version_key_parse(struct bytes version, struct bytes *ret_key, uint64_t *ret_until)
{
    if (version.len < 1 + 1 + UNTIL_SIZE || version.ptr[0] != VERSION_PREFIX)
        return false;
    *ret_key = bytes_of(version.ptr + 1, version.len - 1 - UNTIL_SIZE);
    *ret_until = be64_get(version.ptr + version.len - UNTIL_SIZE);
    return *ret_until >= 1 && *ret_until <= TREE_GENERATION_MAX;
}

struct bytes version_index_key(struct arena *arena, uint64_t until, struct bytes partition,
                               struct bytes key)
{
    struct text out;
    char until_be[UNTIL_SIZE];

    be64_put(until_be, until);
    text_init(&out, arena, UNTIL_SIZE + partition.len + key.len);
    text_add(&out, bytes_of(until_be, UNTIL_SIZE));
    text_add(&out, partition);
    text_add(&out, key);
    return text_bytes(&out);
}

/* ---- reading ---- */

/* Finds the version of a record with the smallest `until` at or above tree->at. Returns
 * STORE_NOT_FOUND if none exists. */
static enum store_result first_version(const struct tree *tree, struct read_view *before,
                                       struct arena *arena, struct bytes key,
                                       struct record *ret_record)
{
    struct bytes from = version_key(arena, key, tree->at), found;
    struct scan *scan = scan_open(before, RECORD_INNER, version_prefix(arena, key), from);
    enum store_result result = scan_next(scan, arena, ret_record);
    uint64_t until;

    scan_close(scan);
    if (result)
        return result;
    if (!version_key_parse(ret_record->key, &found, &until))
        return record_is_unknown("the key of a version", ret_record->key);
    return bytes_equal(found, key) ? STORE_OK : STORE_NOT_FOUND;
}

enum store_result version_read(const struct tree *tree, struct read_view *before,
                               struct arena *arena, struct bytes key, struct bytes *ret_value)
{
    struct record record;
    struct tree_record found;
    enum store_result result = read_view_get(before, RECORD_INNER, key, arena, &record);

    if (result == STORE_NOT_FOUND && read_view_is_deleted(before))
        return STORE_CONFLICT;
    if (!result && !version_split(record.value, &found))
        return record_is_unknown("a record with its generation", record.value);
    *ret_value = record.value;
    if (tree->at == 0 || (!result && found.written <= tree->at) ||
        (result && result != STORE_NOT_FOUND))
        return result;
    result = first_version(tree, before, arena, key, &record);
    if (result)
        return result;
    if (!version_split(record.value, &found))
        return record_is_unknown("a version of a record", record.value);
    *ret_value = record.value;
    return found.written <= tree->at ? STORE_OK : STORE_NOT_FOUND;
}

/* ---- changes ---- */

void version_put(struct changes *changes, struct bytes partition, struct bytes key, uint64_t until,
                 struct bytes value)
{
    struct arena *arena = changes_arena(changes);

    changes_put(changes, RECORD_INNER, version_key(arena, key, until), value, NULL, 0);
    changes_index_put(changes, version_index_key(arena, until, partition, key), bytes_of("", 0));
}

void version_delete(struct changes *changes, struct bytes partition, struct bytes key,
                    uint64_t until)
{
    struct arena *arena = changes_arena(changes);

    changes_delete(changes, RECORD_INNER, version_key(arena, key, until));
    changes_index_delete(changes, version_index_key(arena, until, partition, key));
}

void version_mark_put(struct changes *changes)
{
    static const char version = 1;

    changes_put(changes, RECORD_LISTED, mark_key, bytes_of(&version, 1), NULL, 0);
}

void version_mark_delete(struct changes *changes)
{
    changes_delete(changes, RECORD_LISTED, mark_key);
}

enum store_result version_mark_read(struct read_view *before, struct arena *arena)
{
    struct record record;

    return read_view_get(before, RECORD_LISTED, mark_key, arena, &record);
}
