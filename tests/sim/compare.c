/* Field by field. */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sas_terms.h"
#include "times.h"
#include "world.h"

/* ---- bytes ---- */

static const char *compare_bytes(const struct ask *ask, const struct contents *contents,
                                 const struct reply *answer)
{
    uint64_t length = contents_length(contents), from = 0, to = length;

    if (ask->has_range) {
        from = ask->range_from;
        to = ask->range_to + 1u < length ? ask->range_to + 1u : length;
    }
    if (answer->length != to - from)
        return "another length of the body";
    return contents_compare(contents, (uint32_t)from, answer->body, answer->body_size);
}

/* ---- heads ---- */

static const char *const copy_texts[] = { "", "success", "pending", "failed", "aborted" };

static const char *compare_lease(const struct model_lease *lease, const struct reply *answer,
                                 struct doubt doubt)
{
    enum lease_now now = model_lease_now(lease, doubt.late, answer->began_ns, answer->ended_ns);
    bool locked = now == NOW_LEASED || now == NOW_BREAKING;

    if (strcmp(answer->lease_state, lease_now_texts[now]) != 0)
        return "another state of the lease";
    if (strcmp(answer->lease_status, locked ? "locked" : "unlocked") != 0)
        return "another status of the lease";
    if (now == NOW_LEASED &&
        strcmp(answer->lease_duration, lease->duration_s < 0 ? "infinite" : "fixed") != 0)
        return "another kind of duration of the lease";
    return NULL;
}

/* Only block blobs have one. rest: Get-Blob-Properties "x-ms-access-tier" */
static const char *compare_tier(enum tier tier, enum tier comes_back, enum blob_kind kind,
                                const struct reply *answer)
{
    static const char *const backs[TIERS] = { "", "rehydrate-pending-to-hot",
                                              "rehydrate-pending-to-cool",
                                              "rehydrate-pending-to-cold", "" };
    const char *shown = kind != KIND_BLOCKS ? "" : tier == AT_INFERRED ? "Hot" : tier_texts[tier];

    if (strcmp(answer->tier, shown) != 0)
        return "another tier";
    return strcmp(answer->archive_status, backs[comes_back]) == 0 ? NULL : "another archive status";
}

static bool is_version(const char *shown, uint64_t id)
{
    char text[32] = "";

    if (id > 0)
        times_format(id, text);
    return strcmp(shown, text) == 0;
}

/* Those of writes that make one, and of reads. rest: "Blob versioning"; recorded */
static const char *compare_version(const struct ask *ask, const struct expected *expected,
                                   const struct reply *answer)
{
    const struct snapshot_state *s = expected->snapshot;
    bool reads = ask->op == OP_GET_BLOB || ask->op == OP_HEAD_BLOB;
    bool makes = ask->op == OP_PUT_BLOB || ask->op == OP_PUT_BLOCK_LIST || ask->op == OP_COPY ||
                 ask->op == OP_SET_METADATA || ask->op == OP_SNAPSHOT;
    uint64_t id = !s ? expected->blob.version : s->is_version ? s->at : 0;

    if ((reads || makes) && !is_version(answer->version, id))
        return "another version id";
    if (reads && answer->is_current != (!s && id > 0))
        return "another word on whether it is the current version";
    return NULL;
}

