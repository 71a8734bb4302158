/* List Blobs, flat and by delimiter: an iterator over the container's space, or a walk over the
 * directories of a hierarchical container (list_tree.h).
 *
 * (1) The work for a page is proportional to the page: one seek skips the hidden snapshots and
 *     versions of a blob, those deleted by a mark, or all blobs of a BlobPrefix. Soft-deleted
 *     blobs, and the other kind if only snapshots or only versions are listed, are skipped one by
 *     one, and a page ends early after LISTING_RECORDS_MAX.
 * (2) A page shows one state of the container, which is durable before the page is sent
 *     (decision_saw).
 * (3) The marker names the first record of the next page, so no page repeats a result.
 * rest: List-Blobs */
#include "base/log.h"
#include "blob/container_operations.h"
#include "blob/list_tree.h"
#include "blob/namespace.h"
#include "blob/snapshot_marks.h"

static const struct bytes base_key = BYTES("\xFF");

struct page {
    struct decision *d;
    const struct list_blobs_parameters *asked;
    struct blob_sink *sink;
    struct space_iterator *iterator;
    struct tree_records *tree; /* of a hierarchical container, instead of the iterator; or NULL */
    struct listing_place from; /* start of the page */
    struct text seek;          /* target of a seek; reused */
    struct text marked;        /* blob that the marks belong to */
    struct snapshot_marks marks;
    uint32_t shown;
    uint32_t looked_at;
    bool is_forbidden; /* a directory may not be listed */
    bool is_refused;   /* it contains an append blob, which the request's version does not know */
    struct listing_place next; /* name.ptr NULL: end of the listing */
};

/* Returns true if it is the key of a base, snapshot or version. */
static bool key_is_known(struct bytes key)
{
    return bytes_equal(key, base_key) || (key.len == 9 && key.ptr[0] == 1);
}

/* Returns the name up to the end of the first delimiter after the prefix; ptr NULL if there is no
 * delimiter. */
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

/* Compares two names in the order of the listing. */
static int compare_names(bool is_tree, struct bytes left, struct bytes right)
{
    return is_tree ? namespace_compare(left, right) : bytes_compare(left, right);
}

static bool in_range(const struct page *page, struct bytes name)
{
    const struct list_blobs_parameters *asked = page->asked;

    if (!bytes_has_prefix(name, asked->listing.prefix))
        return false;
    return !asked->end_before.ptr || compare_names(page->tree, name, asked->end_before) < 0;
}

static bool is_full(const struct page *page)
{
    return page->shown == page->asked->listing.max || page->sink->full ||
           page->looked_at >= LISTING_RECORDS_MAX;
}

/* Applies the marks to a snapshot. Returns false if it is deleted. */
static bool is_there(const struct page *page, struct bytes name, struct blob *blob)
{
    if (blob_ref_is_base(blob->ref) || page->marks.count == 0 ||
        !bytes_equal(name, text_bytes(&page->marked)))
        return true;
    return snapshot_marks_apply(&page->marks, blob);
}

/* Returns true if the blob is listed. Uncommitted blobs are listed on request, until their blocks
 * expire; soft-deleted ones on request, until they expire. */
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

/* Writes the first key after all keys with this prefix to `out`, replacing its contents. Returns
 * false if there is none (the prefix is all 0xFF). */
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

/* Adds the group and seeks past it. */
static enum store_result add_group(struct page *page, struct bytes group)
{
    page->sink->add_group(page->sink, group);
    page->shown++;
    if (page->tree) {
        tree_records_skip(page->tree);
        return STORE_OK;
    }
    if (!successor(&page->seek, group))
        return STORE_NOT_FOUND;
    space_iterator_seek(page->iterator, text_bytes(&page->seek), (struct bytes){ NULL, 0 });
    return STORE_OK;
}

static enum store_result unknown_form(struct bytes name)
{
    log_line(LOG_ERROR, "a record of blob %.*s has an unrecognized format", BYTES_ARG(name));
    return STORE_CORRUPT;
}

