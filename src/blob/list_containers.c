/* List Containers: an iterator over the account's space, where every container is a partition.
 * The marker is "/account/name" of the container to go on with, as the real service gives it. */
#include "base/log.h"
#include "blob/container_private.h"
#include "blob/listing.h"

enum { INCLUDE_METADATA = 1 << 0 };
/* deleted, system: accepted; this server keeps no deleted containers and hides none. */
static const char *const include_names[] = { "metadata", "deleted", "system", NULL };

struct list_containers {
    struct listing listing;
    struct bytes from; /* name to begin at; ptr NULL: at the first */
};

struct container_view {
    instant now;
    bool metadata;
    bool public_access; /* since 2016-05-31 */
    bool holds;         /* since 2017-11-09 */
    bool encryption;    /* since 2019-07-07 */
    bool immutable;     /* since 2020-10-02 */
};

/* "/account/name" -> name. Only what a container's name may hold. */
static bool read_marker(const struct call *call, struct bytes marker, struct bytes *ret_name)
{
    struct bytes account = account_name(call->account);
    struct bytes name;

    if (marker.len < account.len + 3 || marker.ptr[0] != '/' ||
        !bytes_has_prefix(bytes_from(marker, 1), account) || marker.ptr[account.len + 1] != '/')
        return false;
    name = bytes_from(marker, account.len + 2);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '$')
            return false;
    }
    *ret_name = name;
    return true;
}

enum error check_list_containers(struct decision *d)
{
    struct list_containers *p = arena_alloc(d->arena, sizeof *p);
    enum error e;

    e = listing_read(d, include_names, &p->listing);
    if (e)
        return e;
    if (p->listing.marker.ptr && !read_marker(d->call, p->listing.marker, &p->from))
        return fail_query(d, E_InvalidQueryParameterValue, "marker", p->listing.marker,
                          "Not a marker of a list of containers.");
    d->call->parameters = p;
    return OK;
}

static void add_properties(struct text *out, const struct container_view *view,
                           const struct container *container)
{
    const char *duration = lease_duration_text(&container->lease, view->now);
    const char *access = public_access_text(container->public_access);
    char date[INSTANT_HTTP_SIZE];
    char etag[ETAG_TEXT_SIZE];

    instant_format_http(container->modified, date);
    etag_format(container->etag, etag);
    xml_open(out, "Properties");
    xml_element_string(out, "Last-Modified", date);
    /* Quoted, unlike in List Blobs; not escaped, as recorded. */
    text_printf(out, "<Etag>%s</Etag>", etag);
    xml_element_string(out, "LeaseStatus", lease_status_text(&container->lease, view->now));
    xml_element_string(out, "LeaseState", lease_state_text(&container->lease, view->now));
    if (duration)
        xml_element_string(out, "LeaseDuration", duration);
    if (access && view->public_access)
        xml_element_string(out, "PublicAccess", access);
    if (view->holds) {
        xml_element_string(out, "HasImmutabilityPolicy", "false");
        xml_element_string(out, "HasLegalHold", "false");
    }
    if (view->encryption) {
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (view->immutable)
        xml_element_string(out, "ImmutableStorageWithVersioningEnabled", "false");
    xml_close(out, "Properties");
}

static void add_container(struct text *out, const struct container_view *view, struct bytes name,
                          const struct container *container)
{
    xml_open(out, "Container");
    xml_element(out, "Name", name);
    add_properties(out, view, container);
    if (view->metadata)
        metadata_xml(out, container->metadata);
    xml_close(out, "Container");
}

/* Adds a page of containers. *ret_next: the marker when there are more, else ptr NULL.
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO */
static enum store_result add_page(struct decision *d, struct space_iterator *iterator,
                                  struct text *out, struct bytes *ret_next)
{
    const struct list_containers *p = d->call->parameters;
    const struct container_view view = {
        .now = d->now,
        .metadata = p->listing.include & INCLUDE_METADATA,
        .public_access = call_since(d->call, "2016-05-31"),
        .holds = call_since(d->call, "2017-11-09"),
        .encryption = call_since(d->call, "2019-07-07"),
        .immutable = call_since(d->call, "2020-10-02"),
    };
    struct space_record at;
    struct container container;
    enum store_result result;

    for (uint32_t count = 0;; count++) {
        result = space_iterator_next(iterator, &at);
        if (result == STORE_NOT_FOUND)
            return STORE_OK;
        if (result != STORE_OK)
            return result;
        if (!bytes_has_prefix(at.partition_key, p->listing.prefix))
            return STORE_OK;
        if (count == p->listing.max || out->len > LISTING_PAGE_BYTES) {
            struct bytes account = account_name(d->call->account);

            *ret_next = arena_printf(d->arena, "/%.*s/%.*s", BYTES_ARG(account),
                                     BYTES_ARG(at.partition_key));
            return STORE_OK;
        }
        if (!container_decode(at.value, &container)) {
            log_line(LOG_ERROR, "the record of container %.*s has an unknown form",
                     BYTES_ARG(at.partition_key));
            return STORE_CORRUPT;
        }
        if (count == 0)
            xml_open(out, "Containers");
        add_container(out, &view, at.partition_key, &container);
    }
}

/* The containers of the account in order of name, a page at a time.
 * rest: List-Containers2 */
enum error list_containers(struct decision *d)
{
    const struct list_containers *p = d->call->parameters;
    struct bytes from = p->listing.prefix;
    struct bytes next = { NULL, 0 };
    struct text out;
    struct space_iterator *iterator;
    size_t empty_len;
    enum store_result result;

    if (p->from.ptr && bytes_compare(p->from, from) > 0)
        from = p->from;

    text_init(&out, d->arena, 4096);
    listing_begin(&out, d->call, (struct bytes){ NULL, 0 }, &p->listing);
    empty_len = out.len;
    iterator = space_iterator_open(d->store, blob_account_space(account_name(d->call->account)),
                                   from, (struct bytes){ NULL, 0 }, d->access);
    decision_saw(d, space_iterator_sequence(iterator));
    result = add_page(d, iterator, &out, &next);
    space_iterator_close(iterator);
    if (result != STORE_OK)
        return fail_store(d, result);

    if (out.len == empty_len)
        text_add_string(&out, "<Containers />");
    else
        xml_close(&out, "Containers");
    listing_end(&out, next);
    answer_xml(d, 200, &out);
    return OK;
}
