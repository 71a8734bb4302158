/* List Blobs, flat and by delimiter: an iterator over the container's space.
 *
 * (1) The work of a page is proportional to the page: what is not shown is jumped over, the
 *     snapshots of a blob and all blobs behind a BlobPrefix with one seek each.
 * (2) A page is taken from one state of the container, and that state is durable before the page is
 *     sent (decision_saw).
 * (3) The marker names the first record of the next page, so that no page repeats a result.
 * rest: List-Blobs */
#include "blob/listing.h"

#include "base/endian.h"
#include "base/log.h"

enum {
    INCLUDE_SNAPSHOTS = 1 << 0,
    INCLUDE_METADATA = 1 << 1,
    INCLUDE_UNCOMMITTED = 1 << 2,
};
/* Those after the first three are accepted: this server holds nothing that they would show. */
static const char *const include_names[] = {
    "snapshots",
    "metadata",
    "uncommittedblobs",
    "copy",
    "deleted",
    "tags",
    "versions",
    "deletedwithversions",
    "immutabilitypolicy",
    "legalhold",
    NULL,
};

struct list_blobs {
    struct listing listing;
    struct bytes delimiter;
    struct bytes start_from; /* names at or after it */
    struct bytes end_before; /* names before it */
    struct listing_place from;
};

static const struct bytes base_key = BYTES("\xFF");

/* ---- what is asked ---- */

/* Apache Arrow alone is not served; clients that ask for it take XML too.
 * rest: List-Blobs, "Accept" */
static enum error check_accept(struct decision *d)
{
    struct bytes accept = call_header(d->call, "accept");

    if (!accept.ptr || !memmem(accept.ptr, accept.len, "vnd.apache.arrow", 16))
        return OK;
    if (memmem(accept.ptr, accept.len, "application/xml", 15) ||
        memmem(accept.ptr, accept.len, "*/*", 3))
        return OK;
    return fail(d, E_NotImplemented, "Listings are served as application/xml only.");
}

static enum error check_text(struct decision *d, const char *name, struct bytes *ret_value)
{
    struct bytes value = listing_query(d->call, name);

    if (value.ptr && !bytes_is_utf8(value))
        return fail_query(d, E_InvalidQueryParameterValue, name, (struct bytes){ NULL, 0 },
                          "Not UTF-8.");
    *ret_value = value;
    return OK;
}

static enum error check_combination(struct decision *d, struct list_blobs *p)
{
    if (p->delimiter.ptr && (p->listing.include & INCLUDE_SNAPSHOTS))
        return fail_query(d, E_InvalidQueryParameterValue, "include",
                          call_query(d->call, "include"),
                          "Snapshots cannot be listed by delimiter.");
    if (p->listing.marker.ptr && !blob_marker_decode(d->arena, p->listing.marker, &p->from))
        return fail_query(d, E_InvalidQueryParameterValue, "marker", p->listing.marker,
                          "Not a marker of a list of blobs.");
    if (call_query(d->call, "showonly").ptr)
        return fail(d, E_NotImplemented, "showonly is not supported.");
    return OK;
}

enum error check_list_blobs(struct decision *d)
{
    struct list_blobs *p = arena_alloc(d->arena, sizeof *p);
    enum error e;

    e = check_accept(d);
    if (e)
        return e;
    e = listing_read(d, include_names, &p->listing);
    if (e)
        return e;
    e = check_text(d, "delimiter", &p->delimiter);
    if (e)
        return e;
    e = check_text(d, "startfrom", &p->start_from);
    if (e)
        return e;
    e = check_text(d, "endbefore", &p->end_before);
    if (e)
        return e;
    e = check_combination(d, p);
    if (e)
        return e;
    d->call->parameters = p;
    return OK;
}

/* ---- a page ---- */

struct page {
    const struct list_blobs *asked;
    struct blob_view view;
    struct space_iterator *iterator;
    struct text out;
    struct text seek; /* reused: a place to jump to */
    uint32_t shown;
    uint32_t looked_at;
    struct bytes next_marker; /* ptr NULL: nothing more */
};

/* 0 for the base. Returns false for a key that is none of ours. */
static bool snapshot_of_key(struct bytes key, instant *ret_snapshot)
{
    if (bytes_equal(key, base_key)) {
        *ret_snapshot = 0;
        return true;
    }
    if (key.len != 9 || key.ptr[0] != 1)
        return false;
    *ret_snapshot = be64_get(key.ptr + 1);
    return true;
}

/* Part of the name from its start to the end of the first delimiter after the prefix; ptr NULL when
 * there is none. */
static struct bytes group_of(const struct list_blobs *asked, struct bytes name)
{
    struct bytes rest = bytes_from(name, asked->listing.prefix.len);
    const char *at;

    if (!asked->delimiter.ptr)
        return (struct bytes){ NULL, 0 };
    at = memmem(rest.ptr, rest.len, asked->delimiter.ptr, asked->delimiter.len);
    if (!at)
        return (struct bytes){ NULL, 0 };
    return bytes_of(name.ptr, (size_t)(at - name.ptr) + asked->delimiter.len);
}

static bool in_range(const struct list_blobs *asked, struct bytes name)
{
    if (!bytes_has_prefix(name, asked->listing.prefix))
        return false;
    return !asked->end_before.ptr || bytes_compare(name, asked->end_before) < 0;
}

static bool is_full(const struct page *page)
{
    return page->shown == page->asked->listing.max || page->out.len > LISTING_PAGE_BYTES ||
           page->looked_at >= LISTING_RECORDS_MAX;
}

