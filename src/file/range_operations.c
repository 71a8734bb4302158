/* Get File, Put Range and List Ranges. */
#include "file/range_operations.h"

#include "file/file_content.h"

/* The bytes are read while they are sent, from the snapshot of the file's partition that was decided
 * on (promise 4). rest: Get-File */
enum error get_file_decide(struct decision *d, const struct get_file_parameters *p,
                           struct get_file_result *r)
{
    enum error e;

    r->shown = file_show(file_state(d));
    e = read_range_find(d, &p->range, r->shown.file.content.length, &r->part);
    return e ? e : file_pass_read(d, r->part.offset, r->part.length);
}

/* ---- Put Range ---- */

/* Writes the file whose bytes have changed. */
static void end_change(struct decision *d, const struct put_range_parameters *range,
                       struct file *file, instant *ret_written)
{
    if (!range->keeps_written)
        file->written = d->now;
    lease_forget_if_ended(&file->lease, d->now);
    file_write_changed(d, file);
    *ret_written = file->written;
}

/* returns  OK, E_ReadOnlyAttribute, E_InvalidRange
 * rest: Put-Range */
enum error put_range_decide(struct decision *d, const struct put_range_parameters *p,
                            struct put_range_result *r)
{
    struct file file = file_state(d)->file;
    enum error e = file_refuse_read_only(&file);

    if (!e)
        e = file_pass_write(d);
    if (!e)
        e = file_write_bytes(d, &file, p->offset, &d->input->body);
    if (!e)
        end_change(d, p, &file, &r->written);
    return e;
}

/* rest: Put-Range "x-ms-write: clear" */
enum error clear_range_decide(struct decision *d, const struct clear_range_parameters *p,
                              struct clear_range_result *r)
{
    struct file file = file_state(d)->file;
    enum error e = file_refuse_read_only(&file);

    if (!e)
        e = file_pass_write(d);
    if (!e)
        e = file_clear_bytes(d, &file, p->range.offset, p->range.length);
    if (!e)
        end_change(d, &p->range, &file, &r->written);
    return e;
}

/* ---- List Ranges ---- */

/* rest: List-Ranges; in whole sectors, as recorded by clients' tests (decision: 302) */
enum error list_ranges_decide(struct decision *d, const struct list_ranges_parameters *p,
                              struct list_ranges_result *r)
{
    const struct content *content = &file_state(d)->file.content;
    const struct range_list_source source = { .content = content, .unit = FILE_UNIT_BYTES };

    r->length = content->length;
    return range_list_find(d, &p->list, &source, &r->ranges);
}
