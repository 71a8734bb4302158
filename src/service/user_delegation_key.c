/* Decides the validity period of a user delegation key. Nothing is stored.
 * rest: Get-User-Delegation-Key */
#include "service/user_delegation_key.h"

#include "base/encode.h"
#include "service/answer.h"
#include "service/operation.h"
#include "service/xml_body.h"

/* "The expiry time must be within seven days of the start time". The start must also be at most
 * seven days from now. */
#define KEY_MAX_TICKS (UINT64_C(7) * 24 * 3600 * TICKS_PER_SECOND)

static enum error refuse(struct decision *d, const char *name, const char *reason)
{
    problem_set_field(d->problem, "XmlNodeName", bytes_from_string(name));
    problem_add_field(d->problem, "Reason", bytes_from_string(reason));
    return E_InvalidXmlNodeValue;
}

/* The times are compared with the wall clock, like those of tokens signed with the key. */
enum error get_user_delegation_key_decide(struct decision *d,
                                          const struct get_user_delegation_key_parameters *p,
                                          struct get_user_delegation_key_result *r)
{
    instant now = d->input->identity.at;

    r->start = p->start > 0 ? p->start : now - now % TICKS_PER_SECOND;
    if (p->expiry <= now || p->expiry <= r->start)
        return refuse(d, "Expiry", "It is not after now and after Start.");
    if (r->start > now + KEY_MAX_TICKS)
        return refuse(d, "Start", "It is more than seven days away.");
    if (p->expiry - r->start > KEY_MAX_TICKS)
        return refuse(d, "Expiry", "It is more than seven days after Start.");
    return OK;
}

/* ---- Get User Delegation Key. rest: Get-User-Delegation-Key ---- */

OPERATION_CHECKS_NOTHING(get_user_delegation_key)

static enum error read_date(struct call *call, const struct xml_node *root, const char *name,
                            instant *ret_date)
{
    struct bytes text = xml_text(root, name);

    if (text.ptr && !instant_parse_iso(text, ret_date))
        return xml_fail_value(call, name, text, "Not a date in ISO 8601 form.");
    *ret_date -= *ret_date % TICKS_PER_SECOND;
    return OK;
}

/* Returns true for a GUID or no value. The tenant becomes part of the key and of the response's
 * XML. */
static bool is_tenant(struct bytes text)
{
    struct guid id;

    return !text.ptr || guid_parse(text, &id);
}

enum error get_user_delegation_key_parse(struct call *call,
                                         struct get_user_delegation_key_parameters *p)
{
    static const char *const parts[] = { "Start", "Expiry", "DelegatedUserTid", NULL };
    const struct xml_node *root;
    enum error e = xml_body(call, "KeyInfo", &root);

    if (!e)
        e = xml_expect_children(call, root, parts);
    if (!e)
        e = read_date(call, root, "Start", &p->start);
    if (!e)
        e = read_date(call, root, "Expiry", &p->expiry);
    if (e)
        return e;
    if (p->expiry == 0)
        return xml_fail_missing(call, "Expiry");
    p->user_tid = xml_text(root, "DelegatedUserTid");
    if (!is_tenant(p->user_tid))
        return xml_fail_value(call, "DelegatedUserTid", p->user_tid, "Not a GUID.");
    return OK;
}

/* Adds a time in whole seconds, the format that a SAS repeats. */
static void add_date(struct text *out, const char *name, instant date)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(date, text);
    xml_element(out, name, arena_printf(out->arena, "%.19sZ", text));
}

void get_user_delegation_key_answer(struct answer *a,
                                    const struct get_user_delegation_key_parameters *p,
                                    const struct get_user_delegation_key_result *r)
{
    static const char nobody[] = "00000000-0000-0000-0000-000000000000";
    const struct identity *identity = &a->call->input.identity;
    struct delegation_key key = {
        .oid = identity->oid,
        .tid = identity->tid.len > 0 ? identity->tid : bytes_from_string(nobody),
        .service = bytes_of(a->call->service->name, 1),
        .version = a->call->version,
        .user_tid = p->user_tid,
        .start = r->start,
        .expiry = p->expiry,
    };
    uint8_t value[DELEGATION_KEY_SIZE];
    struct text out;

    account_delegation_key(a->call->account, a->arena, &key, value);
    text_init(&out, a->arena, 512);
    xml_begin(&out);
    xml_open(&out, "UserDelegationKey");
    xml_element(&out, "SignedOid", key.oid);
    xml_element(&out, "SignedTid", key.tid);
    add_date(&out, "SignedStart", key.start);
    add_date(&out, "SignedExpiry", key.expiry);
    xml_element(&out, "SignedService", key.service);
    xml_element(&out, "SignedVersion", key.version);
    if (key.user_tid.ptr)
        xml_element(&out, "SignedDelegatedUserTid", key.user_tid);
    xml_element(&out, "Value", base64_encode(a->arena, bytes_of(value, sizeof value)));
    xml_close(&out, "UserDelegationKey");
    answer_xml(a, &out);
}
