/* Generations of sparse content: creates and deletes snapshots, and deletes the newest generation. */
#include <assert.h>

#include "base/endian.h"
#include "content/sparse_write.h"

static struct bytes generation_key(uint64_t id, uint32_t generation,
                                   char buffer[GENERATION_KEY_SIZE])
{
    buffer[0] = 'g';
    be64_put(buffer + 1, id);
    be32_put(buffer + SPARSE_PREFIX, generation);
    return bytes_of(buffer, GENERATION_KEY_SIZE);
}

struct content content_snapshot(struct changes *changes, struct content *content)
{
    static const char version = GENERATION_VERSION;
    char buffer[GENERATION_KEY_SIZE];
    struct content snapshot = *content;

    assert(content->form == CONTENT_SPARSE && content->epoch < CONTENT_EPOCHS_MAX);
    changes_put(changes, RECORD_INNER, generation_key(content->id, content->epoch, buffer),
                bytes_of(&version, 1), NULL, 0);
    changes_put(changes, RECORD_INNER, generation_key(content->id, GENERATION_NEWEST, buffer),
                bytes_of(&version, 1), NULL, 0);
    content->sealed_at = content->stamp;
    content->last_retained = ++content->epoch;
    return snapshot;
}

enum store_result sparse_neighbours(struct read_view *before, uint64_t id, uint32_t generation,
                                    struct neighbours *ret_neighbours)
{
    char buffer[GENERATION_KEY_SIZE];
    struct neighbours found = { .has_older = false };
    enum store_result result;
    struct record record;
    struct scan *scan;

    generation_key(id, 0, buffer);
    scan = scan_open(before, RECORD_INNER, bytes_of(buffer, SPARSE_PREFIX), bytes_of("", 0));
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK && !found.has_newer) {
        uint32_t retained;

        if (record.key.len != GENERATION_KEY_SIZE) {
            result = content_damaged(id, 0, "invalid generation key");
            break;
        }
        retained = be32_get(record.key.ptr + SPARSE_PREFIX);
        if (retained < generation) {
            found.has_older = true;
            found.older = retained;
        } else if (retained > generation) {
            found.has_newer = true;
            found.newer = retained;
        }
    }
    scan_close(scan);
    assert(!found.has_older || found.older < generation);
    assert(!found.has_newer || found.newer > generation);
    *ret_neighbours = found;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result content_snapshot_delete(struct read_view *before, struct changes *changes,
                                          const struct content *snapshot, struct content *newest,
                                          bool *ret_more)
{
    bool is_last = newest && newest->last_retained == snapshot->epoch + 1;
    char buffer[GENERATION_KEY_SIZE];
    struct neighbours around = { .has_older = false };
    enum store_result result =
        is_last ? sparse_neighbours(before, snapshot->id, snapshot->epoch, &around) : STORE_OK;

    if (result)
        return result;
    changes_delete(changes, RECORD_INNER, generation_key(snapshot->id, snapshot->epoch, buffer));
    backlog_add_generation(changes, snapshot->id, snapshot->epoch);
    *ret_more = true;
    if (is_last)
        newest->last_retained = around.has_older ? around.older + 1 : 0;
    return STORE_OK;
}

/* Up to this many pages are deleted at once, without checking whether they exist: cheaper than a
 * task. */
#define DELETED_AT_ONCE 4u

/* Deletes content that never had a snapshot. It has only the records that its fields indicate, and
 * one version of each page and unit. */
static void delete_only_generation(struct changes *changes, const struct content *content,
                                   bool *ret_more)
{
    uint64_t pages = content->without_pages ? 0 : (content->length + PAGE_BYTES - 1) / PAGE_BYTES;
    bool goes_at_once = !content->has_units && !content->has_holes && pages <= DELETED_AT_ONCE;
    char buffer[SPARSE_KEY_SIZE];

    for (uint64_t page = 0; goes_at_once && page < pages; page++)
        changes_delete(changes, RECORD_INNER,
                       sparse_key(content->id, SPARSE_PAGE, page, content->epoch, buffer));
    if (goes_at_once)
        return;
    if (!content->without_pages)
        backlog_add_kind(changes, content->id, SPARSE_PAGE);
    if (content->has_units)
        backlog_add_kind(changes, content->id, SPARSE_UNIT);
    if (content->has_holes)
        backlog_add_kind(changes, content->id, 'h');
    *ret_more = true;
}

void content_newest_delete(struct changes *changes, const struct content *newest, bool *ret_more)
{
    char buffer[GENERATION_KEY_SIZE];

    if (newest->epoch == 0) {
        delete_only_generation(changes, newest, ret_more);
        return;
    }
    changes_delete(changes, RECORD_INNER, generation_key(newest->id, GENERATION_NEWEST, buffer));
    backlog_add_generation(changes, newest->id, GENERATION_NEWEST);
    *ret_more = true;
}
