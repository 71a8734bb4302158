/* See kept.h. */
#include "kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "model.h"
#include "script_private.h"
#include "world.h"

bool kept_is_on(void)
{
    unsigned kind = world->plan.seed % 8;

    return (kind == 1 || kind == 3) && world->plan.clients <= FEW_CLIENTS;
}

bool kept_has_versions(void)
{
    return (world->plan.seed % 8 == 7 || world->plan.seed % 16 == 3) &&
           world->plan.clients <= VERSIONED_CLIENTS;
}

/* A snapshot keeps a version, too, and so does the end of a copy. */
unsigned kept_snapshots_max(void)
{
    unsigned rest = SNAPSHOTS_MAX - 1 - 2 * world->plan.clients;

    return kept_has_versions() && rest < KEPT_SNAPSHOTS ? rest : KEPT_SNAPSHOTS;
}

/* ---- policies ---- */

struct version {
    struct version *older;
    uint64_t since;
    unsigned days; /* 0: nothing is kept */
    bool allows_permanent;
    bool is_versioned;
};

/* In the world; set before any life begins. */
static struct version **newest;

void kept_begin(void)
{
    newest = world_alloc(sizeof(struct version *));
    *newest = world_alloc(sizeof **newest);
}

void kept_format(const struct ask *ask, char *to, size_t size)
{
    char days[40] = "", policy[200] = "", versions[80] = "";

    if (ask->retention > 0)
        (void)snprintf(days, sizeof days, "<Days>%u</Days>", ask->retention);
    if (kept_is_on())
        (void)snprintf(policy, sizeof policy,
                       "<DeleteRetentionPolicy><Enabled>%s</Enabled>%s"
                       "<AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>",
                       days[0] ? "true" : "false", days);
    if (kept_has_versions())
        (void)snprintf(versions, sizeof versions, "<IsVersioningEnabled>%s</IsVersioningEnabled>",
                       ask->is_versioned ? "true" : "false");
    (void)snprintf(to, size, "%s%s", policy, versions);
}

void kept_apply(const struct ask *ask, uint64_t commit)
{
    struct version *made = world_alloc(sizeof *made);

    *made = (struct version){ *newest, commit, ask->retention, kept_is_on(), ask->is_versioned };
    *newest = made;
}

void kept_roll_back(uint64_t commit)
{
    while ((*newest)->since > commit)
        *newest = (*newest)->older;
}

const char *kept_compare(const struct reply *answer, uint64_t commit)
{
    static const char begin[] = "<DeleteRetentionPolicy><Enabled>";
    const struct version *at = *newest;
    const char *shown;
    unsigned days = 0;

    while (at->since > commit)
        at = at->older;
    answer->body[answer->body_size] = '\0';
    shown = strstr((const char *)answer->body, begin);
    if (!shown)
        return "no policy of retention";
    shown += sizeof begin - 1;
    if (strncmp(shown, "true</Enabled><Days>", 20) == 0)
        days = (unsigned)strtoul(shown + 20, NULL, 10);
    if (!strstr(shown, "<AllowPermanentDelete>true<") != !at->allows_permanent)
        return "another permission to delete for good";
    if (!strstr(shown, "<IsVersioningEnabled>true<") != !at->is_versioned)
        return "versioning is on where it is off, or the other way round";
    return days == at->days ? NULL : "another policy of retention";
}

static bool was_policy(const struct kept_view *view, uint64_t from)
{
    for (const struct version *at = *newest; at; at = at->older) {
        if (at->days == view->days && at->allows_permanent == view->allows_permanent &&
            at->is_versioned == view->is_versioned)
            return true;
        if (at->since <= from)
            break;
    }
    return false;
}

/* ---- what the server reads ---- */

static struct kept_view of_requests[SLOTS_MAX];

/* A request may be decided on one thread and committed on another. */
struct kept_view *kept_here(void)
{
    static _Thread_local struct kept_view of_jobs;
    int slot = request_slot();

    return slot >= 0 && slot < (int)SLOTS_MAX ? &of_requests[slot] : &of_jobs;
}

struct kept_view kept_committed(uint64_t from)
{
    struct kept_view view = *kept_here();

    *kept_here() = (struct kept_view){ .now = 0 };
    if (view.has_policy && !was_policy(&view, from))
        world_fail("a policy that there was not: %u days, versions: %d", view.days,
                   view.is_versioned);
    if (!view.has_policy)
        view.is_versioned = (*newest)->is_versioned;
    if (!view.has_policy && (*newest)->days > 0)
        view.expires = UINT64_MAX / 2;
    return view;
}

struct kept_view kept_of(unsigned slot)
{
    return of_requests[slot];
}

void kept_forget(unsigned slot)
{
    of_requests[slot] = (struct kept_view){ .now = 0 };
}
