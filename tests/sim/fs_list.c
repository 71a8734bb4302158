/* See fs_list.h. rest: List-Directories-and-Files, List-Shares; decision: 332 */
#include "fs_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* ---- an entry, as it is shown ---- */

bool fs_element(const char *from, const char *to, const char *name, char *text, size_t size)
{
    char open[40];
    const char *at, *end;

    (void)snprintf(open, sizeof open, "<%s>", name);
    at = strstr(from, open);
    if (!at || at >= to)
        return false;
    at += strlen(open);
    end = strchr(at, '<');
    (void)snprintf(text, size, "%.*s", (int)(end - at), at);
    return true;
}

static bool read_name(const char *text, struct fs_shown *shown)
{
    for (unsigned i = 0; i < 2 * FS_NAMES; i++) {
        if (strcmp(text, fs_name_bytes[i % 2][i / 2]) == 0) {
            shown->name = (unsigned char)(i / 2);
            shown->is_other_case = i % 2;
            return true;
        }
    }
    return false;
}

/* The next entry; NULL: there are no more. */
static const char *next_entry(const char *at, struct fs_shown *ret_shown, const char **ret_why)
{
    const char *file = strstr(at, "<File>"), *directory = strstr(at, "<Directory>"), *end;
    char text[80];

    *ret_shown = (struct fs_shown){ .is_directory = directory && (!file || directory < file) };
    at = ret_shown->is_directory ? directory : file;
    if (!at)
        return NULL;
    end = strstr(at, ret_shown->is_directory ? "</Directory>" : "</File>");
    if (!fs_element(at, end, "Name", text, sizeof text) || !read_name(text, ret_shown))
        *ret_why = "an entry of no name there ever was";
    if (fs_element(at, end, "FileId", text, sizeof text))
        ret_shown->id = strtoull(text, NULL, 10);
    ret_shown->has_length = fs_element(at, end, "Content-Length", text, sizeof text);
    ret_shown->length = ret_shown->has_length ? strtoull(text, NULL, 10) : 0;
    ret_shown->has_etag = fs_element(at, end, "Etag", text, sizeof text);
    ret_shown->etag = ret_shown->has_etag ? strtoull(text + 1, NULL, 16) : 0;
    ret_shown->has_times = fs_element(at, end, "LastWriteTime", text, sizeof text);
    ret_shown->has_attributes = fs_element(at, end, "Attributes", text, sizeof text);
    ret_shown->has_key = fs_element(at, end, "PermissionKey", text, sizeof text);
    return end;
}

/* What was asked for is shown, and of files their length, of directories nothing that was not. */
static const char *compare_form(const struct fs_ask *ask, const struct fs_shown *shown)
{
    unsigned include = ask->page.include;

    if (shown->id == 0)
        return "an entry without an id";
    if (shown->has_etag != ((include & FS_ETAGS) != 0) ||
        shown->has_times != ((include & FS_TIMESTAMPS) != 0) ||
        shown->has_attributes != ((include & FS_ATTRIBUTES) != 0) ||
        shown->has_key != ((include & FS_PERMISSION_KEYS) != 0) ||
        shown->has_length != !shown->is_directory)
        return "an entry with other properties than were asked for";
    return NULL;
}

/* ---- a page of a directory ---- */

static bool is_node(const struct fs_shown *shown, const struct fs_node *node)
{
    if (node->is_directory != shown->is_directory ||
        (node->file_id != 0 && node->file_id != shown->id))
        return false;
    if (shown->has_etag && shown->etag != node->etag)
        return false;
    return node->is_directory || shown->length == (uint64_t)node->length * fs_slot_bytes();
}

/* Was it so, of the node of that id, in a state from `oldest` on? */
static bool was_node(const struct fs_shown *shown, uint64_t id, const struct fs_state *oldest)
{
    const struct fs_state *state = fs_state_at(world->commits);

    for (;; state = state->older) {
        const struct fs_node *node = fs_node_of(state, id);

        if (node && is_node(shown, node))
            return true;
        if (state == oldest)
            return false;
    }
}

/* What came to have the name since, in that directory. */
static bool is_later(const struct fs_shown *shown, const struct fs_node *entry, uint64_t directory,
                     const struct fs_state *oldest)
{
    for (const struct fs_state *state = fs_state_at(world->commits); state != oldest;
         state = state->older) {
        const struct fs_node *now = fs_node_of(state, directory);
        unsigned at =
            now ? fs_child_of(state, (unsigned)(now - state->nodes), entry->name) : FS_NODES;

        if (at < FS_NODES && state->nodes[at].id != entry->id &&
            state->nodes[at].is_other_case == shown->is_other_case &&
            was_node(shown, state->nodes[at].id, oldest))
            return true;
    }
    return false;
}

/* Was it deleted since, and was there a moment in which nothing had its name? */
bool fs_has_gone(const struct fs_node *entry, uint64_t directory, const struct fs_state *oldest)
{
    bool is_deleted = false, is_free = false;

    for (const struct fs_state *state = fs_state_at(world->commits); state != oldest;
         state = state->older) {
        const struct fs_node *now = fs_node_of(state, directory);

        is_deleted = is_deleted || !fs_node_of(state, entry->id);
        is_free = is_free || !now ||
                  fs_child_of(state, (unsigned)(now - state->nodes), entry->name) == FS_NODES;
    }
    return is_deleted && is_free;
}

/* Is it so in no state since, in some, in all: that it is to be deleted by SMB? Then it is not shown. */
enum hidden { HIDDEN_NOT, HIDDEN_PERHAPS, HIDDEN };

