/* Who may do what: the account's key everything; a shared access signature what its letters say, or
 * those of the stored policy that it names, as long as there is one, of a container or, with a type
 * of resource, of the account; one by a user's key the same, since that user may do everything;
 * anybody what is public.
 * rest: Create-service-SAS, Create-account-SAS, Create-user-delegation-SAS,
 * Define-stored-access-policy, Configure anonymous read access */
#include <string.h>

#include "model_private.h"
#include "sas_terms.h"

const char *const sas_letters[SAS_LETTERS] = { "", "r", "rw", "c", "racwdltf", "wdt", "l", "t" };

const char *const account_sas_types[SAS_TYPES] = { "sco", "o", "c", "s", "co" };

/* Of what is about containers, and of the account itself: with a signature of the account alone. */
static const char *account_letters_of(const struct ask *ask)
{
    static const char *const needed[OPS] = {
        [OP_CREATE_CONTAINER] = "cw",      [OP_DELETE_CONTAINER] = "d", [OP_GET_CONTAINER] = "r",
        [OP_SET_CONTAINER_METADATA] = "w", [OP_LEASE_CONTAINER] = "w",  [OP_LIST_CONTAINERS] = "l",
    };

    return ask->op == OP_LEASE_CONTAINER && ask->act == ACT_BREAK ? "wd" : needed[ask->op];
}

static bool is_by_account(const struct ask *ask)
{
    return ask->signature == SIGNED_BY_ACCOUNT_SAS;
}

static char type_of(const struct ask *ask)
{
    return ask->op == OP_LIST_CONTAINERS ? 's' : ask->op <= OP_LIST_BLOBS ? 'c' : 'o';
}

/* Any of these will do; NULL: not with such a signature. */
static const char *letters_of(const struct ask *ask)
{
    static const char *const needed[OPS] = {
        [OP_LIST_BLOBS] = "l",     [OP_PUT_BLOB] = "w",     [OP_GET_BLOB] = "r",
        [OP_HEAD_BLOB] = "r",      [OP_SET_METADATA] = "w", [OP_GET_METADATA] = "r",
        [OP_SET_PROPERTIES] = "w", [OP_LEASE_BLOB] = "w",   [OP_SNAPSHOT] = "cw",
        [OP_DELETE_BLOB] = "d",    [OP_PUT_BLOCK] = "w",    [OP_PUT_BLOCK_LIST] = "w",
        [OP_GET_BLOCK_LIST] = "r", [OP_SET_TAGS] = "t",     [OP_GET_TAGS] = "t",
        [OP_APPEND_BLOCK] = "aw",  [OP_SEAL] = "aw",        [OP_PUT_PAGE] = "w",
        [OP_CLEAR_PAGE] = "w",     [OP_PAGE_RANGES] = "r",  [OP_SET_TIER] = "w",
        [OP_COPY] = "w",           [OP_ABORT_COPY] = "w",   [OP_FIND] = "f",
        [OP_UNDELETE] = "w",
    };

    if (ask->op == OP_LEASE_BLOB && ask->act == ACT_BREAK)
        return "wd";
    return needed[ask->op] || !is_by_account(ask) ? needed[ask->op] : account_letters_of(ask);
}

/* May create what is not there. */
static bool creates(const struct ask *ask)
{
    return ask->op == OP_PUT_BLOB || ask->op == OP_COPY;
}

/* Tags are set, and looked at, by who may. Those to be set are looked at with the state. */
static bool needs_tags(const struct ask *ask, bool known)
{
    return ask->if_tag > 0 ||
           (known && ask->tag > 0 && ask->op != OP_SET_TAGS && ask->op != OP_FIND);
}

static bool check_letters(struct run *run, const char *letters, bool known, bool exists)
{
    const struct ask *ask = run->ask;
    const char *code = "AuthorizationPermissionMismatch";

    if (!needs_tags(ask, known) || strchr(letters, 't')) {
        if (strpbrk(letters, letters_of(ask)))
            return true;
        if (creates(ask) && strchr(letters, 'c')) {
            if (!known || !exists)
                return true;
            code = "UnauthorizedBlobOverwrite";
        }
    }
    rule_refuse(run, 403, code);
    return false;
}

/* Not of a block list, which is asked for with uncommitted blocks, and not by tags. */
static bool is_public(const struct ask *ask, const struct container_state *c)
{
    static const unsigned needed[OPS] = {
        [OP_GET_BLOB] = 1,    [OP_HEAD_BLOB] = 1,     [OP_GET_METADATA] = 1,
        [OP_PAGE_RANGES] = 1, [OP_GET_CONTAINER] = 2, [OP_LIST_BLOBS] = 2,
    };

    return c->exists && needed[ask->op] > 0 && c->access >= needed[ask->op] && ask->if_tag == 0;
}

bool rule_check_signature(struct run *run)
{
    const struct ask *ask = run->ask;
    const char *code = NULL;

    switch (ask->signature) {
    case UNSIGNED:
        if (is_public(ask, &run->out->container))
            return true;
        rule_refuse(run, 401, "NoAuthenticationInformation");
        return false;
    case SIGNED_BY_SAS:
    case SIGNED_BY_POLICY:
    case SIGNED_BY_USER:
    case SIGNED_BY_ACCOUNT_SAS:
        if (!sas_is_in_time(ask))
            code = "AuthenticationFailed";
        else if (sas_refuses_peer(ask))
            code = sas_refuses_peer(ask);
        else if (!letters_of(ask))
            code = "AuthorizationFailure";
        else if (is_by_account(ask) && !strchr(account_sas_types[ask->sas_types], type_of(ask)))
            code = "AuthorizationResourceTypeMismatch";
        else if (ask->signature != SIGNED_BY_POLICY)
            return check_letters(run, sas_letters[ask->sas], false, false);
        else if (ask->terms.letters > 0)
            return check_letters(run, sas_letters[ask->terms.letters], false, false);
        break;
    case SIGNED_WRONGLY:
    case SIGNED_LONG_AGO:
        code = "AuthenticationFailed";
        break;
    case SIGNED:
        break;
    }
    if (code)
        rule_refuse(run, 403, code);
    return !code;
}

/* What the policy and the signature say together, each thing once and all of it. 0: nothing is
 * opened. decision: 70 */
static unsigned letters_by_policy(const struct ask *ask, const struct stored_policy *policy)
{
    const struct sas_terms *terms = &ask->terms;
    bool says_twice = (terms->start && policy->start) || (terms->expiry && policy->expiry) ||
                      (terms->letters && policy->letters);
    enum moment start = terms->start ? terms->start : policy->start;
    enum moment expiry = terms->expiry ? terms->expiry : policy->expiry;

    if (!policy->exists || says_twice || expiry != FAR_AHEAD || start == FAR_AHEAD)
        return 0;
    return terms->letters ? terms->letters : policy->letters;
}

/* A policy counts as it is now: one that is gone opens nothing. */
bool rule_check_permission(struct run *run, bool exists)
{
    const struct container_state *c = &run->out->container;
    const struct ask *ask = run->ask;
    unsigned letters;

    if (ask->signature == SIGNED_BY_SAS || ask->signature == SIGNED_BY_USER || is_by_account(ask))
        return check_letters(run, sas_letters[ask->sas], true, exists);
    if (ask->signature != SIGNED_BY_POLICY)
        return true;
    letters = c->exists ? letters_by_policy(ask, &c->policies[ask->sas]) : 0;
    if (letters > 0)
        return check_letters(run, sas_letters[letters], true, exists);
    rule_refuse(run, 403, "AuthenticationFailed");
    return false;
}
