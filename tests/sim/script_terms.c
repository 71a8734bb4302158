/* On what terms a request is made: signatures and the policies they rest on, conditions, and what is wrong
 * with it. */
#include "script_private.h"

#include "judge.h"
#include "malformed.h"

/* Most can be used, and all that can be wrong is, here and there. */
static void draw_terms(struct draws *draws, struct ask *ask)
{
    struct sas_terms *terms = &ask->terms;
    unsigned wrong = draw(draws, 20);

    terms->start = draw(draws, 3) == 0 ? LONG_PAST : AT_NO_TIME;
    terms->expiry = FAR_AHEAD;
    terms->key_start = LONG_PAST;
    terms->key_expiry = FAR_AHEAD;
    terms->address = draw(draws, 4) == 0 ? 1 + draw(draws, 2) : ANY_ADDRESS;
    terms->protocol = draw(draws, 4) == 0 ? BOTH_PROTOCOLS : ANY_PROTOCOL;
    if (ask->signature == SIGNED_BY_POLICY) {
        terms->expiry = draw(draws, 2) == 0 ? AT_NO_TIME : FAR_AHEAD;
        terms->letters = draw(draws, 3) > 0    ? 0
                         : draw(draws, 2) == 0 ? SAS_ALL
                                               : 1 + draw(draws, SAS_LETTERS - 1);
    }
    if (wrong == 0)
        terms->start = FAR_AHEAD;
    else if (wrong == 1)
        terms->expiry = LONG_PAST;
    else if (wrong == 2)
        terms->address = draw(draws, 2) == 0 ? OTHER_ADDRESS : ADDRESSES_BESIDE;
    else if (wrong == 3)
        terms->protocol = HTTPS_ALONE;
    else if (wrong < 6)
        terms->key_start = FAR_AHEAD;
    else if (wrong < 8)
        terms->key_expiry = LONG_PAST;
}

struct stored_policy script_policy(struct draws *draws)
{
    struct stored_policy policy = { .exists = draw(draws, 3) > 0 };

    if (is_of_policies())
        return draw(draws, 2) == 0 ? (struct stored_policy){ .exists = false }
                                   : (struct stored_policy){ .exists = true,
                                                             .letters = SAS_ALL,
                                                             .expiry = FAR_AHEAD };
    if (!policy.exists)
        return policy;
    policy.letters = draw(draws, 4) == 0   ? 0
                     : draw(draws, 2) == 0 ? SAS_ALL
                                           : 1 + draw(draws, SAS_LETTERS - 1);
    policy.start = draw(draws, 2) == 0 ? AT_NO_TIME : (enum moment)draw(draws, MOMENTS);
    policy.expiry = draw(draws, 2) == 0 ? AT_NO_TIME : draw(draws, 4) == 0 ? LONG_PAST : FAR_AHEAD;
    return policy;
}

/* One that asks while the policy that it rests on may be going. */
static bool draw_revoked(struct draws *draws, struct ask *ask)
{
    if (!is_of_policies() || !script_sets_policies(ask->container) || draw(draws, 2) == 0)
        return false;
    ask->signature = SIGNED_BY_POLICY;
    ask->sas = draw(draws, POLICIES);
    return true;
}

void script_signature(struct draws *draws, struct ask *ask)
{
    static const enum signature signatures[] = { SIGNED_BY_SAS, SIGNED_BY_POLICY, SIGNED_BY_POLICY,
                                                 SIGNED_BY_USER, SIGNED_BY_ACCOUNT_SAS };
    unsigned kind = draw(draws, 20);
    bool of_container = ask->op >= OP_FIND && ask->op != OP_LIST_CONTAINERS;

    if (ask->op == OP_BATCH || is_of_service(ask->op) || (of_container && draw_revoked(draws, ask)))
        return;
    if (kind > 4)
        return;
    if (signatures[kind] != SIGNED_BY_ACCOUNT_SAS && !of_container)
        return;
    ask->signature = signatures[kind];
    ask->sas = draw(draws, 2) == 0 ? SAS_ALL : 1 + draw(draws, SAS_LETTERS - 1);
    ask->sas_types = draw(draws, 2) == 0 ? 0 : draw(draws, SAS_TYPES);
    if (ask->signature == SIGNED_BY_POLICY)
        ask->sas = draw(draws, POLICIES);
    draw_terms(draws, ask);
}

static void draw_if_tag(struct draws *draws, struct ask *ask)
{
    if (ask->op >= OP_PUT_BLOB && draw(draws, 12) == 0)
        ask->if_tag = 1 + draw(draws, 3);
}

/* A second beside the one that decides, or far from it. */
static int64_t draw_date(struct draws *draws, const struct ask *ask)
{
    int64_t known = judge_known_date(ask);

    if (known == 0 || draw(draws, 4) == 0)
        return draw(draws, 2) == 0 ? 1000000000 : 4000000000;
    return known + (int64_t)draw(draws, 3) - 1;
}

/* All that there are, also where an operation does not take them, and any two together. */
static void draw_condition(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 10);

    if (draw(draws, ask->op >= OP_PUT_BLOB ? 5 : 8) != 0 || is_listing_op(ask->op) ||
        ask->op == OP_FIND || ask->op == OP_BATCH || is_of_service(ask->op))
        return;
    if (kind >= 7 || kind == 3)
        ask->modified_since = draw_date(draws, ask);
    if (kind >= 8 || kind == 4)
        ask->unmodified_since = draw_date(draws, ask);
    if (kind == 3 || kind == 4 || kind == 8)
        return;
    ask->condition = (enum condition)draw(draws, 5);
    if (ask->condition == IF_MATCH_TAG || ask->condition == IF_NONE_MATCH_TAG) {
        ask->etag = judge_known_etag(ask->container, ask->blob);
        if (ask->etag == 0 || draw(draws, 6) == 0)
            ask->etag = 0x8DE000000000000 + draw(draws, 1000);
        else if (draw(draws, 8) == 0)
            ask->etag--; /* the next one might be the blob's already */
        ask->is_weak = draw(draws, 8) == 0;
    }
}

void script_conditions(struct draws *draws, struct ask *ask)
{
    draw_if_tag(draws, ask);
    draw_condition(draws, ask);
}

void script_offence(struct draws *draws, struct ask *ask)
{
    unsigned kind = draw(draws, 60);

    if (ask->op == OP_BATCH || is_of_service(ask->op) || ask->signature != SIGNED)
        return;
    if (kind < 3) {
        ask->signature = kind < 2 ? UNSIGNED : (enum signature)(SIGNED_WRONGLY + draw(draws, 2));
        /* A clock that is set back would make it right. */
        if (ask->signature == SIGNED_LONG_AGO && (world->plan.faults & FAULT_CLOCK))
            ask->signature = SIGNED_WRONGLY;
        ask->condition = IF_NOTHING;
        ask->modified_since = ask->unmodified_since = 0;
        ask->if_tag = 0;
        ask->page.include &= INCLUDE_METADATA;
        return;
    }
    if (kind > 5)
        return;
    ask->malformed = malformed_draw(ask, draw(draws, 1 << 20));
    if (ask->malformed)
        ask->page = (struct page_ask){ 0 };
}
