/* After a start: reads all paths, and finds the state that they match (path_judge.h). */
#include <inttypes.h>
#include <string.h>

#include "commits.h"
#include "judge.h"
#include "path_compare.h"
#include "path_judge.h"
#include "path_model.h"
#include "world.h"

/* A list, and the content and access control list of each path. */
#define STOCK_MAX (2 * PATH_PLACES - 1)

struct stock {
    struct ask ask;
    struct reply answer;
};

static void list_stock(struct stock stock[STOCK_MAX])
{
    memset(stock, 0, STOCK_MAX * sizeof *stock);
    for (unsigned i = 0; i < STOCK_MAX; i++)
        stock[i].ask = (struct ask){ .op = OPS,
                                     .path = { .op = i % 2 == 0 ? PATH_READ : PATH_GET_ACCESS,
                                               .place = 1 + i / 2 } };
    stock[STOCK_MAX - 1].ask.path = (struct path_ask){ .op = PATH_LIST, .is_recursive = true };
}

/* Returns the newest commit that may have survived the crash and whose state matches. */
static uint64_t find_survivor(const struct stock *stock)
{
    char asked[400];

    for (uint64_t commit = commits_newest();; commit = commits_previous(commit)) {
        const char *why = NULL;
        unsigned i = 0;

        while (i < STOCK_MAX &&
               (judge_reports_damage(&stock[i].answer) ||
                !(why = path_compare_answer(&stock[i].ask.path, &stock[i].answer, commit))))
            i++;
        if (i == STOCK_MAX)
            return commit;
        if (commit > commits_acknowledged())
            continue;
        ask_format(&stock[i].ask, asked, sizeof asked);
        world_fail("after a %s the state is none that there was since commit %" PRIu64
                   ", the newest acknowledged; %" PRIu64 " was the last\n  %s: %d %s %.500s\n  %s",
                   world->power_lost ? "power cut" : "kill", commits_acknowledged(), world->commits,
                   asked, stock[i].answer.status, stock[i].answer.code,
                   stock[i].answer.body ? (const char *)stock[i].answer.body : "", why);
    }
}

/* Records ETags that no client had received before. */
static void adopt(const struct stock *stock, uint64_t commit)
{
    const struct path_node *node = path_node_at(stock->ask.path.place, commit);

    if (stock->ask.path.op == PATH_READ && stock->answer.status == 200 && node)
        path_fill(node, stock->answer.etag);
}

bool path_judge_take_stock(struct server *server, bool may_fail)
{
    static struct stock stock[STOCK_MAX];
    uint64_t survivor;

    list_stock(stock);
    for (unsigned i = 0; i < STOCK_MAX; i++) {
        if (!judge_ask_until_told(server, &stock[i].ask, may_fail, &stock[i].answer)) {
            while (i > 0)
                answer_release(&stock[--i].answer);
            return false;
        }
        if (stock[i].answer.body)
            stock[i].answer.body[stock[i].answer.body_size] = '\0';
        if (judge_reports_damage(&stock[i].answer))
            world->damage_told = 1;
    }
    survivor = find_survivor(stock);
    world_say("commit %" PRIu64 " of %" PRIu64 " survived, %" PRIu64 " was acknowledged", survivor,
              world->commits, commits_acknowledged());
    path_roll_back(survivor, commits_acknowledged());
    for (unsigned i = 0; i < STOCK_MAX; i++) {
        adopt(&stock[i], survivor);
        answer_release(&stock[i].answer);
    }
    commits_roll_back(survivor);
    return true;
}
