/* Requests and JSON of Path List. rest: Path-List */
#include "base/codec.h"
#include "base/encode.h"
#include "base/json.h"
#include "dfs/rest/request.h"
#include "service/listing_xml.h"

/* ---- continuation: base64 of u8 1, bytes name, bytes record key, varint count of open
 * directories, and a varint for each: the difference from the length of the previous one ---- */

#define CONTINUATION_VERSION 1
#define CONTINUATION_MAX     16384

static struct bytes continuation_encode(struct arena *arena, const struct paths_place *place)
{
    uint32_t before = 0;
    struct text out;

    text_init(&out, arena, 256);
    encode_u8(&out, CONTINUATION_VERSION);
    encode_bytes(&out, place->at.name);
    encode_bytes(&out, place->at.record);
    encode_u64(&out, place->open_count);
    for (size_t i = 0; i < place->open_count; before = place->open[i++])
        encode_u64(&out, place->open[i] - before);
    return base64_encode(arena, text_bytes(&out));
}

/* Decodes the lengths of open directories, which are prefixes of a name. */
static void decode_open(struct decoder *in, struct arena *arena, struct paths_place *place)
{
    size_t count = decode_u32(in), length = 0;

    if (count > place->at.name.len) {
        in->bad = true;
        return;
    }
    if (count > 0)
        place->open = arena_array(arena, count, sizeof place->open[0]);
    for (size_t i = 0; i < count && !in->bad; i++) {
        size_t more = decode_u32(in);

        if (more == 0 || more > place->at.name.len - length)
            in->bad = true;
        length += more;
        place->open[place->open_count++] = (uint32_t)length;
    }
}

static bool continuation_decode(struct arena *arena, struct bytes text,
                                struct paths_place *ret_place)
{
    struct bytes value = { NULL, 0 };
    struct paths_place place = { .open_count = 0 };
    struct decoder in;

    if (text.len <= CONTINUATION_MAX)
        value = base64_decode(arena, text);
    if (!value.ptr)
        return false;
    decoder_init(&in, value);
    if (decode_u8(&in) != CONTINUATION_VERSION)
        return false;
    place.at.name = decode_bytes(&in);
    place.at.record = decode_bytes(&in);
    decode_open(&in, arena, &place);
    if (!decoder_ok(&in) || place.at.name.len == 0 || !bytes_is_utf8(place.at.name) ||
        place.at.record.len == 0)
        return false;
    *ret_place = place;
    return true;
}

/* ---- the page ---- */

struct paths_page {
    struct blob_sink sink;
    const struct call *call;
    bool shows_owner; /* of a hierarchical account */
    struct text out;
    struct json_writer writer;
};

static struct paths_page *page_of(struct blob_sink *sink)
{
    return (struct paths_page *)(void *)sink;
}

static void begin_page(struct blob_sink *sink, instant now)
{
    struct paths_page *page = page_of(sink);

    (void)now;
    sink->full = false;
    text_init(&page->out, page->call->arena, 4096);
    page->writer = (struct json_writer){ .to = &page->out };
    json_write_begin(&page->writer, '{');
    json_write_name(&page->writer, "paths");
    json_write_begin(&page->writer, '[');
}

/* All values are strings, as recorded. */
static void write_number(struct json_writer *writer, const char *name, uint64_t number)
{
    char digits[DECIMAL_DIGITS];

    json_write_member(writer, name, bytes_decimal(number, digits));
}

