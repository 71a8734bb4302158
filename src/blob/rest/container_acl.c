/* Get Container ACL, Set Container ACL as requests and as XML, and the public access that other
 * operations take and show. rest: Get-Container-ACL, Set-Container-ACL */
#include "blob/container_operations.h"
#include "blob/rest/request.h"
#include "blob/rest/xml_body.h"

#define POLICY_ID_MAX      64 /* characters */
#define POLICY_PERMISSIONS "racwdxyltfmeopi"

/* ---- public access ---- */

enum error public_access_from_header(struct call *call, enum public_access *ret_access)
{
    const char *name = "x-ms-blob-public-access";
    struct bytes value = call_header(call, name);

    if (!value.ptr)
        *ret_access = ACCESS_PRIVATE;
    else if (bytes_is_nocase(value, "blob"))
        *ret_access = ACCESS_BLOB;
    else if (bytes_is_nocase(value, "container"))
        *ret_access = ACCESS_CONTAINER;
    else
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    return *ret_access != ACCESS_PRIVATE && call->no_public_access ? E_PublicAccessNotPermitted
                                                                   : OK;
}

const char *public_access_text(enum public_access access)
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

void public_access_answer(struct answer *a, enum public_access access)
{
    const char *text = public_access_text(access);

    if (text)
        answer_string(a, "x-ms-blob-public-access", text);
}

/* ---- Get Container ACL ---- */

static void add_date(struct text *out, const char *name, instant date)
{
    char text[INSTANT_ISO_SIZE];

    if (date == 0)
        return;
    instant_format_iso(date, text);
    xml_element_string(out, name, text);
}

/* A policy without any of its parts has no AccessPolicy element, as recorded. */
static void add_policy(struct text *out, const struct policy *policy)
{
    xml_open(out, "SignedIdentifier");
    xml_element(out, "Id", policy->id);
    if (policy->start > 0 || policy->expiry > 0 || policy->permission.ptr) {
        xml_open(out, "AccessPolicy");
        add_date(out, "Start", policy->start);
        add_date(out, "Expiry", policy->expiry);
        if (policy->permission.ptr)
            xml_element(out, "Permission", policy->permission);
        xml_close(out, "AccessPolicy");
    }
    xml_close(out, "SignedIdentifier");
}

enum error get_container_acl_check(struct call *call, struct get_container_acl_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_container_acl_answer(struct answer *a, const struct get_container_acl_parameters *p,
                              const struct get_container_acl_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 512);
    xml_begin(&out);
    if (r->policies.count == 0) {
        text_add_string(&out, "<SignedIdentifiers />");
    } else {
        xml_open(&out, "SignedIdentifiers");
        for (size_t i = 0; i < r->policies.count; i++)
            add_policy(&out, &r->policies.items[i]);
        xml_close(&out, "SignedIdentifiers");
    }
    answer_etag(a, r->etag, r->modified);
    public_access_answer(a, r->access);
    answer_xml(a, 200, &out);
}

/* ---- Set Container ACL ---- */

static enum error read_date(struct call *call, const struct xml_node *policy, const char *name,
                            instant *ret_date)
{
    struct bytes text = xml_text(policy, name);

    if (text.ptr && !instant_parse_iso(text, ret_date))
        return xml_fail_value(call, name, text, "Not a date in ISO 8601 form.");
    return OK;
}

static enum error check_permission(struct call *call, struct bytes permission)
{
    struct bytes known = BYTES(POLICY_PERMISSIONS);

    for (size_t i = 0; i < permission.len; i++) {
        char c = permission.ptr[i];

        if (!memchr(known.ptr, c, known.len) || memchr(permission.ptr, c, i))
            return xml_fail_value(call, "Permission", permission, "Not a set of permissions.");
    }
    return OK;
}

/* Characters of UTF-8. */
static size_t count_characters(struct bytes text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

static enum error read_policy(struct call *call, const struct xml_node *node,
                              struct policy *ret_policy)
{
    static const char *const parts[] = { "Id", "AccessPolicy", NULL };
    static const char *const policy_parts[] = { "Start", "Expiry", "Permission", NULL };
    const struct xml_node *access;
    struct policy policy = { .id = xml_text(node, "Id") };
    enum error e;

    e = xml_expect_children(call, node, parts);
    if (e)
        return e;
    if (!policy.id.ptr)
        return xml_fail_missing(call, "Id");
    if (count_characters(policy.id) > POLICY_ID_MAX)
        return xml_fail_value(call, "Id", policy.id, "Longer than 64 characters.");
    access = xml_child(node, "AccessPolicy");
    if (access) {
        e = xml_expect_children(call, access, policy_parts);
        if (e)
            return e;
        e = read_date(call, access, "Start", &policy.start);
        if (e)
            return e;
        e = read_date(call, access, "Expiry", &policy.expiry);
        if (e)
            return e;
        policy.permission = xml_text(access, "Permission");
    }
    *ret_policy = policy;
    return check_permission(call, policy.permission);
}

static bool id_is_taken(const struct policies *policies, struct bytes id)
{
    for (size_t i = 0; i < policies->count; i++) {
        if (bytes_equal(policies->items[i].id, id))
            return true;
    }
    return false;
}

enum error set_container_acl_check(struct call *call, struct set_container_acl_parameters *p)
{
    return public_access_from_header(call, &p->access);
}

/* No body: no policies. */
enum error set_container_acl_parse(struct call *call, struct set_container_acl_parameters *p)
{
    struct policies *policies = &p->policies;
    const struct xml_node *root = NULL;
    enum error e;

    if (call->input.body.length > 0) {
        e = xml_body(call, "SignedIdentifiers", &root);
        if (e)
            return e;
    }
    for (const struct xml_node *node = root ? root->first_child : NULL; node; node = node->next) {
        struct policy policy;

        if (!bytes_is(node->name, "SignedIdentifier"))
            return xml_fail(call, node, "Only SignedIdentifier elements are expected here.");
        if (policies->count == POLICIES_MAX)
            return xml_fail(call, root, "At most five signed identifiers can be set.");
        e = read_policy(call, node, &policy);
        if (e)
            return e;
        if (id_is_taken(policies, policy.id))
            return xml_fail_value(call, "Id", policy.id, "The id is given twice.");
        policies->items[policies->count++] = policy;
    }
    return OK;
}

void set_container_acl_answer(struct answer *a, const struct set_container_acl_parameters *p,
                              const struct set_container_acl_result *r)
{
    (void)p;
    answer_status(a, 200);
    answer_etag(a, r->etag, r->modified);
}
