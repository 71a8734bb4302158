/* See list_kept.h. */
#include "blob/list_kept.h"

#include "base/endian.h"
#include "base/log.h"
#include "blob/container_root.h"
#include "blob/kept_path_index.h"
#include "blob/namespace.h"

/* Attempts at a page of a container whose paths are deleted all the time. */
#define ATTEMPTS_MAX 4u

struct kept_paths {
    struct decision *d;
    struct tree tree;
    struct bytes prefix; /* of the keys */
    bool marks_directories;
    struct index_iterator *iterator;
    struct text name;
    char record_key[KEPT_PATH_KEY_SIZE];
    /* of the hidden directory, which changes with each deletion; 0 if it does not exist */
    instant at;
    enum store_result failed; /* STORE_OK: nothing has */
};

/* Finds the state of the hidden directory. */
static enum store_result find_instant(struct kept_paths *paths, instant *ret_at)
{
    struct decision *d = paths->d;
    struct decision_part *part;
    struct tree_place hidden;
    enum store_result result = namespace_find_hidden(d, &paths->tree, &hidden);

    *ret_at = 0;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    part = decision_open(d, tree_partition(d->arena, paths->tree.space, hidden.entry.id), NULL);
    *ret_at = read_view_instant(part->before);
    decision_leave(d, part);
    return STORE_OK;
}

static void open_at(struct kept_paths *paths, struct bytes key)
{
    struct decision *d = paths->d;

    paths->iterator = index_iterator_open(d->store, paths->tree.space, paths->prefix, key,
                                          bytes_of("", 0), d->access);
    decision_saw(d, index_iterator_sequence(paths->iterator));
}

/* Returns the prefix of the keys of all paths that start with these bytes. */
static struct bytes prefix_of(const struct kept_paths *paths, struct bytes name)
{
    struct arena *arena = paths->d->arena;

    return kept_path_prefix(arena,
                            container_tree_path(arena, &blob_state(paths->d)->container, name));
}

/* Returns the index key of a place: before all deletions of its name, before one of them, or after
 * all. */
static struct bytes key_of_place(const struct kept_paths *paths, const struct listing_place *place)
{
    struct arena *arena = paths->d->arena;
    struct bytes name = place->name, record = place->record;
    struct text key;

    if (!record.ptr)
        return prefix_of(paths, name);
    if (paths->marks_directories && name.len > 0 && name.ptr[name.len - 1] == '/')
        name.len--;
    text_init(&key, arena, name.len + GUID_TEXT_SIZE + 2 + KEPT_PATH_KEY_SIZE);
    text_add(&key, prefix_of(paths, name));
    text_add_char(&key,
                  record.ptr[0] > KEPT_PATH_KEY_PREFIX || record.ptr[0] < 0 ? '\x02' : '\x01');
    if (key_is_of_kept_path(record))
        text_add(&key, bytes_from(record, 1));
    return text_bytes(&key);
}

struct kept_paths *kept_paths_open(struct decision *d, const struct list_blobs_parameters *asked,
                                   const struct listing_place *from)
{
    struct kept_paths *paths = arena_alloc(d->arena, sizeof *paths);

    paths->d = d;
    paths->prefix = prefix_of(paths, asked->listing.prefix);
    paths->marks_directories = asked->delimiter.ptr && bytes_is(asked->delimiter, "/");
    text_init(&paths->name, d->arena, 1024);
    tree_open_to_read(&paths->tree, d, blob_state(d)->container.space, TREE_CASE_EXACT);
    paths->failed = find_instant(paths, &paths->at);
    open_at(paths, key_of_place(paths, from));
    return paths;
}

enum store_result kept_paths_next(struct kept_paths *paths, struct space_record *ret_record)
{
    struct index_record record;
    enum store_result result = paths->failed;
    struct blob blob;

    if (!result)
        result = index_iterator_next(paths->iterator, &record);
    if (result)
        return result;
    if (!blob_decode(record.value, &blob) || !blob.deleted_path.ptr) {
        log_line(LOG_ERROR, "an index entry of a deleted path is damaged");
        return STORE_CORRUPT;
    }
    paths->name.len = 0;
    text_add(&paths->name, container_own_path(&blob_state(paths->d)->container, blob.deleted_path));
    if (paths->marks_directories && blob.is_directory)
        text_add_char(&paths->name, '/');
    paths->record_key[0] = KEPT_PATH_KEY_PREFIX;
    be64_put(paths->record_key + 1, ~blob.deletion.at);
    *ret_record =
        (struct space_record){ .partition_key = text_bytes(&paths->name),
                               .record_key = bytes_of(paths->record_key, KEPT_PATH_KEY_SIZE),
                               .value = record.value };
    return STORE_OK;
}

void kept_paths_skip(struct kept_paths *paths, struct bytes group)
{
    struct text key;

    text_init(&key, paths->d->arena, group.len + GUID_TEXT_SIZE + 2);
    text_add(&key, prefix_of(paths, group));
    text_add_char(&key, '\xFF'); /* in no name */
    index_iterator_close(paths->iterator);
    open_at(paths, text_bytes(&key));
}

enum store_result kept_paths_confirm(struct kept_paths *paths)
{
    instant now;
    enum store_result result;

    if (paths->d->attempts >= ATTEMPTS_MAX)
        return STORE_OK;
    result = find_instant(paths, &now);
    return !result && now != paths->at ? STORE_CONFLICT : result;
}

void kept_paths_close(struct kept_paths *paths)
{
    index_iterator_close(paths->iterator);
}
