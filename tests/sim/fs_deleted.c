/* See fs_deleted.h. */
#include "fs_deleted.h"

#include <string.h>

#include "commits.h"
#include "world.h"

/* In the world; set before any life begins. The newest deletion first. */
static struct fs_deleted {
    struct fs_state *newest;
} * all;

void fs_deleted_begin(void)
{
    all = world_alloc(sizeof *all);
}

struct fs_state *fs_deleted_newest(void)
{
    return all->newest;
}

/* What only a share that is there has. */
static void clear_share(struct fs_state *state)
{
    state->exists = false;
    state->share = 0;
    state->quota = state->permissions = state->doubtful = 0;
    state->lease = (struct fs_lease){ .state = FS_AVAILABLE };
    memset(state->nodes, 0, sizeof state->nodes);
}

static void keep(const struct fs_state *state)
{
    struct fs_state *kept = world_alloc(sizeof *kept);

    *kept = *state;
    kept->older = all->newest;
    kept->is_deleted = true;
    kept->made = state->since;
    kept->lease = (struct fs_lease){ .state = FS_AVAILABLE };
    all->newest = kept;
}

void fs_delete_share(struct fs_state *state)
{
    if (state->retention > 0)
        keep(state);
    else
        fs_end_snapshots_of(state->share, state->since);
    clear_share(state);
}

void fs_restore_share(struct fs_state *state, uint64_t deletion)
{
    struct fs_state *kept = all->newest, before = *state;

    while (kept->made != deletion)
        kept = kept->older;
    kept->gone = state->since;
    *state = *kept;
    state->older = before.older;
    state->since = before.since;
    state->at_ns = before.at_ns;
    state->sequence = before.sequence;
    state->ids = before.ids;
    state->retention = before.retention;
    state->has_container = before.has_container;
    memcpy(state->blobs, before.blobs, sizeof state->blobs);
    state->is_deleted = false;
    state->made = state->gone = 0;
    memset(state->date, 0, sizeof state->date);
}

static bool is_there(const struct fs_state *kept, const struct fs_state *state)
{
    return kept->made <= state->since && (kept->gone == 0 || kept->gone > state->since);
}

const struct fs_state *fs_deleted_at(const struct fs_state *state, uint64_t deletion)
{
    const struct fs_state *kept = all->newest;

    while (kept && kept->made != deletion)
        kept = kept->older;
    return kept && is_there(kept, state) ? kept : NULL;
}

const struct fs_state *fs_next_deleted(const struct fs_state *state, const struct fs_state *after)
{
    const struct fs_state *next = NULL;

    for (const struct fs_state *kept = all->newest; kept && kept != after; kept = kept->older) {
        if (is_there(kept, state))
            next = kept;
    }
    return next;
}

const char *fs_tell_version(const struct fs_state *deleted, const char *version)
{
    for (struct fs_state *kept = all->newest; kept; kept = kept->older) {
        if (kept->made != deleted->made && strcmp(kept->date, version) == 0)
            return "two deleted shares of one version";
        if (kept->made == deleted->made)
            memcpy(kept->date, version, strlen(version) + 1);
    }
    return NULL;
}

bool fs_known_version(unsigned random, struct fs_snapshot *ret_version)
{
    unsigned known = 0;

    for (const struct fs_state *kept = all->newest; kept; kept = kept->older)
        known += kept->date[0] != '\0';
    if (known == 0)
        return false;
    random %= known;
    for (const struct fs_state *kept = all->newest; kept; kept = kept->older) {
        if (kept->date[0] != '\0' && random-- == 0) {
            ret_version->commit = kept->made;
            memcpy(ret_version->date, kept->date, FS_DATE_SIZE);
        }
    }
    return true;
}

/* Those that were restored by then. */
void fs_prune_deleted(uint64_t oldest_commit)
{
    for (struct fs_state **link = &all->newest; *link;) {
        struct fs_state *kept = *link;

        if (kept->gone == 0 || kept->gone > oldest_commit) {
            link = &kept->older;
            continue;
        }
        *link = kept->older;
        world_free(kept, sizeof *kept);
    }
}

/* Which permissions they have is not read after a start. */
void fs_roll_back_deleted(uint64_t commit)
{
    while (all->newest && commits_is_lost(all->newest->made, commit)) {
        struct fs_state *gone = all->newest;

        all->newest = gone->older;
        world_free(gone, sizeof *gone);
    }
    for (struct fs_state *kept = all->newest; kept; kept = kept->older) {
        kept->gone = commits_is_lost(kept->gone, commit) ? 0 : kept->gone;
        kept->doubtful = kept->permissions;
    }
}
