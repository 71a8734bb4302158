/* Records of a tree; see record.h for their format. */
#include "tree/record.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "service/small_record.h"

#define RECORD_VERSION 1

static const struct bytes node_key = BYTES(TREE_NODE_KEY);
static const struct bytes count_key = BYTES(TREE_COUNT_KEY);
static const struct bytes state_key = BYTES("m");
static const struct bytes retained_key = BYTES("k");

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

struct partition tree_task_partition(struct guid space)
{
    return (struct partition){ space, BYTES("c") };
}

/* Returns `result`, but STORE_CONFLICT for a record that is missing because the entire space was
 * dropped; the path must then be looked up again. */
static enum store_result or_gone(struct read_view *before, enum store_result result)
{
    return result == STORE_NOT_FOUND && read_view_is_deleted(before) ? STORE_CONFLICT : result;
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

/* Decodes the fields common to entries and node records. In an entry, the id is the node's; in a
 * node record, it is the parent's. known: the expected name if already parsed, or NULL. */
static bool decode_place(struct arena *arena, enum tree_case rule, const struct tree_name *known,
                         struct decoder *in, enum tree_kind *ret_kind, uint64_t *ret_id,
                         struct tree_name *ret_name)
{
    char id_be[sizeof *ret_id];
    struct bytes name;
    uint8_t kind;

    if (decode_u8(in) != RECORD_VERSION)
        return false;
    kind = decode_u8(in);
    decode_fixed(in, id_be, sizeof id_be);
    name = decode_bytes(in);
    if (!decoder_ok(in) || (kind != TREE_FILE && kind != TREE_DIRECTORY))
        return false;
    *ret_kind = (enum tree_kind)kind;
    *ret_id = be64_get(id_be);
    if (known && bytes_equal(name, known->given)) {
        *ret_name = *known;
        return true;
    }
    return tree_name_parse(arena, rule, name, ret_name) == TREE_PATH_OK;
}

static bool is_generation(uint64_t number)
{
    return number >= 1 && number <= TREE_GENERATION_MAX;
}

static bool decode_entry(struct arena *arena, enum tree_case rule, struct bytes key,
                         const struct tree_name *known, struct bytes value,
                         struct tree_entry *ret_entry)
{
    struct decoder in;

    decoder_init(&in, value);
    ret_entry->written = decode_u64(&in);
    return decode_place(arena, rule, known, &in, &ret_entry->kind, &ret_entry->id,
                        &ret_entry->name) &&
           is_generation(ret_entry->written) && ret_entry->id != TREE_ROOT &&
           bytes_equal(ret_entry->name.key, key);
}

bool tree_entry_decode(struct arena *arena, enum tree_case rule, struct bytes key,
                       struct bytes value, struct tree_entry *ret_entry)
{
    return decode_entry(arena, rule, key, NULL, value, ret_entry);
}

bool tree_node_decode(struct arena *arena, enum tree_case rule, struct bytes value,
                      struct tree_node *ret_node)
{
    struct decoder in;

    decoder_init(&in, value);
    return decode_place(arena, rule, NULL, &in, &ret_node->kind, &ret_node->parent,
                        &ret_node->name);
}

struct bytes tree_entry_key(struct arena *arena, struct bytes key)
{
    char *room = arena_bytes(arena, 1 + key.len);

    room[0] = TREE_ENTRY_PREFIX;
    if (key.len > 0)
        memcpy(room + 1, key.ptr, key.len);
    return bytes_of(room, 1 + key.len);
}

enum store_result tree_entry_read(struct read_view *before, struct arena *arena,
                                  enum tree_case rule, const struct tree_name *name,
                                  struct tree_entry *ret_entry)
{
    struct record record;
    enum store_result result =
        read_view_get(before, RECORD_INNER, tree_entry_key(arena, name->key), arena, &record);

    if (result)
        return or_gone(before, result);
    if (!decode_entry(arena, rule, name->key, name, record.value, ret_entry))
        return record_is_unknown("an entry of a directory", record.value);
    return STORE_OK;
}

struct bytes tree_entry_encode(struct arena *arena, const struct tree_entry *entry)
{
    struct text value;

