/* QUERY_DIRECTORY: lists a directory, continuing where the previous request ended. The first
 * request of a scan sets the pattern. ms-smb2: 2.2.33, 2.2.34, 3.3.5.18; MS-FSCC 2.4 */
#include "smb/commands.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb/file_information.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "handles/name_pattern.h"
#include "tree/path.h"

/* Flags. FileIndex is ignored, as in Windows. ms-smb2: 2.2.33 */
#define RESTART_SCANS    0x01u
#define SINGLE_ENTRY     0x02u
#define REOPEN           0x10u

/* Maximum number of entries listed, and held in memory, by one decision. */
#define PAGE_ENTRIES_MAX 1000u
#define ENTRY_ALIGNMENT  8u
/* Size of the response before its entries. */
#define ANSWER_FIXED     8u
/* Space in the arena for the pattern, the name to continue at, and overhead. */
#define ARENA_SPARE      (64u << 10)

/* ---- entries ---- */

/* Fields of an entry other than NextEntryOffset, FileIndex and FileName, in this order. MS-FSCC
 * 2.4.10, 2.4.14, 2.4.8, 2.4.28, 2.4.17, 2.4.18, 2.4.21 */
enum entry_field {
    HAS_FACTS = 0x01,      /* times, sizes, attributes */
    HAS_EA_SIZE = 0x02,    /* always 0 */
    HAS_SHORT_NAME = 0x04, /* always empty */
    HAS_TAG = 0x08,        /* ReparsePointTag, always 0 */
    HAS_PADDED_ID = 0x10,  /* FileId, aligned */
    HAS_LONG_ID = 0x20,    /* FileId of 16 bytes */
};
struct entry_class {
    uint8_t number;
    uint8_t fixed; /* size before FileName */
    uint8_t fields;
};
static const struct entry_class classes[] = {
    { 1, 64, HAS_FACTS },                                /* FileDirectoryInformation */
    { 2, 68, HAS_FACTS | HAS_EA_SIZE },                  /* FileFullDirectoryInformation */
    { 3, 94, HAS_FACTS | HAS_EA_SIZE | HAS_SHORT_NAME }, /* FileBothDirectoryInformation */
    { 12, 12, 0 },                                       /* FileNamesInformation */
    { 37, 104,
      HAS_FACTS | HAS_EA_SIZE | HAS_SHORT_NAME |
          HAS_PADDED_ID },                               /* FileIdBothDirectoryInformation */
    { 38, 80, HAS_FACTS | HAS_EA_SIZE | HAS_PADDED_ID }, /* FileIdFullDirectoryInformation */
    { 60, 88,
      HAS_FACTS | HAS_EA_SIZE | HAS_TAG | HAS_LONG_ID }, /* FileIdExtdDirectoryInformation */
};

static const struct entry_class *find_class(uint8_t number)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].number == number)
            return &classes[i];
    return NULL;
}

struct query {
    struct handle_list list;
    struct list_sink sink;
    const struct entry_class *class;
    bool is_first;  /* first request of the scan */
    bool is_single; /* returns one entry only */
    struct bytes pattern;
    size_t room;            /* OutputBufferLength */
    struct arena *arena;    /* owned; outlives the attempts */
    struct arena_mark mark; /* the memory after it holds the name at which the page starts */
    struct text entries;
    size_t last_at;            /* offset of the last entry, if any */
    size_t page_at, page_last; /* entries.len and last_at before the current page */
    size_t count;              /* number of entries on previous pages */
    bool is_full;
};

static struct query *query_of_sink(struct list_sink *sink)
{
    return (struct query *)((char *)sink - offsetof(struct query, sink));
}

/* Discards the entries of the current page, before another attempt to list it. */
static void begin_page(struct list_sink *sink)
{
    struct query *q = query_of_sink(sink);

    q->entries.len = q->page_at;
    q->last_at = q->page_last;
    if (q->page_at > 0)
        le32_put(q->entries.ptr + q->last_at, 0);
    q->is_full = false;
}

