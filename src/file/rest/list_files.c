/* List Directories and Files: request and XML response. rest: List-Directories-and-Files;
 * semantics 8.1 */
#include "base/encode.h"
#include "file/rest/request.h"
#include "file/rest/smb_headers.h"
#include "acl/permission_store.h"
#include "service/listing_xml.h"

enum {
    INCLUDE_TIMESTAMPS = 1 << 0,
    INCLUDE_ETAG = 1 << 1,
    INCLUDE_ATTRIBUTES = 1 << 2,
    INCLUDE_PERMISSION_KEY = 1 << 3,
};
static const char *const include_names[] = { "Timestamps", "Etag", "Attributes", "PermissionKey",
                                             NULL };

/* First version whose responses have ids. */
#define IDS_SINCE "2020-10-02"

/* A page of XML under construction. */
struct file_page {
    struct file_sink sink;
    const struct call *call;
    const struct listing *listing;
    struct text out; /* entries */
    bool has_entry;
};

static struct file_page *page_of(struct file_sink *sink)
{
    return (struct file_page *)(void *)sink;
}

/* ---- the page, with elements in the recorded order ---- */

static void add_timestamps(struct text *out, const struct file *file)
{
    xml_element_iso_date(out, "CreationTime", file->created);
    xml_element_iso_date(out, "LastAccessTime", file->accessed);
    xml_element_iso_date(out, "LastWriteTime", file->written);
    xml_element_iso_date(out, "ChangeTime", file->changed);
    xml_element_http_date(out, "Last-Modified", file->modified);
}

static void add_properties(struct text *out, unsigned include, const struct file *file)
{
    char etag[ETAG_TEXT_SIZE];

    if (!file ||
        (file->kind == TREE_DIRECTORY && !(include & (INCLUDE_TIMESTAMPS | INCLUDE_ETAG)))) {
        text_add_string(out, "<Properties />");
        return;
    }
    xml_open(out, "Properties");
    if (file->kind == TREE_FILE)
        xml_element_u64(out, "Content-Length", file->content.length);
    if (include & INCLUDE_TIMESTAMPS)
        add_timestamps(out, file);
    if (include & INCLUDE_ETAG) {
        etag_format(file->etag, etag);
        text_printf(out, "<Etag>%s</Etag>", etag); /* quoted, not escaped */
    }
    xml_close(out, "Properties");
}

static void begin_page(struct file_sink *sink)
{
    struct file_page *page = page_of(sink);

    sink->full = false;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
}

static void add_entry(struct file_sink *sink, const struct tree_entry *entry,
                      const struct file *file)
{
    struct file_page *page = page_of(sink);
    struct text *out = &page->out;
    const char *kind = entry->kind == TREE_FILE ? "File" : "Directory";
    struct arena *arena = page->call->arena;
    unsigned include = page->listing->include;

    page->has_entry = true;
    xml_open(out, kind);
    listing_name(out, "Name", entry->name.given);
    if (call_since(page->call, IDS_SINCE))
        xml_element_u64(out, "FileId", entry->id);
    add_properties(out, include, file);
    if (file && (include & INCLUDE_ATTRIBUTES))
        xml_element(out, "Attributes", smb_attributes_text(arena, file->attributes));
    if (file && (include & INCLUDE_PERMISSION_KEY))
        xml_element(out, "PermissionKey", permission_key(arena, file->permission));
    xml_close(out, kind);
    sink->full = out->len > LISTING_PAGE_BYTES;
}

/* ---- markers: "1!8!ZmlsZTI-", the length of the rest, and the base64 of the next page's first
 * name, with '-' for '=' (recorded), '*' for '+' and '_' for '/' ---- */

/* A UTF-16 code unit is at most three bytes of UTF-8. */
#define MARKER_NAME_MAX (3 * TREE_NAME_MAX)

static struct bytes exchange(struct arena *arena, struct bytes text, const char *from,
                             const char *to)
{
    char *out = arena_bytes(arena, text.len);

    for (size_t i = 0; i < text.len; i++) {
        const char *at = text.ptr[i] ? strchr(from, text.ptr[i]) : NULL;

        out[i] = at ? to[at - from] : text.ptr[i];
    }
    return bytes_of(out, text.len);
}

struct bytes file_marker(struct arena *arena, struct bytes name)
{
    struct bytes text = exchange(arena, base64_encode(arena, name), "=+/", "-*_");

    return arena_printf(arena, "1!%zu!%.*s", text.len, BYTES_ARG(text));
}

struct bytes file_marker_name(struct arena *arena, struct bytes marker)
{
    struct bytes version, length, text;
    uint64_t len;

    bytes_cut(marker, '!', &version, &text);
    bytes_cut(text, '!', &length, &text);
    if (!bytes_is(version, "1") || text.len > 2 * MARKER_NAME_MAX ||
        !bytes_parse_u64(length, 2 * MARKER_NAME_MAX, &len) || len != text.len)
        return bytes_of(NULL, 0);
    text = base64_decode(arena, exchange(arena, text, "-*_", "=+/"));
    return text.len > 0 && bytes_is_utf8(text) ? text : bytes_of(NULL, 0);
}

/* ---- the functions ---- */

enum error list_files_check(struct call *call, struct list_files_parameters *p)
{
    struct file_page *page = arena_alloc(call->arena, sizeof *page);
    bool extended;
    enum error e = listing_read(call, include_names, &p->listing);

    if (!e)
        e = file_read_flag(call, "x-ms-file-extended-info", &extended);
    if (e)
        return e;
    if (p->listing.marker.ptr) {
        p->from = file_marker_name(call->arena, p->listing.marker);
        if (!p->from.ptr)
            return call_fail_query(call, E_InvalidQueryParameterValue, "marker", p->listing.marker,
                                   "Not a marker of this list.");
    }
    page->sink = (struct file_sink){ .begin = begin_page, .add = add_entry };
    page->call = call;
    page->listing = &p->listing;
    p->properties = p->listing.include != 0;
    p->sink = &page->sink;
    return OK;
}

/* Opens the root element with the directory as named in the request. */
static void begin_document(struct text *out, const struct call *call)
{
    const struct file_resource *asked = file_resource(call->input.resource);
    char date[INSTANT_ISO_SIZE];

    xml_begin(out);
    text_add_string(out, "<EnumerationResults ServiceEndpoint=\"");
    xml_escape(out, call->url_prefix);
    text_add_string(out, "/\" ShareName=\"");
    xml_escape(out, asked->share);
    if (asked->snapshot > 0) {
        instant_format_iso(asked->snapshot, date);
        text_printf(out, "\" ShareSnapshot=\"%s", date);
    }
    text_add_string(out, "\" DirectoryPath=\"");
    xml_escape(out, asked->path);
    text_add_string(out, "\">");
}

void list_files_answer(struct answer *a, const struct list_files_parameters *p,
                       const struct list_files_result *r)
{
    struct file_page *page = page_of(p->sink);
    struct text out;

    text_init(&out, a->arena, page->out.len + 512);
    begin_document(&out, a->call);
    listing_echo(&out, &p->listing);
    if (call_since(a->call, IDS_SINCE))
        xml_element_u64(&out, "DirectoryId", r->id);
    if (page->has_entry) {
        xml_open(&out, "Entries");
        text_add(&out, text_bytes(&page->out));
        xml_close(&out, "Entries");
    } else {
        text_add_string(&out, "<Entries />");
    }
    listing_end(&out, r->next.ptr ? file_marker(a->arena, r->next) : r->next);
    answer_xml(a, &out);
}
