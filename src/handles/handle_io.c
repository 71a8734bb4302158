/* Reads, writes and flushes over SMB. */
#include "handles/handle_io.h"

#include <assert.h>

#include "file/file_content.h"
#include "handles/handle_private.h"
#include "opens/change_notification.h"

/* Finds the file of the handle. */
static enum error find_file(struct decision *d, const struct tree_connect *tree_connect,
                            const struct held_handle *handle, enum handle_use use,
                            struct open_state **ret_opens)
{
    enum error e = handle->kind == TREE_FILE ? OK : E_ResourceTypeMismatch;

    return e ? e : handle_find(d, tree_connect, handle, use, ret_opens);
}

/* ---- reading ---- */

enum error handle_read_attempt(struct decision *d, void *of)
{
    struct handle_read *read = of;
    struct open_state *opens;
    uint64_t left;
    enum error e = find_file(d, read->tree_connect, read->handle, HANDLE_READS, &opens);

    if (e)
        return e;
    read->content = file_state(d)->file.content;
    left = read->offset < read->content.length ? read->content.length - read->offset : 0;
    read->readable = read->length < left ? read->length : left;
    if (!opens)
        return OK;
    return open_state_read_bytes(opens, read->handle->id,
                                 &(struct byte_range){ read->offset, read->length });
}

void handle_reading_begin(struct decision *d, const struct handle_read *read, char *to,
                          struct handle_reading *ret_reading)
{
    *ret_reading = (struct handle_reading){ .d = d, .to = to, .length = (size_t)read->readable };
    if (read->readable == 0)
        return;
    read_view_set_access(d->before, d->access); /* the decision may have run on a blocking thread */
    ret_reading->reader = content_reader_open(d->store, d->before, d->arena, &read->content,
                                              read->offset, read->readable);
    decision_take_snapshot(d); /* now owned by the reader */
}

/* Converts a result of the content reader. Distinguishes waiting for data (a waiter is armed) from
 * a missing part of the map. */
static enum error reading_result(struct handle_reading *reading, enum store_result result)
{
    if (result == STORE_WAIT)
        return content_reader_lacks_map(reading->reader) ? DECIDE_BLOCKING : DECIDE_WAITS;
    return result ? decision_fail_content(reading->d, result) : OK;
}

enum error handle_reading_go_on(struct handle_reading *reading, struct waiter *waiter)
{
    enum store_result result = STORE_OK;

    while (!result && reading->done < reading->length) {
        size_t count = 0;

        result = content_reader_read(reading->reader, reading->to + reading->done,
                                     reading->length - reading->done, waiter, &count);
        assert(result || count > 0);
        reading->done += count;
    }
    return reading_result(reading, result);
}

enum error handle_reading_load(struct handle_reading *reading)
{
    return reading_result(reading, content_reader_load(reading->reader));
}

void handle_reading_end(struct handle_reading *reading)
{
    if (reading->reader)
        content_reader_close(reading->reader);
    reading->reader = NULL;
}

/* ---- pieces of a large write ---- */

void write_staging_begin(struct store *store, struct bytes bytes, struct write_staging *ret_staging)
{
    *ret_staging = (struct write_staging){ .bytes = bytes };
    if (bytes.len > STORE_INLINE_BYTES)
        ret_staging->stage = stage_open(store, bytes.len);
}

enum store_result write_staging_go_on(struct write_staging *staging, struct waiter *waiter,
                                      struct body *ret_body)
{
    enum store_result result = STORE_OK;

    *ret_body = (struct body){ .length = staging->bytes.len };
    if (!staging->stage) {
        ret_body->inline_bytes = staging->bytes;
        return STORE_OK;
    }
    while (!result && staging->taken < staging->bytes.len) {
        size_t count = 0;

        result =
            stage_write(staging->stage, bytes_from(staging->bytes, staging->taken), waiter, &count);
        staging->taken += count;
    }
    if (!result)
        result = stage_finish(staging->stage, waiter);
    if (result)
        return result;
    ret_body->stage = staging->stage;
    ret_body->pieces = stage_pieces(staging->stage, &ret_body->piece_count);
    return STORE_OK;
}

void write_staging_end(struct write_staging *staging)
{
    if (staging->stage)
        stage_close(staging->stage);
    staging->stage = NULL;
}

/* ---- writing ---- */

/* Updates the times that the handle does not freeze, and notifies watchers, after a change of
 * data. */
static enum error end_change(struct decision *d, struct handle_times *times, uint64_t length_before)
{
    struct file_state *state = file_state(d);
    uint32_t changed = CHANGE_LAST_WRITE;

    handle_times_written(d, times, &state->file);
    file_write_modified(d, &state->file);
    if (state->file.content.length != length_before)
        changed |= CHANGE_SIZE;
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, changed);
}

enum error handle_write_attempt(struct decision *d, void *of)
{
    struct handle_write *write = of;
    struct byte_range range = { write->offset, write->body->length };
    struct open_state *opens;
    struct file *file;
    uint64_t length;
    enum error e = find_file(d, write->tree_connect, write->handle, HANDLE_CHANGES, &opens);

    write->times = write->handle->times;
    if (e || range.length == 0)
        return e;
    file = &file_state(d)->file;
    length = file->content.length;
    if (write->at_end)
        range.offset = length;
    if (!byte_range_is_valid(&range))
        return E_InvalidRange;
    e = open_state_write_bytes(opens, write->handle->id, &range);
    if (!e)
        e = file_write_beyond(d, file, range.offset, write->body);
    return e ? e : end_change(d, &write->times, length);
}

enum error handle_zero_attempt(struct decision *d, void *of)
{
    struct handle_zero *zero = of;
    struct open_state *opens;
    struct byte_range range;
    struct file *file;
    uint64_t end;
    enum error e = find_file(d, zero->tree_connect, zero->handle, HANDLE_CHANGES, &opens);

    zero->times = zero->handle->times;
    if (e)
        return e;
    file = &file_state(d)->file;
    end = zero->end < file->content.length ? zero->end : file->content.length;
    if (zero->offset >= end)
        return OK;
    range = (struct byte_range){ zero->offset, end - zero->offset };
    e = open_state_write_bytes(opens, zero->handle->id, &range);
    if (!e)
        e = file_clear_bytes(d, file, range.offset, range.length);
    return e ? e : end_change(d, &zero->times, file->content.length);
}

enum error handle_flush_attempt(struct decision *d, void *of)
{
    struct handle_flush *flush = of;
    struct open_state *opens;

    flush->times = flush->handle->times;
    handle_times_shown(&flush->times);
    return handle_find(d, flush->tree_connect, flush->handle, HANDLE_READS, &opens);
}
