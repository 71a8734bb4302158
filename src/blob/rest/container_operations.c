/* Requests and responses of the operations on containers, and the public access header of other
 * operations. */
#include "auth/account_limits.h"
#include "blob/container_operations.h"
#include "blob/container_root.h"
#include "blob/rest/request.h"
#include "properties/metadata_acl.h"
#include "properties/properties_xml.h"
#include "service/answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"
#include "service/server.h"

const struct container_type blob_container = {
    .metadata = offsetof(struct blob_state, container.metadata),
    .policies = offsetof(struct blob_state, container.policies),
    .write = container_write_state,
    .letters = { .known = "racwdxyltfmeopi", .ordered = "racwdxltmeop" },
};

/* ---- public access ---- */

/* Parses x-ms-blob-public-access of Create Container and Set Container ACL; private if it is
 * absent. */
static enum error public_access_from_header(struct call *call, enum public_access *ret_access)
{
    const char *name = "x-ms-blob-public-access";
    struct bytes value = call_header(call, name);
    bool is_refused;

    if (!value.ptr)
        *ret_access = ACCESS_PRIVATE;
    else if (bytes_is_nocase(value, "blob"))
        *ret_access = ACCESS_BLOB;
    else if (bytes_is_nocase(value, "container"))
        *ret_access = ACCESS_CONTAINER;
    else
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    is_refused =
        call->no_public_access || (account_hindrances(call->account) & ACCOUNT_IS_NOT_PUBLIC);
    return *ret_access != ACCESS_PRIVATE && is_refused ? E_PublicAccessNotPermitted : OK;
}

static const char *public_access_text(enum public_access access)
{
    switch (access) {
    case ACCESS_PRIVATE:
        return NULL;
    case ACCESS_BLOB:
        return "blob";
    case ACCESS_CONTAINER:
        return "container";
    }
    return NULL;
}

/* Adds x-ms-blob-public-access, unless the container is private. */
static void public_access_answer(struct answer *a, enum public_access access)
{
    const char *text = public_access_text(access);

    if (text)
        answer_string(a, "x-ms-blob-public-access", text);
}

/* ---- Create Container ---- */

/* This server has no encryption scopes; naming the account's own key changes nothing. */
#define ACCOUNT_SCOPE "$account-encryption-key"

/* Refuses other scopes instead of ignoring them (promise 5). rest: Create-Container,
 * "x-ms-default-encryption-scope" */
static enum error check_encryption_scope(struct call *call)
{
    const char *scope_name = "x-ms-default-encryption-scope";
    const char *deny_name = "x-ms-deny-encryption-scope-override";
    struct bytes scope = call_header(call, scope_name);
    struct bytes deny = call_header(call, deny_name);

    if (scope.ptr && !bytes_is(scope, ACCOUNT_SCOPE)) {
        call_fail_header(call, E_InvalidHeaderValue, scope_name, scope);
        return call_fail(call, E_InvalidHeaderValue, "The account has no such encryption scope.");
    }
    if (deny.ptr && !bytes_is_nocase(deny, "false")) {
        call_fail_header(call, E_InvalidHeaderValue, deny_name, deny);
        return call_fail(call, E_InvalidHeaderValue,
                         "The account has no encryption scopes to deny.");
    }
    return OK;
}

void create_container_place(const struct call *call, struct create_container_parameters *p)
{
    p->hierarchical = account_is_hierarchical(call->account);
    p->root.is_shared = p->hierarchical && !call->endpoint->peers;
    p->space = guid_new();
    if (!p->root.is_shared)
        return;
    p->root.name = p->space;
    p->space = container_shared_space(call->account_name);
}

enum error create_container_check(struct call *call, struct create_container_parameters *p)
{
    enum error e = check_encryption_scope(call);

    if (e)
        return e;
    if (!call->input.by_service &&
        container_is_of_service(blob_resource(call->input.resource)->container))
        return E_InvalidResourceName;
    e = public_access_from_header(call, &p->access);
    if (e)
        return e;
    create_container_place(call, p);
    return metadata_from_headers(call, &p->metadata);
}

