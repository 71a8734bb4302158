/* Find Blobs by Tags, of the account and of a container: iterators over the indexes of containers
 * (tag_index.h), in order of (container, value of the tag searched by, name).
 *
 * (1) The work for a page is proportional to the matches of the condition on one tag: the other
 *     conditions are checked in the index record itself.
 * (2) A search finds everything that was acknowledged before it started, and its results are
 *     durable before they are sent.
 * (3) Each blob has one position in the order, so pages of any size have neither gaps nor
 *     repetitions.
 * In a hierarchical account, the position is that of the node, and its path is read when it is found
 * (found_path.h); the order of the names is undefined.
 * rest: Find-Blobs-by-Tags, Find-Blobs-by-Tags-Container; decision: 80, 1372 */
#include <inttypes.h>

#include "base/endian.h"
#include "base/log.h"
#include "blob/found_path.h"
#include "blob/tag_index.h"
#include "blob/tag_operations.h"
#include "service/listing.h"

struct search {
    struct decision *d;
    const struct find_blobs *asked;
    const struct tag_comparison *driver;
    struct bytes prefix;
    struct bytes first; /* index key to start at */
    uint32_t shown;
    uint32_t records, containers; /* examined */
    struct found_paths *paths;    /* of the current container, if it is hierarchical */
    struct page_merge others;     /* found by other cells */
    struct found_place next;
};

/* ---- names of results ---- */

/* Returns false if the name of a result is malformed. */
static bool found_node(struct bytes name, uint64_t *ret_node)
{
    uint64_t node = 0;

    if (name.len < FOUND_NODE_DIGITS)
        return false;
    for (size_t i = 0; i < FOUND_NODE_DIGITS; i++) {
        int digit = bytes_hex_digit(name.ptr[i]);

        if (digit < 0)
            return false;
        node = node << 4 | (unsigned)digit;
    }
    *ret_node = node;
    return true;
}

struct bytes found_name(bool is_hierarchical, struct bytes name)
{
    uint64_t node;

    if (!is_hierarchical)
        return name;
    return found_node(name, &node) ? bytes_from(name, FOUND_NODE_DIGITS) : bytes_of(NULL, 0);
}

static struct bytes name_of_node(struct search *search, uint64_t node, struct bytes path)
{
    return arena_printf(search->d->arena, "%016" PRIx64 "%.*s", node, BYTES_ARG(path));
}

/* Returns the partition key at which the page starts in this container. */
static struct bytes resume_key(const struct search *search)
{
    struct bytes name = search->asked->from.name;
    char *key;
    uint64_t node;

    if (!search->paths)
        return name;
    if (!found_node(name, &node))
        return bytes_of("", 0);
    key = arena_bytes(search->d->arena, sizeof node);
    be64_put(key, node);
    return bytes_of(key, sizeof node);
}

/* ---- the condition that selects the index range ---- */

const struct tag_comparison *find_blobs_driver(const struct tag_expression *where)
{
    const struct tag_comparison *driver = NULL;

    for (size_t i = 0; i < where->count; i++) {
        const struct tag_comparison *at = &where->comparisons[i];

        if (at->of_container)
            continue;
        if (at->operator== TAG_EQUAL)
            return at;
        if (!driver)
            driver = at;
    }
    return driver;
}

struct bytes find_blobs_prefix(struct arena *arena, const struct tag_comparison *driver)
{
    if (driver->operator== TAG_EQUAL)
        return tag_index_key(arena, driver->name, driver->value);
    return tag_index_prefix(arena, driver->name);
}

/* Returns the first key that may match: for a range, its lower end. */
static struct bytes first_key(const struct search *search)
{
    struct arena *arena = search->d->arena;
    const struct tag_expression *where = search->asked->where;

    for (size_t i = 0; i < where->count; i++) {
        const struct tag_comparison *at = &where->comparisons[i];

        if (at->of_container || !bytes_equal(at->name, search->driver->name))
            continue;
        if (at->operator== TAG_GREATER)
            return tag_index_after(arena, at->name, at->value);
        if (at->operator== TAG_GREATER_EQUAL)
            return tag_index_key(arena, at->name, at->value);
    }
    return search->prefix;
}

/* Returns true if the value is beyond the upper end of the range, and so all following ones. */
static bool is_past(const struct search *search, struct bytes value)
{
    const struct tag_expression *where = search->asked->where;

    for (size_t i = 0; i < where->count; i++) {
        const struct tag_comparison *at = &where->comparisons[i];

        if (at->of_container || !bytes_equal(at->name, search->driver->name))
            continue;
        if ((at->operator== TAG_LESS || at->operator== TAG_LESS_EQUAL) &&
            !tag_comparison_holds(at, value))
            return true;
    }
    return false;
}

