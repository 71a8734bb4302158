/* See file_content.h. */
#include "file/file_content.h"

#include "file/share_usage.h"

/* Keeps the file for the snapshots that see it. */
static void keep(struct decision *d, struct file *file)
{
    file_keep(d, file_state(d)->part, file);
}

static enum error check_range(struct decision *d, const struct file *file, uint64_t offset,
                              uint64_t length)
{
    uint64_t size = file->content.length;

    if (offset <= size && length <= size - offset)
        return OK;
    d->problem->length = size;
    return E_InvalidRange;
}

enum error file_write_bytes(struct decision *d, struct file *file, uint64_t offset,
                            const struct body *body)
{
    enum error e = check_range(d, file, offset, body->length);
    enum store_result result;

    if (e)
        return e;
    file->copy = (struct copy_state){ .status = COPY_NONE };
    keep(d, file);
    result = content_write(d->before, d->changes, d->arena, &file->content, d->now, offset, body);
    return result ? decision_fail_content(d, result) : OK;
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
    const struct file_state *state = file_state(d);
    struct length_change change = { .file = state->place.entry.id,
                                    .was = file->content.length,
                                    .is = length };
    enum store_result result;
    enum error e = share_usage_change(d, &state->share, &change, 1);

    if (e)
        return e;
    file->copy = (struct copy_state){ .status = COPY_NONE };
    keep(d, file);
    result = content_resize(d->before, d->changes, d->arena, &file->content, d->now, length,
                            &d->leaves_more);
    return result ? decision_fail_content(d, result) : OK;
}
