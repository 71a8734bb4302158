/* Finds the blob for a page of a static website, and its bytes. See blob_operations.h.
 *
 * The decision starts at the account's partition, which has the service properties, and moves to
 * the blob's, from which the bytes are read. */
#include "blob/blob_operations.h"

#include "blob/immutability.h"
#include "blob/namespace.h"
#include "properties/service_properties.h"

/* Reads the container "$web" into the state. */
static enum error find_container(struct decision *d)
{
    struct partition at = { .space = blob_account_space(d->input->account), .key = BYTES("$web") };
    struct decision_part *owner = decision_open(d, at, NULL);
    enum store_result result = container_read(owner->before, d->arena, &blob_state(d)->container);

    decision_leave(d, owner);
    if (result)
        return result == STORE_NOT_FOUND ? E_WebContentNotFound : decision_fail_store(d, result);
    return OK;
}

/* Opens the partition of a name of a hierarchical container. */
static enum error open_node(struct decision *d, struct bytes name)
{
    enum error e;

    decision_open_subject(d, namespace_locate(d, name));
    e = namespace_find(d, name);
    if (e == E_InvalidUri || (!e && (!blob_state(d)->node->part || blob_is_directory(d))))
        return E_WebContentNotFound;
    return e;
}

/* Reads the blob into the state, and makes its snapshot that of the decision. */
static enum error open_blob(struct decision *d, struct bytes name)
{
    struct blob_state *state = blob_state(d);
    struct blob *blob = &state->blob;
    struct blob_resource named = { .container = BYTES("$web"), .blob = name };
    enum store_result result;
    enum error e = OK;

    if (blob_check_names(&named.base))
        return E_WebContentNotFound;
    if (state->container.hierarchical)
        e = open_node(d, name);
    else
        decision_open_subject(d, (struct partition){ state->container.space, name });
    if (e)
        return e;
    result = blob_read(d->before, d->arena, blob_base, blob);
    if (result == STORE_NOT_FOUND)
        return read_view_is_deleted(d->before) ? DECIDE_AGAIN : E_WebContentNotFound;
    if (result)
        return decision_fail_store(d, result);
    if (blob->uncommitted || file_has_expired(d, blob))
        return E_WebContentNotFound;
    d->subject = (struct subject){ .exists = true, .etag = blob->etag, .modified = blob->modified };
    return OK;
}

static struct bytes join(struct decision *d, struct bytes folder, const char *between,
                         struct bytes name)
{
    return arena_printf(d->arena, "%.*s%s%.*s", BYTES_ARG(folder), between, BYTES_ARG(name));
}

/* Opens the index document of a folder ("" or "a/b/"), or the default one. */
static enum error open_index(struct decision *d, struct bytes folder, const char *between,
                             const struct static_website *website)
{
    if (website->index_document.len > 0)
        return open_blob(d, join(d, folder, between, website->index_document));
    if (website->default_index.len > 0)
        return open_blob(d, website->default_index);
    return E_WebContentNotFound;
}

/* Opens a page. A path without a trailing slash may also be a folder, whose index is then sent
 * without a redirect. */
static enum error open_page(struct decision *d, struct bytes path,
                            const struct static_website *website)
{
    enum error e;

    if (path.len == 0 || path.ptr[path.len - 1] == '/')
        return open_index(d, path, "", website);
    e = open_blob(d, path);
    if (e == E_WebContentNotFound)
        e = open_index(d, path, "/", website);
    return e;
}

/* Opens the error document, which is always sent completely, regardless of the requested range. */
static enum error open_error_document(struct decision *d, const struct static_website *website,
                                      struct website_result *r)
{
    static const struct get_blob_parameters whole = { .range.is_given = false };
    enum error e = E_WebContentNotFound;

    if (website->error_document.len > 0)
        e = open_blob(d, website->error_document);
    if (e)
        return e;
    r->is_error_document = true;
    return get_blob_decide(d, &whole, &r->read);
}

enum error website_decide(struct decision *d, const struct website_parameters *p,
                          struct website_result *r)
{
    struct service_properties properties;
    const struct static_website *website = &properties.website;
    enum store_result result = service_properties_read(d->before, d->arena, &properties);
    enum error e;

    if (result)
        return decision_fail_store(d, result);
    e = website->enabled ? find_container(d) : E_WebContentNotFound;
    if (e)
        return e;
    e = open_page(d, blob_asked(d)->blob, website);
    if (e == E_WebContentNotFound)
        return open_error_document(d, website, r);
    if (e)
        return e;
    e = conditions_check(CONDITIONS_OF_READ, &d->input->conditions, &d->subject);
    return e ? e : get_blob_decide(d, &p->read, &r->read);
}
