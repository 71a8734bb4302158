/* What a page must show at a commit, beside what it shows. */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commits.h"
#include "kept.h"
#include "times.h"
#include "views.h"
#include "world.h"

#define TICKS_A_DAY UINT64_C(864000000000)
#define SHOWN_MAX   (BLOBS * (SNAPSHOTS_MAX + 1u))

/* In the order of their names. */
static const unsigned containers_by_name[CONTAINERS] = { 0, 2, 1 };

/* One entry of a page: a container, a blob, a snapshot of it, or a name up to the delimiter. */
struct shown {
    unsigned at; /* which, in the order of names */
    bool is_group;
    char group[32];
    const struct container_state *container;
    const struct kept_container *kept; /* a deleted container of its name; NULL for the live one */
    const struct blob_state *blob;
    const struct snapshot_state *snapshot; /* NULL: the base, or what stands for it: */
    bool has_versions_only;                /* a name without a current version */
};

struct expected_page {
    struct shown shown[SHOWN_MAX];
    unsigned count;
    bool has_more;
    struct shown next;
    bool
        is_uncertain; /* the marker is a snapshot among those whose time nobody was told, or something expires */
    uint64_t now; /* of the server, in ticks */
};

/* ---- what must be shown ---- */

/* False: the page is full. */
static bool show(const struct page_ask *asked, struct expected_page *page, struct shown entry)
{
    if (asked->max > 0 && page->count == asked->max) {
        page->has_more = true;
        page->next = entry;
        return false;
    }
    page->shown[page->count++] = entry;
    return true;
}

static bool is_before_marker(const struct page_ask *asked, const struct shown *entry,
                             struct expected_page *page)
{
    const char *time = entry->snapshot ? entry->snapshot->time->snapshot : "";

    if (entry->at != asked->from || !asked->marker[0] || !entry->snapshot)
        return entry->at < asked->from;
    if (!asked->from_snapshot[0])
        return true; /* the base comes behind its snapshots */
    page->is_uncertain |= !time[0];
    return strcmp(time, asked->from_snapshot) < 0;
}

/* Several of one group are one entry. */
static bool show_group(const struct page_ask *asked, struct expected_page *page, struct shown entry,
                       const char *delimiter)
{
    const struct shown *last = page->count > 0 ? &page->shown[page->count - 1] : NULL;
    const char *name = blob_names[entry.at];

    entry.is_group = true;
    (void)snprintf(entry.group, sizeof entry.group, "%.*s", (int)(delimiter + 1 - name), name);
    if (last && last->is_group && strcmp(last->group, entry.group) == 0)
        return true;
    return show(asked, page, entry);
}

/* What is soft-deleted is shown on request. That which has expired since then may be gone when the records are read. */
static bool is_shown_deleted(const struct page_ask *asked, uint64_t expires,
                             struct expected_page *page)
{
    if (!(asked->include & INCLUDE_DELETED) || expires <= page->now)
        return false;
    page->is_uncertain |= expires <= kept_latest();
    return true;
}

/* False: the page is full. */
static bool show_state(const struct page_ask *asked, struct shown entry, struct expected_page *page)
{
    size_t prefix = strlen(list_prefixes[asked->prefix]);
    const char *name = blob_names[entry.at], *delimiter = NULL;

    if (is_before_marker(asked, &entry, page))
        return true;
    if (asked->by_delimiter && strlen(name) >= prefix)
        delimiter = strchr(name + prefix, '/');
    return delimiter ? show_group(asked, page, entry, delimiter) : show(asked, page, entry);
}

/* Only versions are left. What has expired beside them, or is the last of them, may have gone by now, or not. */
static bool is_shown_for_versions(const struct page_ask *asked, const struct blob_state *b,
                                  struct expected_page *page)
{
    bool is_certain = false;

