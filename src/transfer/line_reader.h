/* Internal to transfer/: reads a file line by line, up to a maximum length. */
#ifndef LAGRA_TRANSFER_LINE_READER_H
#define LAGRA_TRANSFER_LINE_READER_H

#include "base/bytes.h"

/* The last line may lack a line end. Initialize with only the descriptor, which
 * line_reader_release() closes. */
struct line_reader {
    int fd;
    char *buffer;
    size_t begin, end, capacity;
    bool is_over;
    uint64_t number; /* of the last line read, from 1 */
};
#define LINE_READER_MAX ((size_t)256 << 20)
/* Reads the next line, valid until the following call. Returns false with errno if none exists: 0
 * at the end; EFBIG: the line is too long. */
bool line_reader_next(struct line_reader *lines, struct bytes *ret_line);
void line_reader_release(struct line_reader *lines);

#endif
