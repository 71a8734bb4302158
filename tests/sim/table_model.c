/* See table_model.h. rest: Table-Service-REST-API; semantics 6 */
#include "table_model.h"

#include <string.h>

#include "commits.h"
#include "moves.h"
#include "services.h"
#include "table_value.h"
#include "world.h"

/* In the world; set before any life begins. */
static struct table_model {
    struct table_version *tables[TABLES];
    struct entity_version *entities[TABLES][TABLE_PLACES];
    uint64_t incarnations;
} * model;

void table_model_begin(void)
{
    model = world_alloc(sizeof *model);
}

/* ---- states ---- */

static const struct table_version *table_at(unsigned table, uint64_t commit)
{
    static const struct table_version never;
    const struct table_version *at = model->tables[table];

    while (at && at->since > commit)
        at = at->older;
    return at ? at : &never;
}

uint64_t table_list_changed(unsigned table, uint64_t from, uint64_t to)
{
    uint64_t since = table_at(table, to)->since;

    return since > from ? since : 0;
}

unsigned table_cell_of(unsigned table)
{
    const struct table_version *newest = model->tables[table];

    return newest && newest->exists ? moves_cell_of(table, newest->since) : 0;
}

bool table_is_here(unsigned table)
{
    return moves_are_here(table, model->tables[table] ? model->tables[table]->since : 0);
}

bool table_is_here_at(unsigned table, uint64_t survivor)
{
    const struct table_version *at = model->tables[table];

    while (at && commits_is_lost(at->since, survivor))
        at = at->older;
    return moves_are_here_at(table, at ? at->since : 0, survivor);
}

bool table_exists(unsigned table, uint64_t commit)
{
    return table_at(table, commit)->exists;
}

const unsigned *table_policies(unsigned table, uint64_t commit)
{
    return table_at(table, commit)->policies;
}

struct entity_version *table_entity_at(unsigned table, unsigned place, uint64_t commit)
{
    const struct table_version *within = table_at(table, commit);
    struct entity_version *at = model->entities[table][place];

    while (at && at->since > commit)
        at = at->older;
    return within->exists && at && at->exists && at->incarnation == within->incarnation ? at : NULL;
}

static uint64_t newest_in(const struct entity_version *at, uint64_t from, uint64_t to)
{
    while (at && at->since > to)
        at = at->older;
    return at && at->since > from ? at->since : 0;
}

static uint64_t changed(unsigned table, uint64_t from, uint64_t to)
{
    const struct table_version *at = model->tables[table];
    uint64_t newest = 0;

    while (at && at->since > to)
        at = at->older;
    if (at && at->since > from)
        newest = at->since;
    for (unsigned i = 0; i < TABLE_PLACES; i++) {
        uint64_t since = newest_in(model->entities[table][i], from, to);

        newest = since > newest ? since : newest;
    }
    return newest;
}

uint64_t table_changed_before(const struct table_ask *ask, uint64_t from, uint64_t to)
{
    uint64_t newest = 0;

    for (unsigned t = 0; t < TABLES; t++) {
        if (ask->op == TABLE_LIST || t == ask->table) {
            uint64_t since = changed(t, from, to);

            newest = since > newest ? since : newest;
        }
    }
    return newest;
}

/* ---- what is expected ---- */

static struct table_expected refusal(int status, const char *code)
{
    return (struct table_expected){ .status = status, .code = code, .part = -1 };
}

/* Which letters a write or a read needs, all of them. rest: Create-service-SAS */
static const char *letters_of(const struct table_change *change)
{
    if (change->op == TABLE_REPLACE || change->op == TABLE_MERGE)
        return change->condition == TABLE_IF_NOTHING ? "au" : "u";
    return change->op == TABLE_INSERT ? "a" : change->op == TABLE_DELETE ? "d" : "r";
}

static bool has_letters(unsigned letters, const char *needed)
{
    return strspn(needed, table_letters[letters]) == strlen(needed);
}

/* By the letters that the signature says itself, whatever its policy says. True: it is refused. */
static bool lacks_own_letters(const struct table_sas *sas, const char *needed,
                              struct table_expected *ret_expected)
{
    unsigned letters = sas->by_policy ? sas->beside : sas->letters;

    if (!sas->is_used || (sas->by_policy && letters == 0) || has_letters(letters, needed))
        return false;
    *ret_expected = refusal(403, "AuthorizationPermissionMismatch");
    return true;
}