static enum hidden is_hidden(uint64_t id, const struct fs_state *view,
                             const struct fs_state *oldest)
{
    const struct fs_state *state = fs_state_at(world->commits);
    bool always = true, ever = false;

    for (; !view->is_kept; state = state->older) {
        const struct fs_node *node = fs_node_of(state, id);

        always = always && (!node || node->is_delete_pending);
        ever = ever || (node && node->is_delete_pending);
        if (state == oldest)
            break;
    }
    return !ever ? HIDDEN_NOT : always ? HIDDEN : HIDDEN_PERHAPS;
}

/* Then a page may end early. */
static bool hides_any(const struct fs_state *view, unsigned directory,
                      const struct fs_state *oldest)
{
    for (unsigned char i = 0; i < FS_NAMES; i++) {
        unsigned at = fs_child_of(view, directory, i);

        if (at < FS_NODES && is_hidden(view->nodes[at].id, view, oldest) != HIDDEN_NOT)
            return true;
    }
    return false;
}

static const char *compare_entry(const struct fs_ask *ask, const struct fs_shown *shown,
                                 const struct fs_state *state, const struct fs_state *view,
                                 const struct fs_node *entry, uint64_t directory)
{
    const char *why = ask ? compare_form(ask, shown) : NULL;

    if (why)
        return why;
    if (shown->is_other_case == entry->is_other_case &&
        (view->is_kept ? is_node(shown, entry) : was_node(shown, entry->id, state)))
        return NULL;
    if (!view->is_kept && is_later(shown, entry, directory, state))
        return NULL;
    return "an entry with properties that it never had";
}

const char *fs_compare_shown(const struct fs_shown *shown, const struct fs_state *state,
                             const struct fs_node *entry, uint64_t directory)
{
    return compare_entry(NULL, shown, state, state, entry, directory);
}

/* The names of a page, in order: those from the marker's on, and the one that the next begins with. */
struct names {
    const struct fs_node *entries[FS_NAMES];
    unsigned count;
    const struct fs_node *next; /* NULL: there are no more */
};

static struct names names_of(const struct fs_ask *ask, const struct fs_state *view,
                             unsigned directory)
{
    const struct fs_page *page = &ask->page;
    struct names names = { .count = 0 };

    for (unsigned char i = 0; i < FS_NAMES; i++) {
        unsigned at = fs_child_of(view, directory, i);

        if (at == FS_NODES || !(fs_prefix_holds[page->prefix] >> i & 1) ||
            (page->marker > 0 && i < (page->marker - 1) / 2))
            continue;
        if (page->max > 0 && names.count == page->max) {
            names.next = &view->nodes[at];
            break;
        }
        names.entries[names.count++] = &view->nodes[at];
    }
    return names;
}

static const char *compare_marker(const struct fs_node *next, const char *body)
{
    char marker[60] = "", expected[60] = "";
    const char *name;

    (void)fs_element(body, body + strlen(body), "NextMarker", marker, sizeof marker);
    if (next) {
        name = fs_name_base64[next->is_other_case][next->name];
        (void)snprintf(expected, sizeof expected, "1!%zu!%s", strlen(name), name);
    }
    return strcmp(marker, expected) == 0 ? NULL : "another marker of the next page";
}

const char *fs_compare_files(const struct fs_ask *ask, const struct fs_state *state,
                             const struct reply *answer)
{
    const struct fs_state *view = fs_view(&ask->snapshot, state);
    unsigned directory = fs_find(view, &ask->path);
    bool hides = hides_any(view, directory, state);
    struct names names;
    struct fs_ask asked = *ask;
    const char *why = NULL, *at = (const char *)answer->body;
    struct fs_shown shown;

    answer->body[answer->body_size] = '\0';
    if (hides)
        asked.page.max = 0;
    names = names_of(&asked, view, directory);
    at = next_entry(at, &shown, &why);
    for (unsigned i = 0; i < names.count && !why; i++) {
        const struct fs_node *entry = names.entries[i];

        enum hidden hidden = is_hidden(entry->id, view, state);

        if (at && shown.name == entry->name && hidden == HIDDEN && shown.id == entry->file_id) {
            why = "an entry that is to be deleted";
        } else if (at && shown.name == entry->name) {
            why = compare_entry(ask, &shown, state, view, entry, view->nodes[directory].id);
            at = why ? at : next_entry(at, &shown, &why);
        } else if (hidden == HIDDEN_NOT && !(hides && ask->page.max > 0) &&
                   (view->is_kept || !fs_has_gone(entry, view->nodes[directory].id, state))) {
            why = "an entry is missing";
        }
    }
    if (!why && at)
        why = "an entry that should not be in the page";
    if (!why && hides && ask->page.max > 0)
        return NULL;
    return why ? why : compare_marker(names.next, (const char *)answer->body);
}

const char *fs_learn_files(const struct fs_ask *ask, const struct fs_state *state,
                           const struct reply *answer)
{
    const struct fs_state *view = fs_view(&ask->snapshot, state);
    unsigned directory = fs_find(view, &ask->path);
    const char *why = NULL, *at = (const char *)answer->body;
    struct fs_shown shown;

    while (!why && (at = next_entry(at, &shown, &why))) {
        unsigned child = fs_child_of(view, directory, shown.name);

        /* Of one that came to have the name since nothing is learnt. */
        if (child < FS_NODES && !is_later(&shown, &view->nodes[child], view->nodes[directory].id,
                                          view->is_kept ? fs_state_at(world->commits) : state))
            why = fs_tell_id(&view->nodes[child], shown.id);
    }
    return why;
}
