/* Decides the validity period of a user delegation key. Nothing is stored.
 * rest: Get-User-Delegation-Key */
#include "service/user_delegation_key.h"

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
