/* Entity Group Transaction: parses the parts of its body, and renders their responses as one body.
 * A batch has one changeset, which is a nested multipart body, or one query. If a part fails, the
 * response is still 202 and contains only that part's error, like the real service. decision: 146
 * rest: Performing-Entity-Group-Transactions; semantics 6 */
#include "table/rest/transaction.h"

#include "http/multipart.h"
#include "service/operation.h"
#include "table/rest/odata.h"

#define PARTS_MAX TRANSACTION_PARTS_MAX

enum error entity_group_transaction_check(struct call *call,
                                          struct entity_group_transaction_parameters *p)
{
    return batch_check(call, &p->base);
}

/* ---- the parts ---- */

static enum error refuse(struct call *call, const char *reason)
{
    return call_fail(call, E_InvalidInput, "The batch request is not well formed: %s", reason);
}

/* Parses a request with its body, which ends with the part, or earlier according to
 * Content-Length. */
static enum error read_part(struct call *call, const struct multipart_part *part,
                            struct batch_part *ret_part)
{
    struct bytes body;

    if (!bytes_is_nocase(part->content_type, "application/http"))
        return refuse(call, "the Content-Type of a part is not application/http.");
    if (!multipart_request(call->arena, part->content, MULTIPART_LENIENT, &ret_part->request,
                           &body))
        return refuse(call, "a part is not an HTTP request.");
    /* Clients send empty lines before it. */
    body = multipart_skip_lines(MULTIPART_LENIENT, body);
    if (request_header(&ret_part->request, "content-length").ptr) {
        if (ret_part->request.content_length > body.len)
            return refuse(call, "a part ends before its body does.");
        body.len = (size_t)ret_part->request.content_length;
    }
    ret_part->body = body;
    /* Like the real service, does not return a Content-ID in the part's own headers. */
    ret_part->id = request_header(&ret_part->request, "content-id");
    return OK;
}

/* Reads one more part than allowed, so that admit can refuse it. */
static enum error read_parts(struct call *call, struct entity_group_transaction_parameters *p,
                             struct bytes boundary, struct bytes body)
{
    struct multipart reader;
    struct multipart_part part;
    enum multipart_step step;

    multipart_begin(&reader, call->arena, MULTIPART_LENIENT, boundary, body);
    p->base.parts = arena_array(call->arena, PARTS_MAX + 1, sizeof *p->base.parts);
    while ((step = multipart_next(&reader, call->arena, &part)) == MULTIPART_PART) {
        enum error e = read_part(call, &part, &p->base.parts[p->base.count]);

        if (e)
            return e;
        if (++p->base.count > PARTS_MAX)
            return OK;
    }
    if (step == MULTIPART_MALFORMED)
        return refuse(call, "a part of the changeset is malformed, or no boundary follows it.");
    return p->base.count > 0 ? OK : refuse(call, "there are no parts.");
}

static enum error read_changeset(struct call *call, struct entity_group_transaction_parameters *p,
                                 const struct multipart_part *part)
{
    struct guid id = guid_new();
    char text[GUID_TEXT_SIZE];
    struct bytes boundary;

    if (multipart_type(part->content_type, &boundary) != MULTIPART_TYPE_OK)
        return refuse(call, "the changeset's Content-Type names no boundary.");
    guid_format(&id, text);
    p->changeset = arena_printf(call->arena, "changesetresponse_%s", text);
    /* Clients send empty lines before its first boundary. */
    return read_parts(call, p, boundary, multipart_skip_lines(MULTIPART_LENIENT, part->content));
}

/* Parses the batch's single part: a changeset, or a query. */
enum error entity_group_transaction_parse(struct call *call,
                                          struct entity_group_transaction_parameters *p)
{
    struct multipart reader;
    struct multipart_part part, more;
    struct bytes boundary;

    if (multipart_type(p->base.content_type, &boundary) != MULTIPART_TYPE_OK)
        return call_fail_header(call, E_InvalidHeaderValue, "Content-Type", p->base.content_type);
    multipart_begin(&reader, call->arena, MULTIPART_LENIENT, boundary,
                    call->input.body.inline_bytes);
    if (multipart_next(&reader, call->arena, &part) != MULTIPART_PART)
        return refuse(call, "it has no parts.");
    if (multipart_next(&reader, call->arena, &more) != MULTIPART_END)
        return refuse(call, "it has more than one changeset or query, or malformed data after it.");
    if (!bytes_is_nocase(part.content_type, "application/http"))
        return read_changeset(call, p, &part);
    p->base.parts = arena_alloc(call->arena, sizeof *p->base.parts);
    p->base.count = 1;
    return read_part(call, &part, p->base.parts);
}

/* ---- permitted parts ---- */

/* Returns true if an earlier part changed an entity with this row key. */
static bool is_repeated(const struct call *const *parts, size_t count, struct bytes row_key)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes_equal(table_resource(parts[i]->input.resource)->row_key, row_key))
            return true;
    }
    return false;
}

