/* Field by field. */
#include "compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

uint64_t compare_ticks(const char *time)
{
    unsigned year, month, day, hour, minute, second, fraction;
    uint64_t days, y;

    if (sscanf(time, "%4u-%2u-%2uT%2u:%2u:%2u.%7uZ", &year, &month, &day, &hour, &minute, &second,
               &fraction) != 7)
        return 0;
    /* Days of the civil calendar, with years that begin in March. */
    y = month <= 2 ? year - 1 : year;
    days = y * 365 + y / 4 - y / 100 + y / 400 +
           (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1 - 306;
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 10000000 + fraction;
}

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
    case OP_GET_BLOCK_LIST:
        return compare_block_list(expected, answer);
    default:
        return NULL;
    }
}

/* ---- listings ---- */

struct listed {
    const char *from, *to; /* of the entry's XML */
};

#define LISTED_MAX (BLOBS * (SNAPSHOTS_MAX + 2u) * 4u)

/* The text of an element in the entry; empty when it is not there. */
static const char *text_of(const struct listed *entry, const char *open, char *to, size_t size)
{
    const char *at = strstr(entry->from, open);
    size_t length = 0;

    if (at && at < entry->to) {
        at += strlen(open);
        length = strcspn(at, "<");
    }
    (void)snprintf(to, size, "%.*s", (int)length, at ? at : "");
    return to;
}

static bool etag_fits(const struct listed *entry, const char *open, const struct stamp *stamp)
{
    char text[40];
    const char *digits = text_of(entry, open, text, sizeof text);

    digits += *digits == '"';
    return stamp->etag == 0 || strtoull(digits, NULL, 16) == stamp->etag;
}

static bool number_fits(const struct listed *entry, const char *open, uint64_t number)
{
    char text[40];

    return strtoull(text_of(entry, open, text, sizeof text), NULL, 10) == number;
}

/* Is it the blob itself (time NULL) or the snapshot? */
static bool is_about(const struct listed *entry, const char *name, const char *time)
{
    char text[80];

    if (strcmp(text_of(entry, "<Name>", text, sizeof text), name) != 0)
        return false;
    return strcmp(text_of(entry, "<Snapshot>", text, sizeof text), time) == 0;
}

static const struct listed *find_entry(const struct listed *entries, unsigned count,
                                       const char *name, const char *time)
{
    for (unsigned i = 0; i < count; i++) {
        if (is_about(&entries[i], name, time))
            return &entries[i];
    }
    return NULL;
}

static unsigned count_named(const struct listed *entries, unsigned count, const char *name)
{
    unsigned found = 0;
    char text[80];

    for (unsigned i = 0; i < count; i++)
        found += strcmp(text_of(&entries[i], "<Name>", text, sizeof text), name) == 0;
    return found;
}

/* Does the listing show the blob as it was in this state? */
static bool shows(const struct listed *entries, unsigned count, const char *name,
                  const struct blob_state *b)
{
    unsigned expected = b->snapshot_count + (b->exists || b->staged_count > 0);
    const struct listed *base = find_entry(entries, count, name, "");

    if (count_named(entries, count, name) != expected)
        return false;
    for (unsigned i = 0; i < b->snapshot_count; i++) {
        const struct snapshot_state *s = &b->snapshots[i];
        const struct listed *entry = find_entry(entries, count, name, s->time->snapshot);

        if (!s->time->snapshot[0])
            continue; /* nobody was told its time yet */
        if (!entry || !etag_fits(entry, "<Etag>", s->stamp) ||
            !number_fits(entry, "<v>", s->metadata) ||
            !number_fits(entry, "<Content-Length>", model_length(s->segments, s->segment_count)))
            return false;
    }
    if (!b->exists)
        return b->staged_count == 0 || base;
    return base && etag_fits(base, "<Etag>", b->stamp) && number_fits(base, "<v>", b->metadata) &&
           number_fits(base, "<Content-Length>", model_length(b->segments, b->segment_count));
}

static unsigned split(const struct reply *answer, const char *open, const char *close,
                      struct listed *entries)
{
    const char *at = (const char *)answer->body;
    unsigned count = 0;

