/* See sm_list.h. */
#include "sm_list.h"

#include <string.h>

#include "fs_list.h"
#include "fs_opens.h"
#include "smb_protocol/wire.h"
#include "world.h"

#define CLASS_ID_BOTH 37u /* FileIdBothDirectoryInformation. MS-FSCC 2.4.17 */
#define RESTART_SCANS 0x01u
#define SINGLE_ENTRY  0x02u
#define ROOM          8192u
#define IS_DIRECTORY  0x10u

#define DOTS          (1u << SM_DOT | 1u << SM_DOT_DOT)
#define NAME(n)       (1u << (SM_FIRST_NAME + (n)))
#define ALL           (DOTS | NAME(0) | NAME(1) | NAME(2))

/* The names are "a", "ab.txt" and one letter outside of ASCII, whatever their case. */
const struct sm_pattern sm_patterns[SM_PATTERNS] = {
    { "*", ALL },
    { "", ALL },
    { "A", NAME(0) },
    { "AB.*", NAME(1) },
    { "a*", NAME(0) | NAME(1) },
    { "?", 1u << SM_DOT | NAME(0) | NAME(2) },
    { "*.TXT", NAME(1) },
    { "<.txt", NAME(1) },
    { "a>>", NAME(0) },
    { "a?.t*", NAME(1) },
    { "ab\"txt", NAME(1) },
    { "\xC3\x89*", NAME(2) },
    { "..", 1u << SM_DOT_DOT },
    { "x*", 0 },
};

/* ---- messages ---- */

void sm_list_write(struct wire_writer *w, const struct sm_ask *ask)
{
    const char *pattern = sm_patterns[ask->scan.pattern].text;
    size_t size_at;

    wire_put_u16(w, 33);
    wire_put_u8(w, CLASS_ID_BOTH);
    wire_put_u8(w, (ask->restarts ? RESTART_SCANS : 0) | (ask->is_single ? SINGLE_ENTRY : 0));
    wire_put_u32(w, 0);
    wire_put_u64(w, ask->handle.persistent);
    wire_put_u64(w, ask->handle.volatile_id);
    wire_put_u16(w, SMB_HEADER_SIZE + 32);
    size_at = wire_place(w);
    wire_put_u16(w, 0);
    wire_put_u32(w, ROOM);
    wire_put_utf16(w, bytes_from_string(pattern));
    wire_set_u16(w, size_at, (uint16_t)(wire_place(w) - size_at - 6));
    wire_put_u8(w, 0);
}

/* Places that the name has in a scan; SM_LIST_END: it is none that there ever was. */
static unsigned place_of(struct bytes name, bool *ret_other_case)
{
    *ret_other_case = false;
    if (bytes_is(name, ".") || bytes_is(name, ".."))
        return name.len == 1 ? SM_DOT : SM_DOT_DOT;
    for (unsigned i = 0; i < 2 * FS_NAMES; i++) {
        *ret_other_case = i % 2;
        if (bytes_is(name, fs_name_bytes[i % 2][i / 2]))
            return SM_FIRST_NAME + i / 2;
    }
    return SM_LIST_END;
}

static void read_entry(struct wire_reader *r, struct arena *arena, struct sm_entry *ret_entry)
{
    struct bytes name;
    uint32_t size;

    wire_skip(r, 4 + 4 * 8);
    ret_entry->length = wire_u64(r);
    wire_skip(r, 8);
    ret_entry->is_directory = wire_u32(r) & IS_DIRECTORY;
    size = wire_u32(r);
    wire_skip(r, 4 + 1 + 1 + 24 + 2);
    ret_entry->file_id = wire_u64(r);
    name = wire_bytes(r, size);
    if (!wire_ok(r) || !wire_utf8(arena, name, &name))
        world_fail("an entry of a list that is cut, or has no name");
    ret_entry->place = place_of(name, &ret_entry->is_other_case);
    if (ret_entry->place == SM_LIST_END)
        world_fail("a list shows a name that nobody has given: %.*s", (int)name.len, name.ptr);
}

void sm_list_read(struct wire_reader *r, struct sm_reply *reply)
{
    struct arena *arena = arena_new(64u << 10);
    struct bytes all;
    uint16_t at;
    uint32_t next = 1;

    wire_skip(r, 2);
    at = wire_u16(r);
    all = wire_buffer(r, at, wire_u32(r), SMB_HEADER_SIZE + 8);
    while (next > 0) {
        struct wire_reader entry;

        if (reply->entry_count == SM_LIST_END || all.len < 4)
            world_fail("a list shows more than there are names");
        wire_reader_init(&entry, all);
        next = wire_u32(&entry);
        if (next > all.len)
            world_fail("an entry of a list is said to lie behind its end");
        read_entry(&entry, arena, &reply->entries[reply->entry_count++]);
        all = bytes_from(all, next);
    }
    arena_free(arena);
}

