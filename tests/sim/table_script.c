/* See table_script.h: requests over few keys, with conditions that are new, old and never. */
#include "table_script.h"

#include "commits.h"
#include "draws.h"
#include "fleet.h"
#include "table_judge.h"
#include "table_model.h"
#include "table_value.h"
#include "world.h"

static const unsigned weights[TABLE_OPS] = {
    [TABLE_CREATE] = 4,       [TABLE_DROP] = 1,          [TABLE_GET] = 1,     [TABLE_LIST] = 2,
    [TABLE_GET_ACL] = 1,      [TABLE_SET_ACL] = 4,       [TABLE_INSERT] = 10, [TABLE_REPLACE] = 12,
    [TABLE_MERGE] = 12,       [TABLE_DELETE] = 6,        [TABLE_READ] = 10,   [TABLE_QUERY] = 18,
    [TABLE_TRANSACTION] = 16, [TABLE_BATCHED_QUERY] = 2,
};

/* Most are at one of three places, where clients meet. */
static unsigned draw_place(struct draws *draws)
{
    return draw(draws, 2) == 0 ? draw(draws, 3) : draw(draws, TABLE_PLACES);
}

static void draw_condition(struct draws *draws, unsigned table, struct table_change *change)
{
    unsigned kind = draw(draws, 8);

    if (change->op == TABLE_INSERT || change->op == TABLE_READ)
        return;
    if (change->op == TABLE_DELETE && kind < 3)
        kind = draw(draws, 12) == 0 ? 0 : 3;
    if (kind < 3)
        return;
    change->condition = kind == 3 ? TABLE_IF_ANY : TABLE_IF_ETAG;
    change->etag = table_judge_etag(table, change->place, kind > 5);
    if (change->etag == 0)
        change->condition = TABLE_IF_ANY;
}

/* Of the property that filters are about. */
static unsigned draw_value(struct draws *draws)
{
    if (draw(draws, 2) == 0)
        return 1 + draw(draws, 8);
    return TABLE_EDGES + draw(draws, draw(draws, 2) == 0 ? TABLE_EDGE_CLOSE : TABLE_EDGE_COUNT);
}

static void draw_change(struct draws *draws, unsigned table, struct table_change *change)
{
    draw_condition(draws, table, change);
    change->is_quiet = change->op == TABLE_INSERT && draw(draws, 2) == 0;
    if (change->op == TABLE_DELETE || change->op == TABLE_READ)
        return;
    for (unsigned i = 0; i < TABLE_PROPERTIES; i++) {
        if (draw(draws, 2) == 0)
            change->values[i] = i == 0 ? draw_value(draws) : 1 + draw(draws, 1000);
    }
}

/* Of one partition and with each entity once, but for few that are refused. */
static void draw_transaction(struct draws *draws, struct table_ask *ask)
{
    static const enum table_op ops[] = { TABLE_INSERT, TABLE_REPLACE, TABLE_MERGE, TABLE_DELETE };
    unsigned first = draw_place(draws), wanted = 1 + draw(draws, TABLE_PARTS_MAX);
    unsigned partition = first / TABLE_ROWS, taken = 0;
    bool odd = draw(draws, 20) == 0;

    ask->count = 0;
    for (unsigned i = 0; i < wanted; i++) {
        unsigned row = i == 0 ? first % TABLE_ROWS : draw(draws, TABLE_ROWS);
        struct table_change *part = &ask->parts[ask->count];

        if ((taken >> row & 1) && !odd)
            continue;
        taken |= 1u << row;
        *part = (struct table_change){ .op = ops[draw(draws, 4)],
                                       .place = partition * TABLE_ROWS + row };
        if (odd && draw(draws, 6) == 0)
            part->place = draw(draws, TABLE_PLACES);
        /* Most parts can be done, or no transaction would be. */
        if (part->op == TABLE_INSERT && draw(draws, 3) != 0)
            part->op = TABLE_REPLACE;
        draw_change(draws, ask->table, part);
        if (part->op != TABLE_DELETE && draw(draws, 3) != 0)
            part->condition = TABLE_IF_NOTHING;
        ask->count++;
    }
}

