/* Whole requests against the services on a memory store: routing, checks, decide, commit. The input
 * is a request's head and body as on the wire, with "queue ", "table ", "file " or "dfs " before it when
 * it is for that service, and "flat dfs " for an account without a hierarchical namespace; signatures are not asked for. No input may end the process, and what a row promises
 * is asserted on every run (service/operation.c). */
#include <string.h>

#include "../unit/blob/fixture.h"
#include "fuzz.h"
#include "dfs/dfs.h"
#include "file/file.h"
#include "queue/queue.h"
#include "table/table.h"

/* What http/ lets into a head: text, and lines that are headers. */
static bool are_headers(struct bytes lines)
{
    size_t count = 0;

    while (lines.len > 0) {
        struct bytes line;

        bytes_cut(lines, '\n', &line, &lines);
        if (!memchr(line.ptr, ':', line.len) || ++count > 30)
            return false;
    }
    return true;
}

static bool is_head_text(struct bytes head)
{
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];

        if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
            return false;
    }
    return true;
}

static bool cut_at_empty_line(struct bytes input, struct bytes *ret_head, struct bytes *ret_body)
{
    const char *end = input.ptr ? memmem(input.ptr, input.len, "\n\n", 2) : NULL;

    if (!end)
        return false;
    *ret_head = bytes_of(input.ptr, (size_t)(end - input.ptr));
    *ret_body = bytes_from(input, ret_head->len + 2);
    return true;
}

/* A blob of each type, a snapshot, a lease, staged blocks, tags and CORS rules, so that there is
 * something to meet. */
static void prepare(struct fixture *f)
{
    static const char page[512];

    ask(f, "PUT /box/b", "x-ms-blob-type: BlockBlob", "0123456789");
    ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    ask(f, "PUT /box/b?comp=block&blockid=MQ%3D%3D", NULL, "block");
    ask(f, "PUT /box/l", "x-ms-blob-type: BlockBlob", "leased");
    ask(f, "PUT /box/l?comp=lease",
        "x-ms-lease-action: acquire\nx-ms-lease-duration: 15\n"
        "x-ms-proposed-lease-id: aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa",
        NULL);
    ask(f, "PUT /box/p", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 4096\nx-ms-tags: a=1",
        NULL);
    ask(f, "PUT /box/p?comp=snapshot", NULL, NULL);
    ask_bytes(f, "PUT /box/p?comp=page", "x-ms-page-write: update\nx-ms-range: bytes=512-1023",
              bytes_of(page, sizeof page));
    ask(f, "PUT /box/a", "x-ms-blob-type: AppendBlob", NULL);
    ask(f, "PUT /?restype=service&comp=properties", NULL,
        "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://a,https://*.b"
        "</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods><AllowedHeaders>x-ms-*"
        "</AllowedHeaders><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule></Cors>"
        "</StorageServiceProperties>");
}

/* A queue with a message that is hidden, and one that is not. */
static void prepare_queue(struct fixture *f)
{
    static const char message[] = "<QueueMessage><MessageText>m</MessageText></QueueMessage>";

    fixture_serve(f, &queue_service);
    ask(f, "PUT /que", "x-ms-meta-a: 1", NULL);
    ask(f, "POST /que/messages?visibilitytimeout=100", NULL, message);
    ask(f, "POST /que/messages?messagettl=-1", NULL, message);
}

/* Entities of every type in two partitions of a table. */
static void prepare_table(struct fixture *f)
{
    fixture_serve(f, &table_service);
    ask(f, "POST /Tables", NULL, "{\"TableName\":\"abc\"}");
    ask(f, "POST /abc", NULL,
        "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"S\":\"text\",\"I\":1,\"D\":1.5,\"B\":true,"
        "\"L@odata.type\":\"Edm.Int64\",\"L\":\"2\",\"X@odata.type\":\"Edm.Binary\",\"X\":\"AQ==\","
        "\"T@odata.type\":\"Edm.DateTime\",\"T\":\"2026-11-22T08:00:00Z\"}");
    ask(f, "POST /abc", NULL, "{\"PartitionKey\":\"p\",\"RowKey\":\"s\"}");
    ask(f, "POST /abc", NULL, "{\"PartitionKey\":\"q\",\"RowKey\":\"\"}");
}

/* A share with a file in a directory, and one beside it. */
static void prepare_share(struct fixture *f)
{
    fixture_serve(f, &file_service);
    ask(f, "PUT /sha?restype=share", NULL, NULL);
    ask(f, "PUT /sha/d?restype=directory", NULL, NULL);
    ask(f, "PUT /sha/d/f", "x-ms-type: file\nx-ms-content-length: 1000", NULL);
    ask(f, "PUT /sha/g", "x-ms-type: file\nx-ms-content-length: 0", NULL);
}

/* Directories and files, one with an appended body that was not flushed and one with a lease. */
static void add_paths(struct fixture *f)
{
    fixture_serve(f, &dfs_service);
    ask(f, "PUT /box/d?resource=directory", NULL, NULL);
    ask(f, "PUT /box/d/f?resource=file", "x-ms-properties: a=MQ==", NULL);
    ask(f, "PATCH /box/d/f?action=append&position=0", NULL, "content");
    ask(f, "PATCH /box/d/f?action=flush&position=7", NULL, NULL);
    ask(f, "PATCH /box/d/f?action=append&position=7", NULL, "more");
    ask(f, "PUT /box/d/e/g?resource=file", NULL, NULL);
    ask(f, "POST /box/d/e/g",
        "x-ms-lease-action: acquire\nx-ms-lease-duration: 15\n"
        "x-ms-proposed-lease-id: aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa",
        NULL);
}

static void prepare_paths(struct fixture *f)
{
    fixture_make_hierarchical(f);
    ask(f, "DELETE /box?restype=container", NULL, NULL);
    ask(f, "PUT /box?restype=container", NULL, NULL);
    add_paths(f);
    ask(f, "PATCH /box/d?action=setAccessControl",
        "x-ms-acl: user::rwx,user:u:r-x,group::r-x,mask::r-x,other::---,default:user::rwx,"
        "default:group::r-x,default:other::---",
        NULL);
}

/* Which service an input is for: its name and a blank before the request. */
static const struct {
    struct bytes name;
    void (*prepare)(struct fixture *f);
} services[] = { { BYTES("queue "), prepare_queue }, { BYTES("table "), prepare_table },
                 { BYTES("file "), prepare_share },  { BYTES("dfs "), prepare_paths },
                 { BYTES("flat dfs "), add_paths },  { BYTES(""), prepare } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes head, body, line, headers;
    struct arena *arena;
    struct bytes input = bytes_of(data, size);
    size_t service = 0;
    void *state = NULL;

    while (!bytes_has_prefix(input, services[service].name))
        service++;
    input = bytes_from(input, services[service].name.len);
    if (!cut_at_empty_line(input, &head, &body) || !is_head_text(head))
        return 0;
    bytes_cut(head, '\n', &line, &headers);
    if (!memmem(line.ptr, line.len, " /", 2) || !are_headers(headers))
        return 0;
    arena = arena_new(1u << 24);
    fixture_setup(&state);
    services[service].prepare(state);
    ask_bytes(state, arena_string(arena, line), headers.ptr ? arena_string(arena, headers) : NULL,
              body);
    fixture_serve(state, NULL);
    fixture_teardown(&state);
    arena_free(arena);
    return 0;
}
