/* A page of shares: those that are deleted and kept, in the order of their deletions, then the one that is there,
 * each after its snapshots. See fs_list.h. rest: List-Shares */
#include <stdio.h>
#include <string.h>

#include "fs_deleted.h"
#include "fs_list.h"

#define ENTRIES_MAX (8u * FS_SNAPSHOTS_MAX)

/* What is to be shown. */
struct wanted {
    struct {
        const struct fs_state *deleted;  /* NULL: of the share that is there */
        const struct fs_state *snapshot; /* NULL: the share itself */
    } entries[ENTRIES_MAX];
    unsigned count;
};

static void want(struct wanted *wanted, const struct fs_state *deleted,
                 const struct fs_state *snapshot)
{
    if (wanted->count < ENTRIES_MAX) {
        wanted->entries[wanted->count].deleted = deleted;
        wanted->entries[wanted->count++].snapshot = snapshot;
    }
}

/* share: by its creation */
static void want_share(struct wanted *wanted, const struct fs_ask *ask,
                       const struct fs_state *state, uint64_t share, const struct fs_state *deleted)
{
    const struct fs_state *snapshots[FS_SNAPSHOTS_MAX], *at = NULL;
    unsigned count = 0;

    while (ask->page.include & FS_SNAPSHOTS && count < FS_SNAPSHOTS_MAX &&
           (at = fs_next_snapshot(state, share, at)))
        snapshots[count++] = at;
    while (count > 0)
        want(wanted, deleted, snapshots[--count]);
    want(wanted, deleted, NULL);
}

static void want_all(struct wanted *wanted, const struct fs_ask *ask, const struct fs_state *state)
{
    const struct fs_state *deleted = NULL;

    wanted->count = 0;
    if (ask->page.prefix > 0)
        return;
    while (ask->page.include & FS_DELETED && (deleted = fs_next_deleted(state, deleted)))
        want_share(wanted, ask, state, deleted->share, deleted);
    if (state->exists)
        want_share(wanted, ask, state, state->share, NULL);
}

static const char *compare_entry(const char *from, const char *to, const struct fs_state *deleted,
                                 const struct fs_state *snapshot)
{
    char date[FS_DATE_SIZE], version[FS_DATE_SIZE], quota[16];

    if (fs_element(from, to, "Snapshot", date, sizeof date) != (snapshot != NULL))
        return snapshot ? "a share where a snapshot is next" : "a snapshot that there is not";
    if (snapshot && strcmp(date, snapshot->date) != 0)
        return "another snapshot than the next";
    if (fs_element(from, to, "Version", version, sizeof version) != (deleted != NULL))
        return deleted ? "a share that is there where a deleted one is next"
                       : "a deleted share where none is";
    if (deleted && deleted->date[0] && strcmp(version, deleted->date) != 0)
        return "another deleted share than the next";
    return fs_element(from, to, "Quota", quota, sizeof quota) ? NULL : "a share without a quota";
}

const char *fs_compare_shares(const struct fs_ask *ask, const struct fs_state *state,
                              const struct reply *answer)
{
    static _Thread_local struct wanted wanted;
    const char *at = (const char *)answer->body, *why = NULL;
    unsigned count = 0;

    answer->body[answer->body_size] = '\0';
    want_all(&wanted, ask, state);
    if (ask->page.max > 0 && wanted.count > ask->page.max && !strstr(at, "<NextMarker>"))
        return "no marker of more shares";
    while (!why && (at = strstr(at, "<Share>"))) {
        const char *end = strstr(at, "</Share>");

        if (count == wanted.count || (ask->page.max > 0 && count == ask->page.max))
            return "more shares than there are, or were asked for";
        why = compare_entry(at, end, wanted.entries[count].deleted, wanted.entries[count].snapshot);
        count++;
        at = end;
    }
    if (why)
        return why;
    return count == wanted.count || (ask->page.max > 0 && count == ask->page.max)
               ? NULL
               : "a share, or a snapshot, is missing";
}

const char *fs_learn_shares(const struct fs_ask *ask, const struct fs_state *state,
                            const struct reply *answer)
{
    static _Thread_local struct wanted wanted;
    const char *at = (const char *)answer->body, *why = NULL;
    char version[FS_DATE_SIZE];

    want_all(&wanted, ask, state);
    for (unsigned i = 0; !why && i < wanted.count && (at = strstr(at, "<Share>")); i++) {
        const char *end = strstr(at, "</Share>");

        if (wanted.entries[i].deleted && fs_element(at, end, "Version", version, sizeof version))
            why = fs_tell_version(wanted.entries[i].deleted, version);
        at = end;
    }
    return why;
}