    if (!(asked->include & INCLUDE_VERSIONS_ONLY) || !model_has_versions_only(b) ||
        b->expires > page->now)
        return false;
    page->is_uncertain |= b->expires > 0;
    for (unsigned i = 0; i < b->snapshot_count; i++)
        is_certain |= b->snapshots[i].is_version &&
                      (b->snapshots[i].expires == 0 || b->snapshots[i].expires > page->now);
    page->is_uncertain |= !is_certain;
    return true;
}

static bool show_blob(const struct page_ask *asked, unsigned blob, const struct blob_state *b,
                      struct expected_page *page)
{
    struct shown entry = { .at = blob, .blob = b };

    for (unsigned i = 0; i < b->snapshot_count; i++) {
        const struct snapshot_state *s = &b->snapshots[i];

        if (!(asked->include & (s->is_version ? INCLUDE_VERSIONS : INCLUDE_SNAPSHOTS)) ||
            (s->expires > 0 && !is_shown_deleted(asked, s->expires, page)))
            continue;
        entry.snapshot = s;
        if (!show_state(asked, entry, page))
            return false;
    }
    entry.snapshot = NULL;
    entry.has_versions_only = is_shown_for_versions(asked, b, page);
    if (b->exists || entry.has_versions_only ||
        (b->staged_count > 0 && (asked->include & INCLUDE_UNCOMMITTED)) ||
        (b->expires > 0 && is_shown_deleted(asked, b->expires, page)))
        return show_state(asked, entry, page);
    return true;
}