static struct search search_of(struct decision *d, const struct find_blobs *asked)
{
    struct search search = { .d = d, .asked = asked, .driver = find_blobs_driver(asked->where) };

    search.prefix = find_blobs_prefix(d->arena, search.driver);
    search.first = first_key(&search);
    page_merge_begin(&search.others, d->arena, &d->input->merged);
    asked->sink->begin(asked->sink);
    return search;
}

/* ---- the page ---- */

static bool is_complete(const struct search *search)
{
    return search->next.container.ptr;
}

static void end_page_at(struct search *search, const struct page_key *at)
{
    struct arena *arena = search->d->arena;

    search->next = (struct found_place){ .container = arena_copy(arena, at->parts[0]),
                                         .key = arena_copy(arena, at->parts[1]),
                                         .name = arena_copy(arena, at->parts[2]) };
}

/* Adds a blob, or ends the page before it. */
static void add(struct search *search, const struct page_key *at, struct bytes tags)
{
    const struct find_blobs *asked = search->asked;

    if (search->shown == asked->max || asked->sink->full) {
        end_page_at(search, at);
        return;
    }
    asked->sink->add(asked->sink, at->parts[0], at->parts[2], at->parts[1], tags);
    search->shown++;
}

static bool is_found(const struct search *search, const struct page_entry *entry)
{
    const struct bytes *parts = entry->key.parts;
    struct tags tags;

    return listing_is_name(parts[0]) && bytes_has_prefix(parts[1], search->prefix) &&
           found_name(search->asked->is_hierarchical, parts[2]).len > 0 &&
           bytes_is_utf8(parts[2]) && tags_decode(entry->value, &tags) &&
           tag_expression_holds(search->asked->where, parts[0], entry->value);
}

/* Adds the blobs of other cells that precede `before`, a key of our own, or all of them if it is
 * NULL. Ends the page where a page of another cell ends. */
static enum store_result add_others(struct search *search, const struct page_key *before)
{
    struct page_entry entry;

    while (!is_complete(search)) {
        switch (page_merge_next(&search->others, before, &entry)) {
        case MERGED_NONE:
            return STORE_OK;
        case MERGED_END:
            end_page_at(search, &entry.key);
            return STORE_OK;
        case MERGED_ENTRY:
            break;
        }
        if (!is_found(search, &entry)) {
            log_line(LOG_ERROR, "another cell has sent an entry that does not match the search");
            return STORE_CORRUPT;
        }
        add(search, &entry.key, entry.value);
    }
    return STORE_OK;
}

/* Ends the page at a key of our own, or at one of another cell that precedes it. */
static enum store_result stop_at(struct search *search, const struct page_key *at)
{
    enum store_result result = add_others(search, at);

    if (!result && !is_complete(search))
        end_page_at(search, at);
    return result ? result : STORE_NOT_FOUND;
}

/* ---- one container ---- */

/* Adds a blob unless those of other cells that precede it complete the page. Returns like
 * add_record(). */
static enum store_result add_found(struct search *search, const struct page_key *at,
                                   struct bytes tags)
{
    enum store_result result = add_others(search, at);

    if (!result && !is_complete(search))
        add(search, at, tags);
    return !result && is_complete(search) ? STORE_NOT_FOUND : result;
}

/* The same for a record of a hierarchical container, whose key has no path yet. */
static enum store_result add_node(struct search *search, struct page_key *at, uint64_t node,
                                  struct bytes tags)
{
    struct bytes path;
    enum store_result result = found_path(search->paths, node, &path);

    if (result || !path.ptr)
        return result;
    at->parts[2] = name_of_node(search, node, path);
    return add_found(search, at, tags);
}

/* Returns STORE_OK to continue, STORE_NOT_FOUND if the container or the page is complete. */
static enum store_result add_record(struct search *search, struct bytes container,
                                    const struct index_record *found)
{
    struct page_key at = { { container, found->key, found->partition_key } };
    uint64_t node = 0;

    if (is_past(search, tags_value(found->value, search->driver->name)))
        return STORE_NOT_FOUND;
    if (search->paths) {
        if (found->partition_key.len != sizeof node) {
            log_line(LOG_ERROR, "an index entry of a tag is damaged");
            return STORE_CORRUPT;
        }
        node = be64_get(found->partition_key.ptr);
        at.parts[2] = name_of_node(search, node, bytes_of("", 0));
    }
    if (search->records++ >= FIND_RECORDS_MAX)
        return stop_at(search, &at);
    if (!tag_expression_holds(search->asked->where, container, found->value))
        return STORE_OK;
    return search->paths ? add_node(search, &at, node, found->value)
                         : add_found(search, &at, found->value);
}