static void put_entry(struct wire_writer *w, const struct entry_class *class,
                      const struct listed *entry, size_t name_size)
{
    const struct handle_info *info = &entry->info;

    wire_put_u32(w, 0); /* NextEntryOffset, set by the next entry */
    wire_put_u32(w, 0); /* FileIndex, undefined as names are sorted */
    if (class->fields & HAS_FACTS) {
        smb_put_info_times(w, info);
        wire_put_u64(w, info->length);
        wire_put_u64(w, info->allocated);
        wire_put_u32(w, smb_attributes(info));
    }
    wire_put_u32(w, (uint32_t)name_size);
    if (class->fields & HAS_EA_SIZE)
        wire_put_u32(w, 0);
    if (class->fields & HAS_SHORT_NAME)
        wire_put_zeros(w, 1 + 1 + 24);
    if (class->fields & HAS_TAG)
        wire_put_u32(w, 0);
    if (class->fields & HAS_PADDED_ID) {
        wire_put_padding(w, 8);
        wire_put_u64(w, info->node);
    }
    if (class->fields & HAS_LONG_ID) {
        wire_put_u64(w, info->node);
        wire_put_u64(w, 0);
    }
    assert(wire_place(w) == class->fixed);
    wire_put_utf16(w, entry->name);
}

/* Adds an entry, aligned to 8 bytes, and sets NextEntryOffset of the previous one. Returns false if
 * it does not fit. */
static bool add_entry(struct list_sink *sink, const struct listed *entry)
{
    struct query *q = query_of_sink(sink);
    size_t name_size = bytes_utf16_units(entry->name) * 2;
    size_t start = (q->entries.len + ENTRY_ALIGNMENT - 1) / ENTRY_ALIGNMENT * ENTRY_ALIGNMENT;
    struct wire_writer w;

    if (start + q->class->fixed + name_size > q->room) {
        q->is_full = true;
        return false;
    }
    if (start > 0)
        le32_put(q->entries.ptr + q->last_at, (uint32_t)(start - q->last_at));
    wire_writer_init(&w, &q->entries);
    wire_put_zeros(&w, start - q->entries.len);
    wire_writer_init(&w, &q->entries);
    q->last_at = start;
    put_entry(&w, q->class, entry, name_size);
    return true;
}

/* ---- request ---- */

/* Reads the pattern. Returns false if it is invalid. */
static bool read_pattern(struct query *q, struct bytes utf16)
{
    struct name_pattern parsed;

    if (utf16.len > 2u * TREE_NAME_MAX) /* longer than any name */
        return false;
    if (!wire_utf8(q->arena, utf16, &q->pattern))
        return false;
    return !memchr(q->pattern.ptr, '\\', q->pattern.len) &&
           !memchr(q->pattern.ptr, '/', q->pattern.len) &&
           name_pattern_parse(q->arena, q->pattern, &parsed);
}

/* Sets where the list starts: at the beginning, or where the previous request ended. */
static enum nt_status set_place(struct query *q, const struct smb_open *open, uint8_t flags,
                                struct bytes pattern)
{
    q->is_first = !open->listing.has_begun || flags & (RESTART_SCANS | REOPEN);
    if (q->is_first)
        return read_pattern(q, pattern) ? STATUS_SUCCESS : STATUS_OBJECT_NAME_INVALID;
    q->pattern = arena_copy(q->arena, open->listing.pattern);
    q->list.from = open->listing.at;
    if (q->list.from.name.ptr)
        q->list.from.name = arena_copy(q->arena, q->list.from.name);
    return STATUS_SUCCESS;
}

enum smb_step smb_query_directory_begin(struct smb_request *request, struct wire_reader *r)
{
    struct query *q = arena_alloc(request->message->arena, sizeof *q);
    const struct smb_open *open = request->open;
    uint8_t number = wire_u8(r), flags = wire_u8(r);
    uint16_t name_at, name_size;
    uint32_t room;
    struct bytes pattern;
    enum nt_status status;

