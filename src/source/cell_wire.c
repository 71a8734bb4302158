/* See cell_wire.h. */
#include "source/cell_wire.h"

#include "base/codec.h"
#include "source/page_walk.h"

#define VERSION 1

/* ---- parts ---- */

static bool decode_flag(struct decoder *in)
{
    uint8_t flag = decode_u8(in);

    in->bad = in->bad || flag > 1;
    return flag == 1;
}

/* Decodes a number of items that follow, each of at least a byte. */
static size_t decode_count(struct decoder *in, size_t max)
{
    uint64_t count = decode_u64(in);

    in->bad = in->bad || count > max || count > (uint64_t)(in->end - in->at);
    return in->bad ? 0 : (size_t)count;
}

/* ---- the request ---- */

static void encode_source(struct text *out, const struct copy_source *source)
{
    encode_u8(out, (uint8_t)source->rule);
    encode_bytes(out, source->text);
    encode_bytes(out, source->range);
    encode_u64(out, source->header_count);
    for (size_t i = 0; i < source->header_count; i++) {
        encode_bytes(out, source->headers[i].name);
        encode_bytes(out, source->headers[i].value);
    }
    encode_u8(out, source->reads_tags);
}

static void decode_source(struct decoder *in, struct copy_source *source)
{
    uint8_t rule = decode_u8(in);

    in->bad = in->bad || rule > SOURCE_COPIED;
    source->rule = (enum source_rule)rule;
    source->text = decode_bytes(in);
    source->range = decode_bytes(in);
    source->header_count = decode_count(in, SOURCE_HEADERS_MAX);
    for (size_t i = 0; i < source->header_count; i++) {
        struct http_header *header = &source->headers[i];

        header->name = header->name_as_sent = decode_bytes(in);
        header->value = decode_bytes(in);
        in->bad = in->bad || http_has_control(header->value, '\t');
    }
    source->reads_tags = decode_flag(in);
}

void cell_request_write(struct text *out, const struct cell_request *request)
{
    encode_u8(out, VERSION);
    encode_u8(out, (uint8_t)request->read);
    encode_bytes(out, request->service);
    encode_u64(out, request->placement);
    encode_bytes(out, request->account);
    encode_u8(out, request->by_key);
    encode_u8(out, request->is_forwarded);
    encode_bytes(out, request->peer);
    encode_source(out, &request->source);
    encode_bytes(out, request->etag);
    encode_u64(out, request->position);
    encode_u64(out, request->previous);
}

bool cell_request_read(struct bytes text, struct cell_request *ret_request)
{
    struct cell_request request = { .read = CELL_READS_FACTS };
    struct decoder in;
    uint8_t version, read;

    decoder_init(&in, text);
    version = decode_u8(&in);
    read = decode_u8(&in);
    request.service = decode_bytes(&in);
    request.placement = decode_u64(&in);
    request.account = decode_bytes(&in);
    request.by_key = decode_flag(&in);
    request.is_forwarded = decode_flag(&in);
    request.peer = decode_bytes(&in);
    decode_source(&in, &request.source);
    request.etag = decode_bytes(&in);
    request.position = decode_u64(&in);
    request.previous = decode_u64(&in);
    if (!decoder_ok(&in) || version != VERSION || read >= CELL_READS ||
        !url_parse(request.source.text, &request.source.url))
        return false;
    request.read = (enum cell_read)read;
    *ret_request = request;
    return true;
}

/* ---- the head ---- */

static void encode_problem(struct text *out, const struct problem *problem)
{
    encode_bytes(out, problem->detail ? bytes_from_string(problem->detail) : bytes_of(NULL, 0));
    encode_u64(out, problem->field_count);
    for (size_t i = 0; i < problem->field_count; i++) {
        encode_bytes(out, bytes_from_string(problem->fields[i].name));
        encode_bytes(out, problem->fields[i].value);
    }
    encode_bytes(out, problem->message);
    encode_u64(out, (uint64_t)problem->source_status);
    encode_bytes(out, problem->source_code);
    encode_bytes(out, problem->source_message);
    encode_u64(out, problem->length);
    encode_u8(out, problem->is_soft_deleted);
    encode_u64(out, problem->elsewhere.cell);
    encode_u64(out, problem->elsewhere.incarnation);
}

