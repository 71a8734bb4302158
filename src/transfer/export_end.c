/* See export_end.h. */
#include "transfer/export_end.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "transfer/line_reader.h"
#include "transfer/safe_path.h"

#define MARK       "complete.json"
#define MARK_BYTES 256u

static bool count_lines(struct worker *worker, int folder, const char *name, uint64_t *ret_lines)
{
    struct line_reader lines = { .fd = safe_path_open(folder, bytes_from_string(name), false) };
    bool opened = lines.fd >= 0;
    struct bytes line;

    errno = opened ? 0 : errno;
    while (opened && line_reader_next(&lines, &line))
        errno = 0;
    *ret_lines = lines.number;
    if (errno != 0)
        worker_problem(worker, "%s: %s", name, strerror(errno));
    opened = opened && errno == 0;
    if (lines.fd >= 0)
        line_reader_release(&lines);
    return opened;
}

bool export_end_write(struct worker *worker, int folder)
{
    struct export_lines lines = { .account = 0 };
    struct json_writer out;
    struct text text;
    ssize_t n;
    int fd;

    if (!count_lines(worker, folder, EXPORT_ACCOUNT, &lines.account) ||
        !count_lines(worker, folder, EXPORT_CONTENTS, &lines.contents))
        return false;
    text_init(&text, worker->arena, MARK_BYTES);
    out = (struct json_writer){ .to = &text };
    json_write_begin(&out, '{');
    json_write_number(&out, EXPORT_ACCOUNT, lines.account);
    json_write_number(&out, EXPORT_CONTENTS, lines.contents);
    json_write_end(&out, '}');
    text_add_char(&text, '\n');
    fd = openat(folder, MARK, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    n = fd >= 0 ? write(fd, text.ptr, text.len) : -1;
    if (n != (ssize_t)text.len || fsync(fd) != 0)
        worker_problem(worker, "%s: %s", MARK, n >= 0 ? "the disk is full" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)text.len;
}

/* Returns false if there is no mark, or it cannot be read. */
static bool read_mark(struct worker *worker, int folder, struct export_lines *ret_lines)
{
    static const char *const names[] = { EXPORT_ACCOUNT, EXPORT_CONTENTS };
    char *text = arena_bytes(worker->arena, MARK_BYTES);
    int fd = safe_path_open(folder, bytes_from_string(MARK), false);
    ssize_t n = fd >= 0 ? file_read_at(fd, text, MARK_BYTES, 0) : -1;
    struct json_member of[2];

    if (fd >= 0)
        close(fd);
    return n > 0 && json_object_pick(worker->arena, bytes_of(text, (size_t)n), 1, names, 2, of) &&
           bytes_parse_u64(of[0].text, UINT64_MAX, &ret_lines->account) &&
           bytes_parse_u64(of[1].text, UINT64_MAX, &ret_lines->contents);
}

bool export_end_check(struct worker *worker, int folder, const struct export_lines *read)
{
    struct arena_mark mark = arena_mark(worker->arena);
    struct export_lines written;
    bool is_whole = read_mark(worker, folder, &written);

    if (!is_whole)
        worker_problem(worker, "the export is incomplete: it has no " MARK
                               ", which is written when lagra export has finished");
    else if (read->account < written.account || read->contents < written.contents)
        is_whole = worker_problem(worker, "the export is incomplete: lines of it are missing");
    arena_rewind(worker->arena, mark);
    return is_whole;
}
