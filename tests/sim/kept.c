/* See kept.h. */
#include "kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commits.h"
#include "judge.h"
#include "model.h"
#include "protect.h"
#include "script_private.h"
#include "world.h"

bool kept_is_on(void)
{
    unsigned kind = world->plan.seed % 8;
    bool is = protect_is_on() ? kind % 4 >= 2 : kind == 1 || kind == 3;

    return !commits_are_divided() && is && world->plan.clients <= FEW_CLIENTS;
}

bool kept_has_versions(void)
{
    bool is = protect_is_on() ? world->plan.seed % 2 == 1
                              : world->plan.seed % 8 == 7 || world->plan.seed % 16 == 3;

    return !commits_are_divided() && is && world->plan.clients <= VERSIONED_CLIENTS;
}

/* Days have their real length in such runs, so no deleted container expires unless the wall clock is set. */
bool kept_has_containers(void)
{
    unsigned kind = world->plan.seed % 16;

    return !commits_are_divided() && (kind == 9 || kind == 15) &&
           world->plan.clients <= VERSIONED_CLIENTS && !(world->plan.faults & FAULT_CLOCK);
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
    unsigned container_days;
};

/* In the world; set before any life begins. */
static struct version **newest;

void kept_begin(void)
{
    newest = world_alloc(sizeof(struct version *));
    *newest = world_alloc(sizeof **newest);
}

static size_t format_policy(const char *name, unsigned days, bool allows_permanent, char *to,
                            size_t size)
{
    char text[40] = "";

    if (days > 0)
        (void)snprintf(text, sizeof text, "<Days>%u</Days>", days);
    return (size_t)snprintf(
        to, size, "<%s><Enabled>%s</Enabled>%s%s</%s>", name, days > 0 ? "true" : "false", text,
        allows_permanent ? "<AllowPermanentDelete>true</AllowPermanentDelete>" : "", name);
}

/* What is not set stays as it was, so all are. */
void kept_format(const struct ask *ask, char *to, size_t size)
{
    size_t length = 0;

    to[0] = '\0';
    if (kept_is_on())
        length += format_policy("DeleteRetentionPolicy", ask->retention, true, to, size);
    if (kept_has_containers())
        length += format_policy("ContainerDeleteRetentionPolicy", ask->container_retention, false,
                                to + length, size - length);
    if (kept_has_versions())
        (void)snprintf(to + length, size - length, "<IsVersioningEnabled>%s</IsVersioningEnabled>",
                       ask->is_versioned ? "true" : "false");
}

void kept_apply(const struct ask *ask, uint64_t commit)
{
    struct version *made = world_alloc(sizeof *made);

    *made = (struct version){ .older = *newest,
                              .since = commit,
                              .days = ask->retention,
                              .allows_permanent = kept_is_on(),
                              .is_versioned = ask->is_versioned,
                              .container_days = ask->container_retention };
    *newest = made;
}

void kept_return_to(uint64_t older, uint64_t commit)
{
    const struct version *at = *newest;
    struct version *made;

    while (at->since > older)
        at = at->older;
    if (at == *newest)
        return;
    made = world_alloc(sizeof *made);
    *made = *at;
    made->since = commit;
    made->older = *newest;
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
    static const char policy[] = "<ContainerDeleteRetentionPolicy>";
    const struct version *at = *newest;
    char containers[120];
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
    if (at->container_days > 0)
        (void)snprintf(containers, sizeof containers, "%s<Enabled>true</Enabled><Days>%u</Days>",
                       policy, at->container_days);
    else
        (void)snprintf(containers, sizeof containers, "%s<Enabled>true", policy);
    if (!strstr(shown, containers) != (at->container_days == 0))
        return "another policy of containers";
    return days == at->days ? NULL : "another policy of retention";
}

bool kept_is_versioned_at(uint64_t commit)
{
    const struct version *at = *newest;

    while (at->since > commit)
        at = at->older;
    return at->is_versioned;
}

unsigned kept_container_days(void)
{
    return (*newest)->container_days;
}

static bool was_policy(const struct kept_view *view, uint64_t from, bool always_versions)
{
    for (const struct version *at = *newest; at; at = at->older) {
        if (at->days == view->days && at->allows_permanent == view->allows_permanent &&
            (always_versions ? view->is_versioned : at->is_versioned == view->is_versioned))
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

void kept_entered(uint64_t now)
{
    if (protect_is_on())
        kept_here()->now = now;
}

struct kept_view kept_committed_in(uint64_t from, bool always_versions)
{
    struct kept_view view = *kept_here();

    *kept_here() = (struct kept_view){ .now = 0 };
    if (view.has_policy && !was_policy(&view, from, always_versions))
        world_fail("a policy that there was not: %u days, versions: %d", view.days,
                   view.is_versioned);
    if (!view.has_policy)
        view.is_versioned = always_versions || (*newest)->is_versioned;
    if (!view.has_policy && (*newest)->days > 0)
        view.expires = UINT64_MAX / 2;
    return view;
}

struct kept_view kept_committed(uint64_t from)
{
    return kept_committed_in(from, false);
}

struct kept_view kept_of(unsigned slot)
{
    return of_requests[slot];
}

void kept_forget(unsigned slot)
{
    of_requests[slot] = (struct kept_view){ .now = 0 };
}
