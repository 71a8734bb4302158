/* A list that is merged over the cells of a cluster is not of one state of the account: each of its names has a state
 * that there was during the request. Enumerates all combinations of them, the newest first. */
#ifndef LAGRA_SIM_VIEWS_H
#define LAGRA_SIM_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#define VIEWED_NAMES  3u
#define VIEWED_STATES 64u

struct views {
    unsigned names;
    unsigned count[VIEWED_NAMES];
    uint64_t at[VIEWED_NAMES][VIEWED_STATES]; /* commits; the newest first */
    uint64_t changed[VIEWED_NAMES]
                    [VIEWED_STATES]; /* commit that made the state; 0: it was there before */
    unsigned next[VIEWED_NAMES];
    bool is_over;
    uint64_t oldest[VIEWED_NAMES]; /* of those that fit: the oldest commit; UINT64_MAX: none */
};

/* Called for a name: returns the newest commit in (from, to] that changed what a list shows of it, or 0. */
typedef uint64_t views_changed_fn(unsigned name, uint64_t from, uint64_t to);

void views_begin(struct views *views, unsigned names, uint64_t from, uint64_t to,
                 views_changed_fn *changed);
/* Makes views_at() return another combination. Returns false, and ends that, after the last one. */
bool views_next(struct views *views);
/* Notes that the list is of the present combination. */
void views_fits(struct views *views);
/* Acknowledges what was certainly shown. Returns false if no combination fits. */
bool views_acknowledge(const struct views *views);
/* Returns the commit at which a list is to look at a name: within a combination its own, else `commit`. */
uint64_t views_at(unsigned name, uint64_t commit);

#endif