static void draw_query(struct draws *draws, unsigned client, struct table_ask *ask)
{
    enum table_op op = ask->op;

    if (op == TABLE_QUERY && draw(draws, 3) != 0 && table_judge_next_page(client, ask))
        return;
    ask->query = (struct table_query){ .filter = (enum table_filter)draw(draws, FILTER_KINDS + 3),
                                       .place = draw_place(draws),
                                       .other = draw_place(draws),
                                       .value = 1 + draw(draws, 8),
                                       .operator=(enum table_operator) draw(draws, TABLE_OPERATORS),
                                       .is_partial = draw(draws, 6) == 0 };
    /* Two places of one partition, which transactions change together, lie in two ranges. */
    if (ask->query.filter >= FILTER_KINDS) {
        ask->query.filter = FILTER_TWO;
        ask->query.other = ask->query.place / TABLE_ROWS * TABLE_ROWS + draw(draws, TABLE_ROWS);
    }
    if (ask->query.filter == FILTER_ORDER)
        ask->query.value = draw_value(draws);
    if (op == TABLE_QUERY && draw(draws, 2) == 0)
        ask->query.top = 1 + draw(draws, 3);
}

static void draw_sas(struct draws *draws, struct table_sas *sas)
{
    *sas = (struct table_sas){ .is_used = true,
                               .by_policy = draw(draws, 2) == 0,
                               .has_first = draw(draws, 3) > 0,
                               .has_last = draw(draws, 3) > 0,
                               .says_first_row = draw(draws, 2) == 0,
                               .says_last_row = draw(draws, 2) == 0,
                               .first = draw_place(draws) };
    if (sas->by_policy)
        sas->letters = draw(draws, TABLE_POLICIES);
    else
        sas->letters = draw(draws, 2) == 0 ? TABLE_LETTERS_ALL : 1 + draw(draws, TABLE_LETTERS - 1);
    if (sas->by_policy && draw(draws, 6) == 0)
        sas->beside = draw(draws, 2) == 0 ? TABLE_LETTERS_ALL : 1 + draw(draws, TABLE_LETTERS - 1);
    sas->last = sas->first + draw(draws, TABLE_PLACES - sas->first);
    if (!sas->says_first_row)
        sas->first -= sas->first % TABLE_ROWS;
    /* An empty key would be none. */
    if (!sas->says_last_row || sas->last % TABLE_ROWS == 0) {
        sas->says_last_row = false;
        sas->last += TABLE_ROWS - 1 - sas->last % TABLE_ROWS;
    }
}

/* With several cells a name is often without a table for long enough to be placed in another. */
static void draw_existence(struct draws *draws, struct table_ask *table)
{
    bool creates = table->op == TABLE_CREATE;

    if (table_exists(table->table, world->commits) || (!creates && draw(draws, 40) > 0))
        return;
    *table = (struct table_ask){ .op = creates && draw(draws, 4) > 0 ? TABLE_LIST : TABLE_CREATE,
                                 .table = table->table };
}

void table_script_draw(unsigned client, unsigned number, struct ask *ret_ask)
{
    struct draws draws = draws_of(client, number);
    struct ask ask = { .op = OPS };
    struct table_ask *table = &ask.table;

    table->op = (enum table_op)draw_weighted(&draws, weights, TABLE_OPS);
    table->table = draw(&draws, commits_are_divided() ? 2 : 6) == 0;
    if (number < TABLES && client % 2 == 0) {
        table->op = TABLE_CREATE;
        table->table = number;
    }
    if (table->op == TABLE_QUERY || table->op == TABLE_BATCHED_QUERY) {
        draw_query(&draws, client, table);
    } else if (table->op == TABLE_TRANSACTION) {
        draw_transaction(&draws, table);
    } else if (table->op >= TABLE_INSERT) {
        table->count = 1;
        table->parts[0].op = table->op;
        table->parts[0].place = draw_place(&draws);
        draw_change(&draws, table->table, &table->parts[0]);
    } else if (table->op == TABLE_LIST && draw(&draws, 2) == 0) {
        table->query.top = 1;
    } else if (table->op == TABLE_SET_ACL) {
        for (unsigned i = 0; i < TABLE_POLICIES; i++)
            table->policies[i] = draw(&draws, 3) == 0 ? 0 : 1 + draw(&draws, TABLE_LETTERS - 1);
    }
    if (commits_are_divided() && number >= TABLES)
        draw_existence(&draws, table);
    if (fleet_lacks_owner() && draw(&draws, 3) == 0) /* it must not look empty */
        *table = (struct table_ask){ .op = TABLE_LIST };
    if (table->op >= TABLE_INSERT && table->query.from == 0 && draw(&draws, 6) == 0)
        draw_sas(&draws, &table->sas);
    if (table->sas.is_used)
        ask.signature = SIGNED_BY_SAS;
    draw_behaviour(&draws, &ask, commits_are_divided() ? 20 : 40, 30);
    *ret_ask = ask;
}
