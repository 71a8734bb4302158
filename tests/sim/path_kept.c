/* Files that expire, and deleted paths that are retained, listed and restored.
 * rest: Set-Blob-Expiry, Undelete-Blob, "Soft delete for blobs"; decisions: 1292 to 1294, 1305 to 1308 */
#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates.h"
#include "base/endian.h"
#include "path_state.h"
#include "world.h"

/* Deletions that a list is compared with. */
#define KEPT_MAX        512u
/* Deletions that no request can show any more are forgotten after this time. */
#define FORGOTTEN_TICKS (120 * TICKS_PER_SECOND)
/* Deletion ids start in 1601. */
#define DELETION_ID_START                                                                          \
    ((uint64_t)(INSTANT_UNIX_EPOCH - UINT64_C(11644473600) * TICKS_PER_SECOND))

bool path_retains(void)
{
    return world->plan.fronts == 0 && world->plan.seed % 4 != 0;
}

void path_moment_widen(struct path_moment *moment)
{
    if (moment->view.last < path_view_latest())
        moment->view.last = path_view_latest();
}

/* ---- expired files ---- */

bool path_has_expired(const struct path_node *node, uint64_t now)
{
    return node->expiry > 0 && node->expiry <= now;
}

void path_effective(const struct path_state *state, const struct path_moment *moment,
                    unsigned doubts, struct path_state *ret_state)
{
    uint64_t now = path_now(moment, doubts);

    *ret_state = *state;
    for (unsigned i = 0; i < PATH_PLACES; i++) {
        if (!state->nodes[i] || !path_has_expired(state->nodes[i], now))
            continue;
        ret_state->nodes[i] = NULL;
        if (!(doubts & PATH_COLLECTED))
            ret_state->ghosts[i] = true;
    }
}

void path_drop_expired(struct path_state *state, unsigned place, uint64_t now)
{
    for (; !path_is_root(place); place = path_parent(place))
        if (state->nodes[place] && path_has_expired(state->nodes[place], now))
            state->nodes[place] = NULL;
}

void path_remove(struct path_state *state, unsigned place)
{
    for (unsigned i = 0; i < PATH_PLACES; i++)
        if (path_is_below(i, place))
            state->nodes[i] = NULL;
}

/* ---- retaining and restoring ---- */

bool path_is_retained(const struct path_ask *ask, const struct path_node *node)
{
    return node && !ask->snapshot[0] && !node->is_uncommitted && node->snapshot_count == 0;
}

static void forget(struct path_state *state, uint64_t now)
{
    const struct path_kept *oldest = NULL;
    bool is_known = false;

    for (const struct path_kept *kept = state->kept; kept; kept = kept->older) {
        if (kept->expires + FORGOTTEN_TICKS > now)
            oldest = kept;
        else
            is_known = true;
    }
    if (is_known && !oldest)
        state->kept = NULL;
}

void path_retain(struct path_state *state, unsigned place, const struct path_view *view)
{
    uint64_t expires = view->expires;
    struct path_kept *kept;
    struct path_node *top;

    if (!view->has_policy)
        expires = state->days > 0 ? UINT64_MAX / 2 : 0;
    if (expires == 0)
        return;
    forget(state, view->last);
    kept = world_alloc(sizeof *kept);
    *kept = (struct path_kept){
        .older = state->kept, .deleted = view->deleted_at, .expires = expires, .place = place
    };
    for (unsigned i = 0; i < PATH_PLACES; i++)
        if (path_is_below(i, place))
            kept->nodes[i] = state->nodes[i];
    top = world_alloc(sizeof *top);
    *top = *state->nodes[place];
    memset(&top->lease, 0, sizeof top->lease);
    memset(top->blocks, 0, sizeof top->blocks);
    top->staged_count = 0;
    top->is_doubtful = false;
    kept->nodes[place] = top;
    state->kept = kept;
}

static bool is_visible(const struct path_kept *kept, uint64_t now)
{
    return kept->expires > now && !path_has_expired(kept->nodes[kept->place], now);
}

/* deleted: 0 for the newest one */
static const struct path_kept *find_kept(const struct path_state *state, unsigned place,
                                         uint64_t deleted, uint64_t now)
{
    const struct path_kept *newest = NULL;

    for (const struct path_kept *kept = state->kept; kept; kept = kept->older) {
        if (kept->place != place || !is_visible(kept, now) ||
            (deleted > 0 && kept->deleted != deleted))
            continue;
        if (!newest || kept->deleted > newest->deleted)
            newest = kept;
    }
    return newest;
}

