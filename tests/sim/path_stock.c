/* After a start: reads all paths, and finds the state that they match (path_judge.h). */
#include <inttypes.h>
#include <stdnoreturn.h>
#include <string.h>

#include "commits.h"
#include "judge.h"
#include "path_compare.h"
#include "path_judge.h"
#include "path_model.h"
#include "world.h"

/* Lists of all paths and snapshots; and of each path the content, the blocks, the access control list, and whether a
 * lease has an id. */
#define OF_PATH   (3 + PATH_LEASE_IDS)
#define OF_PATHS  (OF_PATH * PATH_PLACES)
/* And of each filesystem whether it is held, or the deleted paths; and the soft-delete policy. */
#define STOCK_MAX (OF_PATHS + PATH_FILESYSTEMS + 1)
static unsigned stock_count; /* of this run */

struct stock {
    struct ask ask;
    struct reply answer;
    struct path_view view;
};

/* Instead of the content and the blocks of the root, the lists. */
static void list_stock(struct stock stock[STOCK_MAX])
{
    static const enum path_op ops[2][2] = { { PATH_READ, PATH_GET_BLOCK_LIST },
                                            { PATH_LIST, PATH_LIST_SNAPSHOTS } };

    memset(stock, 0, STOCK_MAX * sizeof *stock);
    stock_count = path_retains() ? STOCK_MAX
                  : path_holds() ? OF_PATHS + PATH_FILESYSTEMS
                                 : OF_PATH * PATH_OF_ONE * path_filesystem_count();
    for (unsigned i = OF_PATHS; i < STOCK_MAX; i++) {
        unsigned filesystem = i - OF_PATHS;
        bool is_of_one = filesystem < PATH_FILESYSTEMS;

        stock[i].ask.op = OPS;
        stock[i].ask.path.op = !is_of_one     ? PATH_GET_SERVICE
                               : path_holds() ? PATH_GET_FILESYSTEM
                                              : PATH_LIST_DELETED;
        stock[i].ask.path.place = is_of_one ? filesystem * PATH_OF_ONE : 0;
        stock[i].ask.path.by_blob = true;
    }
    for (unsigned i = 0; i < OF_PATHS; i++) {
        struct path_ask *ask = &stock[i].ask.path;
        unsigned what = i % OF_PATH;

        stock[i].ask.op = OPS;
        ask->place = i / OF_PATH;
        if (what < 2)
            ask->op = ops[path_is_root(ask->place)][what];
        else
            ask->op = PATH_GET_ACCESS;
        ask->by_blob = ask->op == PATH_GET_BLOCK_LIST || ask->op == PATH_LIST_SNAPSHOTS;
        ask->is_recursive = ask->op == PATH_LIST;
        if (what > 2)
            ask->lease.id = what - 2;
    }
}

static const char *compare(const struct stock *stock, uint64_t commit)
{
    struct path_moment moment = { .from_ns = stock->answer.began_ns,
                                  .to_ns = stock->answer.ended_ns,
                                  .from_commit = commit,
                                  .to_commit = commit,
                                  .view = stock->view };

    path_moment_widen(&moment);
    if (judge_reports_damage(&stock->answer))
        return NULL;
    return path_compare_answer(&stock->ask.path, &stock->answer, commit, &moment);
}

/* Returns the number of the first response that does not match the state, or stock_count. */
static unsigned find_difference(const struct stock *stock, uint64_t commit)
{
    unsigned i = 0;

    while (i < stock_count && !compare(&stock[i], commit))
        i++;
    return i;
}

static noreturn void fail(const struct stock *stock, uint64_t commit)
{
    char asked[800];

    ask_format(&stock->ask, asked, sizeof asked);
    world_fail("after a %s the state is not that after any commit from %" PRIu64
               ", the newest acknowledged, to %" PRIu64 "\n  %s: %d %s %.500s\n  %s",
               world->power_lost ? "power cut" : "kill", commits_acknowledged(), world->commits,
               asked, stock->answer.status, stock->answer.code,
               stock->answer.body ? (const char *)stock->answer.body : "", compare(stock, commit));
}

/* Returns the newest commit that may have survived the crash and whose state matches. */
static uint64_t find_survivor(const struct stock *stock)
{
    uint64_t commit = commits_newest();
    unsigned i;

    while ((i = find_difference(stock, commit)) < stock_count) {
        if (commit <= commits_acknowledged())
            fail(&stock[i], commit);
        commit = commits_previous(commit);
    }
    return commit;
}

/* Leases may end as in any of the states that match. */
static void widen_leases(const struct stock *stock, uint64_t survivor)
{
    for (uint64_t commit = survivor; commit > commits_acknowledged();) {
        commit = commits_previous(commit);
        if (find_difference(stock, commit) == stock_count)
            path_widen(survivor, commit);
    }
}

/* Records ETags that no client had received before. */
static void adopt(const struct stock *stock, uint64_t commit)
{
    const struct path_node *node = path_node_at(stock->ask.path.place, commit);

    if (stock->ask.path.op == PATH_READ && stock->answer.status == 200 && node)
        path_fill(node, &stock->answer);
    if (stock->ask.path.op == PATH_LIST_SNAPSHOTS && stock->answer.status == 200)
        path_take_snapshots(stock->ask.path.place, &stock->answer, commit);
}

static void end_stock(struct stock *stock, uint64_t survivor, bool is_here)
{
    for (unsigned i = 0; i < stock_count; i++) {
        if (is_here)
            adopt(&stock[i], world->commits);
        answer_release(&stock[i].answer);
    }
    commits_roll_back(survivor);
}

/* Of several cells: the survivor is known, and the filesystem may be in another cell. */
static void end_stock_of_cell(struct stock *stock, uint64_t survivor)
{
    bool is_here = path_roll_back_cell(survivor);
    unsigned i = is_here ? find_difference(stock, world->commits) : stock_count;

    if (i < stock_count)
        fail(&stock[i], world->commits);
    end_stock(stock, survivor, is_here);
}

bool path_judge_take_stock(struct server *server, bool may_fail)
{
    static struct stock stock[STOCK_MAX];
    uint64_t survivor;

    list_stock(stock);
    for (unsigned i = 0; i < stock_count; i++) {
        path_view_forget(SLOTS_MAX - 1);
        if (!judge_ask_until_told(server, &stock[i].ask, may_fail, &stock[i].answer)) {
            while (i > 0)
                answer_release(&stock[--i].answer);
            return false;
        }
        stock[i].view = path_view_of(SLOTS_MAX - 1);
        if (stock[i].answer.body)
            stock[i].answer.body[stock[i].answer.body_size] = '\0';
        if (judge_reports_damage(&stock[i].answer))
            world->damage_told = 1;
    }
    survivor = commits_are_divided() ? commits_survivor() : find_survivor(stock);
    world_say("commit %" PRIu64 " of %" PRIu64 " survived, %" PRIu64 " was acknowledged", survivor,
              world->commits, commits_acknowledged());
    if (commits_are_divided()) {
        end_stock_of_cell(stock, survivor);
        return true;
    }
    widen_leases(stock, survivor);
    path_roll_back(survivor, commits_acknowledged());
    end_stock(stock, survivor, true);
    return true;
}
