/* List Blobs, flat and by delimiter: an iterator over the container's space; in a hierarchical
 * container, a walk over its directories (list_tree.h) and its deleted paths (list_kept.h), merged.
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
#include "blob/access_control.h"
#include "blob/container_operations.h"
#include "blob/encryption.h"
#include "blob/immutability.h"
#include "blob/list_kept.h"
#include "blob/list_tree.h"
#include "blob/namespace.h"
#include "blob/snapshot_marks.h"

static const struct bytes base_key = BYTES("\xFF");

/* Next record of one of the sources of a hierarchical container. */
struct ahead {
    bool is_read;
    enum store_result result;
    struct space_record at;
};

struct page {
    struct decision *d;
    const struct list_blobs_parameters *asked;
    struct blob_sink *sink;
    struct space_iterator *iterator;
    /* Of a hierarchical container, instead of the iterator; one of them may be NULL: */
    struct tree_records *tree;
    struct kept_paths *kept;
    struct ahead tree_ahead, kept_ahead;
    bool is_tree;
    bool is_at_kept;           /* the current record is a deleted path */
    struct bytes group;        /* added last; ptr NULL if none was */
    struct listing_place from; /* start of the page */
    struct text seek;          /* target of a seek; reused */
    struct text marked;        /* blob that the marks belong to */
    struct snapshot_marks marks;
    uint32_t shown;
    uint32_t looked_at;
    bool has_records;
    bool is_forbidden; /* a directory may not be listed */
    bool is_refused;   /* it contains an append blob, which the request's version does not know */
    struct listing_place next; /* name.ptr NULL: end of the listing */
};