static const char *compare_blob_head(const struct ask *ask, const struct expected *expected,
                                     const struct reply *answer, struct doubt doubt)
{
    const struct blob_state *b = &expected->blob;
    const struct snapshot_state *s = expected->snapshot;
    const struct contents *contents = s ? &s->contents : &b->contents;

    if (answer->metadata != (s ? s->metadata : b->metadata))
        return "other metadata";
    if (ask->op == OP_GET_METADATA)
        return NULL;
    if (answer->tag_count != ((s ? s->tag : b->tag) > 0))
        return "another number of tags";
    if (ask->op == OP_HEAD_BLOB) {
        const char *why = compare_tier(s ? s->tier : b->tier, s ? AT_INFERRED : b->comes_back,
                                       contents->kind, answer);

        if (why)
            return why;
    }
    if (strcmp(answer->copy_status, copy_texts[s ? s->copy : b->copy]) != 0)
        return "another status of a copy";
    if (strcmp(answer->type, type_texts[s ? s->type : b->type]) != 0)
        return "another content type";
    if (ask->op == OP_HEAD_BLOB && answer->length != contents_length(contents))
        return "another length";
    if (strcmp(answer->kind, kind_texts[contents->kind]) != 0)
        return "another type of blob";
    if (contents->kind == KIND_PAGES && answer->sequence != contents->sequence)
        return "another sequence number";
    if (contents->kind == KIND_APPENDED && answer->block_count != contents->appended)
        return "another number of appended blocks";
    if (answer->sealed != contents->sealed)
        return contents->sealed ? "is not sealed" : "is sealed";
    if (protect_is_on()) {
        const char *why = protect_compare_blob(s ? &s->shield : &b->shield, contents->key, answer);

        if (why)
            return why;
    }
    if (s || ask->is_version)
        return answer->lease_state[0] ? "a lease of a snapshot or version" : NULL;
    return compare_lease(&b->lease, answer, doubt);
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
    if (protect_is_on() && protect_compare_container(&c->protection, answer))
        return protect_compare_container(&c->protection, answer);
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
    why = compare_blocks(xml, "<CommittedBlocks", b->contents.segments,
                         b->exists && b->contents.of_blocks ? b->contents.segment_count : 0, true);
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

/* ---- append and page blobs ---- */

static const char *compare_append(const struct contents *contents, const struct reply *answer)
{
    if (answer->append_offset != contents->last->from)
        return "another place of what was appended";
    return answer->block_count == contents->appended ? NULL : "another number of appended blocks";
}

static unsigned count_of(const char *xml, const char *word)
{
    unsigned count = 0;

    while ((xml = strstr(xml, word))) {
        xml += strlen(word);
        count++;
    }
    return count;
}

/* rest: Get-Page-Ranges */
static const char *compare_ranges(const struct ask *ask, const struct expected *expected,
                                  const struct reply *answer)
{
    const struct contents *contents =
        expected->snapshot ? &expected->snapshot->contents : &expected->blob.contents;
    const struct contents *older = expected->previous ? &expected->previous->contents : NULL;
    uint32_t length = contents_length(contents), from = 0, to = length;
    const char *at = (const char *)answer->body;
    unsigned shown = 0;
    bool is_clear;

    answer->body[answer->body_size] = '\0';
    if (answer->blob_length != length)
        return "another length";
    if (ask->has_range) {
        /* Whole pages of 512 bytes. decision: 854 */
        from = ask->range_from / 512 * 512;
        to = (ask->range_to / 512 + 1) * 512 < length ? (ask->range_to / 512 + 1) * 512 : length;
    }
    for (uint32_t end = from; contents_range(contents, older, end, to, &from, &end, &is_clear);) {
        char range[120];

        (void)snprintf(range, sizeof range, "<%s><Start>%u</Start><End>%u</End></%s>",
                       is_clear ? "ClearRange" : "PageRange", from, end - 1,
                       is_clear ? "ClearRange" : "PageRange");
        at = strstr(at, is_clear ? "<ClearRange>" : "<PageRange>");
        if (!at || strncmp(at, range, strlen(range)) != 0)
            return "other ranges of pages";
        at += strlen(range);
        shown++;
    }
    return shown == count_of((const char *)answer->body, "</PageRange>") +
                        count_of((const char *)answer->body, "</ClearRange>")
               ? NULL
               : "more ranges of pages";
}

static const char *compare_policies(const struct container_state *c, const struct reply *answer)
{
    const char *xml = (const char *)answer->body;

    answer->body[answer->body_size] = '\0';
    for (unsigned i = 0; i < POLICIES; i++) {
        char policy[300], id[16];
        const char *shown;

        sas_format_policy(&c->policies[i], true, policy, sizeof policy);
        (void)snprintf(id, sizeof id, "<Id>p%u</Id>", i);
        shown = strstr(xml, id);
        if (!shown != !c->policies[i].exists ||
            (shown && strncmp(shown + strlen(id), policy, strlen(policy)) != 0))
            return "other policies";
    }
    return NULL;
}

const char *compare_answer(const struct ask *ask, const struct expected *expected,
                           const struct reply *answer, struct doubt doubt)
{
    const struct stamp *stamp = expected->stamp;

    if (answer->status != expected->status && !(expected->either_status && answer->status == 200))
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
    if (compare_version(ask, expected, answer))
        return compare_version(ask, expected, answer);
    switch ((int)ask->op) {
    case OP_PROTECT:
    case OP_SHOW_PROTECTION:
        return protect_compare_all(&expected->container.protection, answer);
    case OP_GET_ACL:
        return compare_policies(&expected->container, answer);
    case OP_COPY:
        return strcmp(answer->copy_status, copy_texts[expected->blob.copy]) == 0
                   ? NULL
                   : "another status of a copy";
    case OP_GET_CONTAINER:
        return compare_container_head(expected, answer, doubt);
    case OP_GET_BLOB: {
        const struct snapshot_state *s = expected->snapshot;
        const char *why = compare_blob_head(ask, expected, answer, doubt);

        return why ? why : compare_bytes(ask, s ? &s->contents : &expected->blob.contents, answer);
    }
    case OP_HEAD_BLOB:
    case OP_GET_METADATA:
        return compare_blob_head(ask, expected, answer, doubt);
    case OP_LEASE_BLOB:
    case OP_LEASE_CONTAINER:
        return compare_lease_action(ask, answer);
    case OP_GET_TAGS:
        return compare_tags(expected, answer);
    case OP_APPEND_BLOCK:
        return compare_append(&expected->blob.contents, answer);
    case OP_SEAL:
        return answer->sealed ? NULL : "is not sealed";
    case OP_PUT_PAGE:
    case OP_CLEAR_PAGE:
    case OP_SET_PROPERTIES:
        return expected->blob.contents.kind == KIND_PAGES &&
                       answer->sequence != expected->blob.contents.sequence
                   ? "another sequence number"
                   : NULL;
    case OP_PAGE_RANGES:
        return compare_ranges(ask, expected, answer);
    case OP_GET_BLOCK_LIST:
        return compare_block_list(expected, answer);
    default:
        return NULL;
    }
}