/* A policy counts as it is: one that is gone opens nothing, nor does one that says what the signature says
 * too, as each does. decision: 70. True: it is refused. */
static bool lacks_letters(const struct table_sas *sas, const unsigned *policies, const char *needed,
                          struct table_expected *ret_expected)
{
    unsigned letters;

    if (lacks_own_letters(sas, needed, ret_expected))
        return true;
    if (!sas->is_used || !sas->by_policy)
        return false;
    letters = sas->beside > 0 ? 0 : policies[sas->letters];
    if (letters > 0 && has_letters(letters, needed))
        return false;
    *ret_expected =
        refusal(403, letters > 0 ? "AuthorizationPermissionMismatch" : "AuthenticationFailed");
    return true;
}

/* decision: 145 */
bool table_sas_opens(const struct table_sas *sas, unsigned place)
{
    return !sas->is_used ||
           ((!sas->has_first || place >= sas->first) && (!sas->has_last || place <= sas->last));
}

/* rest: Inserting-and-Updating-Entities; semantics 6 */
static struct table_expected expect_change(const struct table_change *change,
                                           const struct entity_version *is)
{
    struct table_expected expected = { .status = 204, .part = -1, .changes = true };

    if (change->op == TABLE_INSERT) {
        if (is)
            return refusal(409, "EntityAlreadyExists");
        expected.status = change->is_quiet ? 204 : 201;
        return expected;
    }
    if (change->condition == TABLE_IF_NOTHING)
        return change->op == TABLE_DELETE ? refusal(400, "MissingRequiredHeader") : expected;
    if (!is)
        return refusal(404, "ResourceNotFound");
    /* An ETag that nobody was told is none that anybody can name. */
    if (change->condition == TABLE_IF_ETAG && is->etag != change->etag)
        return refusal(412, "UpdateConditionNotSatisfied");
    return expected;
}

/* What is wrong with the parts as such is found before anything is decided.
 * rest: Performing-Entity-Group-Transactions */
static bool find_malformed(const struct table_ask *ask, struct table_expected *ret_expected)
{
    for (unsigned i = 0; i < ask->count; i++) {
        const struct table_change *part = &ask->parts[i];

        *ret_expected = (struct table_expected){ .status = 400, .part = (int)i };
        if (part->op == TABLE_DELETE && part->condition == TABLE_IF_NOTHING) {
            ret_expected->code = "MissingRequiredHeader";
            return true;
        }
        /* What a policy says is not known yet. */
        if (lacks_own_letters(&ask->sas, letters_of(part), ret_expected)) {
            ret_expected->part = (int)i;
            return true;
        }
        if (part->place / TABLE_ROWS != ask->parts[0].place / TABLE_ROWS) {
            ret_expected->code = "CommandsInBatchActOnDifferentPartitions";
            return true;
        }
        for (unsigned j = 0; j < i; j++) {
            if (ask->parts[j].place == part->place) {
                ret_expected->code = "InvalidDuplicateRow";
                return true;
            }
        }
    }
    return false;
}

/* Of an entity: who may not do it learns nothing of it, nor of the table. */
static struct table_expected expect_entity(const struct table_ask *ask, unsigned part,
                                           uint64_t commit, uint64_t looked)
{
    const struct table_change *change = &ask->parts[part];
    const struct entity_version *is = table_entity_at(ask->table, change->place, commit);
    bool reads = change->op == TABLE_READ;
    struct table_expected refused;

    if (lacks_letters(&ask->sas, table_policies(ask->table, looked), letters_of(change), &refused))
        return refused;
    if (!table_sas_opens(&ask->sas, change->place))
        return reads ? refusal(404, "ResourceNotFound") : refusal(403, "AuthorizationFailure");
    if (!table_exists(ask->table, commit))
        return refusal(404, "TableNotFound");
    if (!reads)
        return expect_change(change, is);
    return is ? (struct table_expected){ .status = 200, .part = -1 }
              : refusal(404, "ResourceNotFound");
}

static struct table_expected expect_transaction(const struct table_ask *ask, uint64_t commit,
                                                uint64_t looked)
{
    struct table_expected expected;

    if (find_malformed(ask, &expected))
        return expected;
    for (unsigned i = 0; i < ask->count; i++) {
        expected = expect_entity(ask, i, commit, looked);
        if (expected.code) {
            expected.part = (int)i;
            return expected;
        }
    }
    return (struct table_expected){ .status = 202, .part = -1, .changes = true };
}

