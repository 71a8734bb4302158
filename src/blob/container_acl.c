/* Get Container ACL, Set Container ACL: public access and stored access policies.
 *
 * Policies are kept in the container's record as a run of entries, in the order they were set:
 *   u8 1 (version of the run); then for each: bytes id; start and expiry, ticks, 0 when not set;
 *   bytes permission, absent when not set
 * rest: Get-Container-ACL, Set-Container-ACL; a change holds at once, for there is one server */
#include "blob/container_private.h"
#include "blob/xml_body.h"

#define POLICIES_VERSION   1
#define POLICIES_MAX       5
#define POLICY_ID_MAX      64 /* characters */
#define POLICY_PERMISSIONS "racwdxyltfmeopi"

struct policy {
    struct bytes id;
    instant start;           /* 0: not set */
    instant expiry;          /* 0: not set */
    struct bytes permission; /* ptr NULL: not set */
};

/* ---- public access ---- */

enum error public_access_from_header(struct decision *d, enum public_access *ret_access)
{
    const char *name = "x-ms-blob-public-access";
    struct bytes value = call_header(d->call, name);

    if (!value.ptr)
        *ret_access = ACCESS_PRIVATE;
    else if (bytes_is_nocase(value, "blob"))
        *ret_access = ACCESS_BLOB;
    else if (bytes_is_nocase(value, "container"))
        *ret_access = ACCESS_CONTAINER;
    else
        return fail_header(d, E_InvalidHeaderValue, name, value);
    return OK;
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

void public_access_answer(struct decision *d, enum public_access access)
{
    const char *text = public_access_text(access);

    if (text)
        answer_string(d, "x-ms-blob-public-access", text);
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

static struct policy decode_policy(struct decoder *in)
{
    struct policy policy;

    policy.id = decode_bytes(in);
    policy.start = decode_u64(in);
    policy.expiry = decode_u64(in);
    policy.permission = decode_bytes(in);
    return policy;
}

enum error get_container_acl(struct decision *d)
{
    const struct container *container = &blob_state(d)->container;
    struct decoder in;
    struct text out;

    text_init(&out, d->arena, 512);
    xml_begin(&out);
    if (container->policies.len == 0) {
        text_add_string(&out, "<SignedIdentifiers />");
    } else {
        decoder_init(&in, container->policies);
        if (decode_u8(&in) != POLICIES_VERSION)
            return fail_store(d, STORE_CORRUPT);
        xml_open(&out, "SignedIdentifiers");
        while (!in.bad && in.at < in.end) {
            struct policy policy = decode_policy(&in);

            add_policy(&out, &policy);
        }
        xml_close(&out, "SignedIdentifiers");
        if (in.bad)
            return fail_store(d, STORE_CORRUPT);
    }

    answer_etag(d, container->etag, container->modified);
    public_access_answer(d, container->public_access);
    answer_xml(d, 200, &out);
    return OK;
}

/* ---- Set Container ACL ---- */

static enum error read_date(struct decision *d, const struct xml_node *policy, const char *name,
                            instant *ret_date)
{
    struct bytes text = xml_text(policy, name);

    if (text.ptr && !instant_parse_iso(text, ret_date))
        return fail_xml_value(d, name, text, "Not a date in ISO 8601 form.");
    return OK;
}

static enum error check_permission(struct decision *d, struct bytes permission)
{
    struct bytes known = BYTES(POLICY_PERMISSIONS);

    for (size_t i = 0; i < permission.len; i++) {
        char c = permission.ptr[i];

        if (!memchr(known.ptr, c, known.len) || memchr(permission.ptr, c, i))
            return fail_xml_value(d, "Permission", permission, "Not a set of permissions.");
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

static enum error read_policy(struct decision *d, const struct xml_node *node,
                              struct policy *ret_policy)
{
    static const char *const parts[] = { "Id", "AccessPolicy", NULL };
    static const char *const policy_parts[] = { "Start", "Expiry", "Permission", NULL };
    const struct xml_node *access;
    struct policy policy = { .id = xml_text(node, "Id") };
    enum error e;

    e = xml_expect_children(d, node, parts);
    if (e)
        return e;
    if (!policy.id.ptr)
        return fail_xml_missing(d, "Id");
    if (count_characters(policy.id) > POLICY_ID_MAX)
        return fail_xml_value(d, "Id", policy.id, "Longer than 64 characters.");
    access = xml_child(node, "AccessPolicy");
    if (access) {
        e = xml_expect_children(d, access, policy_parts);
        if (e)
            return e;
        e = read_date(d, access, "Start", &policy.start);
        if (e)
            return e;
        e = read_date(d, access, "Expiry", &policy.expiry);
        if (e)
            return e;
        policy.permission = xml_text(access, "Permission");
    }
    *ret_policy = policy;
    return check_permission(d, policy.permission);
}

static bool id_is_taken(const struct policy *policies, size_t count, struct bytes id)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(policies[i].id, id))
            return true;
    }
    return false;
}

static struct bytes encode_policies(struct arena *arena, const struct policy *policies,
                                    size_t count)
{
    struct text out;

    if (count == 0)
        return (struct bytes){ NULL, 0 };
    text_init(&out, arena, 128);
    encode_u8(&out, POLICIES_VERSION);
    for (size_t i = 0; i < count; i++) {
        encode_bytes(&out, policies[i].id);
        encode_u64(&out, policies[i].start);
        encode_u64(&out, policies[i].expiry);
        encode_bytes(&out, policies[i].permission);
    }
    return text_bytes(&out);
}

/* The body as encoded policies; no body: none. */
static enum error read_policies(struct decision *d, struct bytes *ret_policies)
{
    struct policy policies[POLICIES_MAX];
    const struct xml_node *root = NULL;
    size_t count = 0;
    enum error e;

    if (d->call->body.length > 0) {
        e = xml_body(d, "SignedIdentifiers", &root);
        if (e)
            return e;
    }
    for (const struct xml_node *node = root ? root->first_child : NULL; node; node = node->next) {
        if (!bytes_is(node->name, "SignedIdentifier"))
            return fail_xml(d, "Only SignedIdentifier elements are expected here.");
        if (count == POLICIES_MAX)
            return fail_xml(d, "At most five signed identifiers can be set.");
        e = read_policy(d, node, &policies[count]);
        if (e)
            return e;
        if (id_is_taken(policies, count, policies[count].id))
            return fail_xml_value(d, "Id", policies[count].id, "The id is given twice.");
        count++;
    }
    *ret_policies = encode_policies(d->arena, policies, count);
    return OK;
}

enum error check_set_container_acl(struct decision *d)
{
    enum public_access *access = arena_alloc(d->arena, sizeof *access);
    enum error e;

    e = public_access_from_header(d, access);
    if (e)
        return e;
    d->call->parameters = access;
    return OK;
}

/* Replaces the public access and all policies: what is not sent is gone. */
enum error set_container_acl(struct decision *d)
{
    const enum public_access *access = d->call->parameters;
    struct container container = blob_state(d)->container;
    enum error e;

    e = read_policies(d, &container.policies);
    if (e)
        return e;
    container.public_access = *access;
    return container_change(d, &container);
}
