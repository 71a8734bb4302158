/* See path_compare.h. */
#include "path_compare.h"

#include <inttypes.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dates.h"
#include "path_state.h"

/* ---- reads ---- */

static bool same_bytes(const struct path_node *node, const struct reply *answer)
{
    static unsigned char expected[1 << 16];
    size_t at = 0;

    if (node->is_unknown)
        return true;
    if (answer->body_whole && answer->body_size != path_length(node))
        return false; /* otherwise the client has stopped reading */
    for (unsigned i = 0; i < node->part_count && at < answer->body_size; i++) {
        const struct path_content *part = &node->parts[i];
        size_t shown =
            answer->body_size - at < part->length ? answer->body_size - at : part->length;

        pattern_fill(part->seed, 0, expected, part->length);
        if (memcmp(answer->body + at, expected, shown) != 0)
            return false;
        at += shown;
    }
    return true;
}

static const char *compare_acl(const struct path_node *node, const struct reply *answer)
{
    static char why[3 * PATH_ACL_SIZE];
    char expected[PATH_ACL_SIZE];

    path_acl_text(&node->acl, true, expected);
    if (strcmp(answer->path.owner, path_user(node->acl.owner)) != 0)
        return "another owner";
    if (answer->path.permissions[0] && (answer->path.permissions[8] == 't' ||
                                        answer->path.permissions[8] == 'T') != node->acl.is_sticky)
        return "another sticky bit";
    if (node->acl_is_unknown || strcmp(answer->path.acl, expected) == 0)
        return NULL;
    (void)snprintf(why, sizeof why, "another list: %s instead of %s", answer->path.acl, expected);
    return why;
}

static const char *compare_lease(const struct path_node *node, const struct reply *answer,
                                 bool late, const struct path_moment *moment)
{
    enum lease_now now = model_lease_now(&node->lease, late, moment->from_ns, moment->to_ns);

    if (strcmp(answer->lease_state, lease_now_texts[now]) != 0)
        return "another state of the lease";
    if (now != NOW_LEASED)
        return NULL;
    return strcmp(answer->lease_duration, node->lease.duration_s < 0 ? "infinite" : "fixed") == 0
               ? NULL
               : "another kind of duration of the lease";
}

static const char *compare_expiry(const struct path_node *node, const struct reply *answer)
{
    int64_t expiry_s =
        node->expiry > 0 ? (int64_t)((node->expiry - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND) : 0;

    return answer->path.expiry_s == expiry_s ? NULL : "another expiry";
}

static const char *compare_node(const struct path_ask *ask, const struct path_node *node,
                                const struct reply *answer)
{
    if (ask->op != PATH_GET_ACCESS &&
        strcmp(answer->path.resource_type, node->is_directory ? "directory" : "file") != 0)
        return "another kind of path";
    if (ask->op == PATH_GET_ACCESS)
        return compare_acl(node, answer);
    if ((ask->by_blob ? answer->metadata : answer->path.value) != node->value)
        return "other metadata";
    if (answer->length != path_length(node) && !node->is_unknown)
        return "another length";
    return ask->op == PATH_READ && !same_bytes(node, answer) ? "other bytes" : NULL;
}

/* Formats the blocks as Get Block List shows them. */
static void format_blocks(const struct path_content *blocks, unsigned count, const char *element,
                          char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "<%s>", element), empty = used;

    for (unsigned i = 0; i < count && used < size; i++) {
        char name[16];

        if (blocks[i].block == 0)
            continue;
        block_name(blocks[i].block - 1, name);
        used += (size_t)snprintf(to + used, size - used,
                                 "<Block><Name>%s</Name><Size>%u</Size></Block>", name,
                                 blocks[i].length);
    }
    if (used == empty)
        (void)snprintf(to, size, "<%s />", element);
    else
        (void)snprintf(to + used, size - used, "</%s>", element);
}

static const char *compare_blocks(const struct path_node *node, const struct reply *answer)
{
    const char *body = (const char *)answer->body;
    char expected[1000];

    if (!answer->body_whole)
        return NULL; /* the client has stopped reading */
    format_blocks(node->parts, node->part_count, "CommittedBlocks", expected, sizeof expected);
    if (!strstr(body, expected))
        return "other committed blocks";
    format_blocks(node->blocks, PATH_BLOCK_IDS, "UncommittedBlocks", expected, sizeof expected);
    return strstr(body, expected) ? NULL : "other staged blocks";
}

/* ---- snapshots ---- */