/* Also returns STORE_OK if the container no longer exists. */
static enum store_result search_container(struct search *search, struct bytes name,
                                          const struct container *container)
{
    struct decision *d = search->d;
    const struct found_place *from = &search->asked->from;
    bool resumes = from->key.len > 0 && bytes_equal(from->container, name);
    struct index_iterator *iterator;
    enum store_result result = STORE_OK;
    struct index_record found;

    search->paths = container->hierarchical ? found_paths_open(d, container) : NULL;
    iterator = index_iterator_open(d->store, container->space, search->prefix,
                                   resumes ? from->key : search->first,
                                   resumes ? resume_key(search) : bytes_of("", 0), d->access);
    decision_saw(d, index_iterator_sequence(iterator));
    while (result == STORE_OK) {
        result = index_iterator_next(iterator, &found);
        if (result == STORE_OK)
            result = add_record(search, name, &found);
    }
    index_iterator_close(iterator);
    if (result == STORE_NOT_FOUND)
        result = search->paths ? found_paths_confirm(search->paths) : STORE_OK;
    return result;
}

enum error find_blobs_in_container_decide(struct decision *d,
                                          const struct find_blobs_in_container_parameters *p,
                                          struct find_blobs_in_container_result *r)
{
    struct search search = search_of(d, &p->asked);
    enum store_result result =
        search_container(&search, blob_asked(d)->container, &blob_state(d)->container);

    r->next = search.next;
    return result ? decision_fail_store(d, result) : OK;
}

/* ---- all containers ---- */

/* Returns the only container that the expression allows; ptr NULL if it allows all. */
static struct bytes only_container(const struct tag_expression *where)
{
    for (size_t i = 0; i < where->count; i++) {
        if (where->comparisons[i].of_container)
            return where->comparisons[i].value;
    }
    return bytes_of(NULL, 0);
}

static enum store_result search_one(struct search *search, struct bytes name)
{
    struct decision *d = search->d;
    struct partition at = { .space = blob_account_space(d->input->account), .key = name };
    struct decision_part *owner = decision_open(d, at, NULL);
    struct container container;
    enum store_result result = container_read(owner->before, d->arena, &container);

    decision_leave(d, owner);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    return search_container(search, name, &container);
}

/* Returns the results of search_container(), or STORE_NOT_FOUND if the page is complete. */
static enum store_result search_next(struct search *search, const struct space_record *at)
{
    const struct page_key first = { { at->partition_key } };
    struct container container;
    enum store_result result;
    instant deleted;

    if (container_key_read(at->record_key, &deleted) && deleted > 0)
        return STORE_OK; /* blobs of deleted containers are not found */
    if (search->containers++ >= FIND_CONTAINERS_MAX)
        return stop_at(search, &first);
    if (!container_decode(at->value, &container)) {
        log_line(LOG_ERROR, "the record of container %.*s has an unrecognized format",
                 BYTES_ARG(at->partition_key));
        return STORE_CORRUPT;
    }
    result = search_container(search, at->partition_key, &container);
    return !result && is_complete(search) ? STORE_NOT_FOUND : result;
}

static enum store_result search_all(struct search *search)
{
    struct decision *d = search->d;
    struct space_iterator *iterator =
        space_iterator_open(d->store, blob_account_space(d->input->account),
                            search->asked->from.container, bytes_of(NULL, 0), d->access);
    enum store_result result = STORE_OK;
    struct space_record at;

    decision_saw(d, space_iterator_sequence(iterator));
    while (result == STORE_OK) {
        result = space_iterator_next(iterator, &at);
        if (result == STORE_OK)
            result = search_next(search, &at);
    }
    space_iterator_close(iterator);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum error find_blobs_decide(struct decision *d, const struct find_blobs_parameters *p,
                             struct find_blobs_result *r)
{
    struct search search = search_of(d, &p->asked);
    struct bytes only = only_container(p->asked.where);
    enum store_result result = only.ptr ? search_one(&search, only) : search_all(&search);

    if (!result)
        result = add_others(&search, NULL);
    r->next = search.next;
    return result ? decision_fail_store(d, result) : OK;
}