static void add_path(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    struct paths_page *page = page_of(sink);
    struct json_writer *writer = &page->writer;
    char etag[ETAG_TEXT_SIZE], modified[INSTANT_HTTP_SIZE];
    struct posix_acl acl;
    struct bytes tag;

    if (page->shows_owner && !posix_acl_decode(blob->acl, blob->is_directory, &acl))
        posix_acl_init(&acl, blob->is_directory);
    etag_format(blob->etag, etag);
    tag = bytes_of(etag + 1, strlen(etag) - 2); /* without quotes */
    instant_format_http(blob->modified, modified);
    json_write_begin(writer, '{');
    if (blob->encryption.scope.len > 0)
        json_write_member(writer, "EncryptionScope", blob->encryption.scope);
    write_number(writer, "contentLength", blob->content.length);
    if (call_since(page->call, "2020-02-10"))
        write_number(writer, "creationTime", dfs_filetime(blob->created));
    if (blob->encryption_context.ptr)
        json_write_member(writer, "EncryptionContext", blob->encryption_context);
    json_write_member(writer, "etag", tag);
    if (page->shows_owner && call_since(page->call, "2020-06-12"))
        write_number(writer, "expiryTime", blob->expiry.at > 0 ? dfs_filetime(blob->expiry.at) : 0);
    if (page->shows_owner)
        json_write_member(writer, "group", acl.group);
    if (path_is_directory(blob))
        json_write_member(writer, "isDirectory", bytes_from_string("true"));
    json_write_member(writer, "lastModified", bytes_from_string(modified));
    json_write_member(writer, "name", name);
    if (page->shows_owner) {
        json_write_member(writer, "owner", acl.owner);
        json_write_member(writer, "permissions", posix_mode_text(page->call->arena, &acl));
    }
    json_write_end(writer, '}');
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

/* A directory that exists only as a prefix of names has neither an ETag nor a date. */
static void add_directory(struct blob_sink *sink, struct bytes name, const struct blob *directory)
{
    struct paths_page *page = page_of(sink);
    struct json_writer *writer = &page->writer;

    (void)directory; /* a hierarchical container is listed without a delimiter */
    json_write_begin(writer, '{');
    json_write_member(writer, "contentLength", bytes_from_string("0"));
    json_write_member(writer, "isDirectory", bytes_from_string("true"));
    json_write_member(writer, "name", name);
    json_write_end(writer, '}');
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

/* ---- the functions ---- */

/* Returns the prefix of the names in the directory; ptr NULL for the root. */
static struct bytes read_prefix(struct call *call)
{
    struct bytes directory = listing_query(call, "directory");

    while (directory.len > 0 && directory.ptr[0] == '/')
        directory = bytes_from(directory, 1);
    while (directory.len > 0 && directory.ptr[directory.len - 1] == '/')
        directory.len--;
    return directory.len > 0 ? arena_printf(call->arena, "%.*s/", BYTES_ARG(directory))
                             : bytes_of(NULL, 0);
}

/* Reads the continuation of an earlier page, or that of Hadoop's driver. */
static enum error read_continuation(struct call *call, struct bytes text,
                                    struct list_paths_parameters *p)
{
    struct bytes start;

    if (continuation_decode(call->arena, text, &p->from))
        return OK;
    start = text.len > CONTINUATION_MAX
                ? bytes_of(NULL, 0)
                : dfs_read_start_token(call->arena, text, account_is_hierarchical(call->account),
                                       p->list.listing.prefix);
    if (!start.ptr)
        return call_fail_query(call, E_InvalidQueryParameterValue, "continuation", text,
                               "Not a continuation of this list.");
    p->list.start_from = start;
    return OK;
}

enum error list_paths_check(struct call *call, struct list_paths_parameters *p)
{
    struct bytes continuation = listing_query(call, "continuation");
    struct bytes begin = listing_query(call, "beginfrom");
    struct paths_page *page = arena_alloc(call->arena, sizeof *page);
    struct list_blobs_parameters *list = &p->list;
    bool recursive = false, upn;
    enum error e = OK;

    if (!call_query(call, "recursive").ptr)
        e = call_fail_query(call, E_MissingRequiredQueryParameter, "recursive", bytes_of(NULL, 0),
                            NULL);
    if (!e)
        e = dfs_query_flag(call, "recursive", &recursive);
    if (!e)
        e = dfs_query_flag(call, "upn", &upn); /* there are no user names to show */
    if (!e)
        e = listing_read_max(call, LISTING_MAX, &list->listing.max_given, &list->listing.max);
    list->listing.prefix = read_prefix(call);
    if (!recursive)
        list->delimiter = bytes_from_string("/");
    if (begin.ptr)
        list->start_from = arena_printf(call->arena, "%.*s%.*s", BYTES_ARG(list->listing.prefix),
                                        BYTES_ARG(begin));
    if (!e && continuation.ptr)
        e = read_continuation(call, continuation, p);
    page->sink = (struct blob_sink){ .shows_metadata = true, /* which marks directories */
                                     .begin = begin_page,
                                     .add = add_path,
                                     .add_group = add_directory };
    page->call = call;
    page->shows_owner = account_is_hierarchical(call->account);
    list->sink = &page->sink;
    return e;
}

void list_paths_answer(struct answer *a, const struct list_paths_parameters *p,
                       const struct list_paths_result *r)
{
    struct paths_page *page = page_of(p->list.sink);

    json_write_end(&page->writer, ']');
    json_write_end(&page->writer, '}');
    text_add_char(&page->out, '\n');
    if (r->next.at.name.ptr)
        answer_header(a, "x-ms-continuation", continuation_encode(a->arena, &r->next));
    dfs_answer_json(a, &page->out);
}