struct path_expected path_expect_undelete(const struct path_ask *ask,
                                          const struct path_state *state, uint64_t now)
{
    const struct path_node *node = state->nodes[ask->place];
    const struct path_node *parent = state->nodes[path_parent(ask->place)];

    if (node && !node->is_uncommitted && ask->deletion == 0)
        return (struct path_expected){ .status = 200, .place = ask->place };
    if (node)
        return (struct path_expected){ .status = 409, .code = "BlobAlreadyExists" };
    if (!parent || !parent->is_directory)
        return (struct path_expected){ .status = 404,
                                       .code = "RenameDestinationParentPathNotFound" };
    if (!find_kept(state, ask->place, ask->deletion, now))
        return (struct path_expected){ .status = 404, .code = "BlobNotFound" };
    return (struct path_expected){ .status = 200, .changes = true, .place = ask->place };
}

/* Returns the list without one of its deletions. */
static const struct path_kept *without(const struct path_kept *list, const struct path_kept *one)
{
    struct path_kept *copy;

    if (list == one)
        return one->older;
    copy = world_alloc(sizeof *copy);
    *copy = *list;
    copy->older = without(list->older, one);
    return copy;
}

void path_forget_kept(struct path_state *state, unsigned root)
{
    const struct path_kept *next;

    for (const struct path_kept *kept = state->kept; kept; kept = next) {
        next = kept->older;
        if (path_root(kept->place) == root)
            state->kept = without(state->kept, kept);
    }
}

void path_undelete(struct path_state *state, const struct path_ask *ask, uint64_t now)
{
    const struct path_kept *kept = find_kept(state, ask->place, ask->deletion, now);

    path_remove(state, ask->place);
    for (unsigned i = 0; i < PATH_PLACES; i++)
        if (kept->nodes[i])
            state->nodes[i] = kept->nodes[i];
    state->kept = without(state->kept, kept);
}

bool path_had_days(unsigned days, uint64_t from, uint64_t to)
{
    const struct path_state *state = path_state_at(to);

    while (state && state->days != days && state->since > from)
        state = state->older;
    return state && state->days == days;
}

uint64_t path_kept_at(unsigned number, uint64_t commit, unsigned *ret_place)
{
    const struct path_kept *kept = path_state_at(commit)->kept;

    while (kept && number-- > 0)
        kept = kept->older;
    if (!kept)
        return 0;
    *ret_place = kept->place;
    return kept->deleted;
}

/* ---- lists of deleted paths ---- */

/* In the order of a list: that of the paths, and the newest deletion of each path first. */
static int compare_order(unsigned left, uint64_t left_deleted, unsigned right,
                         uint64_t right_deleted)
{
    char texts[2][PATH_TEXT_SIZE];
    int order;

    path_text(left, texts[0]);
    path_text(right, texts[1]);
    order = strcmp(texts[0], texts[1]); /* names of one letter: a slash sorts before all of them */
    if (order == 0)
        order = (left_deleted < right_deleted) - (left_deleted > right_deleted);
    return order;
}

static int compare_kept(const void *left, const void *right)
{
    const struct path_kept *const *l = left, *const *r = right;

    return compare_order((*l)->place, (*l)->deleted, (*r)->place, (*r)->deleted);
}

/* Finds the deletions that a page may show, in their order. */
static unsigned find_shown(const struct path_ask *ask, uint64_t commit, uint64_t now,
                           const struct path_kept *ret_shown[KEPT_MAX])
{
    unsigned count = 0;

    for (const struct path_kept *kept = path_state_at(commit)->kept; kept; kept = kept->older) {
        if (!is_visible(kept, now) || path_root(kept->place) != path_root(ask->place) ||
            (ask->marker[0] &&
             compare_order(kept->place, kept->deleted, ask->next, ask->deletion) < 0))
            continue;
        if (count == KEPT_MAX)
            world_fail("the model retains more than %u deleted paths", KEPT_MAX);
        ret_shown[count++] = kept;
    }
    qsort(ret_shown, count, sizeof *ret_shown, compare_kept);
    return count;
}

