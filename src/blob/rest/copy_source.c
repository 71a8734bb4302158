/* See copy_source.h. */
#include "blob/rest/remote_source.h"

#include "base/encode.h"
#include "service/deciding.h"

/* rest: Copy-Blob "x-ms-copy-source" */
#define URL_MAX 2048u

/* ---- the headers ---- */

static void add_header(struct copy_source *source, const char *name, struct bytes value)
{
    if (value.ptr)
        source->headers[source->header_count++] = (struct http_header){
            .name = bytes_from_string(name), .value = value, .name_as_sent = bytes_from_string(name)
        };
}

/* The source is read as by a request with these. */
static void read_headers(const struct call *call, struct copy_source *source)
{
    static const char *const names[][2] = {
        { "x-ms-source-if-match", "if-match" },
        { "x-ms-source-if-none-match", "if-none-match" },
        { "x-ms-source-if-modified-since", "if-modified-since" },
        { "x-ms-source-if-unmodified-since", "if-unmodified-since" },
        { "x-ms-source-if-tags", "x-ms-if-tags" },
        { "x-ms-copy-source-authorization", "authorization" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_header(source, names[i][1], call_header(call, names[i][0]));
    add_header(source, "x-ms-version", call->version);
}

static enum error read_sum(struct call *call, const char *name, void *sum, size_t size,
                           bool *ret_given)
{
    struct bytes text = call_header(call, name), decoded;

    *ret_given = text.len > 0;
    if (!*ret_given)
        return OK;
    decoded = base64_decode(call->arena, text);
    if (!decoded.ptr || decoded.len != size)
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    memcpy(sum, decoded.ptr, size);
    return OK;
}

/* Content-MD5 is of the bytes that become the body: another word for the same.
 * rest: Append-Block-From-URL, Put-Blob-From-URL "Content-MD5" */
static enum error read_content_md5(struct call *call, struct copy_source *source)
{
    uint8_t md5[MD5_SIZE];
    bool given;
    enum error e =
        source->rule == SOURCE_READ ? read_sum(call, "content-md5", md5, sizeof md5, &given) : OK;

    if (e || source->rule != SOURCE_READ || !given)
        return e;
    if (source->expects_crc64)
        return E_BothCrc64AndMd5HeaderPresent;
    if (source->expects_md5 && memcmp(source->md5, md5, sizeof md5) != 0)
        return call_fail_sum(call, E_Md5Mismatch, md5, source->md5, sizeof md5);
    memcpy(source->md5, md5, sizeof md5);
    source->expects_md5 = true;
    return OK;
}

static enum error read_sums(struct call *call, struct copy_source *source)
{
    enum error e = read_sum(call, "x-ms-source-content-md5", source->md5, sizeof source->md5,
                            &source->expects_md5);

    if (!e)
        e = read_sum(call, "x-ms-source-content-crc64", source->crc64, sizeof source->crc64,
                     &source->expects_crc64);
    if (!e && source->expects_md5 && source->expects_crc64)
        e = E_BothCrc64AndMd5HeaderPresent;
    return e ? e : read_content_md5(call, source);
}

static enum error read_range(struct call *call, struct copy_source *source)
{
    static const char name[] = "x-ms-source-range";
    uint64_t offset, length;

    source->range = call_header(call, name);
    if (source->range.ptr && range_parse(source->range, UINT64_MAX, &offset, &length) == RANGE_ALL)
        return call_fail_header(call, E_InvalidHeaderValue, name, source->range);
    return OK;
}

enum error copy_source_check(struct call *call, enum source_rule rule,
                             struct copy_source *ret_source)
{
    static const char name[] = "x-ms-copy-source";
    struct copy_source source = { .rule = rule, .text = call_header(call, name) };
    enum error e;

    if (source.text.len > URL_MAX || !url_parse(source.text, &source.url))
        return call_fail_header(call, E_InvalidHeaderValue, name, source.text);
    read_headers(call, &source);
    e = read_range(call, &source);
    if (!e)
        e = read_sums(call, &source);
    *ret_source = source;
    return e;
}

struct body_sums source_sums(struct call *call, struct copy_source *source, enum source_sum rule)
{
    bool md5 = rule == SOURCE_SUM_MD5 || source->expects_md5 || !call_since(call, "2019-02-02");
    struct body_sums sums = { .md5 = md5, .crc64 = !md5 };

    source->answered = rule;
    call->wants_md5 = call->wants_md5 || sums.md5;
    call->wants_crc64 = sums.crc64 || source->expects_crc64;
    return sums;
}

/* ---- is it a blob of this server? ---- */

/* "account.blob.host" without its first two labels: what addresses by path and by host have in
 * common. */
static struct bytes without_account(struct bytes host)
{
    struct bytes account, service, rest;

    bytes_cut(host, '.', &account, &rest);
    if (!rest.ptr)
        return host;
    bytes_cut(rest, '.', &service, &rest);
    return rest.ptr && bytes_is_nocase(service, "blob") ? rest : host;
}

/* It is, when its host is the one that this request came to, or both are this machine by other
 * names. */
static bool is_own(const struct call *call, const struct url *url)
{
    struct bytes authority = call->request->authority;
    struct url own;
    struct bytes here, there;

    if (!authority.ptr ||
        !url_parse(arena_printf(call->arena, "%s://%.*s/", call->request->secure ? "https" : "http",
                                BYTES_ARG(authority)),
                   &own))
        return false;
    here = without_account(own.host);
    there = without_account(url->host);
    return own.port == url->port && (bytes_equal_nocase(here, there) ||
                                     (url_host_is_local(here) && url_host_is_local(there)));
}

bool source_is_own(const struct call *call, const struct copy_source *source)
{
    return is_own(call, &source->url);
}

/* ---- what is wrong with it ---- */

enum error source_cannot_verify(struct gathering *g, enum error e)
{
    struct problem *problem = g->call->problem;

    problem->source_status = error_status(e);
    if (e == E_ConditionNotMet || e == E_ConditionNotMetOnRead)
        return E_CannotVerifyCopySource; /* with its own message, as recorded */
    problem->source_code = bytes_from_string(error_code(e));
    problem->source_message = bytes_from_string(error_message(e));
    return E_CannotVerifyCopySource;
}

/* Recorded: tags of a source that do not fit are ConditionNotMet. */
static bool only_tags(const struct copy_source *source)
{
    bool tags = false;

    for (size_t i = 0; i < source->header_count; i++) {
        if (bytes_has_prefix(source->headers[i].name, bytes_from_string("if-")))
            return false;
        tags = tags || bytes_is(source->headers[i].name, "x-ms-if-tags");
    }
    return tags;
}

/* decision: 52 */
static enum error fail_own(struct gathering *g, const struct copy_source *source,
                           const struct inner *inner, enum error e, bool by_key)
{
    bool condition = e == E_ConditionNotMet || e == E_ConditionNotMetOnRead;

    if (e == E_UnsupportedHeader || e == E_NotImplemented || source->rule == SOURCE_COPIED)
        *g->call->problem = *inner_problem(inner);
    if (e == E_UnsupportedHeader || e == E_NotImplemented)
        return e;
    if (source->rule == SOURCE_READ)
        return source_cannot_verify(g, e);
    if (condition)
        return only_tags(source) ? e : E_SourceConditionNotMet;
    return by_key ? e : source_cannot_verify(g, e);
}

/* ---- opening ---- */

/* Has the URL a signature of its own? Then who asks is the one it was given to. */
static bool is_signed(const struct copy_source *source)
{
    struct bytes query = source->url.query;

    while (query.len > 0) {
        struct bytes pair, name, value;

        bytes_cut(query, '&', &pair, &query);
        bytes_cut(pair, '=', &name, &value);
        if (bytes_is_nocase(name, "sig"))
            return true;
    }
    return false;
}

static bool names_who_asks(const struct copy_source *source)
{
    for (size_t i = 0; i < source->header_count; i++) {
        if (bytes_is(source->headers[i].name, "authorization"))
            return true;
    }
    return is_signed(source);
}

/* The bytes that are asked for. */
static enum error cut(struct gathering *g, const struct copy_source *source,
                      struct open_source *open)
{
    open->offset = 0;
    open->length = open->blob.content.length;
    if (range_parse(source->range, open->length, &open->offset, &open->length) ==
        RANGE_UNSATISFIABLE)
        return source_cannot_verify(g, E_InvalidRange);
    return OK;
}

static struct bytes own_etag(struct gathering *g, const struct blob *blob)
{
    char text[ETAG_TEXT_SIZE];

    etag_format(blob->etag, text);
    return arena_copy(g->call->arena, bytes_from_string(text));
}

/* What is archived is read by Copy Blob alone, within its account. rest: Copy-Blob */
static enum error refuse_archived(struct gathering *g, const struct copy_source *source,
                                  const struct open_source *open)
{
    bool is_copied = source->rule == SOURCE_COPIED &&
                     bytes_equal(inner_account(open->inner), g->call->input.account);

    return is_copied ? OK : blob_refuse_archived(&open->blob);
}

/* Reads it as a request would, until its state can be held. */
static enum error read_head(struct gathering *g, const struct inner_request *asked,
                            struct open_source *open)
{
    for (int i = 0; i < DECIDING_ATTEMPTS_MAX; i++) {
        enum error e = inner_read(g->endpoint, g->call->arena, asked, &open->inner);
        enum store_result result;

        gather_saw(g, inner_seen(open->inner));
        if (e)
            return e;
        open->snapshot = inner_take_snapshot(open->inner);
        result = snapshot_hold(open->snapshot);
        if (result != STORE_CONFLICT)
            return result ? decision_fail_store(g->decision, result) : OK;
        source_close(open);
        *open = (struct open_source){ .inner = NULL };
    }
    return E_ServerBusy;
}

static enum error open_own(struct gathering *g, const struct copy_source *source,
                           struct open_source *open)
{
    const struct input *input = &g->call->input;
    /* rest: Copy-Blob: within its account, who has the key needs nothing else. All others read a
     * source by what its URL or x-ms-copy-source-authorization says, or because it is public. */
    bool by_key = source->rule == SOURCE_COPIED && input->identity.kind == IDENTITY_ACCOUNT_KEY &&
                  !names_who_asks(source);
    const struct inner_request asked = {
        .method = METHOD_HEAD,
        .host = source->url.authority,
        .path = source->url.path,
        .query = source->url.query,
        .headers = source->headers,
        .header_count = source->header_count,
        .secure = source->url.secure,
        .peer = g->call->request->peer,
        .demands = { .letters = source->reads_tags ? "t" : NULL,
                     .actions = source->reads_tags ? ACTION_BLOB_TAGS_READ : 0,
                     .not_public = source->reads_tags },
        .identity = by_key ? &input->identity : NULL,
        .account = input->account,
    };
    enum error e = read_head(g, &asked, open);

    if (!open->inner)
        return e;
    by_key = by_key && bytes_equal(inner_account(open->inner), input->account);
    if (!e && strcmp(inner_operation(open->inner)->name, "Get Blob Properties") != 0)
        e = E_InvalidUri; /* something else than a blob */
    if (!e) {
        const struct get_blob_properties_result *result =
            (const struct get_blob_properties_result *)(const void *)inner_result(open->inner);

        open->blob = result->blob;
        e = refuse_archived(g, source, open);
        if (!e && open->blob.incremental.is_one && blob_ref_is_base(open->blob.ref))
            e = E_OperationNotAllowedOnIncrementalCopyBlob;
    }
    if (e)
        return fail_own(g, source, open->inner, e, by_key);
    open->is_own = true;
    open->etag = own_etag(g, &open->blob);
    return cut(g, source, open);
}

enum error source_open(struct gathering *g, const struct copy_source *source,
                       struct open_source *ret_open)
{
    *ret_open = (struct open_source){ .inner = NULL };
    return source_is_own(g->call, source) ? open_own(g, source, ret_open)
                                          : remote_open(g, source, ret_open);
}

void source_close(struct open_source *open)
{
    if (open->reader)
        content_reader_close(open->reader);
    if (open->snapshot)
        snapshot_close(open->snapshot);
    if (open->inner)
        inner_end(open->inner);
    if (open->fetch)
        fetch_close(open->fetch);
}

/* ---- reading ---- */

/* How many bytes of an own source, which comes fast, may pass between two looks. */
#define LOOK_BYTES (4u << 20)

struct reading {
    struct gather_source bytes; /* first */
    struct gathering *g;
    struct open_source *open;
    struct source_watch *watch;
    uint64_t done, looked;
};

static enum error read_own(struct reading *reading, char *to, size_t max, size_t *ret_count)
{
    enum store_result result = content_reader_read(reading->open->reader, to, max, NULL, ret_count);

    return result ? decision_fail_store(reading->g->decision, result) : OK;
}

static enum error read_some(struct gather_source *bytes, char *to, size_t max, size_t *ret_count)
{
    struct reading *reading = (struct reading *)(void *)bytes;
    enum error e = OK;

    if (reading->watch &&
        (!reading->open->is_own || reading->done - reading->looked >= LOOK_BYTES)) {
        reading->looked = reading->done;
        e = reading->watch->look(reading->watch, reading->done);
    }
    if (!e)
        e = reading->open->is_own ? read_own(reading, to, max, ret_count)
                                  : remote_read(reading->g, reading->open, to, max, ret_count);
    reading->done += e ? 0 : *ret_count;
    return e;
}

/* The committed blocks of the source. */
static enum error read_blocks(struct gathering *g, struct open_source *open,
                              struct copied_bytes *ret_blocks)
{
    struct content_block *blocks;
    enum store_result result = content_blocks(open->snapshot, g->call->arena, &open->blob.content,
                                              &blocks, &ret_blocks->block_count);

    ret_blocks->blocks = blocks;
    return result ? decision_fail_store(g->decision, result) : OK;
}

static const uint64_t *block_lengths(struct gathering *g, const struct copied_bytes *blocks)
{
    uint64_t *lengths = arena_array(g->call->arena, blocks->block_count, sizeof *lengths);

    for (size_t i = 0; i < blocks->block_count; i++)
        lengths[i] = blocks->blocks[i].length;
    return lengths;
}

void source_begin(struct gathering *g, struct open_source *open)
{
    open->reader = content_reader_open(g->endpoint->store, open->snapshot, g->call->arena,
                                       &open->blob.content, open->offset, open->length);
    open->snapshot = NULL;
}

/* Opens the reader of an own source. */
static enum error begin_own(struct reading *reading, struct copied_bytes *ret_blocks)
{
    struct gathering *g = reading->g;
    struct open_source *open = reading->open;
    enum error e = OK;

    if (ret_blocks && open->blob.content.block_count > 0) {
        e = read_blocks(g, open, ret_blocks);
        if (!e) {
            reading->bytes.blocks = block_lengths(g, ret_blocks);
            reading->bytes.block_count = ret_blocks->block_count;
        }
    }
    if (!e)
        source_begin(g, open);
    return e;
}

/* Those that answer a sum in any case do not say what it would have been, as recorded. */
static enum error fail_sum(struct gathering *g, const struct copy_source *source, enum error e,
                           const void *given, const void *computed, size_t size)
{
    return source->answered == SOURCE_SUM_MD5 ? e
                                              : call_fail_sum(g->call, e, given, computed, size);
}

/* Against what the request says of the source. */
static enum error check_sums(struct gathering *g, const struct copy_source *source)
{
    const struct body *body = &g->call->input.body;

    if (source->expects_md5 && memcmp(source->md5, body->md5, sizeof body->md5) != 0)
        return fail_sum(g, source, E_Md5Mismatch, source->md5, body->md5, sizeof body->md5);
    if (source->expects_crc64 && memcmp(source->crc64, &body->crc64, sizeof body->crc64) != 0)
        return fail_sum(g, source, E_Crc64Mismatch, source->crc64, &body->crc64,
                        sizeof body->crc64);
    return OK;
}

enum error source_gather(struct gathering *g, const struct copy_source *source,
                         struct open_source *open, uint64_t max, struct copied_bytes *ret_blocks,
                         struct source_watch *watch)
{
    struct reading reading = {
        .bytes = { .read = read_some, .length = open->length, .max = max },
        .g = g,
        .open = open,
        .watch = watch,
    };
    enum error e = OK;

    if (ret_blocks)
        *ret_blocks = (struct copied_bytes){ .block_count = 0 };
    if (open->is_own)
        e = begin_own(&reading, ret_blocks);
    if (!e)
        e = gather_body(g, &reading.bytes);
    return e ? e : check_sums(g, source);
}

enum error source_gather_block(struct gathering *g, const struct copy_source *source,
                               const struct size_limit *limits, uint64_t max)
{
    struct open_source open;
    enum error e = source_open(g, source, &open);

    if (!e)
        e = blob_check_size(g->call, limits, open.length); /* not known: by what comes */
    if (!e)
        e = source_gather(g, source, &open, max, NULL, NULL);
    source_close(&open);
    if (!e && g->call->input.body.length == 0)
        e = call_fail_header(g->call, E_InvalidHeaderValue, "x-ms-copy-source", source->text);
    return e ? e : blob_check_size(g->call, limits, g->call->input.body.length);
}