/* Returns true if it is the key of a base, snapshot or version, or of a deleted path. */
static bool key_is_known(const struct page *page, struct bytes key)
{
    return bytes_equal(key, base_key) || (key.len == 9 && key.ptr[0] == 1) ||
           (page->is_at_kept && key_is_of_kept_path(key));
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
    return !asked->end_before.ptr || compare_names(page->is_tree, name, asked->end_before) < 0;
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
    if (file_has_expired(page->d, blob))
        return false;
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

/* Continues after the current record, which is of the last group. */
static void skip_group(struct page *page)
{
    if (page->is_at_kept)
        kept_paths_skip(page->kept, page->group);
    else
        tree_records_skip(page->tree);
}

/* Returns true if the list has this kind of entry. In a hierarchical container, a group that ends
 * with a slash is a directory. */
static bool is_wanted(const struct page *page, struct bytes group, const struct blob *blob)
{
    const bool is_directory =
        group.ptr ? group.ptr[group.len - 1] == '/' || blob->is_directory : blob->is_directory;

    switch (page->asked->only) {
    case LIST_FILES:
        return !is_directory;
    case LIST_DIRECTORIES:
        return is_directory;
    case LIST_ALL:
    case LIST_DELETED:
        break;
    }
    return true;
}

/* Decodes the directory that the group names, if it is known at this record: preferably the
 * existing one, which follows its deletions. Returns false if there is none. */
static bool find_directory(const struct page *page, const struct space_record *at,
                           struct bytes group, struct blob *ret_blob)
{
    const struct ahead *ahead = &page->tree_ahead;

    if (page->is_at_kept && ahead->is_read && !ahead->result &&
        bytes_equal(ahead->at.partition_key, group))
        at = &ahead->at;
    return page->is_tree && bytes_equal(at->partition_key, group) &&
           blob_decode(at->value, ret_blob) && ret_blob->is_directory;
}

/* Adds the group and seeks past it. */
static enum store_result add_group(struct page *page, const struct space_record *at,
                                   struct bytes group)
{
    struct blob directory;
    bool is_known = find_directory(page, at, group, &directory);

    page->sink->add_group(page->sink, group, is_known ? &directory : NULL);
    page->shown++;
    if (page->is_tree) {
        page->group = arena_copy(page->d->arena, group);
        skip_group(page);
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
    if (!key_is_known(page, at->record_key))
        return unknown_form(name);
    if (page->group.ptr && bytes_has_prefix(name, page->group)) {
        skip_group(page);
        return STORE_OK;
    }
    if (is_before_page(page, name, at->record_key)) {
        seek_in(page, name, page->from.record);
        return STORE_OK;
    }
    if (!page->asked->snapshots && !page->asked->versions && !page->is_at_kept &&
        !bytes_equal(at->record_key, base_key)) {
        seek_in(page, name, base_key);
        return STORE_OK;
    }
    if (!blob_decode(at->value, &blob))
        return unknown_form(name);
    group = group_of(page->asked, name);
    is_passed =
        !is_there(page, name, &blob) || !is_shown(page, &blob) || !is_wanted(page, group, &blob);
    if (is_passed && page->looked_at < LISTING_RECORDS_MAX)
        return STORE_OK;
    if (is_full(page)) {
        page->next.name = arena_copy(page->d->arena, name);
        page->next.record = arena_copy(page->d->arena, at->record_key);
        return STORE_NOT_FOUND;
    }
    if (group.ptr)
        return add_group(page, at, group);
    if (blob.type == BLOB_APPEND && page->d->input->is_before_append_blobs) {
        page->is_refused = true;
        return STORE_NOT_FOUND;
    }
    if (page->sink->shows_metadata)
        encryption_open_listed(page->d, &blob);
    page->sink->add(page->sink, name, &blob);
    page->shown++;
    return STORE_OK;
}

/* Returns true if the record of the first source precedes that of the second one. */
static bool is_first(const struct ahead *one, const struct ahead *other)
{
    int order;

    if (one->result || other->result)
        return !one->result;
    order = namespace_compare(one->at.partition_key, other->at.partition_key);
    return order ? order < 0 : bytes_compare(one->at.record_key, other->at.record_key) < 0;
}

/* Reads the next record of a hierarchical container. Returns like space_iterator_next(). */
static enum store_result next_of_tree(struct page *page, struct space_record *ret_at)
{
    struct ahead *tree = &page->tree_ahead, *kept = &page->kept_ahead, *next;

    if (!tree->is_read)
        tree->result = page->tree ? tree_records_next(page->tree, &tree->at) : STORE_NOT_FOUND;
    if (!kept->is_read)
        kept->result = page->kept ? kept_paths_next(page->kept, &kept->at) : STORE_NOT_FOUND;
    tree->is_read = kept->is_read = true;
    if (kept->result && kept->result != STORE_NOT_FOUND)
        return kept->result;
    page->is_at_kept = is_first(kept, tree);
    next = page->is_at_kept ? kept : tree;
    next->is_read = false;
    *ret_at = next->at;
    return next->result;
}

/* Returns STORE_OK, STORE_CORRUPT, STORE_IO. */
static enum store_result add_page(struct page *page)
{
    enum store_result result = STORE_OK;
    struct space_record at;

    while (result == STORE_OK) {
        result = page->is_tree ? next_of_tree(page, &at) : space_iterator_next(page->iterator, &at);
        if (result == STORE_OK && !in_range(page, at.partition_key))
            result = STORE_NOT_FOUND;
        page->has_records |= result == STORE_OK;
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

/* Reads the page from the directories and the deleted paths. These belong to no directory, so they
 * are not shown to callers who are subject to access control lists. */
static enum store_result read_tree(struct page *page)
{
    struct acl_callers callers;
    enum store_result result;

    if (page->asked->deleted) {
        page->kept = kept_paths_open(page->d, page->asked, &page->from);
        page->is_forbidden = acl_callers_find(page->d, &callers);
    }
    if (page->asked->only != LIST_DELETED)
        page->tree = tree_records_open(page->d, page->asked, page->from.name);
    result = page->is_forbidden ? STORE_OK : add_page(page);
    if (page->tree) {
        page->is_forbidden |= tree_records_are_refused(page->tree);
        tree_records_close(page->tree);
    }
    if (page->kept)
        kept_paths_close(page->kept);
    if (!result && page->tree)
        result = tree_records_confirm(page->tree);
    return !result && page->kept ? kept_paths_confirm(page->kept) : result;
}

enum error list_blobs_decide(struct decision *d, const struct list_blobs_parameters *p,
                             struct list_blobs_result *r)
{
    bool is_tree = blob_state(d)->container.hierarchical;
    struct page page = {
        .d = d, .asked = p, .sink = p->sink, .from = first_place(p, is_tree), .is_tree = is_tree
    };
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
    r->has_records = page.has_records;
    return OK;
}
