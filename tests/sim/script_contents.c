/* The bytes that requests bring, and where they go: values on the edges of records, pieces, sectors and
 * units. */
#include "script_private.h"

#include <string.h>

#include "judge.h"
#include "kept.h"

/* Some runs are of large bodies, and all that are aimed at where those lie. */
static bool is_of_large(void)
{
    return world->plan.seed % 4 == 3 || world->plan.aim == FILE_EXTENT + 1;
}

/* Small bodies lie in records, larger ones in pieces; sectors of pieces are 64 KiB. */
uint32_t script_length(struct draws *draws)
{
    static const uint32_t edges[] = { 0,     1,     2,     511,   512,   4095,   4096,   16383,
                                      16384, 16385, 65535, 65536, 65537, 131072, 200000, 10 };

    if (is_layered() && draw(draws, 4) > 0)
        return 16385 + draw(draws, 2000);
    if (is_of_large() && draw(draws, 2) == 0)
        return 16385 + draw(draws, 60000);
    return draw(draws, 3) == 0 ? edges[draw(draws, 16)] : draw(draws, 2000);
}

void script_content(struct draws *draws, struct ask *ask)
{
    ask->content.seed = world_mix(draws->state);
    ask->content.length = script_length(draws);
    if (ask->op == OP_PUT_BLOCK) {
        ask->content.block = (uint8_t)(1 + draw(draws, BLOCK_IDS));
        if (ask->content.length == 0)
            ask->content.length = 7;
    }
}

/* Of a run of layers: few of the blocks that there are. */
static void draw_known_list(struct draws *draws, struct ask *ask, unsigned known)
{
    unsigned wanted = 1 + draw(draws, BLOCK_IDS);

    for (unsigned i = 0, block = draw(draws, BLOCK_IDS); i < BLOCK_IDS; i++, block++)
        if ((known >> block % BLOCK_IDS & 1) && ask->list_count < wanted) {
            ask->list[ask->list_count].block = block % BLOCK_IDS;
            ask->list[ask->list_count++].source = FROM_LATEST;
        }
}

void script_block_list(struct draws *draws, struct ask *ask)
{
    unsigned known = judge_known_blocks(ask->container, ask->blob);

    if (is_layered() && known > 0 && draw(draws, 4) > 0) {
        draw_known_list(draws, ask, known);
        return;
    }
    ask->list_count = draw(draws, SEGMENTS_MAX + 1);
    for (unsigned i = 0; i < ask->list_count; i++) {
        unsigned block = draw(draws, BLOCK_IDS);
        enum list_source source =
            draw(draws, 3) > 0 ? FROM_LATEST : (enum list_source)draw(draws, 3);

        /* An id has one source in a list. */
        for (unsigned j = 0; j < i; j++) {
            if (ask->list[j].block == block)
                source = ask->list[j].source;
        }
        ask->list[i].block = block;
        ask->list[i].source = source;
    }
}

/* Often what is right when it is drawn, sometimes one beside it. */
static uint32_t draw_beside(struct draws *draws, uint32_t right)
{
    return right + (draw(draws, 4) == 0 ? draw(draws, 3) : 1) - 1 + (right == 0);
}

void script_append(struct draws *draws, struct ask *ask)
{
    uint32_t length = judge_known_length(ask->container, ask->blob);

    if (ask->op == OP_APPEND_BLOCK) {
        script_content(draws, ask);
        if (ask->content.length == 0)
            ask->content.length = 1;
        ask->has_size_max = draw(draws, 6) == 0;
        ask->size_max = draw_beside(draws, length + ask->content.length);
    }
    ask->has_position = draw(draws, 3) == 0;
    ask->position = draw_beside(draws, length);
}

void script_pages(struct draws *draws, struct ask *ask)
{
    uint32_t pages = judge_known_length(ask->container, ask->blob) / PAGE_BYTES;
    uint32_t from = draw(draws, pages + 1), count = 1 + draw(draws, draw(draws, 3) > 0 ? 4 : 64);

    /* Where one unit of the server ends and the next begins. */
    if (pages > UNIT_PAGES && draw(draws, 2) == 0) {
        from = UNIT_PAGES * (1 + draw(draws, pages / UNIT_PAGES)) - draw(draws, 6);
        count = 1 + draw(draws, draw(draws, 4) > 0 ? 8 : UNIT_PAGES);
    }
    ask->has_range = true;
    if (from + count > pages && draw(draws, 8) != 0)
        from = count < pages ? pages - count : 0;
    ask->range_from = from * PAGE_BYTES;
    ask->range_to = (from + count) * PAGE_BYTES - 1;
    if (ask->op == OP_PUT_PAGE)
        ask->content =
            (struct segment){ .seed = world_mix(draws->state), .length = count * PAGE_BYTES };
    if (draw(draws, 4) == 0) {
        ask->sequence_condition = (enum sequence_condition)(1 + draw(draws, 3));
        ask->if_sequence = draw(draws, 5);
    }
}

