#include "store/rados/piece_rows.h"

#include <assert.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/rados/row_key.h"

#define NAME_SIZE     16
#define ROW_SIZE      (8 + 4)
/* Of the piece, at the end of the row's key. */
#define EXTENT_DIGITS 8
#define PIECE_DIGITS  (EXTENT_DIGITS + 16)

bool piece_is_freed(const struct piece_freed *freed, const struct piece_change *piece)
{
    for (size_t i = 0; i < freed->count; i++)
        if (freed->pieces[i] == piece)
            return true;
    return false;
}

static bool is_fresh(const struct piece_rows_of *of, const struct piece_change *piece)
{
    return piece->extent == shards_incarnation(of->shards) &&
           staged_is_fresh(of->staged, piece->offset);
}

struct arrival *piece_rows_ask(const struct piece_rows_of *of)
{
    struct port_op *op = NULL;
    char object[SHARD_NAME_SIZE];

    for (size_t i = 0; i < of->count; i++) {
        const struct piece_change *piece = &of->pieces[i];

        if (is_fresh(of, piece))
            continue;
        if (!op) {
            op = arrival_op();
            (void)port_get(op, row_key_bounds());
            (void)port_get(op, row_key_header(op->arena, of->partition->key));
        }
        (void)port_get(op,
                       row_key_piece(op->arena, of->partition->key, piece->extent, piece->offset));
    }
    if (!op)
        return NULL;
    shards_place(of->shards, of->partition, object);
    return arrival_send(shards_port(of->shards), object, op);
}

static bool read_count(const struct port_step *step, uint64_t *ret_count)
{
    struct bytes value;

    *ret_count = 0;
    if (step->row_count == 0)
        return true;
    if (!row_value_read(step->rows[0].value, &value) || value.len != ROW_SIZE)
        return false;
    *ret_count = be64_get(value.ptr);
    return true;
}

/* Is the partition in the shard that was asked? */
static enum store_result check_place(const struct piece_rows_of *of, struct bytes row)
{
    struct shard_bounds bounds;
    enum store_result result = shard_bounds_read(row, &bounds);

    if (!result)
        result = shards_arrive(of->shards, of->partition, &bounds);
    return result == STORE_CONFLICT ? STORE_WAIT : result;
}

/* The answer's first steps: is the partition there, and as it was seen? */
static enum store_result check_answer(const struct piece_rows_of *of, const struct arrival *answer)
{
    const struct port_op *op = arrival_answer(answer);
    struct partition_header now;
    enum store_result result;

    if (op->result == PORT_ABSENT) /* the shard was never written */
        return of->seen->version == 0 ? STORE_OK : STORE_CONFLICT;
    if (op->result)
        return STORE_IO;
    result = check_place(of, port_value(op->first));
    if (result)
        return result;
    if (partition_header_read(port_value(op->first->next), &now))
        return STORE_CORRUPT;
    return partition_header_equal(&now, of->seen) ? STORE_OK : STORE_CONFLICT;
}

struct bytes piece_references_write(struct arena *arena, uint64_t references, uint32_t length)
{
    char be[ROW_SIZE];

    be64_put(be, references);
    be32_put(be + 8, length);
    return row_value_write(arena, bytes_of(be, sizeof be));
}

static void set_row(const struct piece_rows_of *of, const struct piece_change *piece,
                    uint64_t count, struct arena *arena, struct part_work *work)
{
    struct bytes key = row_key_piece(arena, of->partition->key, piece->extent, piece->offset);

    if (count == 0)
        part_work_remove(work, arena, key);
    else
        part_work_set(work, arena, key, piece_references_write(arena, count, piece->length));
}

void piece_row_moved(struct part_work *work, struct arena *arena, struct bytes partition_key,
                     const struct piece_change *piece)
{
    part_work_set(work, arena, row_key_piece(arena, partition_key, piece->extent, piece->offset),
                  piece_references_write(arena, 0, piece->length));
}

enum store_result piece_rows_take(const struct piece_rows_of *of, const struct arrival *answer,
                                  struct arena *arena, struct part_work *work,
                                  struct piece_freed *ret_freed)
{
    enum store_result result = answer ? check_answer(of, answer) : STORE_OK;
    const struct port_step *step =
        answer && !result ? arrival_answer(answer)->first->next->next : NULL;

    if (result)
        return result;
    ret_freed->pieces = arena_array(arena, of->count, sizeof ret_freed->pieces[0]);
    ret_freed->count = 0;
    for (size_t i = 0; i < of->count; i++) {
        const struct piece_change *piece = &of->pieces[i];
        uint64_t count = 0;

        if (!is_fresh(of, piece)) {
            assert(step);
            if (!read_count(step, &count))
                return STORE_CORRUPT;
            step = step->next;
        }
        if (piece->references < 0 && count < (uint64_t)-piece->references) {
            log_line(LOG_ERROR, "rados: a piece was released that is referred to %llu times",
                     (unsigned long long)count);
            return STORE_CORRUPT;
        }
        count += (uint64_t)piece->references;
        if (count == 0)
            ret_freed->pieces[ret_freed->count++] = piece;
        set_row(of, piece, count, arena, work);
    }
    return STORE_OK;
}

void piece_name_write(struct text *out, const struct piece_change *piece)
{
    char name[NAME_SIZE];

    be32_put(name, piece->extent);
    be32_put(name + 4, piece->length);
    be64_put(name + 8, piece->offset);
    text_add(out, bytes_of(name, sizeof name));
}

bool piece_name_take(struct bytes *from, struct piece_change *ret_piece)
{
    if (from->len < NAME_SIZE)
        return false;
    *ret_piece = (struct piece_change){ .extent = be32_get(from->ptr),
                                        .length = be32_get(from->ptr + 4),
                                        .offset = be64_get(from->ptr + 8) };
    *from = bytes_from(*from, NAME_SIZE);
    return true;
}

bool piece_row_name(struct bytes key, struct bytes row, struct piece_change *ret_piece)
{
    struct bytes name, value;
    uint64_t extent, offset;

    if (key.len < PIECE_DIGITS || !row_value_read(row, &value) || value.len != ROW_SIZE)
        return false;
    name = bytes_from(key, key.len - PIECE_DIGITS);
    if (!row_key_hex(bytes_of(name.ptr, EXTENT_DIGITS), &extent) ||
        !row_key_hex(bytes_from(name, EXTENT_DIGITS), &offset))
        return false;
    *ret_piece = (struct piece_change){ .extent = (uint32_t)extent,
                                        .length = be32_get(value.ptr + 8),
                                        .offset = offset,
                                        .references = (int64_t)be64_get(value.ptr) };
    return true;
}