static bool has_prefix(const struct page_ask *asked, const char *name)
{
    const char *prefix = list_prefixes[asked->prefix];

    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void expect_blobs(const struct ask *ask, const struct container_state *c, uint64_t commit,
                         struct expected_page *page)
{
    for (unsigned i = 0; i < BLOBS && c->exists; i++) {
        const struct blob_state *b = model_blob_in(c->space, i, commit);

        if (b->incarnation == c->incarnation && has_prefix(&ask->page, blob_names[i]) &&
            !show_blob(&ask->page, i, b, page))
            return;
    }
}

/* Shows the deleted containers of a name, which come before the live one, oldest first. Returns false if the page is
 * full. */
static bool show_deleted(const struct page_ask *asked, struct shown entry,
                         struct expected_page *page)
{
    for (unsigned i = 0; i < entry.container->kept_count && (asked->include & INCLUDE_DELETED);
         i++) {
        char version[DELETED_SIZE];

        entry.kept = &entry.container->kept[i];
        times_deleted(entry.kept->deleted, version);
        if (entry.at < asked->from ||
            (entry.at == asked->from && asked->marker[0] &&
             (!asked->from_snapshot[0] || strcmp(version, asked->from_snapshot) < 0)))
            continue;
        if (!show(asked, page, entry))
            return false;
    }
    return true;
}

static void expect_containers(const struct ask *ask, uint64_t commit, struct expected_page *page)
{
    for (unsigned i = 0; i < CONTAINERS; i++) {
        unsigned at = containers_by_name[i];
        const struct container_state *c = model_container_at(at, views_at(at, commit));
        struct shown entry = { .at = i, .container = c };

        if (!has_prefix(&ask->page, container_names[containers_by_name[i]]))
            continue;
        if (!show_deleted(&ask->page, entry, page))
            return;
        if (c->exists && !is_before_marker(&ask->page, &entry, page) &&
            !show(&ask->page, page, entry))
            return;
    }
}

static void expect_page(const struct ask *ask, uint64_t now, uint64_t commit,
                        struct expected_page *page)
{
    memset(page, 0, sizeof *page);
    page->now = now;
    if (ask->op == OP_LIST_CONTAINERS)
        expect_containers(ask, commit, page);
    else
        expect_blobs(ask, model_container_at(ask->container, commit), commit, page);
}

/* ---- what is shown ---- */

struct entry {
    const char *from, *to; /* of the entry's XML */
    bool is_group;
};

/* The text of an element in the entry; empty when it is not there. */
static const char *text_of(const struct entry *entry, const char *open, char *to, size_t size)
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

static bool text_fits(const struct entry *entry, const char *open, const char *expected)
{
    char text[80];

    return strcmp(text_of(entry, open, text, sizeof text), expected) == 0;
}

static bool etag_fits(const struct entry *entry, const struct stamp *stamp)
{
    char text[40];
    const char *digits = text_of(entry, "<Etag>", text, sizeof text);

    digits += *digits == '"';
    return stamp->etag == 0 || strtoull(digits, NULL, 16) == stamp->etag;
}

static bool number_fits(const struct entry *entry, const char *open, uint64_t number)
{
    char text[40];

    return strtoull(text_of(entry, open, text, sizeof text), NULL, 10) == number;
}

/* Cuts the page into entries. More than there can be: as many as there can be and one. */
static unsigned split(const struct ask *ask, const struct reply *answer, struct entry *entries)
{
    bool containers = ask->op == OP_LIST_CONTAINERS;
    const char *at = (const char *)answer->body;
    unsigned count = 0;

    answer->body[answer->body_size] = '\0';
    while (count <= SHOWN_MAX) {
        const char *one = strstr(at, containers ? "<Container>" : "<Blob>");
        const char *group = containers ? NULL : strstr(at, "<BlobPrefix>");
        bool is_group = group && (!one || group < one);
        const char *begin = is_group ? group : one, *end;

        if (!begin)
            break;
        end = strstr(begin, is_group ? "</BlobPrefix>" : containers ? "</Container>" : "</Blob>");
        if (!end)
            break;
        entries[count++] = (struct entry){ .from = begin, .to = end, .is_group = is_group };
        at = end;
    }
    return count;
}

static const char *marker_of(const struct reply *answer, char to[MARKER_SIZE])
{
    const char *at = strstr((const char *)answer->body, "<NextMarker>");

    to[0] = '\0';
    if (at)
        (void)snprintf(to, MARKER_SIZE, "%.*s", (int)strcspn(at + 12, "<"), at + 12);
    return to;
}

/* ---- one beside the other ---- */

/* One that is due to come back from the archive may have. */
static bool tier_fits(const struct entry *entry, const struct blob_state *b,
                      const struct snapshot_state *s)
{
    enum tier tier = s ? s->tier : b->tier, comes_back = s ? AT_INFERRED : b->comes_back;
    const char *shown = tier == AT_INFERRED ? "Hot" : tier_texts[tier];

    if ((s ? &s->contents : &b->contents)->kind != KIND_BLOCKS)
        return text_fits(entry, "<AccessTier>", "");
    if (comes_back != AT_INFERRED && text_fits(entry, "<AccessTier>", tier_texts[comes_back]))
        return true;
    return text_fits(entry, "<AccessTier>", shown) && text_fits(entry, "<RehydratePriority>",
                                                                comes_back == AT_INFERRED ? ""
                                                                : b->is_fast              ? "High"
                                                                             : "Standard");
}

/* rest: List-Blobs "RemainingRetentionDays" */
static const char *compare_deletion(uint64_t expires, uint64_t now, const struct entry *entry)
{
    if (!text_fits(entry, "<Deleted>", expires > 0 ? "true" : ""))
        return expires > 0 ? "is not shown as deleted" : "is shown as deleted";
    if (expires == 0)
        return NULL;
    return number_fits(entry, "<RemainingRetentionDays>", (expires - now) / TICKS_A_DAY)
               ? NULL
               : "other days of what is deleted";
}

/* Which state of the blob the entry says that it is. */
static const char *compare_ref(const struct shown *shown, const struct entry *entry)
{
    const struct snapshot_state *s = shown->snapshot;
    bool is_current = !s && shown->blob->exists && shown->blob->version > 0;
    uint64_t id = is_current ? shown->blob->version : s && s->is_version ? s->at : 0;
    char text[SNAPSHOT_SIZE] = "";

    if (s && !s->is_version && s->time->snapshot[0] &&
        !text_fits(entry, "<Snapshot>", s->time->snapshot))
        return "another snapshot";
    if (text_fits(entry, "<Snapshot>", "") != (!s || s->is_version))
        return "a snapshot where another state should be, or the other way round";
    if (id > 0)
        times_format(id, text);
    if (!text_fits(entry, "<VersionId>", text))
        return "another version id";
    if (!text_fits(entry, "<IsCurrentVersion>", is_current && text[0] ? "true" : ""))
        return "another word on whether it is the current version";
    return text_fits(entry, "<HasVersionsOnly>", shown->has_versions_only ? "true" : "")
               ? NULL
               : "another word on whether there are versions alone";
}

/* With the properties of what there was last. */
static const char *compare_last(const struct blob_state *b, const struct entry *entry)
{
    if (b->last_stamp && !etag_fits(entry, b->last_stamp))
        return "another ETag of what there was last";
    return number_fits(entry, "<Content-Length>", b->last_length)
               ? NULL
               : "another length of what there was last";
}

/* No day of a retention passes during a run. rest: List-Containers2 "RemainingRetentionDays" */
static const char *compare_container(const struct shown *shown, const struct entry *entry,
                                     bool metadata)
{
    const struct kept_container *kept = shown->kept;
    char version[DELETED_SIZE] = "";

    if (kept)
        times_deleted(kept->deleted, version);
    if (!text_fits(entry, "<Version>", version) ||
        !text_fits(entry, "<Deleted>", kept ? "true" : ""))
        return "another deletion of a container";
    if (kept && !number_fits(entry, "<RemainingRetentionDays>", kept->days - 1) &&
        !number_fits(entry, "<RemainingRetentionDays>", kept->days))
        return "other days of a container that was deleted";
    if (!kept && !etag_fits(entry, shown->container->stamp))
        return "a container's ETag";
    if (!number_fits(entry, "<v>",
                     !metadata ? 0
                     : kept    ? kept->metadata
                               : shown->container->metadata))
        return "a container's metadata";
    return NULL;
}

static const char *compare_entry(const struct page_ask *asked, const struct shown *shown,
                                 const struct entry *entry, uint64_t now)
{
    bool metadata = (asked->include & INCLUDE_METADATA) != 0;
    const struct snapshot_state *s = shown->snapshot;
    const struct blob_state *b = shown->blob;
    const struct container_state *c = shown->container;
    bool is_encrypted;

    if (shown->is_group != entry->is_group)
        return "a group where a blob should be, or the other way round";
    if (shown->is_group)
        return text_fits(entry, "<Name>", shown->group) ? NULL : "another group";
    if (!text_fits(entry, "<Name>",
                   c ? container_names[containers_by_name[shown->at]] : blob_names[shown->at]))
        return "another name";
    if (c)
        return compare_container(shown, entry, metadata);
    if (compare_ref(shown, entry))
        return compare_ref(shown, entry);
    if (shown->has_versions_only)
        return compare_last(b, entry);
    if (!s && !b->exists && b->expires == 0)
        return number_fits(entry, "<Content-Length>", 0) ? NULL : "a length of nothing";
    if (!etag_fits(entry, s ? s->stamp : b->stamp))
        return "another ETag";
    is_encrypted = (s ? &s->contents : &b->contents)->key > 0;
    if (!number_fits(entry, "<v>", !metadata || is_encrypted ? 0 : s ? s->metadata : b->metadata))
        return "other metadata";
    if (asked->include & INCLUDE_PROTECTION) {
        const char *why =
            protect_compare_entry(s ? &s->shield : &b->shield,
                                  (s ? &s->contents : &b->contents)->key, entry->from, entry->to);

        if (why)
            return why;
    }
    if (!number_fits(entry, "<Content-Length>", contents_length(s ? &s->contents : &b->contents)))
        return "another length";
    if (!text_fits(entry, "<BlobType>", kind_texts[(s ? &s->contents : &b->contents)->kind]))
        return "another type of blob";
    if (!tier_fits(entry, b, s))
        return "another tier";
    if (compare_deletion(s ? s->expires : b->expires, now, entry))
        return compare_deletion(s ? s->expires : b->expires, now, entry);
    return text_fits(entry, "<Content-Type>", type_texts[s ? s->type : b->type])
               ? NULL
               : "another content type";
}

static const char *compare_at(const struct page_ask *asked, const struct reply *answer,
                              const struct entry *entries, unsigned count,
                              const struct expected_page *page)
{
    char marker[MARKER_SIZE];

    if (page->is_uncertain)
        return NULL;
    if (page->count != count)
        return "another number of entries";
    for (unsigned i = 0; i < count; i++) {
        const char *why = compare_entry(asked, &page->shown[i], &entries[i], page->now);

        if (why)
            return why;
    }
    if ((marker_of(answer, marker)[0] != '\0') != page->has_more)
        return page->has_more ? "no marker of the next page" : "a marker of no page";
    return NULL;
}

/* The newest commit in (from, to] that changed what the listing is of; 0: none. */
static uint64_t changed_before(const struct ask *ask, uint64_t from, uint64_t to)
{
    bool all = ask->op == OP_LIST_CONTAINERS;
    uint64_t newest = 0;

    for (unsigned i = 0; i < (all ? CONTAINERS : BLOBS); i++) {
        struct ask about = { .container = all ? i : ask->container, .blob = all ? 0 : i };
        uint64_t changed = model_changed_before(&about, from, to);

        newest = changed > newest ? changed : newest;
    }
    return newest;
}

/* What the marker means if the page is of this state. */
static struct page_ask next_of(const struct page_ask *asked, const struct reply *answer,
                               const struct expected_page *page)
{
    const struct snapshot_state *s = page->next.snapshot;
    struct page_ask next = *asked;

    if (!page->has_more || page->is_uncertain || (s && !s->time->snapshot[0]))
        return (struct page_ask){ 0 };
    marker_of(answer, next.marker);
    next.from = page->next.at;
    memset(next.from_snapshot, 0, SNAPSHOT_SIZE);
    if (s)
        memcpy(next.from_snapshot, s->time->snapshot, SNAPSHOT_SIZE);
    else if (page->next.kept)
        times_deleted(page->next.kept->deleted, next.from_snapshot);
    return next;
}

static bool is_same_place(const struct page_ask *a, const struct page_ask *b)
{
    return a->max == b->max && a->from == b->from &&
           strcmp(a->from_snapshot, b->from_snapshot) == 0;
}

/* Returns whether the page is that of a container which was deleted and retained after the request started. */
static bool fits_late(const struct ask *ask, const struct reply *answer,
                      const struct entry *entries, unsigned count, uint64_t now, uint64_t from,
                      uint64_t to)
{
    static struct expected_page page;
    const struct container_state *c = model_container_at(ask->container, to);

    for (; kept_has_containers() && ask->op == OP_LIST_BLOBS && c && c->older;
         c = c->since > from ? c->older : NULL)
        for (uint64_t at = to; c->exists && at >= from; at--) {
            page = (struct expected_page){ .now = now };
            expect_blobs(ask, c, at, &page);
            if (!compare_at(&ask->page, answer, entries, count, &page))
                return true;
            if (at == 0)
                break;
        }
    return false;
}

/* Returns the newest commit that changed what a list shows of a container. */
static uint64_t container_changed(unsigned container, uint64_t from, uint64_t to)
{
    const struct ask about = { .op = OP_GET_CONTAINER, .container = container };
    const struct container_state *shown = model_container_at(container, to);
    uint64_t changed;

    while ((changed = model_changed_before(&about, from, to)) > 0) {
        const struct container_state *earlier = model_container_at(container, changed - 1);

        if (earlier->exists != shown->exists || earlier->stamp != shown->stamp ||
            earlier->metadata != shown->metadata)
            return changed;
        to = changed - 1;
    }
    return 0;
}

/* The same as listing_compare() for containers in several cells. */
static const char *compare_merged(const struct ask *ask, const struct reply *answer, uint64_t from,
                                  uint64_t to, struct page_ask *ret_next)
{
    static struct entry entries[SHOWN_MAX + 1];
    static struct expected_page page;
    static struct views views;
    unsigned count = split(ask, answer, entries);
    const char *first = NULL;
    bool found = false;

    views_begin(&views, CONTAINERS, from, to, container_changed);
    while (views_next(&views)) {
        struct page_ask next;
        const char *why;

        expect_page(ask, 0, to, &page);
        why = compare_at(&ask->page, answer, entries, count, &page);
        first = first ? first : why;
        if (why)
            continue;
        views_fits(&views);
        next = next_of(&ask->page, answer, &page);
        if (!found)
            *ret_next = next;
        else if (!is_same_place(ret_next, &next))
            ret_next->max = 0;
        found = true;
    }
    return views_acknowledge(&views) ? NULL : first;
}

const char *listing_compare(const struct ask *ask, const struct reply *answer, uint64_t now,
                            uint64_t from, uint64_t to, uint64_t *ret_commit,
                            struct page_ask *ret_next)
{
    static struct entry entries[SHOWN_MAX + 1];
    static struct expected_page page;
    unsigned count = split(ask, answer, entries);
    const char *first = NULL;
    bool found = false;

    *ret_next = (struct page_ask){ 0 };
    if (commits_are_divided() && ask->op == OP_LIST_CONTAINERS) {
        *ret_commit = 0;
        return compare_merged(ask, answer, from, to, ret_next);
    }
    for (uint64_t at = to;;) {
        uint64_t changed = changed_before(ask, from, at);
        const char *why;

        expect_page(ask, now, at, &page);
        why = compare_at(&ask->page, answer, entries, count, &page);
        if (!why) {
            struct page_ask next = next_of(&ask->page, answer, &page);

            if (!found)
                *ret_next = next;
            else if (!is_same_place(ret_next, &next))
                ret_next->max = 0;
            found = true;
            *ret_commit = changed;
        } else if (!first) {
            first = why;
        }
        if (changed == 0)
            break;
        at = changed - 1;
    }
    if (!found && fits_late(ask, answer, entries, count, now, from, to)) {
        *ret_commit = from;
        return NULL;
    }
    return found ? NULL : first;
}

/* ---- times of snapshots ---- */

static bool is_known(const struct blob_state *b, const char *time)
{
    for (unsigned i = 0; i < b->snapshot_count; i++) {
        if (strcmp(b->snapshots[i].time->snapshot, time) == 0)
            return true;
    }
    return false;
}

/* Snapshots are listed in the order of their times, which is that of their commits. */
static void adopt_blob(const struct blob_state *b, const char *name, uint64_t now,
                       const struct entry *entries, unsigned count)
{
    char time[SNAPSHOT_SIZE], tag[40];
    unsigned next = 0;

    for (unsigned i = 0; i < count; i++) {
        text_of(&entries[i], "<Snapshot>", time, sizeof time);
        if (!text_fits(&entries[i], "<Name>", name) || !time[0] || is_known(b, time))
            continue;
        while (next < b->snapshot_count &&
               (b->snapshots[next].time->snapshot[0] ||
                (b->snapshots[next].expires > 0 && b->snapshots[next].expires <= now)))
            next++;
        if (next == b->snapshot_count)
            return;
        /* An older state may be shown, where what expires leaves open which it is. */
        if (!text_fits(&entries[i], "<Deleted>", b->snapshots[next].expires > 0 ? "true" : ""))
            continue;
        memcpy(b->snapshots[next].time->snapshot, time, SNAPSHOT_SIZE);
        if (b->snapshots[next].stamp->etag == 0)
            b->snapshots[next].stamp->etag =
                strtoull(text_of(&entries[i], "<Etag>", tag, sizeof tag), NULL, 16);
    }
}

void listing_adopt(const struct ask *ask, const struct reply *answer, uint64_t now, uint64_t commit)
{
    static struct entry entries[SHOWN_MAX + 1];
    unsigned count = split(ask, answer, entries);

    for (unsigned b = 0; b < BLOBS; b++)
        adopt_blob(model_blob_at(ask->container, b, commit), blob_names[b], now, entries, count);
}