OPERATION_ANSWERS_NOTHING(create_container)

/* ---- Delete Container ---- */

OPERATION_CHECKS_NOTHING(delete_container)

OPERATION_ANSWERS_NOTHING(delete_container)

/* ---- Restore Container ---- */

enum error restore_container_check(struct call *call, struct restore_container_parameters *p)
{
    return restore_headers_check(call, "container", blob_resource(call->input.resource)->container,
                                 &p->deleted);
}

OPERATION_ANSWERS_NOTHING(restore_container)

/* ---- Get Container Properties ---- */

OPERATION_CHECKS_NOTHING(get_container_properties)

/* Returns true also for the default policy of new versions. */
static bool has_policy(const struct container *container)
{
    return container->immutability.mode != POLICY_NONE;
}

static void answer_bool(struct answer *a, const char *name, bool is_true)
{
    answer_string(a, name, is_true ? "true" : "false");
}

/* Headers added in later versions are sent only to requests of those versions, as recordings of
 * older versions show. rest: Get-Container-Properties */
void get_container_properties_answer(struct answer *a,
                                     const struct get_container_properties_parameters *p,
                                     const struct get_container_properties_result *r)
{
    const struct call *call = a->call;
    const struct container *container = &r->container;

    (void)p;
    metadata_answer(a, container->metadata);
    answer_lease(a, &container->lease);
    if (call_since(call, "2016-05-31"))
        public_access_answer(a, container->public_access);
    if (call_since(call, "2017-11-09")) {
        answer_bool(a, "x-ms-has-immutability-policy", has_policy(container));
        answer_bool(a, "x-ms-has-legal-hold", container->immutability.holds.len > 0);
    }
    if (call_since(call, "2019-02-02")) {
        answer_string(a, "x-ms-default-encryption-scope", "$account-encryption-key");
        answer_string(a, "x-ms-deny-encryption-scope-override", "false");
    }
    if (call_since(call, "2020-10-02"))
        answer_bool(a, "x-ms-immutable-storage-with-versioning-enabled",
                    container->immutability.has_versions);
}

/* ---- Get Container ACL ---- */

OPERATION_CHECKS_NOTHING(get_container_acl)

void get_container_acl_answer(struct answer *a, const struct get_container_acl_parameters *p,
                              const struct get_container_acl_result *r)
{
    (void)p;
    public_access_answer(a, r->access);
    acl_answer(a, &r->policies);
}

/* ---- Set Container ACL ---- */

enum error set_container_acl_check(struct call *call, struct set_container_acl_parameters *p)
{
    return public_access_from_header(call, &p->access);
}

enum error set_container_acl_parse(struct call *call, struct set_container_acl_parameters *p)
{
    return signed_identifiers_read(call, &blob_container.letters, &p->policies);
}

OPERATION_ANSWERS_NOTHING(set_container_acl)

/* ---- List Containers. rest: List-Containers2 ---- */

enum { INCLUDE_METADATA = 1 << 0, INCLUDE_DELETED = 1 << 1, INCLUDE_SYSTEM = 1 << 2 };
static const char *const include_names[] = { "metadata", "deleted", "system", NULL };

/* ---- the page: elements in the recorded order ---- */

static void add_bool(struct text *out, const char *name, bool is_true)
{
    xml_element_string(out, name, is_true ? "true" : "false");
}