enum error entity_group_transaction_admit(struct call *call,
                                          struct entity_group_transaction_parameters *p,
                                          const struct call *part)
{
    bool writes = part->operation->rights.effect == WRITES;
    const struct table_resource *named = table_resource(part->input.resource);
    const struct table_resource *first;

    /* Like the real service, the error names index 99, whatever the number of parts. decision:
     * 146 */
    if (p->base.count > PARTS_MAX && p->admitted == PARTS_MAX - 1)
        return call_fail(call, E_InvalidInput,
                         "The batch request operation exceeds the maximum %u changes per change "
                         "set.",
                         PARTS_MAX);
    if (!part->operation->listed || writes != (p->changeset.ptr != NULL))
        return call_fail(call, E_InvalidInput, "%s is not allowed in this part of a batch.",
                         part->operation->name);
    p->parts[p->admitted] = part;
    if (p->admitted++ == 0)
        return OK;
    first = table_resource(p->parts[0]->input.resource);
    if (!bytes_equal_nocase(first->table, named->table) ||
        !bytes_equal(first->partition_key, named->partition_key))
        return E_CommandsInBatchActOnDifferentPartitions;
    return is_repeated(p->parts, p->admitted - 1, named->row_key) ? E_InvalidDuplicateRow : OK;
}

/* ---- response ---- */

static struct bytes header_of(const struct response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (bytes_is(response->headers[i].name, name))
            return response->headers[i].value;
    }
    return bytes_of(NULL, 0);
}

/* Returns the OData version, as in the real service: 3.0 for a response with a body or a
 * Location. */
static const char *version_of(const struct response *response)
{
    bool is_3 = response->body_kind != BODY_NONE || header_of(response, "Location").ptr;

    return is_3 ? "3.0;" : "1.0;";
}

/* Writes the header if it is present. */
static void add_header(struct text *out, const char *name, struct bytes value)
{
    if (!value.ptr)
        return;
    text_printf(out, "%s: ", name);
    text_add(out, value);
    text_add_string(out, "\r\n");
}

/* Writes the headers in the recorded order, those of an entity after version and type.
 * decision: 146 */
static void add_headers(struct text *out, const struct batch_answer *answer)
{
    static const char *const first[] = { "X-Content-Type-Options", "Cache-Control",
                                         "Preference-Applied" };
    static const char *const last[] = { "Location", "DataServiceId", "Content-Type", "ETag" };
    const struct response *response = answer->response;
    bool has_entity = response->body_kind != BODY_NONE && response->status < 300;
    struct bytes version = bytes_from_string(version_of(response));

    if (has_entity) {
        add_header(out, "DataServiceVersion", version);
        add_header(out, "Content-Type", header_of(response, "Content-Type"));
    }
    add_header(out, "Content-ID", answer->id);
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        add_header(out, first[i], header_of(response, first[i]));
    if (!has_entity)
        add_header(out, "DataServiceVersion", version);
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        if (!has_entity || strcmp(last[i], "Content-Type") != 0)
            add_header(out, last[i], header_of(response, last[i]));
}

struct bytes entity_group_transaction_render(struct arena *arena,
                                             const struct entity_group_transaction_parameters *p,
                                             const struct batch_answer *answer)
{
    const struct response *response = answer->response;
    struct text out;

    text_init(&out, arena, 1024 + response->body.len);
    text_add_string(&out, "--");
    text_add(&out, p->changeset.ptr ? p->changeset : p->base.boundary);
    text_add_string(&out, "\r\nContent-Type: application/http\r\n"
                          "Content-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ");
    text_add_u64(&out, (uint64_t)response->status);
    text_add_char(&out, ' ');
    text_add(&out, answer->reason);
    text_add_string(&out, "\r\n");
    add_headers(&out, answer);
    text_add_string(&out, "\r\n");
    if (response->body_kind == BODY_BYTES)
        text_add(&out, response->body);
    text_add_string(&out, "\r\n");
    return text_bytes(&out);
}

void entity_group_transaction_answer(struct answer *a,
                                     const struct entity_group_transaction_parameters *p,
                                     const struct batch_result *r)
{
    struct text body;
    size_t size = 512;

    for (size_t i = 0; i < r->count; i++)
        size += r->answers[i].len;
    text_init(&body, a->arena, size);
    if (p->changeset.ptr)
        text_printf(&body, "--%.*s\r\nContent-Type: multipart/mixed; boundary=%.*s\r\n\r\n",
                    BYTES_ARG(p->base.boundary), BYTES_ARG(p->changeset));
    for (size_t i = 0; i < r->count; i++)
        text_add(&body, r->answers[i]);
    if (p->changeset.ptr)
        text_printf(&body, "--%.*s--\r\n", BYTES_ARG(p->changeset));
    text_printf(&body, "--%.*s--\r\n", BYTES_ARG(p->base.boundary));
    odata_answer(a);
    batch_answer_body(a, &p->base, &body);
}
