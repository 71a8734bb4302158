/* Helpers of check, subject and decide functions: failing with a detail, and writing the answer. */
#include "service/operation.h"

#include <assert.h>
#include <stdio.h>

#include "base/encode.h"

void decision_saw(struct decision *d, uint64_t sequence)
{
    if (sequence > d->seen)
        d->seen = sequence;
}

enum error fail(struct decision *d, enum error e, const char *format, ...)
{
    va_list args;

    assert(e != OK);
    va_start(args, format);
    d->error_detail = arena_string(d->arena, arena_vprintf(d->arena, format, args));
    va_end(args);
    return e;
}

void fail_field(struct decision *d, const char *name, struct bytes value)
{
    d->error_field_count = 0;
    fail_field_more(d, name, value);
}

void fail_field_more(struct decision *d, const char *name, struct bytes value)
{
    assert(d->error_field_count < sizeof d->error_fields / sizeof d->error_fields[0]);
    d->error_fields[d->error_field_count].name = name;
    d->error_fields[d->error_field_count].value = value;
    d->error_field_count++;
}

enum error fail_header(struct decision *d, enum error e, const char *name, struct bytes value)
{
    assert(e != OK);
    fail_field(d, "HeaderName", bytes_from_string(name));
    if (value.ptr)
        fail_field_more(d, "HeaderValue", value);
    return e;
}

enum error fail_sum(struct decision *d, enum error e, const void *given, const void *computed,
                    size_t size)
{
    bool md5 = e == E_Md5Mismatch;

    fail_field(d, md5 ? "UserSpecifiedMd5" : "UserSpecifiedCrc",
               base64_encode(d->arena, bytes_of(given, size)));
    fail_field_more(d, md5 ? "ServerCalculatedMd5" : "ServerCalculatedCrc",
                    base64_encode(d->arena, bytes_of(computed, size)));
    return e;
}

enum error fail_query(struct decision *d, enum error e, const char *name, struct bytes value,
                      const char *reason)
{
    assert(e != OK);
    fail_field(d, "QueryParameterName", bytes_from_string(name));
    if (value.ptr)
        fail_field_more(d, "QueryParameterValue", value);
    if (reason)
        fail_field_more(d, "Reason", bytes_from_string(reason));
    return e;
}

enum error fail_store(struct decision *d, enum store_result result)
{
    switch (result) {
    case STORE_NOT_FOUND:
        return fail(d, E_ResourceNotFound, "What the request is about is gone.");
    case STORE_FULL:
        return fail(d, E_InsufficientStorage, "The server's disk is full.");
    case STORE_SHORTAGE:
        return E_ServerBusy;
    case STORE_CORRUPT:
        return fail(d, E_InternalError, "Stored data is damaged; the server's log says where.");
    case STORE_IO:
        return fail(d, E_InternalError, "The server's disk failed; see its log.");
    case STORE_OK:
    case STORE_CONFLICT:
    case STORE_BUSY:
    case STORE_UNKNOWN:
    case STORE_WAIT:
        break;
    }
    assert(false); /* a store result that its caller handles itself */
    return E_InternalError;
}

void answer(struct decision *d, int status)
{
    d->response->status = status;
}

void answer_header(struct decision *d, const char *name, struct bytes value)
{
    response_header(d->response, bytes_from_string(name), value);
}

void answer_string(struct decision *d, const char *name, const char *value)
{
    response_header_string(d->response, name, value);
}

void answer_u64(struct decision *d, const char *name, uint64_t value)
{
    struct text digits;

    text_init(&digits, d->arena, 0);
    text_add_u64(&digits, value);
    answer_header(d, name, text_bytes(&digits));
}

void answer_etag(struct decision *d, struct etag etag, instant modified)
{
    char tag[ETAG_TEXT_SIZE];
    char date[INSTANT_HTTP_SIZE];

    etag_format(etag, tag);
    instant_format_http(modified, date);
    answer_header(d, "ETag", arena_copy(d->arena, bytes_from_string(tag)));
    answer_header(d, "Last-Modified", arena_copy(d->arena, bytes_from_string(date)));
}

void answer_lease(struct decision *d, const struct lease *lease)
{
    const char *duration = lease_duration_text(lease, d->now);

    answer_string(d, "x-ms-lease-status", lease_status_text(lease, d->now));
    answer_string(d, "x-ms-lease-state", lease_state_text(lease, d->now));
    if (duration)
        answer_string(d, "x-ms-lease-duration", duration);
}

void answer_xml(struct decision *d, int status, const struct text *xml)
{
    answer(d, status);
    answer_string(d, "Content-Type", "application/xml");
    d->response->body_kind = BODY_BYTES;
    d->response->body = text_bytes(xml);
}
