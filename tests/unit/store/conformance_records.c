/* Putting and reading records in the conformance tests. */
#include "conformance.h"

#define READING_MAX (256u << 20)

struct partition partition_of(struct guid space, const char *key)
{
    return (struct partition){ space, bytes_from_string(key) };
}

enum store_result commit_new(struct store *store, struct partition partition,
                             const struct changes *changes, uint64_t *ret_sequence)
{
    enum store_result result;
    uint64_t sequence = 0;

    do {
        struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);

        result = store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                              STORE_MAY_BLOCK, &sequence);
        read_view_close(snapshot);
    } while (result == STORE_CONFLICT);
    if (!result && ret_sequence)
        *ret_sequence = sequence;
    return result;
}

uint64_t put_text(struct store *store, struct partition partition, const char *key,
                  const char *value)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    uint64_t sequence = 0;

    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_from_string(value), NULL, 0);
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    arena_free(arena);
    return sequence;
}

uint64_t delete_key(struct store *store, struct partition partition, const char *key)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    uint64_t sequence = 0;

    changes_delete(changes, RECORD_LISTED, bytes_from_string(key));
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    arena_free(arena);
    return sequence;
}

const char *get_text(struct read_view *snapshot, struct arena *arena, const char *key)
{
    struct record record;
    enum store_result result =
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string(key), arena, &record);

    if (result == STORE_NOT_FOUND)
        return "(none)";
    return result ? store_result_text(result) : arena_string(arena, record.value);
}

const char *get_now(struct store *store, struct partition partition, struct arena *arena,
                    const char *key)
{
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    const char *value = get_text(snapshot, arena, key);

    read_view_close(snapshot);
    return value;
}

const char *scan_text(struct read_view *snapshot, struct arena *arena, struct bytes prefix,
                      struct bytes from)
{
    struct scan *scan = scan_open(snapshot, RECORD_LISTED, prefix, from);
    enum store_result result;
    struct record record;
    struct text text;

    text_init(&text, arena, 1024);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK)
        text_printf(&text, "%s%.*s=%.*s", text.len > 0 ? " " : "", BYTES_ARG(record.key),
                    BYTES_ARG(record.value));
    scan_close(scan);
    if (result != STORE_NOT_FOUND)
        text_add_string(&text, store_result_text(result));
    return arena_string(arena, text_bytes(&text));
}

const char *space_text(struct space_iterator *iterator, struct arena *arena)
{
    enum store_result result;
    struct space_record found;
    struct text text;

    text_init(&text, arena, 1024);
    while ((result = space_iterator_next(iterator, &found)) == STORE_OK)
        text_printf(&text, "%s%.*s/%.*s=%.*s", text.len > 0 ? " " : "",
                    BYTES_ARG(found.partition_key), BYTES_ARG(found.record_key),
                    BYTES_ARG(found.value));
    if (result != STORE_NOT_FOUND)
        text_add_string(&text, store_result_text(result));
    return arena_string(arena, text_bytes(&text));
}
