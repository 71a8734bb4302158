/* List Blobs, flat and by delimiter: an iterator over the container's space.
 *
 * (1) The work of a page is proportional to the page: what is not shown is jumped over, the
 *     snapshots and versions of a blob, those that a mark has ended, and all blobs behind a BlobPrefix with one seek
 *     each. What is soft-deleted, and where only one kind is asked for snapshots or versions, is passed over one by
 *     one, and a page ends early for it (LISTING_RECORDS_MAX).
 * (2) A page is taken from one state of the container, and that state is durable before the page is
 *     sent (decision_saw).
 * (3) The marker names the first record of the next page, so that no page repeats a result.
 * rest: List-Blobs */
#include "base/log.h"
#include "blob/container_operations.h"
#include "blob/snapshot_marks.h"

static const struct bytes base_key = BYTES("\xFF");

struct page {
    struct decision *d;
    const struct list_blobs_parameters *asked;
    struct blob_sink *sink;
    struct space_iterator *iterator;
    struct listing_place from; /* where the page begins */
    struct text seek;          /* reused: a place to jump to */
    struct text marked;        /* the blob whose snapshots the marks are of */
    struct snapshot_marks marks;
    uint32_t shown;
    uint32_t looked_at;
    bool is_refused; /* it would show an append blob to a version that does not know them */
    struct listing_place next; /* name.ptr NULL: nothing more */
};

/* Is it the key of a base, or of a snapshot or version? */
static bool key_is_known(struct bytes key)
{
    return bytes_equal(key, base_key) || (key.len == 9 && key.ptr[0] == 1);
}

/* Part of the name from its start to the end of the first delimiter after the prefix; ptr NULL: the
 * name has no delimiter there. */
static struct bytes group_of(const struct list_blobs_parameters *asked, struct bytes name)
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

static bool in_range(const struct list_blobs_parameters *asked, struct bytes name)
{
    if (!bytes_has_prefix(name, asked->listing.prefix))
        return false;
    return !asked->end_before.ptr || bytes_compare(name, asked->end_before) < 0;
}

static bool is_full(const struct page *page)
{
    return page->shown == page->asked->listing.max || page->sink->full ||
           page->looked_at >= LISTING_RECORDS_MAX;
}

/* A snapshot is brought to what the marks leave of it. returns false: nothing */
static bool is_there(const struct page *page, struct bytes name, struct blob *blob)
{
    if (blob_ref_is_base(blob->ref) || page->marks.count == 0 ||
        !bytes_equal(name, text_bytes(&page->marked)))
        return true;
    return snapshot_marks_apply(&page->marks, blob);
}

/* Blobs of uncommitted blocks alone are shown when asked for, until their blocks expire; what is soft-deleted the
 * same, until it expires. */
static bool is_shown(const struct page *page, const struct blob *blob)
{
    if ((blob->ref.kind == BLOB_SNAPSHOT && !page->asked->snapshots) ||
        (blob->ref.kind == BLOB_VERSION && !page->asked->versions))
        return false;
    if (blob_has_versions_only(blob) && page->asked->versions_only)
        return true;
    if (blob->deletion.at > 0)
        return page->asked->deleted && blob->deletion.expires > page->d->now;
    if (!blob->uncommitted)
        return true;
    return page->asked->uncommitted && !blocks_expired(blob->modified, page->d->now);
}

/* The first key after all keys that begin with `prefix`; written to `out` (emptied before).
 * Returns false if no key is (prefix is all 0xFF). */
static bool successor(struct text *out, struct bytes prefix)
{
    size_t len = prefix.len;

    while (len > 0 && (unsigned char)prefix.ptr[len - 1] == 0xFF)
        len--;
    out->len = 0;
    if (len == 0)
        return false;
    text_add(out, bytes_of(prefix.ptr, len - 1));
    text_add_char(out, (char)((unsigned char)prefix.ptr[len - 1] + 1));
    return true;
}

/* Shows the group, and goes on after all of it. */
static enum store_result add_group(struct page *page, struct bytes group)
{
    page->sink->add_group(page->sink, group);
    page->shown++;
    if (!successor(&page->seek, group))
        return STORE_NOT_FOUND;
    space_iterator_seek(page->iterator, text_bytes(&page->seek), (struct bytes){ NULL, 0 });
    return STORE_OK;
}

static enum store_result unknown_form(struct bytes name)
{
    log_line(LOG_ERROR, "a record of blob %.*s has an unknown form", BYTES_ARG(name));
    return STORE_CORRUPT;
}