/* Reads the text of the first such element before `end`. */
static bool read_element(const char *from, const char *end, const char *name, char *to, size_t size)
{
    char tag[40];
    const char *at;

    (void)snprintf(tag, sizeof tag, "<%s>", name);
    at = strstr(from, tag);
    if (!at || at >= end)
        return false;
    at += strlen(tag);
    (void)snprintf(to, size, "%.*s", (int)strcspn(at, "<"), at);
    return true;
}

static const char *compare_entry(const char *from, const char *end, const struct path_kept *kept)
{
    const struct path_node *node = kept->nodes[kept->place];
    char text[80], expected[80];

    path_text(kept->place, expected);
    if (!read_element(from, end, "Name", text, sizeof text) || strcmp(text, expected) != 0)
        return "another deleted path";
    if (!read_element(from, end, "DeletionId", text, sizeof text) ||
        strtoull(text, NULL, 10) + DELETION_ID_START != kept->deleted)
        return "another deletion of a path";
    if (!read_element(from, end, "ResourceType", text, sizeof text) ||
        strcmp(text, node->is_directory ? "directory" : "file") != 0)
        return "another kind of deleted path";
    if (!read_element(from, end, "Content-Length", text, sizeof text) ||
        (strtoul(text, NULL, 10) != path_length(node) && !node->is_unknown))
        return "another length of a deleted path";
    (void)snprintf(expected, sizeof expected, "0x%" PRIX64, node->stamp->etag);
    if (!read_element(from, end, "Etag", text, sizeof text) ||
        (node->stamp->etag > 0 && strcmp(text, expected) != 0))
        return "another ETag of a deleted path";
    return NULL;
}

const char *path_compare_deleted(const struct path_ask *ask, const struct reply *answer,
                                 uint64_t commit, uint64_t now)
{
    const struct path_kept *shown[KEPT_MAX];
    unsigned count = find_shown(ask, commit, now, shown), i = 0;
    const char *at = (const char *)answer->body;
    char marker[PATH_MARKER_SIZE] = "";

    if (!answer->body_whole)
        return NULL; /* the client has stopped reading */
    for (; (at = strstr(at, "<Blob>")); i++) {
        const char *end = strstr(at, "</Blob>");
        const char *why = !end ? "a malformed list" : i == count ? "a deleted path too many" : NULL;

        if (!why)
            why = compare_entry(at, end, shown[i]);
        if (why)
            return why;
        at = end;
    }
    at = (const char *)answer->body;
    (void)read_element(at, at + answer->body_size, "NextMarker", marker, sizeof marker);
    if (ask->max > 0 && i > ask->max)
        return "a page of deleted paths that is too long";
    if ((i < count) != (marker[0] != '\0'))
        return marker[0] ? "a list of deleted paths that goes on at its end"
                         : "a deleted path is missing";
    return NULL;
}

/* The marker contains the first deletion of the next page: base64 of a version, lengths plus one, the path, and 02 with
 * the complement of the time. */
bool path_next_deleted(const struct path_ask *ask, const struct reply *answer,
                       struct path_ask *ret_next)
{
    const char *at = (const char *)answer->body;
    struct base64_decode_ctx context;
    uint8_t bytes[PATH_MARKER_SIZE];
    size_t length = sizeof bytes, name;

    *ret_next = *ask;
    if (!answer->body_whole || !read_element(at, at + answer->body_size, "NextMarker",
                                             ret_next->marker, sizeof ret_next->marker))
        return false;
    base64url_decode_init(&context);
    if (!base64_decode_update(&context, &length, bytes, strlen(ret_next->marker),
                              ret_next->marker) ||
        length < 2)
        return false;
    name = bytes[1] - 1u;
    if (length != 2 + name + 2 + 8)
        return false;
    ret_next->next = path_place(path_root(ask->place), (const char *)bytes + 2, name);
    ret_next->deletion = ~be64_get((const char *)bytes + 2 + name + 2);
    return ret_next->next < PATH_PLACES;
}

const char *path_compare_policy(const struct reply *answer, uint64_t commit)
{
    const char *at = strstr((const char *)answer->body, "<DeleteRetentionPolicy>");
    unsigned days = path_days(commit);
    char enabled[16] = "", text[16] = "0";

    if (!at || !read_element(at, at + 64, "Enabled", enabled, sizeof enabled))
        return "no soft-delete policy";
    if (strcmp(enabled, "true") == 0)
        (void)read_element(at, at + 64, "Days", text, sizeof text);
    return strtoul(text, NULL, 10) == days ? NULL : "another soft-delete policy";
}
