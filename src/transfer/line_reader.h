/* Inside of transfer/ only: lines of a file, one after the other, up to a length. */
#ifndef LAGRA_TRANSFER_LINE_READER_H
#define LAGRA_TRANSFER_LINE_READER_H

#include "base/bytes.h"

/* The last line may have no end. Begins with the descriptor alone, which is closed by line_reader_release(). */
struct line_reader {
    int fd;
    char *buffer;
    size_t begin, end, capacity;
    bool is_over;
    uint64_t number; /* of the line that was read, from 1 */
};
#define LINE_READER_MAX ((size_t)256 << 20)
/* False: there is none, or it cannot be read (errno; 0 at the end; EFBIG: the line is too long). The line is valid until the
 * next one. */
bool line_reader_next(struct line_reader *lines, struct bytes *ret_line);
void line_reader_release(struct line_reader *lines);

#endif
