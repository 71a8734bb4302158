/* Creates the map of content from a body or from blocks, and reads it as blocks. */
#include <assert.h>

#include "content/segment.h"

/* Maximum size of an entry without its bytes: kind, id, lengths. */
#define ENTRY_OVERHEAD    128u
/* Memory for a segment and its decoded record. */
#define SEGMENT_ARENA_MAX ((size_t)16 << 20)

/* ---- validity ---- */

static bool sequence_is_valid(const struct content *content)
{
    bool has_sparse_fields = content->has_units || content->has_holes || content->without_pages ||
                             content->epoch > 0 || content->last_retained > 0 ||
                             content->stamp > 0 || content->sealed_at > 0;

    return !has_sparse_fields && content->block_count <= CONTENT_BLOCKS_MAX &&
           (content->id > 0 || (content->length == 0 && content->block_count == 0)) &&
           (content->block_count > 0 || content->is_appended || !content->has_runs) &&
           (content->block_count == 0 || !content->is_appended);
}

static bool sparse_is_valid(const struct content *content)
{
    return content->id > 0 && content->block_count == 0 && !content->has_runs &&
           !content->is_appended && content->stamp >= content->id &&
           content->stamp >= content->sealed_at && content->last_retained <= content->epoch &&
           content->epoch < CONTENT_EPOCHS_MAX;
}

bool content_is_valid(const struct content *content)
{
    return content->length <= CONTENT_LENGTH_MAX &&
           (content->form == CONTENT_SEQUENCE ? sequence_is_valid(content)
                                              : sparse_is_valid(content));
}

/* ---- creating ---- */

struct content content_from_body(struct changes *changes, uint64_t id, const struct body *body)
{
    const struct content_block block = {
        .inline_bytes = body->inline_bytes,
        .pieces = body->pieces,
        .piece_count = body->piece_count,
    };
    struct segment_writer writer;
    struct content content;

    assert(id > 0);
    if (body->length == 0)
        return (struct content){ 0 };
    segment_writer_init(&writer, changes, SEGMENT_OF_CONTENT, id,
                        ENTRY_OVERHEAD + body->inline_bytes.len, body->piece_count);
    segment_writer_add(&writer, &block);
    segment_writer_finish(&writer);
    assert(writer.end == body->length);
    content = (struct content){
        .id = id,
        .length = body->length,
        .is_alone = true,
        .without_pieces = body->piece_count == 0,
    };
    assert(!segment_is_only(&content) || writer.start == 0);
    assert(content_is_valid(&content));
    return content;
}

struct content content_from_blocks(struct changes *changes, uint64_t id,
                                   const struct content_block *blocks, size_t count)
{
    struct content content = { .id = id, .block_count = (uint32_t)count, .is_alone = true };
    struct segment_writer writer;
    size_t pieces = 0, overhead = count * ENTRY_OVERHEAD;

    assert(id > 0 && count <= CONTENT_BLOCKS_MAX);
    if (count == 0)
        return (struct content){ 0 };
    if (overhead > SEGMENT_WEIGHT_MAX)
        overhead = SEGMENT_WEIGHT_MAX;
    for (size_t i = 0; i < count; i++)
        pieces += blocks[i].piece_count;
    segment_writer_init(&writer, changes, SEGMENT_OF_CONTENT, id, overhead + ENTRY_OVERHEAD,
                        pieces);
    for (size_t i = 0; i < count; i++) {
        segment_writer_add(&writer, &blocks[i]);
        content.length += blocks[i].length;
        content.has_runs = content.has_runs || blocks[i].run != 0;
        assert(writer.end == content.length);
    }
    segment_writer_finish(&writer);
    assert(content_is_valid(&content));
    return content;
}

void content_append_blocks(struct changes *changes, uint64_t id, struct content *content,
                           const struct content_block *blocks, size_t count)
{
    struct segment_writer writer;
    size_t pieces = 0, hint = count * ENTRY_OVERHEAD;

    assert(content->form == CONTENT_SEQUENCE && content->block_count == 0);
    if (count == 0)
        return;
    if (content->id == 0)
        *content = (struct content){ .id = id, .is_alone = true };
    content->is_appended = true;
    for (size_t i = 0; i < count; i++) {
        pieces += blocks[i].piece_count;
        hint += blocks[i].inline_bytes.len;
    }
    if (hint > SEGMENT_WEIGHT_MAX)
        hint = SEGMENT_WEIGHT_MAX;
    segment_writer_init(&writer, changes, SEGMENT_OF_CONTENT, content->id, hint + ENTRY_OVERHEAD,
                        pieces);
    segment_writer_begin_at(&writer, content->length);
    for (size_t i = 0; i < count; i++) {
        struct content_block bytes = blocks[i];

        bytes.block_id = bytes_of(NULL, 0);
        segment_writer_add(&writer, &bytes);
        content->has_runs = content->has_runs || bytes.run != 0;
    }
    segment_writer_finish(&writer);
    content->length = writer.end;
    assert(content_is_valid(content));
}

void content_append(struct changes *changes, uint64_t id, struct content *content,
                    const struct body *body)
{
    const struct content_block all = {
        .length = body->length,
        .inline_bytes = body->inline_bytes,
        .pieces = body->pieces,
        .piece_count = body->piece_count,
    };
    uint64_t length = content->length;

    if (body->length == 0)
        return;
    content_append_blocks(changes, id, content, &all, 1);
    assert(content->length == length + body->length);
}

/* ---- reading as blocks ---- */