static void seek_in(struct page *page, struct bytes name, struct bytes record_key)
{
    if (page->tree) {
        tree_records_seek(page->tree, record_key);
        return;
    }
    page->seek.len = 0;
    text_add(&page->seek, name);
    space_iterator_seek(page->iterator, text_bytes(&page->seek), record_key);
}

static bool is_before_page(const struct page *page, struct bytes name, struct bytes record_key)
{
    return page->from.record.ptr && bytes_equal(name, page->from.name) &&
           bytes_compare(record_key, page->from.record) < 0;
}

/* Reads the marks, which apply to the snapshots that follow. Seeks past those deleted by the first
 * mark, but not to before the start of the page. */
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

/* Adds or skips one record. Returns STORE_OK to continue, STORE_NOT_FOUND if the page is complete,
 * STORE_CORRUPT. */
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

/* Returns STORE_OK, STORE_CORRUPT, STORE_IO. */
static enum store_result add_page(struct page *page)
{
    enum store_result result = STORE_OK;
    struct space_record at;

    while (result == STORE_OK) {
        result = page->tree ? tree_records_next(page->tree, &at)
                            : space_iterator_next(page->iterator, &at);
        if (result == STORE_OK && !in_range(page, at.partition_key))
            result = STORE_NOT_FOUND;
        if (result == STORE_OK)
            result = add_record(page, &at);
        page->looked_at++;
    }
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Returns the greatest of prefix, startFrom and marker. */
static struct listing_place first_place(const struct list_blobs_parameters *asked, bool is_tree)
{
    struct listing_place place = { asked->listing.prefix, { NULL, 0 } };

    if (asked->start_from.ptr && compare_names(is_tree, asked->start_from, place.name) > 0)
        place.name = asked->start_from;
    if (asked->from.name.ptr && compare_names(is_tree, asked->from.name, place.name) >= 0)
        place = asked->from;
    return place;
}

/* Reads the page from the container's space. */
static enum store_result read_flat(struct page *page)
{
    struct decision *d = page->d;
    struct bytes first = page->from.record;
    enum store_result result;

    if (first.ptr && !bytes_equal(first, base_key))
        /* the page may begin among the snapshots: read their marks first */
        first = snapshot_marks_key;
    page->iterator = space_iterator_open(d->store, blob_state(d)->container.space, page->from.name,
                                         first, d->access);
    decision_saw(d, space_iterator_sequence(page->iterator));
    result = add_page(page);
    /* The space was dropped after the container was read: the container no longer exists. */
    if (!result && space_iterator_is_gone(page->iterator))
        result = STORE_CONFLICT;
    space_iterator_close(page->iterator);
    return result;
}

/* Walks over the directories. */
static enum store_result read_tree(struct page *page)
{
    enum store_result result;

    page->tree = tree_records_open(page->d, page->asked, page->from.name);
    result = add_page(page);
    page->is_forbidden = tree_records_are_refused(page->tree);
    tree_records_close(page->tree);
    return result ? result : tree_records_confirm(page->tree);
}

enum error list_blobs_decide(struct decision *d, const struct list_blobs_parameters *p,
                             struct list_blobs_result *r)
{
    bool is_tree = blob_state(d)->container.hierarchical;
    struct page page = { .d = d, .asked = p, .sink = p->sink, .from = first_place(p, is_tree) };
    enum store_result result;

    text_init(&page.seek, d->arena, 1024);
    text_init(&page.marked, d->arena, 0);
    page.sink->begin(page.sink, d->now);
    result = is_tree ? read_tree(&page) : read_flat(&page);
    if (result != STORE_OK)
        return decision_fail_store(d, result);
    if (page.is_forbidden)
        return E_AuthorizationPermissionMismatch;
    if (page.is_refused) /* rest: List-Blobs, "FeatureVersionMismatch"; decision: 882 */
        return decision_fail(
            d, E_FeatureVersionMismatch,
            "The type of a blob in the container is unrecognized by this version.");
    r->next = page.next;
    return OK;
}