static bool is_malformed_delete(const struct table_ask *ask)
{
    return ask->op == TABLE_DELETE && ask->parts[0].condition == TABLE_IF_NOTHING;
}

struct table_expected table_expect(const struct table_ask *ask, uint64_t commit, uint64_t looked)
{
    bool exists = table_exists(ask->table, commit);
    struct table_expected good = { .status = 200, .part = -1 }, refused;

    switch ((int)ask->op) {
    case TABLE_CREATE:
        if (exists)
            return refusal(409, "TableAlreadyExists");
        return (struct table_expected){ .status = 201, .part = -1, .changes = true };
    case TABLE_DROP:
        if (!exists)
            return refusal(404, "ResourceNotFound");
        return (struct table_expected){ .status = 204, .part = -1, .changes = true };
    case TABLE_GET:
        return exists ? good : refusal(404, "ResourceNotFound");
    case TABLE_LIST:
        return good;
    case TABLE_GET_ACL:
        return exists ? good : refusal(404, "TableNotFound");
    case TABLE_SET_ACL:
        if (!exists)
            return refusal(404, "TableNotFound");
        return (struct table_expected){ .status = 204, .part = -1, .changes = true };
    case TABLE_TRANSACTION:
        return expect_transaction(ask, commit, looked);
    default:
        break;
    }
    if (is_malformed_delete(ask))
        return refusal(400, "MissingRequiredHeader");
    if (ask->op != TABLE_QUERY && ask->op != TABLE_BATCHED_QUERY)
        return expect_entity(ask, 0, commit, looked);
    if (lacks_letters(&ask->sas, table_policies(ask->table, looked), "r", &refused))
        return refused;
    return exists ? good : refusal(404, "TableNotFound");
}

/* ---- queries. rest: Querying-Tables-and-Entities ---- */

bool table_filter_holds(const struct table_query *query, unsigned place,
                        const struct entity_version *version)
{
    unsigned partition = place / TABLE_ROWS, row = place % TABLE_ROWS;
    unsigned asked_partition = query->place / TABLE_ROWS, asked_row = query->place % TABLE_ROWS;

    switch ((int)query->filter) {
    case FILTER_PARTITION:
        return partition == asked_partition;
    case FILTER_PARTITION_FROM:
        return partition == asked_partition && row >= asked_row;
    case FILTER_RECTANGLE:
        return partition >= asked_partition && row < asked_row;
    case FILTER_VALUE:
        return version->values[0] == query->value;
    case FILTER_NOT_VALUE: /* also where there is none */
        return version->values[0] != query->value;
    case FILTER_ABOVE:
        return table_value_above(version->values[0], query->value);
    case FILTER_TWO:
        return place == query->place || place == query->other;
    case FILTER_ROW:
        return row == asked_row;
    case FILTER_BEHIND:
        return partition > asked_partition;
    case FILTER_NOT_ROW:
        return row != asked_row;
    case FILTER_NOT_PARTITION:
        return partition != asked_partition;
    case FILTER_ORDER:
        return table_value_holds(version->values[0], query->operator, query->value);
    default:
        return true;
    }
}

/* ---- changes ---- */

static void change_entity(unsigned table, const struct table_change *change, uint64_t commit)
{
    struct entity_version **newest = &model->entities[table][change->place];
    const struct entity_version *is = table_entity_at(table, change->place, commit);
    struct entity_version *made = world_alloc(sizeof *made);
    const struct entity_version *older = *newest;

    made->older = *newest;
    made->since = commit;
    made->incarnation = table_at(table, commit)->incarnation;
    made->exists = change->op != TABLE_DELETE;
    if (is && change->op == TABLE_MERGE)
        memcpy(made->values, is->values, sizeof made->values);
    for (unsigned i = 0; made->exists && i < TABLE_PROPERTIES; i++) {
        if (change->values[i] > 0)
            made->values[i] = change->values[i];
    }
    if (older && older->incarnation == made->incarnation)
        made->above = older->etag > 0 ? older->etag : older->above;
    *newest = made;
}

