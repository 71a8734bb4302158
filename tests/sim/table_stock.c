/* After a start: all that there is, and which state it is (table_judge.h). */
#include <inttypes.h>
#include <string.h>

#include "commits.h"
#include "judge.h"
#include "table_compare.h"
#include "table_judge.h"
#include "table_model.h"
#include "table_reply.h"
#include "world.h"

#define STOCK_MAX (3 * TABLES + 1)

struct stock {
    struct ask ask;
    struct reply answer;
};

/* Of several cells, each lists its own tables. */
static bool is_asked(const struct stock *stock)
{
    return !commits_are_divided() || stock->ask.table.op != TABLE_LIST;
}

static bool ask_until_told(struct server *server, struct stock *stock, bool may_fail)
{
    if (!judge_ask_until_told(server, &stock->ask, may_fail, &stock->answer))
        return false;
    if (stock->answer.came)
        stock->answer.body[stock->answer.body_size] = '\0';
    return true;
}

/* Damage was found, and said so. */
static bool was_told(const struct stock *stock)
{
    return world->was_damaged && (!stock->answer.came || table_says_cannot(&stock->answer));
}

static const char *stock_differs(const struct stock *stock, uint64_t commit)
{
    if (!is_asked(stock))
        return NULL;
    if (commits_are_divided() && stock->answer.status == 404)
        return table_is_here_at(stock->ask.table.table, commit) &&
                       table_exists(stock->ask.table.table, commit)
                   ? "a table is missing"
                   : NULL;
    if (!table_is_here_at(stock->ask.table.table, commit))
        return "a table of another cell is here";
    return was_told(stock)
               ? NULL
               : table_compare_answer(&stock->ask.table, &stock->answer, commit, commit);
}

/* The newest commit that the crash may have left whose state is the one that was found. */
static uint64_t find_survivor(const struct stock *stock)
{
    char asked[300];

    for (uint64_t commit = commits_newest();; commit = commits_previous(commit)) {
        const char *why = NULL;
        unsigned i = 0;

        while (i < STOCK_MAX && !(why = stock_differs(&stock[i], commit)))
            i++;
        if (!why)
            return commit;
        if (commit > commits_acknowledged())
            continue;
        ask_format(&stock[i].ask, asked, sizeof asked);
        world_fail("after a %s the state is none that there was since commit %" PRIu64
                   ", the newest acknowledged; %" PRIu64 " was the last\n  %s: %d %s %.500s\n  %s",
                   world->power_lost ? "power cut" : "kill", commits_acknowledged(), world->commits,
                   asked, stock[i].answer.status, stock[i].answer.code,
                   (const char *)stock[i].answer.body, why);
    }
}

/* ETags that nobody had been told are told now. */
static void adopt(const struct stock *stock, uint64_t commit)
{
    static struct table_shown shown[TABLE_SHOWN_MAX];
    unsigned table = stock->ask.table.table, count;

    if (!table_is_here_at(table, commit) || stock->ask.table.op != TABLE_QUERY || was_told(stock) ||
        stock->answer.status != 200 ||
        table_read_page((const char *)stock->answer.body, shown, &count))
        return;
    for (unsigned i = 0; i < count; i++) {
        unsigned place = (unsigned)shown[i].place;

        table_fill(table, place, table_entity_at(table, place, commit), shown[i].etag);
    }
}

static void list_stock(struct stock stock[STOCK_MAX])
{
    static const enum table_op ops[] = { TABLE_GET, TABLE_GET_ACL, TABLE_QUERY };

    memset(stock, 0, STOCK_MAX * sizeof *stock);
    for (unsigned i = 0; i < STOCK_MAX; i++)
        stock[i].ask = (struct ask){ .op = OPS, .table = { .op = ops[i % 3], .table = i / 3 } };
    stock[STOCK_MAX - 1].ask.table = (struct table_ask){ .op = TABLE_LIST };
}

bool table_judge_take_stock(struct server *server, bool may_fail)
{
    static struct stock stock[STOCK_MAX];
    uint64_t survivor;

    list_stock(stock);
    for (unsigned i = 0; i < STOCK_MAX; i++) {
        if (is_asked(&stock[i]) && !ask_until_told(server, &stock[i], may_fail)) {
            while (i > 0)
                answer_release(&stock[--i].answer);
            return false;
        }
        if (was_told(&stock[i]))
            world->damage_told = 1;
    }
    survivor = find_survivor(stock);
    world_say("commit %" PRIu64 " of %" PRIu64 " survived, %" PRIu64 " was acknowledged", survivor,
              world->commits, commits_acknowledged());
    table_roll_back(survivor);
    for (unsigned i = 0; i < STOCK_MAX; i++) {
        adopt(&stock[i], survivor);
        answer_release(&stock[i].answer);
    }
    if (!commits_are_divided()) /* else requests to other cells are in progress */
        table_prune(survivor);
    commits_roll_back(survivor);
    return true;
}
