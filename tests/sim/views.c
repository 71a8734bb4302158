/* See views.h. */
#include "views.h"

#include <stddef.h>

#include "commits.h"
#include "fleet_shared.h"

static const uint64_t *present OF_PROCESS;
static uint64_t combination[VIEWED_NAMES] OF_PROCESS;

static void add_states(struct views *views, unsigned name, uint64_t from, uint64_t to,
                       views_changed_fn *changed)
{
    unsigned count = 0;

    for (uint64_t at = to; count < VIEWED_STATES;) {
        uint64_t by = changed(name, from, at);

        views->at[name][count] = at;
        views->changed[name][count++] = by;
        if (by == 0)
            break;
        at = by - 1;
    }
    views->count[name] = count;
}

void views_begin(struct views *views, unsigned names, uint64_t from, uint64_t to,
                 views_changed_fn *changed)
{
    *views = (struct views){ .names = names };
    for (unsigned i = 0; i < names; i++) {
        add_states(views, i, from, to, changed);
        views->oldest[i] = UINT64_MAX;
    }
}

bool views_next(struct views *views)
{
    unsigned i = 0;

    present = NULL;
    if (views->is_over)
        return false;
    for (unsigned name = 0; name < views->names; name++)
        combination[name] = views->at[name][views->next[name]];
    while (i < views->names && ++views->next[i] == views->count[i])
        views->next[i++] = 0;
    views->is_over = i == views->names;
    present = combination;
    return true;
}

void views_fits(struct views *views)
{
    for (unsigned name = 0; name < views->names; name++) {
        for (unsigned i = 0; i < views->count[name]; i++)
            if (views->at[name][i] == combination[name] &&
                views->changed[name][i] < views->oldest[name])
                views->oldest[name] = views->changed[name][i];
    }
}

bool views_acknowledge(const struct views *views)
{
    for (unsigned i = 0; i < views->names; i++) {
        if (views->oldest[i] == UINT64_MAX)
            return false;
        commits_acknowledge(views->oldest[i]);
    }
    return true;
}

uint64_t views_at(unsigned name, uint64_t commit)
{
    return present ? present[name] : commit;
}
