/* Reads the rows of a space other than records, and the changed rows of a running store: see
 * store/archive.h. */
#include <stdlib.h>

#include "store/embedded/archive_private.h"
#include "store/record_key.h"

/* ---- rows of one kind ---- */

struct rows {
    archive_row_found *found;
    void *context;
    struct guid space;
    struct arena *arena;
    struct arena_mark empty;
    bool is_found;
};

static enum store_result give_row(struct rows *rows, const struct archive_row *row)
{
    bool goes_on = rows->found(rows->context, row);

    rows->is_found = true;
    arena_rewind(rows->arena, rows->empty);
    return goes_on ? STORE_OK : STORE_NOT_FOUND;
}

static bool split_index(struct arena *arena, struct bytes row, struct bytes *ret_key,
                        struct bytes *ret_partition)
{
    struct bytes escaped, partition;

    return key_split(row, &escaped, &partition) && partition.len >= 2 &&
           archive_unescape(arena, escaped, ret_key) &&
           archive_unescape(arena, bytes_of(partition.ptr, partition.len - 2), ret_partition);
}

static enum store_result read_index(void *context, struct bytes key, struct bytes value)
{
    struct rows *rows = context;
    struct archive_row row = { .value = value };

    return split_index(rows->arena, key, &row.key, &row.partition_key) ? give_row(rows, &row)
                                                                       : STORE_CORRUPT;
}

static enum store_result read_counter(void *context, struct bytes key, struct bytes value)
{
    struct archive_row row = { .key = bytes_from(key, KEY_SPACE_SIZE), .value = value };

    return value.len == sizeof(uint64_t) ? give_row(context, &row) : STORE_CORRUPT;
}

static enum store_result read_task(void *context, struct bytes key, struct bytes value)
{
    struct rows *rows = context;
    struct archive_row row;
    struct task_row task;

    if (!deferred_read_row(key, value, &task))
        return STORE_CORRUPT;
    if (!guid_equal(&task.space, &rows->space))
        return STORE_OK;
    row = (struct archive_row){ .due = task.due, .kind = task.kind, .value = task.payload };
    return archive_unescape(rows->arena, task.escaped, &row.partition_key) ? give_row(rows, &row)
                                                                           : STORE_CORRUPT;
}

/* Visits the rows with this prefix. */
static enum store_result each_row(struct archive *archive, struct bytes prefix,
                                  archive_key_value *read, struct rows *rows)
{
    enum store_result result;

    rows->arena = arena_new(RECORD_ARENA_MAX);
    rows->empty = arena_mark(rows->arena);
    result = archive_each(archive, prefix, read, rows);
    arena_free(rows->arena);
    return result;
}

static enum store_result each_of_kind(struct archive *archive, struct guid space, char kind,
                                      archive_key_value *read, archive_row_found *found,
                                      void *context)
{
    struct rows rows = { .found = found, .context = context, .space = space };
    enum store_result result;
    struct key prefix;

    key_init(&prefix);
    key_set_space(&prefix, kind, &space);
    if (kind == KEY_KIND_TASK)
        prefix.len = 1;
    result = each_row(archive, key_bytes(&prefix), read, &rows);
    key_release(&prefix);
    return result;
}

enum store_result archive_index(struct archive *archive, struct guid space,
                                archive_row_found *found, void *context)
{
    return each_of_kind(archive, space, KEY_KIND_INDEX, read_index, found, context);
}

enum store_result archive_counters(struct archive *archive, struct guid space,
                                   archive_row_found *found, void *context)
{
    return each_of_kind(archive, space, KEY_KIND_COUNTER, read_counter, found, context);
}

enum store_result archive_tasks(struct archive *archive, struct guid space,
                                archive_row_found *found, void *context)
{
    return each_of_kind(archive, space, KEY_KIND_TASK, read_task, found, context);
}

/* ---- changes ---- */

bool archive_watch(struct archive *archive, struct guid space)
{
    archive->watches = space_watch_begin(&embedded_of(archive->store)->watch, &space);
    return archive->watches;
}

bool archive_has_many_changes(struct archive *archive)
{
    return archive->watches &&
           space_watch_bytes(&embedded_of(archive->store)->watch) > WATCH_BYTES_MAX / 2;
}

static int compare_changes(const void *a, const void *b)
{
    const struct archive_change *x = a, *y = b;

    return bytes_compare(x->row, y->row);
}

static bool read_change(struct arena *arena, struct bytes row, struct archive_change *ret_change)
{
    struct archive_change change = { .kind = CHANGED_TASK, .row = row };
    struct bytes escaped;
    bool is_read = true;

    if (row.ptr[0] == KEY_KIND_INDEX) {
        change.kind = CHANGED_INDEX;
        is_read = split_index(arena, row, &change.key, &change.partition_key);
    } else if (row.ptr[0] != KEY_KIND_TASK) {
        change.kind = CHANGED_RECORD;
        change.family = row.ptr[0] == KEY_KIND_LISTED ? RECORD_LISTED : RECORD_INNER;
        is_read = key_split(row, &escaped, &change.key) &&
                  archive_unescape(arena, escaped, &change.partition_key);
    }
    *ret_change = change;
    return is_read;
}

enum store_result archive_take_changes(struct archive *archive, struct arena *arena,
                                       struct archive_change **ret_changes, size_t *ret_count)
{
    struct written written = space_watch_take(&embedded_of(archive->store)->watch);
    struct archive_change *changes = arena_array(arena, written.count, sizeof *changes);
    enum store_result result = written.is_all ? STORE_FULL : STORE_OK;
    size_t count = 0;

    for (size_t i = 0; !result && i < written.capacity; i++)
        if (written.places[i].ptr &&
            !read_change(arena, arena_copy(arena, written.places[i]), &changes[count++]))
            result = STORE_CORRUPT;
    written_release(&written);
    if (count > 0)
        qsort(changes, count, sizeof *changes, compare_changes);
    *ret_changes = changes;
    *ret_count = count;
    return result;
}

enum store_result archive_changed_row(struct archive *archive, const struct archive_change *change,
                                      archive_row_found *found, void *context)
{
    struct rows rows = { .found = found,
                         .context = context,
                         .space = embedded_of(archive->store)->watch.space };
    enum store_result result = each_row(
        archive, change->row, change->kind == CHANGED_INDEX ? read_index : read_task, &rows);

    return result || rows.is_found ? result : STORE_NOT_FOUND;
}