/* Calls back for each snapshot in a response of List Blobs, in its order, until one differs. */
static const char *each_snapshot(unsigned root, const struct reply *answer,
                                 const char *(*call)(unsigned place, const char *time,
                                                     uint64_t commit),
                                 uint64_t commit)
{
    const char *at = (const char *)answer->body, *why = NULL;

    while (!why && (at = strstr(at, "<Blob><Name>"))) {
        const char *name = at + strlen("<Blob><Name>"), *end = strstr(at, "</Blob>");
        const char *snapshot = strstr(at, "<Snapshot>");
        char time[PATH_TIME_SIZE];

        if (!end)
            return "a malformed list";
        at = end;
        if (!snapshot || snapshot > end)
            continue;
        snapshot += strlen("<Snapshot>");
        (void)snprintf(time, sizeof time, "%.*s", (int)strcspn(snapshot, "<"), snapshot);
        why = call(path_place(root, name, strcspn(name, "<")), time, commit);
    }
    return why;
}

static unsigned seen_snapshots[PATH_PLACES];

static const char *compare_snapshot(unsigned place, const char *time, uint64_t commit)
{
    const struct path_node *node = place < PATH_PLACES ? path_node_at(place, commit) : NULL;
    const char *known;

    if (!node || seen_snapshots[place] == node->snapshot_count)
        return "a snapshot too many";
    known = node->snapshots[seen_snapshots[place]++].time->text;
    return known[0] && strcmp(known, time) != 0 ? "another snapshot" : NULL;
}

/* Those of files that have expired are shown until the files are collected. */
static const char *compare_snapshots(unsigned root, const struct reply *answer, uint64_t commit,
                                     uint64_t now)
{
    const char *why;

    memset(seen_snapshots, 0, sizeof seen_snapshots);
    why = each_snapshot(root, answer, compare_snapshot, commit);
    for (unsigned i = root; !why && i < root + PATH_OF_ONE; i++) {
        const struct path_node *node = path_node_at(i, commit);

        if (node && seen_snapshots[i] != node->snapshot_count &&
            (seen_snapshots[i] > 0 || !path_has_expired(node, now)))
            why = "a snapshot is missing";
    }
    return why;
}

static const char *take_snapshot(unsigned place, const char *time, uint64_t commit)
{
    struct path_time *known = path_node_at(place, commit)->snapshots[seen_snapshots[place]++].time;

    (void)snprintf(known->text, sizeof known->text, "%s", time);
    return NULL;
}

void path_take_snapshots(unsigned root, const struct reply *answer, uint64_t commit)
{
    memset(seen_snapshots, 0, sizeof seen_snapshots);
    each_snapshot(root, answer, take_snapshot, commit);
}

/* ---- lists ---- */

/* Compares two places in the order of a walk: a directory, its contents, the next name. */
static int compare_places(unsigned left, unsigned right)
{
    char texts[2][PATH_TEXT_SIZE];

    path_text(left, texts[0]);
    path_text(right, texts[1]);
    return strcmp(texts[0], texts[1]); /* names of one letter: a slash sorts before all of them */
}

/* Time of the list. */
static uint64_t listed_at;

/* A list of a file contains the file itself. */
static bool is_shown(unsigned place, uint64_t commit)
{
    const struct path_node *node = path_node_at(place, commit);

    return node && !node->is_uncommitted && !path_has_expired(node, listed_at);
}

static bool is_file(unsigned place, uint64_t commit)
{
    return is_shown(place, commit) && !path_node_at(place, commit)->is_directory;
}

/* Returns the first entry after `after`, or from it on, in the order of a walk below a directory, or PATH_PLACES. */
static unsigned next_entry(const struct path_ask *ask, uint64_t commit, unsigned after, bool from)
{
    unsigned next = PATH_PLACES;

    for (unsigned i = path_root(ask->place) + 1; i < path_root(ask->place) + PATH_OF_ONE; i++) {
        bool is_listed = is_file(ask->place, commit) ? i == ask->place && from
                         : ask->is_recursive ? i != ask->place && path_is_below(i, ask->place)
                                             : path_parent(i) == ask->place;

        if (is_listed && is_shown(i, commit) && compare_places(i, after) >= !from &&
            (next == PATH_PLACES || compare_places(i, next) < 0))
            next = i;
    }
    return next;
}

/* Returns the value of a member of a flat JSON object, or empty if it is missing. */
static void read_member(const char *object, const char *end, const char *name, char *to,
                        size_t size)
{
    char key[40];
    const char *at;

    to[0] = '\0';
    (void)snprintf(key, sizeof key, "\"%s\":\"", name);
    at = strstr(object, key);
    if (!at || at >= end)
        return;
    at += strlen(key);
    (void)snprintf(to, size, "%.*s", (int)strcspn(at, "\""), at);
}