static void seek_in(struct page *page, struct bytes name, struct bytes record_key)
{
    page->seek.len = 0;
    text_add(&page->seek, name);
    space_iterator_seek(page->iterator, text_bytes(&page->seek), record_key);
}

static bool is_before_page(const struct page *page, struct bytes name, struct bytes record_key)
{
    return page->from.record.ptr && bytes_equal(name, page->from.name) &&
           bytes_compare(record_key, page->from.record) < 0;
}

/* The marks count for the snapshots that follow. Goes on behind those that the first one has ended, and not before the
 * place where the page begins. */
static enum store_result take_marks(struct page *page, const struct space_record *at)
{
    struct bytes next;

    if (!snapshot_marks_decode(at->value, &page->marks))
        return unknown_form(at->partition_key);
    page->marked.len = 0;
    text_add(&page->marked, at->partition_key);
    if (page->marks.items[0].kind != MARK_GONE)
        return STORE_OK;
    next = blob_record_key(page->d->arena, blob_snapshot_ref(page->marks.items[0].until + 1));
    if (is_before_page(page, at->partition_key, next))
        next = page->from.record;
    seek_in(page, at->partition_key, next);
    return STORE_OK;
}

/* Shows one record, or passes over it.
 * returns  STORE_OK: go on; STORE_NOT_FOUND: the page is complete; STORE_CORRUPT */
static enum store_result add_record(struct page *page, const struct space_record *at)
{
    struct bytes name = at->partition_key;
    struct bytes group;
    struct blob blob;
    bool is_passed;

    if (bytes_equal(at->record_key, snapshot_marks_key))
        return take_marks(page, at);
    if (!key_is_known(at->record_key))
        return unknown_form(name);
    if (is_before_page(page, name, at->record_key)) {
        seek_in(page, name, page->from.record);
        return STORE_OK;
    }
    if (!page->asked->snapshots && !page->asked->versions &&
        !bytes_equal(at->record_key, base_key)) {
        seek_in(page, name, base_key);
        return STORE_OK;
    }
    if (!blob_decode(at->value, &blob))
        return unknown_form(name);
    is_passed = !is_there(page, name, &blob) || !is_shown(page, &blob);
    if (is_passed && page->looked_at < LISTING_RECORDS_MAX)
        return STORE_OK;
    if (is_full(page)) {
        page->next.name = arena_copy(page->d->arena, name);
        page->next.record = arena_copy(page->d->arena, at->record_key);
        return STORE_NOT_FOUND;
    }
    group = group_of(page->asked, name);
    if (group.ptr)
        return add_group(page, group);
    if (blob.type == BLOB_APPEND && page->d->input->is_before_append_blobs) {
        page->is_refused = true;
        return STORE_NOT_FOUND;
    }
    page->sink->add(page->sink, name, &blob);
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
static struct listing_place first_place(const struct list_blobs_parameters *asked)
{
    struct listing_place place = { asked->listing.prefix, { NULL, 0 } };

    if (asked->start_from.ptr && bytes_compare(asked->start_from, place.name) > 0)
        place.name = asked->start_from;
    if (asked->from.name.ptr && bytes_compare(asked->from.name, place.name) >= 0)
        place = asked->from;
    return place;
}

enum error list_blobs_decide(struct decision *d, const struct list_blobs_parameters *p,
                             struct list_blobs_result *r)
{
    struct page page = { .d = d, .asked = p, .sink = p->sink, .from = first_place(p) };
    struct bytes first = page.from.record;
    enum store_result result;

    if (first.ptr && !bytes_equal(first, base_key))
        first = snapshot_marks_key; /* of the snapshots that the page begins between */
    text_init(&page.seek, d->arena, 1024);
    text_init(&page.marked, d->arena, 0);
    page.sink->begin(page.sink, d->now);
    page.iterator = space_iterator_open(d->store, blob_state(d)->container.space, page.from.name,
                                        first, d->access);
    decision_saw(d, space_iterator_sequence(page.iterator));
    result = add_page(&page);
    /* The space was dropped after the container had been read: there is no such container now. */
    if (!result && space_iterator_is_gone(page.iterator))
        result = STORE_CONFLICT;
    space_iterator_close(page.iterator);
    if (result != STORE_OK)
        return decision_fail_store(d, result);
    if (page.is_refused) /* rest: List-Blobs, "FeatureVersionMismatch"; decision: 882 */
        return decision_fail(
            d, E_FeatureVersionMismatch,
            "The type of a blob in the container is unrecognized by this version.");
    r->next = page.next;
    return OK;
}