    wire_skip(r, 4 + 16); /* FileIndex, FileId */
    name_at = wire_u16(r);
    name_size = wire_u16(r);
    room = wire_u32(r);
    pattern = wire_buffer(r, name_at, name_size, SMB_HEADER_SIZE + 32);
    if (!wire_ok(r) || open->handle.kind != TREE_DIRECTORY)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (!(open->handle.granted & MAY_READ_DATA))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    q->class = find_class(number);
    if (!q->class)
        return smb_refuse(request, STATUS_INVALID_INFO_CLASS);
    if (room < q->class->fixed)
        return smb_refuse(request, STATUS_INFO_LENGTH_MISMATCH);
    /* Larger buffers may be rejected, but Samba's clients request 8 MiB. ms-smb2: 3.3.5.18 */
    if (room > SMB_IO_MAX)
        room = SMB_IO_MAX;
    q->room = room;
    q->is_single = flags & SINGLE_ENTRY;
    q->arena = arena_new_like(request->message->arena, room * 2 + ARENA_SPARE);
    request->parameters = q;
    message_charge(request->message, q->is_single ? 1024 : room);
    text_init(&q->entries, q->arena, q->is_single ? 1024 : room);
    if (arena_is_exhausted(q->arena))
        return smb_refuse(request, STATUS_INSUFF_SERVER_RESOURCES);
    status = set_place(q, open, flags, pattern);
    if (status != STATUS_SUCCESS)
        return smb_refuse(request, status);
    q->sink = (struct list_sink){ .begin = begin_page, .add = add_entry };
    q->list.tree_connect = &request->tree->tree_connect;
    q->list.handle = &open->handle;
    q->list.pattern = q->pattern;
    q->list.max = q->is_single ? 1 : PAGE_ENTRIES_MAX;
    q->list.sink = &q->sink;
    q->mark = arena_mark(q->arena);
    return smb_decide(request, handle_list_attempt, &q->list);
}

/* ---- result ---- */

/* Lists another page, after freeing what the previous decision holds: a pattern may skip any number
 * of names. */
static enum smb_step next_page(struct smb_request *request)
{
    struct query *q = request->parameters;
    struct decision *d = &request->decision;
    struct bytes name = q->list.next.name;

    q->list.from.stage = q->list.next.stage;
    if (name.ptr && name.ptr != q->list.from.name.ptr) {
        arena_rewind(q->arena, q->mark);
        name = arena_copy(q->arena, name);
    }
    q->list.from.name = name;
    deciding_end(d);
    arena_rewind(d->arena, d->attempt);
    q->count += q->list.count;
    q->page_at = q->entries.len;
    q->page_last = q->last_at;
    return smb_decide(request, handle_list_attempt, &q->list);
}

static struct bytes keep(struct bytes bytes)
{
    return bytes.ptr ? bytes_of(memcpy(xmalloc(bytes.len + 1), bytes.ptr, bytes.len), bytes.len)
                     : bytes;
}

/* Saves the position for the next request in the open. */
static void keep_place(struct smb_open *open, const struct query *q)
{
    free((char *)open->listing.pattern.ptr);
    free((char *)open->listing.at.name.ptr);
    open->listing.has_begun = true;
    open->listing.pattern = keep(q->pattern);
    open->listing.at = q->list.next;
    open->listing.at.name = keep(q->list.next.name);
}

enum smb_step smb_query_directory_decided(struct smb_request *request)
{
    struct query *q = request->parameters;
    size_t count = q->count + q->list.count;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    if (!q->is_full && q->list.next.stage != LIST_END && !(q->is_single && count > 0))
        return next_page(request);
    if (count == 0 && q->is_full)
        return smb_refuse(request, STATUS_INFO_LENGTH_MISMATCH);
    keep_place(request->open, q);
    if (count == 0)
        return smb_refuse(request, q->is_first ? STATUS_NO_SUCH_FILE : STATUS_NO_MORE_FILES);
    return smb_refuse(request, STATUS_SUCCESS);
}

void smb_query_directory_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct query *q = request->parameters;

    wire_put_u16(w, 9); /* StructureSize */
    wire_put_u16(w, SMB_HEADER_SIZE + ANSWER_FIXED);
    wire_put_u32(w, (uint32_t)q->entries.len);
    wire_put(w, text_bytes(&q->entries));
}

void smb_query_directory_over(struct smb_request *request)
{
    struct query *q = request->parameters;

    arena_free(q->arena);
}