    assert(is_generation(entry->written));
    text_init(&value, arena, 24 + entry->name.given.len);
    encode_u64(&value, entry->written);
    encode_place(&value, entry->kind, entry->id, entry->name.given);
    return text_bytes(&value);
}

void tree_entry_put(struct changes *changes, const struct tree_entry *entry)
{
    struct arena *arena = changes_arena(changes);

    changes_put(changes, RECORD_INNER, tree_entry_key(arena, entry->name.key),
                tree_entry_encode(arena, entry), NULL, 0);
}

void tree_entry_delete(struct changes *changes, struct bytes key)
{
    changes_delete(changes, RECORD_INNER, tree_entry_key(changes_arena(changes), key));
}

enum store_result tree_node_read(struct read_view *before, struct arena *arena, enum tree_case rule,
                                 struct tree_node *ret_node)
{
    struct record record;
    enum store_result result = read_view_get(before, RECORD_LISTED, node_key, arena, &record);

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

/* ---- counts and state ---- */

enum store_result tree_count_read(struct read_view *before, struct arena *arena,
                                  uint64_t *ret_count)
{
    enum store_result result =
        or_gone(before, small_record_read(before, arena, count_key,
                                          "the number of a directory's entries", ret_count, 1));

    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

struct bytes tree_count_encode(struct arena *arena, uint64_t count)
{
    struct text out;

    text_init(&out, arena, 16);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, count);
    return text_bytes(&out);
}

void tree_count_put(struct changes *changes, uint64_t count)
{
    if (count == 0)
        changes_delete(changes, RECORD_INNER, count_key);
    else
        small_record_write(changes, changes_arena(changes), count_key, &count, 1);
}

enum store_result tree_state_read(struct read_view *before, struct arena *arena,
                                  struct tree_state *ret_state)
{
    uint64_t numbers[5];
    enum store_result result = or_gone(
        before, small_record_read(before, arena, state_key, "the state of a tree", numbers, 5));

    *ret_state = (struct tree_state){ .generation = 1 };
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    *ret_state =
        (struct tree_state){ numbers[0], numbers[1], numbers[2], numbers[3] == 1, numbers[4] };
    if (!is_generation(ret_state->generation) ||
        ret_state->last_retained >= ret_state->generation || numbers[3] > 1)
        return record_is_unknown("the state of a tree", bytes_of(NULL, 0));
    return STORE_OK;
}

void tree_state_put(struct changes *changes, const struct tree_state *state)
{
    const uint64_t numbers[] = { state->moves, state->generation, state->last_retained,
                                 state->closed, state->reopened };

    assert(is_generation(state->generation) && state->last_retained < state->generation);
    small_record_write(changes, changes_arena(changes), state_key, numbers, 5);
}

/* ---- retained generations ---- */

static bool decode_retained(struct arena *arena, struct bytes value,
                            struct retained_generations *retained)
{
    struct decoder in;
    uint64_t count, before = 0;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    count = decode_u64(&in);
    if (count > value.len)
        return false;
    retained->generations = arena_array(arena, count + 1, sizeof retained->generations[0]);
    for (; retained->count < count; retained->count++) {
        uint64_t generation = decode_u64(&in);

        if (generation <= before || !is_generation(generation))
            return false;
        retained->generations[retained->count] = before = generation;
    }
    return decoder_ok(&in);
}

enum store_result retained_generations_read(struct read_view *before, struct arena *arena,
                                            struct retained_generations *ret_retained)
{
    struct record record;
    enum store_result result =
        or_gone(before, read_view_get(before, RECORD_INNER, retained_key, arena, &record));

    *ret_retained = (struct retained_generations){ .count = 0 };
    if (!result && !decode_retained(arena, record.value, ret_retained))
        return record_is_unknown("the retained generations of a tree", record.value);
    if (result == STORE_NOT_FOUND)
        ret_retained->generations = arena_array(arena, 1, sizeof ret_retained->generations[0]);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

void retained_generations_put(struct changes *changes, const struct retained_generations *retained)
{
    struct text value;

    if (retained->count == 0) {
        changes_delete(changes, RECORD_INNER, retained_key);
        return;
    }
    text_init(&value, changes_arena(changes), 16 + 8 * retained->count);
    encode_u8(&value, RECORD_VERSION);
    encode_u64(&value, retained->count);
    for (size_t i = 0; i < retained->count; i++)
        encode_u64(&value, retained->generations[i]);
    changes_put(changes, RECORD_INNER, retained_key, text_bytes(&value), NULL, 0);
}