/* State of collecting blocks, segment by segment: either all blocks without their pieces (for a
 * copy of 1 TiB, pieces and checksums would take 300 MB), or the pieces of selected blocks. */
struct collecting {
    const struct content *content;
    struct arena *arena, *scratch; /* for the blocks, and for one segment */
    struct content_block *blocks;  /* array for all blocks of the content */
    size_t count;
    uint64_t at; /* end of the segments so far */
    /* for each block, whether to collect its pieces; NULL means collect all blocks */
    const bool *wanted;
    size_t piece_count; /* number of pieces collected for the last block */
};

/* Appends pieces of a wanted block to its pieces from the previous segment. */
static bool collect_pieces(struct collecting *c, const struct entry *entry)
{
    struct content_block *block = &c->blocks[c->count - 1];
    struct piece *to = (struct piece *)(uintptr_t)block->pieces;

    if (entry->piece_count > block->piece_count - c->piece_count)
        return false;
    for (size_t i = 0; i < entry->piece_count; i++)
        to[c->piece_count++] = piece_copy(c->arena, &entry->pieces[i]);
    return true;
}

/* Adds pieces to the last block, which started in the previous segment. */
static bool extend_block(struct collecting *c, const struct entry *entry)
{
    struct content_block *block;

    if (c->count == 0 || c->blocks[c->count - 1].piece_count == 0)
        return false;
    if (c->wanted)
        return !c->wanted[c->count - 1] || collect_pieces(c, entry);
    block = &c->blocks[c->count - 1];
    block->piece_count += entry->piece_count;
    block->length += entry->length;
    return true;
}

static bool collect_entry(struct collecting *c, const struct entry *entry)
{
    struct content_block *block = &c->blocks[c->count];

    if (entry->kind == ENTRY_MORE)
        return extend_block(c, entry);
    if (!entry->block_id.ptr || c->count == c->content->block_count)
        return false;
    c->count++;
    if (!c->wanted) {
        *block = (struct content_block){
            .block_id = arena_copy(c->arena, entry->block_id),
            .length = entry->length,
            .run = entry->run,
            .inline_bytes = arena_copy(c->arena, entry->inline_bytes),
            .piece_count = entry->piece_count,
        };
        return true;
    }
    if (!c->wanted[c->count - 1] || block->piece_count == 0)
        return true;
    block->pieces = arena_array(c->arena, block->piece_count, sizeof block->pieces[0]);
    c->piece_count = 0;
    return collect_pieces(c, entry);
}

static enum store_result collect_segment(struct collecting *c, const struct segment *segment)
{
    if (segment->start != c->at)
        return content_damaged(c->content->id, c->at, "gap or overlap between segments");
    for (size_t i = 0; i < segment->entry_count; i++)
        if (!collect_entry(c, &segment->entries[i]))
            return content_damaged(c->content->id, segment->end, "blocks");
    c->at = segment->end;
    return arena_is_exhausted(c->arena) ? STORE_SHORTAGE : STORE_OK;
}

static enum store_result collect_all(struct collecting *c, struct read_view *before)
{
    struct scan *scan = segment_scan(before, SEGMENT_OF_CONTENT, c->content->id);
    struct arena_mark empty = arena_mark(c->scratch);
    enum store_result result;
    struct segment segment;
    struct record record;

    do {
        arena_rewind(c->scratch, empty);
        result = scan_next(scan, c->scratch, &record);
        if (!result)
            result = segment_decode(&record, c->scratch, &segment);
        if (!result)
            result = collect_segment(c, &segment);
    } while (!result);
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result collect(struct collecting *c, struct read_view *before)
{
    enum store_result result;
    struct segment only;
    struct record record;

    result = segment_get_only(before, c->scratch, c->content, &record, &only);
    if (!result)
        result = collect_segment(c, &only);
    else if (result == STORE_NOT_FOUND)
        result = collect_all(c, before);
    if (result)
        return result;
    if (c->at != c->content->length || c->count != c->content->block_count)
        return content_damaged(c->content->id, c->at, "incomplete map");
    return STORE_OK;
}

/* Collects blocks or pieces, using a scratch arena for one segment at a time. */
static enum store_result collect_with_scratch(struct collecting *c, struct read_view *before)
{
    enum store_result result;

    if (c->content->block_count == 0)
        return STORE_OK;
    c->scratch = arena_new_like(c->arena, SEGMENT_ARENA_MAX);
    result = collect(c, before);
    arena_free(c->scratch);
    return result;
}

enum store_result content_blocks(struct read_view *before, struct arena *arena,
                                 const struct content *content, struct content_block **ret_blocks,
                                 size_t *ret_count)
{
    struct collecting c = { .content = content, .arena = arena };
    enum store_result result;

    if (content->block_count > CONTENT_BLOCKS_MAX)
        return content_damaged(content->id, 0, "invalid number of blocks");
    c.blocks = arena_array(arena, content->block_count, sizeof c.blocks[0]);
    result = collect_with_scratch(&c, before);
    if (result)
        return result;
    assert(c.count == content->block_count);
    *ret_blocks = c.blocks;
    *ret_count = c.count;
    return STORE_OK;
}

enum store_result content_block_pieces(struct read_view *before, struct arena *arena,
                                       const struct content *content, struct content_block *blocks,
                                       const bool *wanted)
{
    struct collecting c = {
        .content = content, .arena = arena, .blocks = blocks, .wanted = wanted
    };

    return collect_with_scratch(&c, before);
}
