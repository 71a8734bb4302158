/* A structured body. The first byte is the size of the parts in which it arrives, the second the
 * length of its content as the request states it. A body that is complete has as much content, and
 * its checksum. */
#include <stdlib.h>

#include "base/crc.h"
#include "fuzz.h"
#include "http/structured_body.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Reads a part. Returns false once it was refused. */
static bool read_part(struct structured_reader *r, struct bytes part, uint64_t *crc)
{
    while (part.len > 0) {
        size_t used = 0;
        enum structured_result result = structured_read_frame(r, part, &used);

        require(used <= part.len);
        if (result)
            return false;
        part = bytes_from(part, used);
        used = structured_content_of(r, part.len);
        require(used <= part.len && (used > 0 || part.len == 0));
        structured_read_content(r, bytes_of(part.ptr, used));
        *crc = crc64(*crc, part.ptr, used);
        part = bytes_from(part, used);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct structured_reader r;
    struct bytes rest = bytes_of(data, size);
    uint64_t crc = 0;
    size_t step;
    bool is_read = true;

    if (size < 2)
        return 0;
    step = data[0] == 0 ? size : data[0];
    structured_reader_init(&r, UINT64_MAX, data[1]);
    rest = bytes_from(rest, 2);
    while (rest.len > 0 && is_read) {
        struct bytes part = bytes_of(rest.ptr, rest.len < step ? rest.len : step);

        is_read = read_part(&r, part, &crc);
        rest = bytes_from(rest, part.len);
    }
    if (is_read && structured_is_complete(&r))
        require(r.content == data[1] && r.content_crc == crc && r.consumed == size - 2);
    return 0;
}
