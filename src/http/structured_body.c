/* See structured_body.h. */
#include "http/structured_body.h"

#include <assert.h>
#include <string.h>

#include "base/crc.h"

#define VERSION        1u
#define FLAG_CHECKSUMS 1u

static uint64_t get(const uint8_t *from, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static void put(uint8_t *to, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* ---- reading ---- */

void structured_reader_init(struct structured_reader *r, uint64_t message_length,
                            uint64_t content_length)
{
    *r = (struct structured_reader){ .part = PART_HEADER,
                                     .message_length = message_length,
                                     .content_length = content_length };
}

static void assert_reader(const struct structured_reader *r)
{
    assert(r->content <= r->content_length && r->consumed >= r->content);
    assert(r->segment <= r->segments && r->field_length < sizeof r->field);
    assert(r->segment_left <= r->content_length - r->content);
}

static size_t field_size(enum structured_part part)
{
    switch (part) {
    case PART_HEADER:
        return STRUCTURED_HEADER;
    case PART_SEGMENT:
        return STRUCTURED_SEGMENT;
    case PART_SUM:
    case PART_TRAILER:
        return STRUCTURED_SUM;
    case PART_CONTENT:
    case PART_END:
        break;
    }
    return 0;
}

/* Checks the declared lengths before any content is read. */
static enum structured_result read_header(struct structured_reader *r)
{
    uint64_t length = get(r->field + 1, 8), frames;

    r->segments = (unsigned)get(r->field + 11, 2);
    frames = STRUCTURED_HEADER + STRUCTURED_SUM +
             (uint64_t)r->segments * (STRUCTURED_SEGMENT + STRUCTURED_SUM);
    if (r->field[0] != VERSION || get(r->field + 9, 2) != FLAG_CHECKSUMS || r->segments == 0)
        return STRUCTURED_MALFORMED;
    if (length < frames || length - frames != r->content_length ||
        (r->message_length != UINT64_MAX && length != r->message_length))
        return STRUCTURED_MALFORMED;
    r->message_length = length;
    r->part = PART_SEGMENT;
    return STRUCTURED_OK;
}

static enum structured_result read_segment(struct structured_reader *r)
{
    uint64_t length = get(r->field + 2, 8);

    if (get(r->field, 2) != r->segment + 1 || length > r->content_length - r->content)
        return STRUCTURED_MALFORMED;
    r->segment++;
    r->segment_left = length;
    r->segment_crc = 0;
    r->part = length > 0 ? PART_CONTENT : PART_SUM;
    return STRUCTURED_OK;
}

static enum structured_result compare(struct structured_reader *r, uint64_t computed)
{
    r->given = get(r->field, STRUCTURED_SUM);
    r->computed = computed;
    return r->given == computed ? STRUCTURED_OK : STRUCTURED_MISMATCH;
}

static enum structured_result read_sum(struct structured_reader *r)
{
    if (r->segments == 1)
        r->content_crc = r->segment_crc;
    r->part = r->segment == r->segments ? PART_TRAILER : PART_SEGMENT;
    return compare(r, r->segment_crc);
}

static enum structured_result read_trailer(struct structured_reader *r)
{
    r->part = PART_END;
    return r->content == r->content_length ? compare(r, r->content_crc) : STRUCTURED_MALFORMED;
}

static enum structured_result read_field(struct structured_reader *r)
{
    switch (r->part) {
    case PART_HEADER:
        return read_header(r);
    case PART_SEGMENT:
        return read_segment(r);
    case PART_SUM:
        return read_sum(r);
    case PART_TRAILER:
        return read_trailer(r);
    case PART_CONTENT:
    case PART_END:
        break;
    }
    return STRUCTURED_MALFORMED;
}

enum structured_result structured_read_frame(struct structured_reader *r, struct bytes data,
                                             size_t *ret_used)
{
    size_t used = 0;
    enum structured_result result = STRUCTURED_OK;

    while (result == STRUCTURED_OK && used < data.len && r->part != PART_CONTENT) {
        size_t missing = field_size(r->part) - r->field_length;
        size_t taken = missing < data.len - used ? missing : data.len - used;

        if (r->part == PART_END) {
            result = STRUCTURED_MALFORMED;
            break;
        }
        memcpy(r->field + r->field_length, data.ptr + used, taken);
        r->field_length += taken;
        used += taken;
        if (taken < missing)
            break;
        r->field_length = 0;
        result = read_field(r);
    }
    r->consumed += used;
    *ret_used = used;
    return result;
}

size_t structured_content_of(const struct structured_reader *r, size_t available)
{
    if (r->part != PART_CONTENT)
        return 0;
    return r->segment_left < available ? (size_t)r->segment_left : available;
}

void structured_read_content(struct structured_reader *r, struct bytes content)
{
    assert(content.len <= structured_content_of(r, content.len));
    r->segment_crc = crc64(r->segment_crc, content.ptr, content.len);
    if (r->segments > 1)
        r->content_crc = crc64(r->content_crc, content.ptr, content.len);
    r->segment_left -= content.len;
    r->content += content.len;
    r->consumed += content.len;
    if (r->segment_left == 0 && content.len > 0)
        r->part = PART_SUM;
    assert_reader(r);
}

bool structured_is_complete(const struct structured_reader *r)
{
    return r->part == PART_END && r->consumed == r->message_length;
}

/* ---- writing ---- */

static uint64_t content_of_segments(uint64_t content_length)
{
    const uint64_t most = UINT16_MAX * STRUCTURED_SEGMENT_CONTENT;

    return content_length <= most ? STRUCTURED_SEGMENT_CONTENT
                                  : (content_length + UINT16_MAX - 1) / UINT16_MAX;
}

/* An empty content has one empty segment. */
static unsigned segments_of(uint64_t content_length)
{
    uint64_t each = content_of_segments(content_length);

    return content_length == 0 ? 1 : (unsigned)((content_length - 1) / each + 1);
}

uint64_t structured_length(uint64_t content_length)
{
    return content_length + STRUCTURED_HEADER + STRUCTURED_SUM +
           (uint64_t)segments_of(content_length) * (STRUCTURED_SEGMENT + STRUCTURED_SUM);
}

static void add(struct structured_writer *w, size_t size, uint64_t value)
{
    assert(w->frame_length + size <= sizeof w->frame);
    put(w->frame + w->frame_length, size, value);
    w->frame_length += size;
}

/* Adds the header of the next segment, and its checksum if it is empty. */
static void begin_segment(struct structured_writer *w)
{
    w->segment_left = w->content_left < w->segment_content ? w->content_left : w->segment_content;
    w->segment_crc = 0;
    w->segment++;
    add(w, 2, w->segment);
    add(w, 8, w->segment_left);
}

static void end_segment(struct structured_writer *w)
{
    add(w, STRUCTURED_SUM, w->segment_crc);
    if (w->segment == w->segments)
        add(w, STRUCTURED_SUM, w->content_crc);
    else
        begin_segment(w);
}

void structured_writer_init(struct structured_writer *w, uint64_t content_length)
{
    *w = (struct structured_writer){ .content_left = content_length,
                                     .segment_content = content_of_segments(content_length),
                                     .segments = segments_of(content_length) };
    add(w, 1, VERSION);
    add(w, 8, structured_length(content_length));
    add(w, 2, FLAG_CHECKSUMS);
    add(w, 2, w->segments);
    begin_segment(w);
    if (content_length == 0)
        end_segment(w);
}

size_t structured_write_frame(struct structured_writer *w, char *to, size_t max)
{
    size_t count = w->frame_length - w->frame_sent;

    if (count > max)
        count = max;
    memcpy(to, w->frame + w->frame_sent, count);
    w->frame_sent += count;
    return count;
}

size_t structured_write_room(const struct structured_writer *w, size_t max)
{
    if (w->frame_sent < w->frame_length)
        return 0;
    return w->segment_left < max ? (size_t)w->segment_left : max;
}

void structured_write_content(struct structured_writer *w, struct bytes content)
{
    assert(content.len <= structured_write_room(w, content.len));
    w->segment_crc = crc64(w->segment_crc, content.ptr, content.len);
    w->content_crc =
        w->segments == 1 ? w->segment_crc : crc64(w->content_crc, content.ptr, content.len);
    w->segment_left -= content.len;
    w->content_left -= content.len;
    if (w->segment_left > 0 || content.len == 0)
        return;
    w->frame_length = w->frame_sent = 0;
    end_segment(w);
}