void table_apply(const struct table_ask *ask, uint64_t commit)
{
    struct table_version *made;

    if (ask->op >= TABLE_INSERT) {
        for (unsigned i = 0; i < ask->count; i++)
            change_entity(ask->table, &ask->parts[i], commit);
        return;
    }
    made = world_alloc(sizeof *made);
    made->older = model->tables[ask->table];
    made->since = commit;
    made->exists = ask->op != TABLE_DROP;
    made->incarnation = ask->op == TABLE_SET_ACL ? made->older->incarnation : ++model->incarnations;
    if (ask->op == TABLE_SET_ACL)
        memcpy(made->policies, ask->policies, sizeof made->policies);
    model->tables[ask->table] = made;
}

const char *table_fill(unsigned table, unsigned place, struct entity_version *version,
                       uint64_t etag)
{
    struct entity_version *newer = model->entities[table][place];

    if (etag == 0)
        return "no ETag, or one that is not of the service's form";
    if (version->etag != 0)
        return version->etag == etag ? NULL : "another ETag than was told before";
    version->etag = etag;
    if (version->older && !version->is_returned &&
        version->older->incarnation == version->incarnation && version->older->etag >= etag)
        return "an ETag that is not above the one before";
    if (version->above >= etag)
        return "an ETag that is not above an older one";
    while (newer != version && newer->older != version)
        newer = newer->older;
    if (newer != version && !newer->is_returned && newer->etag != 0 &&
        newer->incarnation == version->incarnation && newer->etag <= etag)
        return "an ETag that is not below the one after";
    return NULL;
}

uint64_t table_old_etag(unsigned table, unsigned place)
{
    const struct entity_version *is = model->entities[table][place];

    if (!is)
        return 0;
    return is->older && is->older->etag > 0 ? is->older->etag : is->above;
}

/* ---- old and lost ones ---- */

void table_prune(uint64_t oldest_commit)
{
    for (unsigned i = 0; i < TABLES * TABLE_PLACES; i++) {
        struct entity_version *at = model->entities[i / TABLE_PLACES][i % TABLE_PLACES];

        while (at && at->since > oldest_commit)
            at = at->older;
        while (at && at->older) {
            struct entity_version *gone = at->older;

            if (!at->is_returned && gone->incarnation == at->incarnation && gone->etag > at->above)
                at->above = gone->etag;
            at->older = gone->older;
            world_free(gone, sizeof *gone);
        }
    }
    for (unsigned t = 0; t < TABLES; t++) {
        struct table_version *at = model->tables[t];

        while (at && at->since > oldest_commit)
            at = at->older;
        while (at && at->older) {
            struct table_version *gone = at->older;

            at->older = gone->older;
            world_free(gone, sizeof *gone);
        }
    }
}

void table_roll_back(uint64_t commit)
{
    for (unsigned i = 0; i < TABLES * TABLE_PLACES; i++) {
        struct entity_version **at = &model->entities[i / TABLE_PLACES][i % TABLE_PLACES];

        while (*at && commits_is_lost((*at)->since, commit)) {
            struct entity_version *gone = *at;

            *at = gone->older;
            world_free(gone, sizeof *gone);
        }
    }
    for (unsigned t = 0; t < TABLES; t++) {
        while (model->tables[t] && commits_is_lost(model->tables[t]->since, commit)) {
            struct table_version *gone = model->tables[t];

            model->tables[t] = gone->older;
            world_free(gone, sizeof *gone);
        }
    }
}

static void return_entity(struct entity_version **newest, uint64_t older, uint64_t commit)
{
    const struct entity_version *at = *newest;
    struct entity_version *made;

    while (at && at->since > older)
        at = at->older;
    if (at == *newest)
        return;
    made = world_alloc(sizeof *made);
    if (at)
        *made = *at;
    made->is_returned = true;
    made->since = commit;
    made->older = *newest;
    *newest = made;
}

void table_return_to(uint64_t older, uint64_t commit, unsigned table)
{
    for (unsigned t = 0; t < TABLES; t++) {
        struct table_version *made;

        if (table != ALL_NAMES && t != table)
            continue;
        for (unsigned i = 0; i < TABLE_PLACES; i++)
            return_entity(&model->entities[t][i], older, commit);
        made = world_alloc(sizeof *made);
        *made = *table_at(t, older);
        made->since = commit;
        made->older = model->tables[t];
        model->tables[t] = made;
    }
}
