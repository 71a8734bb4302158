/* Values of records as they lie on disk: damage is found or harmless, never followed. The first
 * byte of the input says which kind of value it is. */
#include <stdlib.h>

#include "base/log.h"
#include "blob/blob.h"
#include "content/sparse.h"
#include "fuzz.h"
#include "queue/message.h"
#include "store/record_value.h"

static void read_segment(struct arena *arena, struct bytes value)
{
    struct record record = { .key = BYTES("c\0\0\0\0\0\0\0\1\0\0\0\0\0\0\1\0") };
    struct segment segment;

    if (record_value_read(value, arena, &record) == STORE_OK)
        segment_decode(&record, arena, &segment);
}

/* A block as the value of a record, and what is left to be deleted. */
static void read_block(struct arena *arena, struct bytes value)
{
    struct record record = { .key = BYTES("v\0\0\0\0\0\0\0\1AAAA") };
    struct content_block block;

    if (record_value_read(value, arena, &record) == STORE_OK)
        content_block_decode(&record, &block);
}

static void read_backlog(struct bytes value)
{
    static const size_t key_size = 15;
    struct record record = { .key = { value.ptr, value.len < key_size ? value.len : key_size } };
    struct backlog backlog;

    record.value = bytes_from(value, key_size);
    backlog_decode(&record, &backlog);
}

/* A page or unit of a sparse content; the value begins with the kind of the record. */
static void read_sparse(struct arena *arena, struct bytes value)
{
    char key[SPARSE_KEY_SIZE] = { 0 };
    struct record record = { .key = { key, sizeof key } };
    struct version version;

    key[0] = value.len > 0 && value.ptr[0] == 'x' ? 'x' : 'p';
    key[8] = 1;
    if (record_value_read(bytes_from(value, 1), arena, &record) != STORE_OK)
        return;
    if (!sparse_decode(&record, arena, &version))
        return;
    for (size_t i = 0; i < version.parts.count; i++)
        if (version.parts.items[i].start >= version.parts.items[i].end)
            abort();
    parts_clear(&version.parts, 100, 5000);
}

/* A record of a message, by what its key begins with: key and value. */
static void read_message(struct bytes value, char kind)
{
    size_t key_size = value.len < 25 ? value.len : kind == 'm' ? 22 : 25;
    struct record record = { .key = { value.ptr, key_size }, .value = bytes_from(value, key_size) };
    struct message message;
    instant due;

    if (kind == 'o')
        message_read_order(&record, &message);
    else
        message_read_body(&record, &message, &due);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 26);
    struct bytes value = bytes_from(bytes_of(data, size), 1);
    struct hole holes[HOLES_MAX];
    struct container container;
    struct queue queue;
    struct piece_row row;
    size_t count;
    struct blob blob;

    if (size > 0 && data[0] == 'c')
        container_decode(value, &container);
    else if (size > 0 && data[0] == 'b')
        blob_decode(value, &blob);
    else if (size > 0 && data[0] == 's')
        read_segment(arena, value);
    else if (size > 0 && data[0] == 'u')
        read_block(arena, value);
    else if (size > 0 && data[0] == 'q')
        read_backlog(value);
    else if (size > 0 && data[0] == 'x')
        read_sparse(arena, value);
    else if (size > 0 && data[0] == 'h')
        sparse_decode_holes(value, 1, holes, &count);
    else if (size > 0 && data[0] == 'Q')
        queue_decode(value, &queue);
    else if (size > 0 && (data[0] == 'o' || data[0] == 'm'))
        read_message(value, (char)data[0]);
    else if (size > 0 && data[0] == 'p')
        piece_row_read(value, &row);
    arena_free(arena);
    return 0;
}
