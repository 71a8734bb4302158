/* Get Blob: the bytes of a blob or a snapshot, or a range of them. The bytes themselves are read
 * while they are sent, from the snapshot of the partition that was decided on (promise 4). */
#include "blob/blob_request.h"

#include <inttypes.h>

#include "base/encode.h"

/* A range whose sum is wanted is at most this long. rest: Get-Blob "x-ms-range-get-content-md5" */
#define SUMMED_RANGE_MAX (4u << 20)

static const char md5_header[] = "x-ms-range-get-content-md5";
static const char crc64_header[] = "x-ms-range-get-content-crc64";

struct get_blob {
    struct bytes range; /* ptr NULL: none */
    bool md5, crc64;    /* of the range */
};

static enum error parse_flag(struct decision *d, const char *name, bool *ret_flag)
{
    struct bytes value = call_header(d->call, name);

    if (value.len > 0 && !bytes_is_nocase(value, "true") && !bytes_is_nocase(value, "false"))
        return fail_header(d, E_InvalidHeaderValue, name, value);
    *ret_flag = bytes_is_nocase(value, "true");
    return OK;
}

/* x-ms-range counts before Range. A sum is of a range: without one it is refused, and so are both.
 * rest: Get-Blob, Specifying-the-Range-Header-for-Blob-Service-Operations */
enum error check_get_blob(struct decision *d)
{
    struct get_blob *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_READ);
    if (e)
        return e;
    given->range = call_header(d->call, "x-ms-range");
    if (!given->range.ptr)
        given->range = call_header(d->call, "range");
    e = parse_flag(d, md5_header, &given->md5);
    if (e)
        return e;
    e = parse_flag(d, crc64_header, &given->crc64);
    if (e)
        return e;
    if (given->crc64 && (given->md5 || !given->range.ptr))
        return fail_header(d, E_InvalidHeaderValue, crc64_header,
                           call_header(d->call, crc64_header));
    if (given->md5 && !given->range.ptr)
        return fail_header(d, E_InvalidHeaderValue, md5_header, call_header(d->call, md5_header));
    d->call->parameters = given;
    return OK;
}

static void answer_md5(struct decision *d, const char *name, const struct blob *blob)
{
    if (blob->http.has_md5)
        answer_header(d, name,
                      base64_encode(d->arena, bytes_of(blob->http.md5, sizeof blob->http.md5)));
}

static void answer_range(struct decision *d, const struct blob *blob)
{
    answer(d, 206);
    answer_header(d, "Content-Range",
                  arena_printf(d->arena, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, d->send.offset,
                               d->send.offset + d->send.length - 1, blob->content.length));
    if (call_since(d->call, "2016-05-31"))
        answer_md5(d, "x-ms-blob-content-md5", blob);
}

static enum error fail_range(struct decision *d, const struct blob *blob)
{
    answer_header(d, "Content-Range",
                  arena_printf(d->arena, "bytes */%" PRIu64, blob->content.length));
    return E_InvalidRange;
}

/* The sum of a longer range is refused with the header's name, as the real service does. */
static enum error check_summed(struct decision *d, const struct get_blob *given)
{
    const char *name = given->md5 ? md5_header : crc64_header;

    if ((given->md5 || given->crc64) && d->send.length > SUMMED_RANGE_MAX)
        return fail_header(d, E_InvalidHeaderValue, name, call_header(d->call, name));
    return OK;
}

/* rest: Get-Blob; semantics 5 */
enum error get_blob(struct decision *d)
{
    const struct get_blob *given = d->call->parameters;
    const struct blob *blob = &blob_state(d)->blob;
    enum range_result range;
    enum error e;

    if (blob->tier == TIER_ARCHIVE)
        return E_BlobArchived;
    d->send.content = blob->content;
    d->send.offset = 0;
    d->send.length = blob->content.length;
    range = range_parse(given->range, blob->content.length, &d->send.offset, &d->send.length);
    if (range == RANGE_UNSATISFIABLE)
        return fail_range(d, blob);
    e = check_summed(d, given);
    if (e)
        return e;
    d->send.wanted = true;
    d->send.md5 = given->md5 && range == RANGE_PART;
    d->send.crc64 = given->crc64 && range == RANGE_PART;

    if (range == RANGE_PART) {
        answer_range(d, blob);
    } else {
        answer(d, 200);
        answer_md5(d, "Content-MD5", blob);
    }
    blob_answer_properties(d, blob);
    if (call_since(d->call, "2026-10-06"))
        blob_answer_tier(d, blob);
    return OK;
}