/* Compares an entry, except its name. */
static const char *compare_shown(const char *object, const char *end, const struct path_node *node)
{
    char text[80], expected[80];

    read_member(object, end, "isDirectory", text, sizeof text);
    if ((strcmp(text, "true") == 0) != node->is_directory)
        return "another kind of entry in a list";
    read_member(object, end, "contentLength", text, sizeof text);
    if (strtoul(text, NULL, 10) != path_length(node) && !node->is_unknown)
        return "another length in a list";
    read_member(object, end, "etag", text, sizeof text);
    (void)snprintf(expected, sizeof expected, "0x%" PRIX64, node->stamp->etag);
    return node->stamp->etag > 0 && strcmp(text, expected) != 0 ? "another ETag in a list" : NULL;
}

static const char *compare_entry(const char *object, const char *end, unsigned place,
                                 uint64_t commit)
{
    char text[80], expected[80];

    read_member(object, end, "name", text, sizeof text);
    path_text(place, expected);
    if (strcmp(text, expected) != 0)
        return "another entry in a list";
    return compare_shown(object, end, path_node_at(place, commit));
}

static const char *compare_list(const struct path_ask *ask, const struct reply *answer,
                                uint64_t commit, uint64_t now)
{
    const char *object = answer->body ? strchr((const char *)answer->body, '[') : NULL;
    unsigned place = ask->next > 0 ? ask->next : ask->place, count = 0;
    bool from;

    listed_at = now;
    from = ask->next > 0 || is_file(ask->place, commit);
    if (!object)
        return "no list";
    while ((object = strchr(object, '{'))) {
        const char *end = strchr(object, '}');
        const char *why;

        place = next_entry(ask, commit, place, from);
        from = false;
        if (!end || place == PATH_PLACES)
            return "an entry too many in a list";
        why = compare_entry(object, end, place, commit);
        if (why)
            return why;
        count++;
        object = end;
    }
    if (ask->max > 0 && count > ask->max)
        return "a page that is too long";
    if ((next_entry(ask, commit, place, from) == PATH_PLACES) !=
        (answer->path.continuation[0] == '\0'))
        return answer->path.continuation[0] ? "a list that goes on at its end"
                                            : "a list that ends too early";
    return count == 0 && answer->path.continuation[0] ? "an empty page" : NULL;
}

/* Returns true if a state between the two commits had the entry, under any name: the contents of a directory that is
 * renamed during the walk are listed under its old path. */
static bool was_entry(const char *object, const char *end, uint64_t from, uint64_t to)
{
    uint64_t changed;

    do {
        for (unsigned i = 0; i < PATH_PLACES; i++) {
            const struct path_node *node = path_node_at(i, to);

            if (node && !node->is_uncommitted && !compare_shown(object, end, node))
                return true;
        }
        changed = path_changed_before(from, to);
        to = changed > 0 ? changed - 1 : to;
    } while (changed > 0);
    return false;
}

/* Returns true if the directory existed and was empty at some time between the two commits. */
static bool was_empty(const struct path_ask *ask, uint64_t from, uint64_t to, uint64_t now)
{
    uint64_t changed;

    listed_at = now;
    do {
        if ((path_is_root(ask->place) || path_node_at(ask->place, to)) &&
            next_entry(ask, to, ask->place, false) == PATH_PLACES)
            return true;
        changed = path_changed_before(from, to);
        to = changed > 0 ? changed - 1 : to;
    } while (changed > 0);
    return false;
}

const char *path_compare_walk(const struct path_ask *ask, const struct reply *answer,
                              const struct path_moment *moment)
{
    const uint64_t from = moment->from_commit, to = moment->to_commit;
    const char *object = strchr((const char *)answer->body, '[');
    unsigned last = ask->place;

    if (!strchr(object, '{') && ask->next == 0 && !was_empty(ask, from, to, moment->view.last))
        return "a directory that was never empty";
    while ((object = strchr(object, '{'))) {
        const char *end = strchr(object, '}');
        char name[80];
        unsigned place;

        read_member(object, end, "name", name, sizeof name);
        place = path_place(path_root(ask->place), name, strlen(name));
        if (place == PATH_PLACES || compare_places(place, last) <= 0 ||
            !path_is_below(place, ask->place))
            return "another entry in a walk";
        if (!was_entry(object, end, from, to))
            return "an entry of a walk that there was not";
        last = place;
        object = end;
    }
    return NULL;
}