    answer->body[answer->body_size] = '\0';
    while ((at = strstr(at, open)) && count < LISTED_MAX) {
        const char *end = strstr(at, close);

        if (!end)
            break;
        entries[count++] = (struct listed){ .from = at, .to = end };
        at = end;
    }
    return count;
}

static bool shows_at_some_time(const struct ask *ask, unsigned blob, const struct listed *entries,
                               unsigned count, uint64_t from, uint64_t to)
{
    struct ask about = { .container = ask->container, .blob = blob };
    static const struct blob_state nothing;
    uint64_t at = to;

    for (;;) {
        const struct container_state *c = model_container_at(ask->container, at);
        const struct blob_state *b = model_blob_at(ask->container, blob, at);
        uint64_t changed = model_changed_before(&about, from, at);

        if (b->incarnation != c->incarnation)
            b = &nothing;
        if (c->exists && shows(entries, count, blob_names[blob], b))
            return true;
        if (changed == 0)
            return false;
        at = changed - 1;
    }
}

const char *compare_listing(const struct ask *ask, const struct reply *answer, uint64_t from,
                            uint64_t to)
{
    struct listed entries[LISTED_MAX];
    unsigned count = split(answer, "<Blob>", "</Blob>", entries);

    for (unsigned b = 0; b < BLOBS; b++) {
        if (!shows_at_some_time(ask, b, entries, count, from, to))
            return "a listing shows a blob as it never was meanwhile";
    }
    return NULL;
}

static bool is_known(const struct blob_state *b, const char *time)
{
    for (unsigned i = 0; i < b->snapshot_count; i++) {
        if (strcmp(b->snapshots[i].time->snapshot, time) == 0)
            return true;
    }
    return false;
}

/* Snapshots are listed in the order of their times, which is that of their commits. */
static void adopt_blob(const struct blob_state *b, const char *name, const struct listed *entries,
                       unsigned count)
{
    char text[80], time[SNAPSHOT_SIZE], tag[40];
    unsigned next = 0;

    for (unsigned i = 0; i < count; i++) {
        text_of(&entries[i], "<Snapshot>", time, sizeof time);
        if (strcmp(text_of(&entries[i], "<Name>", text, sizeof text), name) != 0 || !time[0] ||
            is_known(b, time))
            continue;
        while (next < b->snapshot_count && b->snapshots[next].time->snapshot[0])
            next++;
        if (next == b->snapshot_count)
            return;
        memcpy(b->snapshots[next].time->snapshot, time, SNAPSHOT_SIZE);
        if (b->snapshots[next].stamp->etag == 0)
            b->snapshots[next].stamp->etag =
                strtoull(text_of(&entries[i], "<Etag>", tag, sizeof tag), NULL, 16);
    }
}

void compare_adopt(const struct ask *ask, const struct reply *answer, uint64_t commit)
{
    struct listed entries[LISTED_MAX];
    unsigned count = split(answer, "<Blob>", "</Blob>", entries);

    for (unsigned b = 0; b < BLOBS; b++)
        adopt_blob(model_blob_at(ask->container, b, commit), blob_names[b], entries, count);
}

const char *compare_containers(const struct reply *answer, uint64_t from, uint64_t to)
{
    struct listed entries[LISTED_MAX];
    unsigned count = split(answer, "<Container>", "</Container>", entries);

    for (unsigned i = 0; i < CONTAINERS; i++) {
        struct ask about = { .container = i };
        const struct listed *entry = find_entry(entries, count, container_names[i], "");
        bool found = false;

        for (uint64_t at = to; !found;) {
            const struct container_state *c = model_container_at(i, at);
            uint64_t changed = model_changed_before(&about, from, at);

            found = c->exists ? entry && etag_fits(entry, "<Etag>", c->stamp) &&
                                    number_fits(entry, "<v>", c->metadata)
                              : !entry;
            if (changed == 0)
                break;
            at = changed - 1;
        }
        if (!found)
            return "a listing shows a container as it never was meanwhile";
    }
    return NULL;
}