static void decode_problem(struct decoder *in, struct arena *arena, struct problem *problem)
{
    struct bytes detail = decode_bytes(in);
    uint64_t status, cell;

    problem->detail = detail.ptr ? arena_string(arena, detail) : NULL;
    problem->field_count = decode_count(in, PROBLEM_FIELDS_MAX);
    for (size_t i = 0; i < problem->field_count; i++) {
        problem->fields[i].name = arena_string(arena, decode_bytes(in));
        problem->fields[i].value = decode_bytes(in);
    }
    problem->message = decode_bytes(in);
    status = decode_u64(in);
    problem->source_code = decode_bytes(in);
    problem->source_message = decode_bytes(in);
    problem->length = decode_u64(in);
    problem->is_soft_deleted = decode_flag(in);
    cell = decode_u64(in);
    problem->elsewhere.incarnation = decode_u64(in);
    in->bad = in->bad || status > 599 || cell > PLACEMENT_CELL_MAX;
    problem->source_status = (int)status;
    problem->elsewhere.cell = (uint32_t)cell;
}

static void encode_layout(struct text *out, const struct copied_bytes *layout)
{
    encode_u64(out, layout->block_count);
    for (size_t i = 0; i < layout->block_count; i++) {
        encode_bytes(out, layout->blocks[i].block_id);
        encode_u64(out, layout->blocks[i].length);
    }
    encode_u64(out, layout->range_count);
    for (size_t i = 0; i < layout->range_count; i++) {
        encode_u64(out, layout->ranges[i].start);
        encode_u64(out, layout->ranges[i].end);
        encode_u8(out, layout->ranges[i].is_hole);
    }
}

static void decode_layout(struct decoder *in, struct arena *arena, struct copied_bytes *layout)
{
    struct content_block *blocks;
    struct content_range *ranges;

    layout->block_count = decode_count(in, CONTENT_BLOCKS_MAX);
    layout->blocks = blocks = arena_array(arena, layout->block_count, sizeof *blocks);
    for (size_t i = 0; i < layout->block_count; i++) {
        blocks[i].block_id = decode_bytes(in);
        blocks[i].length = decode_u64(in);
    }
    layout->range_count = decode_count(in, PAGES_STEP_RANGES);
    layout->ranges = ranges = arena_array(arena, layout->range_count, sizeof *ranges);
    for (size_t i = 0; i < layout->range_count; i++) {
        ranges[i].start = decode_u64(in);
        ranges[i].end = decode_u64(in);
        ranges[i].is_hole = decode_flag(in);
    }
}

void cell_head_write(struct text *out, const struct cell_head *head)
{
    encode_u8(out, VERSION);
    problem_encode_error(out, head->error);
    if (head->error) {
        encode_problem(out, &head->problem);
        return;
    }
    encode_bytes(out, head->operation);
    encode_bytes(out, head->result);
    encode_bytes(out, head->account);
    encode_u8(out, head->by_key);
    encode_u64(out, head->offset);
    encode_u64(out, head->length);
    encode_layout(out, &head->layout);
    encode_u64(out, head->next);
}

bool cell_head_read(struct arena *arena, struct bytes text, struct cell_head *ret_head)
{
    struct cell_head head = { .error = OK };
    struct decoder in;

    decoder_init(&in, text);
    if (decode_u8(&in) != VERSION)
        return false;
    head.error = problem_decode_error(&in);
    if (head.error) {
        decode_problem(&in, arena, &head.problem);
    } else {
        head.operation = decode_bytes(&in);
        head.result = decode_bytes(&in);
        head.account = decode_bytes(&in);
        head.by_key = decode_flag(&in);
        head.offset = decode_u64(&in);
        head.length = decode_u64(&in);
        decode_layout(&in, arena, &head.layout);
        head.next = decode_u64(&in);
    }
    if (!decoder_ok(&in))
        return false;
    *ret_head = head;
    return true;
}