/* The continuation token contains the first entry of the next page: base64 of a version, a length and the name. */
bool path_next_page(const struct path_ask *ask, const struct reply *answer,
                    struct path_ask *ret_next)
{
    const char *text = answer->path.continuation;
    struct base64_decode_ctx context;
    uint8_t bytes[PATH_TOKEN_SIZE];
    size_t length = sizeof bytes;

    base64_decode_init(&context);
    if (!text[0] || !base64_decode_update(&context, &length, bytes, strlen(text), text) ||
        length < 2 || length < 2u + bytes[1])
        return false;
    *ret_next = *ask;
    ret_next->next = path_place(path_root(ask->place), (const char *)bytes + 2, bytes[1]);
    memcpy(ret_next->continuation, text, sizeof ret_next->continuation);
    return ret_next->next < PATH_PLACES;
}

/* ---- all requests ---- */

static const char *compare_with(const struct path_ask *ask, const struct reply *answer,
                                uint64_t commit, const struct path_moment *moment, unsigned doubts)
{
    struct path_expected expected = path_expect(ask, commit, moment, doubts);
    uint64_t now = path_now(moment, doubts);
    const struct path_node *node;
    const char *why = NULL;

    if (expected.code) {
        if (answer->status != expected.status ||
            (answer->code[0] && strcmp(answer->code, expected.code) != 0))
            return expected.code;
        return expected.existing && strcmp(answer->path.existing_type, expected.existing) != 0
                   ? "another existing resource type"
                   : NULL;
    }
    if (expected.or_code && strcmp(answer->code, expected.or_code) == 0)
        return NULL;
    if (expected.changes && !expected.may_change_nothing)
        return "success without a commit";
    if (answer->status != expected.status)
        return "a read that is refused";
    if (ask->op == PATH_LIST)
        return compare_list(ask, answer, commit, now);
    if (ask->op == PATH_LIST_SNAPSHOTS)
        return compare_snapshots(ask->place, answer, commit, now);
    if (ask->op == PATH_LIST_DELETED)
        return path_compare_deleted(ask, answer, commit, now);
    if (ask->op == PATH_GET_SERVICE)
        return path_compare_policy(answer, commit);
    if (ask->op == PATH_GET_FILESYSTEM)
        return answer->protect.container_has_hold == path_is_held(ask->place, commit)
                   ? NULL
                   : "another legal hold";
    if (ask->op == PATH_UNDELETE)
        return NULL;
    node = path_node_at(ask->place, commit);
    if (ask->op == PATH_GET_BLOCK_LIST && node->is_uncommitted)
        return compare_blocks(node, answer);
    node = path_named(ask, node);
    if (node->stamp->etag > 0 ? node->stamp->etag != answer->etag
                              : answer->etag <= node->stamp->above)
        return "another ETag";
    if (node->stamp->modified_s > 0 && node->stamp->modified_s != answer->modified_s)
        return "another date";
    if (ask->op == PATH_GET_BLOCK_LIST)
        return compare_blocks(node, answer);
    if (ask->op >= PATH_READ)
        why = compare_node(ask, node, answer);
    if (!why && (ask->op == PATH_READ || ask->op == PATH_GET_PROPERTIES) && !ask->snapshot[0])
        why = compare_lease(node, answer, doubts & PATH_LATE, moment);
    if (!why && (ask->op == PATH_READ || ask->op == PATH_GET_PROPERTIES) && !ask->snapshot[0])
        why = compare_expiry(node, answer);
    return why;
}

/* Returns true if the request may have read a container before it was held, and a path that a write, which did so too,
 * has changed afterwards. decision: 1410 */
static bool may_miss_hold(const struct path_ask *ask, const struct path_moment *moment)
{
    return !path_is_held(ask->place, moment->from_commit) ||
           (ask->op == PATH_RENAME && !path_is_held(ask->from, moment->from_commit));
}

const char *path_compare_answer(const struct path_ask *ask, const struct reply *answer,
                                uint64_t commit, const struct path_moment *moment)
{
    const char *first = NULL;
    unsigned possible, certain;

    path_find_doubts(ask, commit, moment, &possible, &certain);
    possible |= may_miss_hold(ask, moment) ? PATH_NOT_HELD : 0u;
    for (unsigned doubts = 0; doubts < PATH_DOUBTS; doubts++) {
        const char *why;

        if ((doubts & ~possible) || (certain & ~doubts))
            continue;
        why = compare_with(ask, answer, commit, moment, doubts);
        if (!why)
            return NULL;
        first = first ? first : why;
    }
    return first;
}