static uint32_t draw_size(struct draws *draws)
{
    if (draw(draws, 8) == 0)
        return PAGE_BYTES * (UNIT_PAGES - 4 + draw(draws, PAGES_MAX - UNIT_PAGES + 5));
    return PAGE_BYTES * (draw(draws, 4) == 0 ? draw(draws, 256) : draw(draws, 24));
}

static void draw_sequence(struct draws *draws, struct ask *ask)
{
    static const uint64_t numbers[] = { 0, 1, 2, 3, 4, INT64_MAX };

    ask->sequence = numbers[draw(draws, draw(draws, 6) == 0 ? 6 : 5)];
}

void script_put_blob(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 6);

    if (kind < 3) {
        script_content(draws, ask);
        return;
    }
    ask->kind = kind == 3 ? KIND_APPENDED : KIND_PAGES;
    if (ask->kind == KIND_PAGES) {
        ask->has_size = true;
        ask->size = draw_size(draws);
        draw_sequence(draws, ask);
    }
}

void script_properties(struct draws *draws, struct ask *ask)
{
    if (draw(draws, 2) == 0)
        return;
    if (draw(draws, 2) == 0)
        ask->type = 0;
    ask->has_size = draw(draws, 2) == 0;
    ask->size = draw_size(draws);
    ask->sequence_act = (enum sequence_act)draw(draws, 4);
    draw_sequence(draws, ask);
    if (!ask->has_size && ask->sequence_act == SEQUENCE_KEPT)
        ask->type = 1;
}

/* Of the blob or of a snapshot, all of them or what differs from a snapshot. */
void script_page_ranges(struct draws *draws, struct ask *ask)
{
    ask->has_range = draw(draws, 3) == 0;
    ask->range_from = draw_size(draws) + (draw(draws, 3) == 0);
    ask->range_to = ask->range_from + script_length(draws);
    if (draw(draws, 2) == 0)
        memcpy(ask->previous, judge_known_snapshot(ask->container, ask->blob, draw(draws, 2)),
               SNAPSHOT_SIZE);
}

static void draw_remote(struct draws *draws, struct ask *ask)
{
    ask->is_remote = true;
    ask->is_sync =
        draw(draws, 4) == 0 || kept_has_containers(); /* none ends in one that is deleted */
    ask->source_snapshot[0] = '\0';
    ask->source_is_version = false;
    ask->source_etag = 0;
    ask->kind = draw(draws, 3) == 0 ? KIND_PAGES : KIND_BLOCKS;
    ask->fate = draw(draws, 3) == 0 ? (enum fate)draw(draws, FATES) : FATE_STAYS;
    ask->content.seed = world_mix(draws->state);
    ask->content.length = ask->kind == KIND_PAGES ? draw_size(draws) : script_length(draws);
}

static bool is_current(const struct ask *ask)
{
    return ask->source_is_version &&
           strcmp(judge_current_version(ask->source_container, ask->source_blob),
                  ask->source_snapshot) == 0;
}

/* What was a snapshot may be a version. Often one of the same blob, which is so promoted. */
static void draw_source_version(struct draws *draws, struct ask *ask)
{
    if (draw(draws, 3) == 0) {
        const char *time = draw(draws, 6) == 0 ? judge_current_version(ask->container, ask->blob)
                                               : judge_known_snapshot(ask->container, ask->blob,
                                                                      draw(draws, KEPT_SNAPSHOTS));

        ask->source_container = ask->container;
        ask->source_blob = ask->blob;
        ask->source_etag = judge_known_etag(ask->container, ask->blob);
        memcpy(ask->source_snapshot, time, SNAPSHOT_SIZE);
    }
    ask->source_is_version =
        ask->source_snapshot[0] &&
        judge_is_version(ask->source_container, ask->source_blob, ask->source_snapshot);
}

/* Of what is there, by its ETag, so that it is known which version was copied; or of a snapshot. */
void script_copy(struct draws *draws, struct ask *ask)
{
    struct ask source = { .op = OP_COPY, .container = ask->container, .blob = draw(draws, BLOBS) };

    if (draw(draws, 4) > 0)
        judge_aim(&source, (enum blob_kind)draw(draws, 3), draw(draws, 64));
    ask->source_container = source.container;
    ask->source_blob = source.blob;
    ask->is_sync = draw(draws, 2) == 0;
    ask->is_fast = !ask->is_sync && draw(draws, 2) == 0;
    ask->source_etag = judge_known_etag(ask->source_container, ask->source_blob);
    if (draw(draws, 4) == 0)
        memcpy(ask->source_snapshot,
               judge_known_snapshot(ask->source_container, ask->source_blob, draw(draws, 2)),
               SNAPSHOT_SIZE);
    if (kept_has_versions())
        draw_source_version(draws, ask);
    if (ask->source_snapshot[0] && !is_current(ask))
        ask->source_etag = 0;
    else if (ask->source_etag == 0 || draw(draws, 12) == 0)
        ask->source_etag = 0x8DE000000000001;
    ask->metadata = draw(draws, 3) == 0 ? 1 + draw(draws, 99) : 0;
    if (draw(draws, 4) == 0)
        draw_remote(draws, ask);
}
