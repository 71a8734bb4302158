/* See line_reader.h. */
#include "transfer/line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"

#define READ_BYTES ((size_t)256 << 10)

static bool read_more(struct line_reader *lines)
{
    ssize_t n;

    if (lines->begin > 0) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    if (lines->end + READ_BYTES > lines->capacity) {
        lines->capacity = 2 * lines->capacity + READ_BYTES;
        lines->buffer = xrealloc(lines->buffer, lines->capacity);
    }
    do
        n = read(lines->fd, lines->buffer + lines->end, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        lines->end += (size_t)n;
    lines->is_over = n == 0;
    return n >= 0;
}

bool line_reader_next(struct line_reader *lines, struct bytes *ret_line)
{
    size_t looked = 0;

    for (;;) {
        size_t held = lines->end - lines->begin;
        const char *from = lines->buffer ? lines->buffer + lines->begin : NULL;
        const char *end = held > looked ? memchr(from + looked, '\n', held - looked) : NULL;

        if (end || (lines->is_over && held > 0)) {
            *ret_line = bytes_of(from, end ? (size_t)(end - from) : held);
            lines->begin += ret_line->len + (end ? 1 : 0);
            lines->number++;
            return true;
        }
        looked = held;
        errno = held > LINE_READER_MAX ? EFBIG : 0;
        if (lines->is_over || errno == EFBIG || !read_more(lines))
            return false;
    }
}

void line_reader_release(struct line_reader *lines)
{
    free(lines->buffer);
    close(lines->fd);
}
