/* Field by field. */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* ---- bytes ---- */

static const char *compare_bytes(const struct ask *ask, const struct segment *segments,
                                 unsigned count, const struct reply *answer)
{
    uint64_t length = model_length(segments, count), from = 0, to = length, at = 0;
    static unsigned char part[4096];

    if (ask->has_range) {
        from = ask->range_from;
        to = ask->range_to + 1u < length ? ask->range_to + 1u : length;
    }
    if (answer->length != to - from)
        return "another length of the body";
    for (unsigned i = 0; i < count; at += segments[i].length, i++) {
        uint64_t first = at > from ? at : from;
        uint64_t last = at + segments[i].length < to ? at + segments[i].length : to;

        while (first < last && first - from < answer->body_size) {
            size_t some = last - first < sizeof part ? (size_t)(last - first) : sizeof part;

            if (some > answer->body_size - (first - from))
                some = (size_t)(answer->body_size - (first - from));
            pattern_fill(segments[i].seed, first - at, part, some);
            if (memcmp(part, answer->body + (first - from), some) != 0)
                return "other bytes";
            first += some;
        }
    }
    return NULL;
}

/* ---- heads ---- */

static const char *compare_lease(const struct lease_state *lease, const struct reply *answer,
                                 struct doubt doubt)
{
    static const char *const states[NOWS] = { "available", "leased", "breaking", "broken",
                                              "expired" };
    enum lease_now now = model_lease_now(lease, doubt, answer->began_ns, answer->ended_ns);
    bool locked = now == NOW_LEASED || now == NOW_BREAKING;

    if (strcmp(answer->lease_state, states[now]) != 0)
        return "another state of the lease";
    if (strcmp(answer->lease_status, locked ? "locked" : "unlocked") != 0)
        return "another status of the lease";
    if (now == NOW_LEASED &&
        strcmp(answer->lease_duration, lease->duration_s < 0 ? "infinite" : "fixed") != 0)
        return "another kind of duration of the lease";
    return NULL;
}

static const char *compare_blob_head(const struct ask *ask, const struct expected *expected,
                                     const struct reply *answer, struct doubt doubt)
{
    const struct blob_state *b = &expected->blob;
    const struct snapshot_state *s = expected->snapshot;
    uint32_t length = s ? model_length(s->segments, s->segment_count)
                        : model_length(b->segments, b->segment_count);

    if (answer->metadata != (s ? s->metadata : b->metadata))
        return "other metadata";
    if (ask->op == OP_GET_METADATA)
        return NULL;
    if (answer->tag_count != ((s ? s->tag : b->tag) > 0))
        return "another number of tags";
    if (strcmp(answer->type, type_texts[s ? s->type : b->type]) != 0)
        return "another content type";
    if (ask->op == OP_HEAD_BLOB && answer->length != length)
        return "another length";
    return s ? NULL : compare_lease(&b->lease, answer, doubt);
}

static const char *compare_container_head(const struct expected *expected,
                                          const struct reply *answer, struct doubt doubt)
{
    static const char *const access[] = { "", "blob", "container" };
    const struct container_state *c = &expected->container;

    if (answer->metadata != c->metadata)
        return "other metadata";
    if (strcmp(answer->access, access[c->access]) != 0)
        return "another public access";
    return compare_lease(&c->lease, answer, doubt);
}

static const char *compare_lease_action(const struct ask *ask, const struct reply *answer)
{
    unsigned id = ask->act == ACT_RENEW ? ask->lease_id : ask->proposed;

    if (ask->act == ACT_BREAK || ask->act == ACT_RELEASE)
        return NULL;
    return strcmp(answer->lease_id, lease_texts[id]) == 0 ? NULL : "another lease id";
}

/* ---- Get Block List ---- */

static const char *compare_blocks(const char *xml, const char *element,
                                  const struct segment *blocks, unsigned count, bool in_order)
{
    const char *at = strstr(xml, element), *end = at ? strchr(at, '\0') : NULL;
    unsigned found = 0;

    if (at && strncmp(at + strlen(element), " />", 3) != 0) {
        char close[40];

        (void)snprintf(close, sizeof close, "</%s", element + 1);
        end = strstr(at, close);
    } else {
        at = NULL;
    }
    while (at && (at = strstr(at, "<Name>")) && at < end) {
        const struct segment *block = NULL;
        char name[16];

        for (unsigned i = 0; i < count && !block; i++) {
            block_name(blocks[i].block - 1u, name);
            if ((!in_order || i == found) && strncmp(at + 6, name, strlen(name)) == 0)
                block = &blocks[i];
        }
        if (!block)
            return "a block that is not to be there";
        at = strstr(at, "<Size>");
        if (!at || strtoul(at + 6, NULL, 10) != block->length)
            return "another size of a block";
        found++;
    }
    return found == count ? NULL : "another number of blocks";
}

static const char *compare_block_list(const struct expected *expected, const struct reply *answer)
{
    const struct blob_state *b = &expected->blob;
    const char *xml = (const char *)answer->body, *why;

    answer->body[answer->body_size] = '\0';
    why = compare_blocks(xml, "<CommittedBlocks", b->segments,
                         b->exists && b->of_blocks ? b->segment_count : 0, true);
    return why ? why : compare_blocks(xml, "<UncommittedBlocks", b->staged, b->staged_count, false);
}

static const char *compare_tags(const struct expected *expected, const struct reply *answer)
{
    unsigned tag = expected->snapshot ? expected->snapshot->tag : expected->blob.tag;
    const char *xml = (const char *)answer->body, *value;

    answer->body[answer->body_size] = '\0';
    value = strstr(xml, "<Key>k</Key><Value>");
    if (!strstr(xml, "<TagSet"))
        return "no tags";
    return (value ? strtoul(value + 19, NULL, 10) : 0) == tag ? NULL : "another tag";
}

const char *compare_answer(const struct ask *ask, const struct expected *expected,
                           const struct reply *answer, struct doubt doubt)
{
    const struct stamp *stamp = expected->stamp;

    if (answer->status != expected->status)
        return expected->code ? expected->code : "another status";
    if (strcmp(answer->code, expected->code ? expected->code : "") != 0)
        return expected->code ? expected->code : "an error code";
    if (expected->code)
        return NULL;
    if (stamp && stamp->etag != 0 && stamp->etag != answer->etag)
        return "another ETag";
    if (stamp && stamp->modified_s != 0 && answer->modified_s != 0 &&
        stamp->modified_s != answer->modified_s)
        return "another Last-Modified";
    switch ((int)ask->op) {
    case OP_GET_CONTAINER:
        return compare_container_head(expected, answer, doubt);
    case OP_GET_BLOB: {
        const struct snapshot_state *s = expected->snapshot;
        const char *why = compare_blob_head(ask, expected, answer, doubt);

        return why ? why
               : s ? compare_bytes(ask, s->segments, s->segment_count, answer)
                   : compare_bytes(ask, expected->blob.segments, expected->blob.segment_count,
                                   answer);
    }
    case OP_HEAD_BLOB:
    case OP_GET_METADATA:
        return compare_blob_head(ask, expected, answer, doubt);
    case OP_LEASE_BLOB:
    case OP_LEASE_CONTAINER:
        return compare_lease_action(ask, answer);
    case OP_GET_TAGS:
        return compare_tags(expected, answer);
    case OP_GET_BLOCK_LIST:
        return compare_block_list(expected, answer);
    default:
        return NULL;
    }
}
