#include "file/file_content.h"

#include "file/share_usage.h"

/* Retains the file for the share snapshots that contain it. */
static void keep(struct decision *d, struct file *file)
{
    file_keep(d, file_state(d)->part, file);
}

/* Checks that the range is within the file, and that no copy to it is pending. decision: 304 */
static enum error check_range(struct decision *d, const struct file *file, uint64_t offset,
                              uint64_t length)
{
    uint64_t size = file->content.length;

    if (file->copy.status == COPY_PENDING)
        return E_PendingCopyOperation;
    if (offset <= size && length <= size - offset)
        return OK;
    d->problem->length = size;
    return E_InvalidRange;
}

static enum error write_bytes(struct decision *d, struct file *file, uint64_t offset,
                              const struct body *body)
{
    enum store_result result;

    file->copy = (struct copy_state){ .status = COPY_NONE };
    keep(d, file);
    result = content_write(d->before, d->changes, d->arena, &file->content, d->now, offset, body);
    return result ? decision_fail_content(d, result) : OK;
}

enum error file_write_bytes(struct decision *d, struct file *file, uint64_t offset,
                            const struct body *body)
{
    enum error e = check_range(d, file, offset, body->length);

    return e ? e : write_bytes(d, file, offset, body);
}

static enum error count_length(struct decision *d, const struct file *file, uint64_t length)
{
    const struct file_state *state = file_state(d);
    struct length_change change = { .file = state->place.entry.id,
                                    .was = file->content.length,
                                    .is = length };

    return share_usage_change(d, &state->share, &change, 1);
}

enum error file_write_beyond(struct decision *d, struct file *file, uint64_t offset,
                             const struct body *body)
{
    enum error e = OK;

    if (file->copy.status == COPY_PENDING)
        return E_PendingCopyOperation;
    if (body->length > FILE_LENGTH_MAX || offset > FILE_LENGTH_MAX - body->length)
        return E_InvalidRange;
    if (offset + body->length > file->content.length)
        e = count_length(d, file, offset + body->length);
    return e ? e : write_bytes(d, file, offset, body);
}

enum error file_clear_bytes(struct decision *d, struct file *file, uint64_t offset, uint64_t length)
{
    enum error e = check_range(d, file, offset, length);
    enum store_result result;

    if (e)
        return e;
    file->copy = (struct copy_state){ .status = COPY_NONE };
    keep(d, file);
    result = content_zero(d->before, d->changes, d->arena, &file->content, d->now, offset, length,
                          FILE_UNIT_BYTES, &d->leaves_more);
    return result ? decision_fail_content(d, result) : OK;
}

enum error file_resize(struct decision *d, struct file *file, uint64_t length)
{
    enum store_result result;
    enum error e;

    if (file->copy.status == COPY_PENDING)
        return E_PendingCopyOperation;
    e = count_length(d, file, length);
    if (e)
        return e;
    file->copy = (struct copy_state){ .status = COPY_NONE };
    keep(d, file);
    result = content_resize(d->before, d->changes, d->arena, &file->content, d->now, length,
                            &d->leaves_more);
    return result ? decision_fail_content(d, result) : OK;
}
