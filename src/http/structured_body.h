/* Structured bodies: content in segments, each followed by its CRC-64, and at the end the CRC-64 of
 * all content. Integers and checksums are little-endian.
 *
 *     header   version 1 (1 byte), length of the message (8), flags (2; 1: checksums), segments (2)
 *     segment  number, from 1 (2), length of its content (8), content, CRC-64 (8)
 *     trailer  CRC-64 of the content of all segments (8)
 *
 * Reader and writer are incremental and do not copy content. Pure. rest: Structured-Body-Format;
 * decision: 1436 */
#ifndef LAGRA_HTTP_STRUCTURED_BODY_H
#define LAGRA_HTTP_STRUCTURED_BODY_H

#include "base/bytes.h"

#include <stdbool.h>

/* The only supported value of x-ms-structured-body, in requests and responses */
#define STRUCTURED_BODY_TYPE       "XSM/1.0; properties=crc64"

#define STRUCTURED_HEADER          13u
#define STRUCTURED_SEGMENT         10u
#define STRUCTURED_SUM             8u
/* Content of a segment that this server sends, unless that would need more than UINT16_MAX
 * segments */
#define STRUCTURED_SEGMENT_CONTENT (UINT64_C(4) << 20)

enum structured_result {
    STRUCTURED_OK,
    STRUCTURED_MALFORMED, /* not a valid message, or its lengths contradict each other */
    STRUCTURED_MISMATCH,  /* wrong checksum: see given and computed */
};

enum structured_part { PART_HEADER, PART_SEGMENT, PART_CONTENT, PART_SUM, PART_TRAILER, PART_END };

struct structured_reader {
    enum structured_part part;
    uint8_t field[STRUCTURED_HEADER]; /* bytes of the header or checksum received so far */
    size_t field_length;
    uint64_t message_length; /* expected; UINT64_MAX if it is not known before the header */
    uint64_t content_length; /* expected */
    uint64_t consumed;       /* bytes of the message so far */
    uint64_t content;        /* bytes of content so far */
    uint64_t segment_left;   /* bytes of content left in this segment */
    unsigned segments, segment;
    uint64_t segment_crc, content_crc;
    uint64_t given, computed; /* set with STRUCTURED_MISMATCH */
};

/* Initializes a reader.
 * message_length: Content-Length, or UINT64_MAX if the body is chunked
 * content_length: x-ms-structured-content-length */
void structured_reader_init(struct structured_reader *r, uint64_t message_length,
                            uint64_t content_length);
/* Consumes headers and checksums at the start of the data.
 * ret_used: bytes consumed; content follows, or the message has ended
 * returns STRUCTURED_OK, STRUCTURED_MALFORMED (also for bytes after the end),
 * STRUCTURED_MISMATCH */
enum structured_result structured_read_frame(struct structured_reader *r, struct bytes data,
                                             size_t *ret_used);
/* Returns how many of the next `available` bytes are content. */
size_t structured_content_of(const struct structured_reader *r, size_t available);
/* Updates the checksums with content, at most as much as structured_content_of() returned. */
void structured_read_content(struct structured_reader *r, struct bytes content);
/* Returns true once the message is complete. */
bool structured_is_complete(const struct structured_reader *r);

struct structured_writer {
    uint64_t content_left;    /* content not sent yet */
    uint64_t segment_content; /* content of each segment except the last */
    uint64_t segment_left;    /* content left in this segment */
    unsigned segments, segment;
    uint64_t segment_crc, content_crc;
    /* frame to send before more content: a header, or a checksum, trailer and header */
    uint8_t frame[STRUCTURED_HEADER + STRUCTURED_SEGMENT + 2 * STRUCTURED_SUM];
    size_t frame_length, frame_sent;
};

/* Returns the length of the message for this content. */
uint64_t structured_length(uint64_t content_length);
/* Initializes a writer. */
void structured_writer_init(struct structured_writer *w, uint64_t content_length);
/* Copies up to max bytes of the pending frame. Returns 0 if content must follow or the message has
 * ended. */
size_t structured_write_frame(struct structured_writer *w, char *to, size_t max);
/* Returns how many bytes of content may be written next, up to max. */
size_t structured_write_room(const struct structured_writer *w, size_t max);
/* Updates the checksums with content that was sent. */
void structured_write_content(struct structured_writer *w, struct bytes content);

#endif
