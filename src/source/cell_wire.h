/* Internal to source/: encoding of the request for a copy source in another cell (cell_source.h),
 * and of the head of its response. Both use base/codec.h, and reading validates them like any data
 * from outside. Pure.
 *
 * Request, a POST of /-/source (cluster/peer.h): u8 1 (version), then the fields of struct
 * cell_request in their order. Response: u32 (big-endian) length of the head; the head; bytes of
 * the source. */
#ifndef LAGRA_SOURCE_CELL_WIRE_H
#define LAGRA_SOURCE_CELL_WIRE_H

#include "source/copy_source.h"
#include "source/copied_bytes.h"

#define CELL_SOURCE_PATH        "/-/source"
#define CELL_SOURCE_REQUEST_MAX ((size_t)128 << 10)
#define CELL_HEAD_LENGTH_BYTES  4u
/* Space for 50,000 blocks with ids of 88 bytes, and for a record with at most 4 MiB of them. */
#define CELL_HEAD_MAX           ((size_t)16 << 20)

enum cell_read {
    CELL_READS_FACTS, /* its properties; with the requested bytes if they are likely to be read */
    CELL_READS_BYTES, /* the requested bytes, holes as zeros */
    CELL_READS_STEP,  /* the next ranges that contain bytes, and their bytes */
    CELL_READS
};

struct cell_request {
    enum cell_read read;
    struct bytes service; /* of the source, its name */
    uint64_t placement;   /* as struct input */
    /* Caller of the copy: */
    struct bytes account;
    bool by_key; /* authenticated by the account's key */
    bool is_forwarded;
    struct bytes peer; /* address */
    /* Only the fields rule, text, range, headers and reads_tags are sent. */
    struct copy_source source;
    struct bytes etag; /* required ETag; empty if any is accepted */
    /* CELL_READS_STEP: as struct page_walk_from */
    uint64_t position;
    instant previous;
};

struct cell_head {
    enum error error;
    struct problem problem; /* of the error */
    /* Without an error: */
    struct bytes operation;     /* its name */
    struct bytes result;        /* as struct source_functions writes it */
    struct bytes account;       /* of the source */
    bool by_key;                /* as struct open_source */
    uint64_t offset, length;    /* of the requested bytes */
    struct copied_bytes layout; /* blocks, if the entire source is requested; ranges of a step */
    uint64_t next;              /* end of the step */
};

void cell_request_write(struct text *out, const struct cell_request *request);
bool cell_request_read(struct bytes text, struct cell_request *ret_request);
void cell_head_write(struct text *out, const struct cell_head *head);
bool cell_head_read(struct arena *arena, struct bytes text, struct cell_head *ret_head);

#endif