/* ---- beside a state ---- */

static const char *compare_dot(const struct sm_entry *entry, const struct fs_node *directory)
{
    if (!entry->is_directory || entry->length > 0)
        return "a list shows a file as its directory";
    return entry->place == SM_DOT && directory->file_id != 0 && entry->file_id != directory->file_id
               ? "a list shows another directory as its own"
               : NULL;
}

static const char *compare_name(const struct sm_entry *entry, const struct fs_state *state,
                                const struct fs_node *directory, const struct fs_node *child)
{
    const struct fs_shown shown = { .is_directory = entry->is_directory,
                                    .is_other_case = entry->is_other_case,
                                    .name = (unsigned char)(entry->place - SM_FIRST_NAME),
                                    .id = entry->file_id,
                                    .length = entry->length };

    return fs_compare_shown(&shown, state, child, directory->id);
}

/* Is there something that matches at the place? The directory itself, and the one above, are always there. */
static const struct fs_node *node_at(const struct sm_ask *ask, const struct fs_state *state,
                                     const struct fs_node *directory, unsigned place)
{
    unsigned at;

    if (!(sm_patterns[ask->scan.pattern].holds >> place & 1))
        return NULL;
    if (place < SM_FIRST_NAME)
        return directory;
    at = fs_child_of(state, (unsigned)(directory - state->nodes),
                     (unsigned char)(place - SM_FIRST_NAME));
    return at < FS_NODES ? &state->nodes[at] : NULL;
}

static const char *compare_place(const struct sm_ask *ask, const struct fs_state *state,
                                 const struct fs_node *directory, unsigned place,
                                 const struct sm_entry *entry)
{
    const struct fs_node *node = node_at(ask, state, directory, place);

    if (entry && !node)
        return "a list shows a name that it should not";
    if (entry)
        return place < SM_FIRST_NAME ? compare_dot(entry, directory)
                                     : compare_name(entry, state, directory, node);
    if (!node || !(ask->scan.sure >> place & 1))
        return NULL;
    return place >= SM_FIRST_NAME && fs_has_gone(node, directory->id, state)
               ? NULL
               : "a list does not show a name";
}

/* Whatever comes behind a single entry is not shown. A page that would be empty is made anew, of a later state. */
const char *sm_list_compare(const struct sm_ask *ask, const struct reply *answer,
                            const struct fs_state *state, const struct fs_node *directory)
{
    const struct sm_reply *reply = &answer->smb;
    uint32_t none = ask->scan.has_begun && !ask->restarts ? SM_NO_MORE_FILES : SM_NO_SUCH_FILE;
    unsigned shown = 0;
    const char *why = NULL;

    if (reply->status != (reply->entry_count > 0 ? SM_SUCCESS : none))
        return "another status of a list";
    if (ask->is_single && reply->entry_count > 1)
        return "more than the one entry that was asked for";
    for (unsigned place = ask->scan.from; place < SM_LIST_END && !why; place++) {
        bool is_there = shown < reply->entry_count && reply->entries[shown].place == place;

        if (ask->is_single && shown == 1)
            break;
        why = compare_place(ask, state, directory, place, is_there ? &reply->entries[shown] : NULL);
        shown += is_there;
    }
    return why || shown == reply->entry_count ? why : "a list shows names in no order";
}

/* ---- how far it has come ---- */

/* Names that were there all the time that the answer took. */
static unsigned always_there(const struct sm_ask *ask, const struct reply *answer)
{
    const struct fs_state *state = fs_state_at(world->commits);
    unsigned there = ALL;

    for (;; state = state->older) {
        const struct fs_node *directory = fs_opened_node(state, ask->handle.open);

        for (unsigned i = 0; i < FS_NAMES && directory; i++)
            if (fs_child_of(state, (unsigned)(directory - state->nodes), (unsigned char)i) ==
                FS_NODES)
                there &= ~NAME(i);
        if (state->since <= answer->commits_before || !state->older)
            return there;
    }
}

struct sm_scan sm_list_scan(const struct sm_ask *ask, const struct reply *answer,
                            const struct sm_scan *before)
{
    struct sm_scan scan = ask->scan;

    if (answer->smb.status != SM_SUCCESS && answer->smb.status != SM_NO_SUCH_FILE &&
        answer->smb.status != SM_NO_MORE_FILES)
        return *before;
    scan.has_begun = true;
    scan.from = SM_LIST_END;
    if (ask->is_single && answer->smb.entry_count > 0)
        scan.from = answer->smb.entries[0].place + 1;
    scan.sure = DOTS | always_there(ask, answer);
    return scan;
}
