/* Reads the content of blobs; see records.h. */
#include "check/records.h"

#include "content/content.h"
#include "check/report.h"

/* Number of ranges of sparse data to list at a time. */
#define RANGES_MAX 100

/* Reads a range, then closes the snapshot. */
static enum store_result read_range(struct store *store, char *buffer, struct read_view *snapshot,
                                    struct arena *arena, const struct content *content,
                                    uint64_t start, uint64_t end)
{
    struct content_reader *reader =
        content_reader_open(store, snapshot, arena, content, start, end - start);
    enum store_result result = STORE_OK;
    size_t count = 1;

    content_reader_skip_decryption(reader);
    while (!result && count > 0) {
        result = content_reader_read(reader, buffer, CHECK_READ_BYTES, NULL, &count);
        if (!result)
            check_report_bytes(count);
    }
    content_reader_close(reader);
    return result;
}

/* Reads sparse data without its holes, which may span 8 TiB. */
static enum store_result read_sparse(struct store *store, char *buffer, struct partition partition,
                                     struct arena *arena, const struct content *content)
{
    struct content_ranges ranges = { .next = 0 };
    enum store_result result = STORE_OK;

    while (!result && ranges.next != UINT64_MAX) {
        struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
        struct arena_mark empty = arena_mark(arena);

        result = content_ranges(snapshot, arena, content, ranges.next, content->length, RANGES_MAX,
                                &ranges);
        read_view_close(snapshot);
        for (size_t i = 0; !result && i < ranges.count; i++)
            result = read_range(store, buffer, read_view_open(store, partition, STORE_MAY_BLOCK),
                                arena, content, ranges.ranges[i].start, ranges.ranges[i].end);
        arena_rewind(arena, empty);
    }
    return result;
}

enum store_result check_content(struct store *store, const struct record_place *place,
                                const struct content *content, char *buffer)
{
    struct partition partition = { place->space, place->partition_key };
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    enum store_result result;

    if (content->form == CONTENT_SPARSE)
        result = read_sparse(store, buffer, partition, arena, content);
    else
        result = read_range(store, buffer, read_view_open(store, partition, STORE_MAY_BLOCK), arena,
                            content, 0, content->length);
    arena_free(arena);
    return result;
}