/* Blobs of uncommitted blocks alone are shown when asked for, until their blocks are over. */
static bool is_shown(const struct page *page, const struct blob *blob)
{
    if (!blob->uncommitted)
        return true;
    return (page->asked->listing.include & INCLUDE_UNCOMMITTED) &&
           !blocks_are_over(blob->modified, page->view.now);
}

/* Shows the group, and goes on after all of it. */
static enum store_result add_group(struct page *page, struct bytes group)
{
    text_add_string(&page->out, "<BlobPrefix>");
    listing_name(&page->out, "Name", group);
    text_add_string(&page->out, "</BlobPrefix>");
    page->shown++;
    if (!listing_successor(&page->seek, group))
        return STORE_NOT_FOUND;
    space_iterator_seek(page->iterator, text_bytes(&page->seek), (struct bytes){ NULL, 0 });
    return STORE_OK;
}

static enum store_result unknown_form(struct bytes name)
{
    log_line(LOG_ERROR, "a record of blob %.*s has an unknown form", BYTES_ARG(name));
    return STORE_CORRUPT;
}

/* Shows one record, or passes over it.
 * returns  STORE_OK: go on; STORE_NOT_FOUND: the page is complete; STORE_CORRUPT */
static enum store_result add_record(struct page *page, const struct space_record *at)
{
    unsigned include = page->asked->listing.include;
    struct bytes name = at->partition_key;
    struct bytes group;
    struct blob blob;
    instant snapshot;

    if (!snapshot_of_key(at->record_key, &snapshot))
        return unknown_form(name);
    if (snapshot > 0 && !(include & INCLUDE_SNAPSHOTS)) {
        page->seek.len = 0;
        text_add(&page->seek, name);
        space_iterator_seek(page->iterator, text_bytes(&page->seek), base_key);
        return STORE_OK;
    }
    if (!blob_decode(at->value, &blob))
        return unknown_form(name);
    if (!is_shown(page, &blob) && page->looked_at < LISTING_RECORDS_MAX)
        return STORE_OK;
    if (is_full(page)) {
        page->next_marker =
            blob_marker_encode(page->out.arena, (struct listing_place){ name, at->record_key });
        return STORE_NOT_FOUND;
    }
    if (page->shown == 0)
        text_add_string(&page->out, "<Blobs>");
    group = group_of(page->asked, name);
    if (group.ptr)
        return add_group(page, group);
    blob_entry_xml(&page->out, &page->view, name, snapshot, &blob);
    page->shown++;
    return STORE_OK;
}

/* returns STORE_OK, STORE_CORRUPT, STORE_IO */
static enum store_result add_page(struct page *page)
{
    enum store_result result = STORE_OK;
    struct space_record at;

    while (result == STORE_OK) {
        result = space_iterator_next(page->iterator, &at);
        if (result == STORE_OK && !in_range(page->asked, at.partition_key))
            result = STORE_NOT_FOUND;
        if (result == STORE_OK)
            result = add_record(page, &at);
        page->looked_at++;
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* The latest of prefix, startFrom and marker. */
static struct listing_place first_place(const struct list_blobs *asked)
{
    struct listing_place place = { asked->listing.prefix, { NULL, 0 } };

    if (asked->start_from.ptr && bytes_compare(asked->start_from, place.name) > 0)
        place.name = asked->start_from;
    if (asked->from.name.ptr && bytes_compare(asked->from.name, place.name) >= 0)
        place = asked->from;
    return place;
}

/* A page without anything may be that of a container deleted since it was found: then its space was
 * dropped before the iterator was opened, and the answer is that it does not exist. */
static enum error check_still_there(struct decision *d)
{
    struct partition partition = { blob_account_space(account_name(d->call->account)),
                                   d->call->container };
    struct snapshot *snapshot = snapshot_open(d->store, partition, d->access);
    struct container container;
    enum store_result result;

    decision_saw(d, snapshot_sequence(snapshot));
    result = container_read(snapshot, d->arena, &container);
    snapshot_close(snapshot);
    if (result == STORE_NOT_FOUND)
        return E_ContainerNotFound;
    if (result != STORE_OK)
        return fail_store(d, result);
    return OK;
}

static struct blob_view view_of(const struct decision *d, const struct list_blobs *asked)
{
    return (struct blob_view){
        .now = d->now,
        .metadata = asked->listing.include & INCLUDE_METADATA,
        .creation_time = call_since(d->call, "2017-11-09"),
        .tier = call_since(d->call, "2017-04-17"),
        .snapshot_tier = call_since(d->call, "2019-12-12"),
    };
}

enum error list_blobs(struct decision *d)
{
    const struct list_blobs *asked = d->call->parameters;
    struct listing_place from = first_place(asked);
    struct page page = { .asked = asked, .view = view_of(d, asked) };
    enum store_result result;

    text_init(&page.seek, d->arena, 1024);
    text_init(&page.out, d->arena, 4096);
    listing_begin(&page.out, d->call, d->call->container, &asked->listing);
    if (asked->delimiter.ptr)
        listing_name(&page.out, "Delimiter", asked->delimiter);

    page.iterator = space_iterator_open(d->store, blob_state(d)->container.space, from.name,
                                        from.record, d->access);
    decision_saw(d, space_iterator_sequence(page.iterator));
    result = add_page(&page);
    space_iterator_close(page.iterator);
    if (result != STORE_OK)
        return fail_store(d, result);
    if (page.shown == 0) {
        enum error e = check_still_there(d);

        if (e)
            return e;
    }

    text_add_string(&page.out, page.shown > 0 ? "</Blobs>" : "<Blobs />");
    listing_end(&page.out, page.next_marker);
    answer_xml(d, 200, &page.out);
    return OK;
}
