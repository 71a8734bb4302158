/* XML of <SignedIdentifiers>: see properties_xml.h. */
#include "properties/properties_xml.h"

#include "service/xml_body.h"

#define POLICY_ID_MAX 64 /* characters */

/* ---- output ---- */

/* Adds a policy. If start, expiry and permission are all missing, the AccessPolicy element is
 * omitted, as recorded. */
static void add_policy(struct text *out, const struct policy *policy)
{
    xml_open(out, "SignedIdentifier");
    xml_element(out, "Id", policy->id);
    if (policy->start > 0 || policy->expiry > 0 || policy->permission.ptr) {
        xml_open(out, "AccessPolicy");
        if (policy->start > 0)
            xml_element_iso_date(out, "Start", policy->start);
        if (policy->expiry > 0)
            xml_element_iso_date(out, "Expiry", policy->expiry);
        if (policy->permission.ptr)
            xml_element(out, "Permission", policy->permission);
        xml_close(out, "AccessPolicy");
    }
    xml_close(out, "SignedIdentifier");
}

void signed_identifiers_xml(struct text *out, const struct policies *policies)
{
    xml_begin(out);
    if (policies->count == 0) {
        text_add_string(out, "<SignedIdentifiers />");
        return;
    }
    xml_open(out, "SignedIdentifiers");
    for (size_t i = 0; i < policies->count; i++)
        add_policy(out, &policies->items[i]);
    xml_close(out, "SignedIdentifiers");
}

/* ---- input ---- */

static enum error read_date(struct call *call, const struct xml_node *policy, const char *name,
                            instant *ret_date)
{
    struct bytes text = xml_text(policy, name);

    if (text.ptr && !instant_parse_iso(text, ret_date))
        return xml_fail_value(call, name, text, "Not a date in ISO 8601 form.");
    return OK;
}

/* Returns true if all letters are known, occur once, and are in order where the order matters. */
static bool permission_is_valid(const struct policy_letters *letters, struct bytes permission)
{
    struct bytes known = bytes_from_string(letters->known);
    struct bytes ordered = bytes_from_string(letters->ordered ? letters->ordered : "");
    size_t last = 0; /* position in `ordered`, from 1 */

    for (size_t i = 0; i < permission.len; i++) {
        char c = permission.ptr[i];
        const char *at = memchr(ordered.ptr, c, ordered.len);

        if (!memchr(known.ptr, c, known.len) || memchr(permission.ptr, c, i))
            return false;
        if (at && (size_t)(at - ordered.ptr) + 1 < last)
            return false;
        if (at)
            last = (size_t)(at - ordered.ptr) + 1;
    }
    return true;
}

static enum error read_policy(struct call *call, const struct policy_letters *letters,
                              const struct xml_node *node, struct policy *ret_policy)
{
    static const char *const parts[] = { "Id", "AccessPolicy", NULL };
    static const char *const policy_parts[] = { "Start", "Expiry", "Permission", NULL };
    const struct xml_node *access;
    struct policy policy = { .id = xml_text(node, "Id") };
    enum error e;

    e = xml_expect_children(call, node, parts);
    if (e)
        return e;
    if (!policy.id.ptr || xml_count_characters(policy.id) > POLICY_ID_MAX)
        return xml_fail_whole(call);
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
    return permission_is_valid(letters, policy.permission) ? OK : xml_fail_whole(call);
}

static bool id_is_taken(const struct policies *policies, struct bytes id)
{
    for (size_t i = 0; i < policies->count; i++) {
        if (bytes_equal(policies->items[i].id, id))
            return true;
    }
    return false;
}

static size_t count_children(const struct xml_node *root)
{
    size_t count = 0;

    for (const struct xml_node *node = root ? root->first_child : NULL; node; node = node->next)
        count++;
    return count;
}

enum error signed_identifiers_read(struct call *call, const struct policy_letters *letters,
                                   struct policies *ret_policies)
{
    struct policies policies = { .count = 0 };
    const struct xml_node *root = NULL;
    enum error e;

    if (call->input.body.length > 0) {
        e = xml_body(call, "SignedIdentifiers", &root);
        if (e)
            return e;
    }
    if (count_children(root) > POLICIES_MAX)
        return xml_fail_whole(call);
    for (const struct xml_node *node = root ? root->first_child : NULL; node; node = node->next) {
        struct policy policy;

        if (!bytes_is(node->name, "SignedIdentifier"))
            return xml_fail(call, node, "Only SignedIdentifier elements are expected here.");
        e = read_policy(call, letters, node, &policy);
        if (e)
            return e;
        if (id_is_taken(&policies, policy.id))
            return xml_fail_whole(call);
        policies.items[policies.count++] = policy;
    }
    *ret_policies = policies;
    return OK;
}
