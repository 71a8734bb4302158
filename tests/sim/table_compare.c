/* See table_compare.h. */
#include "table_compare.h"

#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "table_model.h"
#include "table_pages.h"
#include "table_reply.h"

static const char *compare_refusal(const struct table_ask *ask,
                                   const struct table_expected *expected,
                                   const struct reply *answer)
{
    struct table_part parts[TABLE_PARTS_MAX];
    unsigned count;
    const char *why;

    if (expected->part < 0)
        return answer->status == expected->status && strcmp(answer->code, expected->code) == 0
                   ? NULL
                   : expected->code;
    if (answer->status != 202)
        return "a transaction is refused as a whole, not by its part";
    why = table_read_parts((const char *)answer->body, parts, &count);
    if (why)
        return why;
    if (count != 1 || parts[0].status != expected->status ||
        strcmp(parts[0].code, expected->code) != 0)
        return expected->code;
    if (parts[0].number != expected->part && (ask->count > 1 || parts[0].number >= 0))
        return "a transaction is refused by another part";
    return NULL;
}

static const char *compare_batched(const struct table_ask *ask, const struct reply *answer,
                                   uint64_t commit, uint64_t looked)
{
    struct table_expected expected = table_expect(ask, commit, looked);
    struct table_part parts[TABLE_PARTS_MAX];
    unsigned count;
    const char *why = answer->status != 202
                          ? "a batch with a query is refused as a whole"
                          : table_read_parts((const char *)answer->body, parts, &count);

    if (why)
        return why;
    if (count != 1 || parts[0].status != expected.status ||
        strcmp(parts[0].code, expected.code ? expected.code : "") != 0)
        return expected.code ? expected.code : "a query that is refused";
    return expected.code ? NULL : table_compare_page(ask, &parts[0].tokens, parts[0].body, commit);
}

static const char *compare_read(const struct table_ask *ask, const struct reply *answer,
                                uint64_t commit)
{
    const struct entity_version *is = table_entity_at(ask->table, ask->parts[0].place, commit);
    struct table_shown shown;
    const char *why = table_read_entity((const char *)answer->body, &shown);

    if (!why && answer->etag != shown.etag)
        why = "two ETags";
    if (!why && shown.place != (int)ask->parts[0].place)
        why = "another entity than was asked for";
    return why ? why : table_compare_entity(&shown, is, false);
}

static const char *compare_policies(const unsigned *policies, const struct reply *answer)
{
    for (unsigned i = 0; i < TABLE_POLICIES; i++) {
        char policy[120];
        int used = snprintf(policy, sizeof policy, "<Id>p%u</Id>", i);

        if (policies[i] > 0)
            (void)snprintf(policy + used, sizeof policy - (size_t)used,
                           "<AccessPolicy><Permission>%s</Permission>", table_letters[policies[i]]);
        if (!strstr((const char *)answer->body, policy) == !!policies[i])
            return "other policies";
    }
    return NULL;
}

const char *table_compare_answer(const struct table_ask *ask, const struct reply *answer,
                                 uint64_t commit, uint64_t looked)
{
    struct table_expected expected = table_expect(ask, commit, looked);

    if (ask->op == TABLE_BATCHED_QUERY)
        return compare_batched(ask, answer, commit, looked);
    if (expected.code)
        return compare_refusal(ask, &expected, answer);
    if (expected.changes)
        return "success without a commit";
    if (answer->status != expected.status)
        return "a read that is refused";
    if (ask->op == TABLE_GET_ACL)
        return compare_policies(table_policies(ask->table, commit), answer);
    if (ask->op == TABLE_READ)
        return compare_read(ask, answer, commit);
    if (ask->op == TABLE_QUERY)
        return table_compare_page(ask, &answer->table, (const char *)answer->body, commit);
    if (ask->op == TABLE_LIST)
        return table_compare_tables(ask, &answer->table, (const char *)answer->body, commit);
    return NULL;
}

bool table_says_cannot(const struct reply *answer)
{
    struct table_part parts[TABLE_PARTS_MAX];
    unsigned count;

    if (judge_says_cannot(answer))
        return true;
    return answer->status == 202 && strstr((const char *)answer->body, "\r\nHTTP/1.1 5") &&
           !table_read_parts((const char *)answer->body, parts, &count) && count == 1;
}
