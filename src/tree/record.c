/* Records of a tree; record.h has their form. */
#include "tree/record.h"

#include "base/codec.h"
#include "base/endian.h"
#include "service/small_record.h"

#define RECORD_VERSION 1
#define ENTRY_PREFIX   'e'

static const struct bytes node_key = BYTES("n");
static const struct bytes count_key = BYTES("E");
static const struct bytes moves_key = BYTES("m");

/* ---- partitions ---- */

struct partition tree_partition(struct arena *arena, struct guid space, uint64_t id)
{
    char *key = arena_bytes(arena, sizeof id);

    be64_put(key, id);
    return (struct partition){ space, bytes_of(key, sizeof id) };
}

struct partition tree_stamp_partition(struct guid space)
{
    return (struct partition){ space, BYTES("") };
}

/* What is not there because all is gone is looked for again, from above. */
static enum store_result or_gone(struct snapshot *before, enum store_result result)
{
    return result == STORE_NOT_FOUND && snapshot_is_gone(before) ? STORE_CONFLICT : result;
}

/* ---- entries and nodes ---- */

static void encode_place(struct text *out, enum tree_kind kind, uint64_t id, struct bytes name)
{
    char id_be[sizeof id];

    be64_put(id_be, id);
    encode_u8(out, RECORD_VERSION);
    encode_u8(out, (uint8_t)kind);
    encode_fixed(out, id_be, sizeof id_be);
    encode_bytes(out, name);
}

/* Both have the same fields: the id of the one is what has the name, of the other where it is. */
static bool decode_place(struct arena *arena, enum tree_case rule, struct bytes value,
                         enum tree_kind *ret_kind, uint64_t *ret_id, struct tree_name *ret_name)
{
    char id_be[sizeof *ret_id];
    struct decoder in;
    struct bytes name;
    uint8_t kind;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    kind = decode_u8(&in);
    decode_fixed(&in, id_be, sizeof id_be);
    name = decode_bytes(&in);
    if (!decoder_ok(&in) || (kind != TREE_FILE && kind != TREE_DIRECTORY))
        return false;
    *ret_kind = (enum tree_kind)kind;
    *ret_id = be64_get(id_be);
    return tree_name_parse(arena, rule, name, ret_name) == TREE_PATH_OK;
}

bool tree_entry_decode(struct arena *arena, enum tree_case rule, struct bytes key,
                       struct bytes value, struct tree_entry *ret_entry)
{
    return decode_place(arena, rule, value, &ret_entry->kind, &ret_entry->id, &ret_entry->name) &&
           ret_entry->id != TREE_ROOT && bytes_equal(ret_entry->name.key, key);
}

bool tree_node_decode(struct arena *arena, enum tree_case rule, struct bytes value,
                      struct tree_node *ret_node)
{
    return decode_place(arena, rule, value, &ret_node->kind, &ret_node->parent, &ret_node->name);
}

struct bytes tree_entry_key(struct arena *arena, struct bytes key)
{
    char *room = arena_bytes(arena, 1 + key.len);

    room[0] = ENTRY_PREFIX;
    if (key.len > 0)
        memcpy(room + 1, key.ptr, key.len);
    return bytes_of(room, 1 + key.len);
}

enum store_result tree_entry_read(struct snapshot *before, struct arena *arena, enum tree_case rule,
                                  struct bytes key, struct tree_entry *ret_entry)
{
    struct record record;
    enum store_result result =
        snapshot_get(before, RECORD_INNER, tree_entry_key(arena, key), arena, &record);

    if (result)
        return or_gone(before, result);
    if (!tree_entry_decode(arena, rule, key, record.value, ret_entry))
        return record_is_unknown("an entry of a directory", record.value);
    return STORE_OK;
}

void tree_entry_put(struct changes *changes, const struct tree_entry *entry)
{
    struct arena *arena = changes_arena(changes);
    struct text value;

    text_init(&value, arena, 16 + entry->name.given.len);
    encode_place(&value, entry->kind, entry->id, entry->name.given);
    changes_put(changes, RECORD_INNER, tree_entry_key(arena, entry->name.key), text_bytes(&value),
                NULL, 0);
}

void tree_entry_delete(struct changes *changes, struct bytes key)
{
    changes_delete(changes, RECORD_INNER, tree_entry_key(changes_arena(changes), key));
}

enum store_result tree_node_read(struct snapshot *before, struct arena *arena, enum tree_case rule,
                                 struct tree_node *ret_node)
{
    struct record record;
    enum store_result result = snapshot_get(before, RECORD_LISTED, node_key, arena, &record);

    if (result)
        return or_gone(before, result);
    if (!tree_node_decode(arena, rule, record.value, ret_node))
        return record_is_unknown("the node of a file or directory", record.value);
    return STORE_OK;
}

void tree_node_put(struct changes *changes, const struct tree_node *node)
{
    struct text value;

    text_init(&value, changes_arena(changes), 16 + node->name.given.len);
    encode_place(&value, node->kind, node->parent, node->name.given);
    changes_put(changes, RECORD_LISTED, node_key, text_bytes(&value), NULL, 0);
}

void tree_node_delete(struct changes *changes)
{
    changes_delete(changes, RECORD_LISTED, node_key);
}

/* ---- numbers ---- */

static enum store_result read_number(struct snapshot *before, struct arena *arena, struct bytes key,
                                     const char *what, uint64_t *ret_number)
{
    enum store_result result =
        or_gone(before, small_record_read(before, arena, key, what, ret_number, 1));

    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result tree_count_read(struct snapshot *before, struct arena *arena, uint64_t *ret_count)
{
    return read_number(before, arena, count_key, "the number of a directory's entries", ret_count);
}

void tree_count_put(struct changes *changes, uint64_t count)
{
    if (count == 0)
        changes_delete(changes, RECORD_INNER, count_key);
    else
        small_record_write(changes, changes_arena(changes), count_key, &count, 1);
}

enum store_result tree_moves_read(struct snapshot *before, struct arena *arena, uint64_t *ret_moves)
{
    return read_number(before, arena, moves_key, "how often directories have moved", ret_moves);
}

void tree_moves_put(struct changes *changes, uint64_t moves)
{
    small_record_write(changes, changes_arena(changes), moves_key, &moves, 1);
}