static void add_properties(struct listing_page *page, instant deleted,
                           const struct container *container)
{
    const struct call *call = page->call;
    struct text *out = &page->out;
    const char *access = public_access_text(container->public_access);
    char etag[ETAG_TEXT_SIZE];

    etag_format(container->etag, etag);
    xml_open(out, "Properties");
    xml_element_http_date(out, "Last-Modified", container->modified);
    /* Quoted, unlike in List Blobs; not escaped, as in the real service. */
    text_printf(out, "<Etag>%s</Etag>", etag);
    if (deleted > 0)
        deleted_lease_xml(out);
    else
        lease_xml(out, &container->lease, page->now);
    if (access && call_since(call, "2016-05-31"))
        xml_element_string(out, "PublicAccess", access);
    if (call_since(call, "2019-02-02")) {
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (call_since(call, "2017-11-09")) {
        add_bool(out, "HasImmutabilityPolicy", has_policy(container));
        add_bool(out, "HasLegalHold", container->immutability.holds.len > 0);
    }
    if (call_since(call, "2020-10-02"))
        add_bool(out, "ImmutableStorageWithVersioningEnabled",
                 container->immutability.has_versions);
    if (deleted > 0)
        deleted_days_xml(out, deleted, container->expires, page->now);
    xml_close(out, "Properties");
}

/* Returns false for an expired soft-deleted container, even if its task has not run yet. */
static bool shows_container(const struct listing_page *page, const struct space_record *at)
{
    struct container container;
    instant deleted;

    if (!container_key_read(at->record_key, &deleted) || deleted == 0 ||
        !container_decode(at->value, &container))
        return true;
    return (page->listing->include & INCLUDE_DELETED) && container.expires > page->now;
}

static bool add_container(struct listing_page *page, const struct space_record *at)
{
    struct text *out = &page->out;
    struct container container;
    instant deleted;

    if (!container_key_read(at->record_key, &deleted) || !container_decode(at->value, &container))
        return false;
    xml_open(out, "Container");
    xml_element(out, "Name", at->partition_key);
    listing_url(out, page->call, at->partition_key, (struct bytes){ NULL, 0 });
    if (deleted > 0)
        deleted_version_xml(out, deleted);
    add_properties(page, deleted, &container);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, container.metadata);
    xml_close(out, "Container");
    return true;
}

/* ---- markers: the name, then the version of a deleted container or "-" if a name can have several
 * records ---- */

static struct bytes mark(struct listing_page *page, struct bytes record_key)
{
    instant deleted;

    if (container_key_read(record_key, &deleted) && deleted > 0)
        return deleted_version_text(page->out.arena, deleted);
    return page->listing->include & INCLUDE_DELETED ? bytes_from_string("-")
                                                    : (struct bytes){ NULL, 0 };
}

static bool read_mark(struct arena *arena, struct bytes text, struct bytes *ret_record_key)
{
    instant deleted = 0;

    if (!bytes_is(text, "-") && !deleted_version_parse(text, &deleted))
        return false;
    *ret_record_key = container_record_key(arena, deleted);
    return true;
}

/* ---- the functions ---- */

enum error list_containers_check(struct call *call, struct list_containers_parameters *p)
{
    static const struct listing_form form = { .include_names = include_names,
                                              .list = "Containers",
                                              .shows = shows_container,
                                              .add = add_container,
                                              .mark = mark,
                                              .read_mark = read_mark };

    enum error e = listing_page_begin(call, &form, &p->listing, &p->from, &p->sink);

    /* source: storage-analytics-logging "The $logs container is not displayed when ..." */
    if (!(p->listing.include & INCLUDE_SYSTEM))
        p->listing.hidden = bytes_from_string("$logs");
    return e;
}

void list_containers_answer(struct answer *a, const struct list_containers_parameters *p,
                            const struct list_containers_result *r)
{
    listing_page_answer(a, p->sink, &r->next);
}

/* ---- Get Account Information. rest: Get-Account-Information ---- */

OPERATION_CHECKS_NOTHING(get_account_information)

void get_account_information_answer(struct answer *a,
                                    const struct get_account_information_parameters *p,
                                    const struct get_account_information_result *r)
{
    (void)p;
    (void)r;
    answer_string(a, "x-ms-sku-name", "Standard_LRS");
    answer_string(a, "x-ms-account-kind", "StorageV2");
    if (call_since(a->call, "2019-07-07"))
        answer_string(a, "x-ms-is-hns-enabled",
                      account_is_hierarchical(a->call->account) ? "true" : "false");
}
