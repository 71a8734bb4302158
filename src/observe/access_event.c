/* Log event of a request or of a part of a batch: see access_event.h. */
#include "observe/access_event.h"

#include <nettle/sha2.h>

#include "observe/trace_parent.h"

static struct bytes answered_etag(const struct response *response)
{
    const struct http_header *etag = response_find_header(response, bytes_from_string("ETag"));

    return etag ? etag->value : bytes_of(NULL, 0);
}

static void collect_texts(const struct call *call, const struct response *response,
                          struct bytes texts[EVENT_TEXTS])
{
    const struct request *request = call->request;
    const struct identity *identity = &call->input.identity;

    texts[TEXT_ACCOUNT] = call->account_name;
    texts[TEXT_METHOD] = request->method_text;
    texts[TEXT_PATH] = request->path;
    texts[TEXT_CLIENT] = request->peer;
    texts[TEXT_CLIENT_REQUEST] = call_header(call, "x-ms-client-request-id");
    texts[TEXT_TRACE] = trace_parent_id(call_header(call, "traceparent"));
    texts[TEXT_OWNER] = identity->kind == IDENTITY_BEARER ? identity->oid : bytes_of(NULL, 0);
    texts[TEXT_POLICY] = identity->kind == IDENTITY_SAS ? identity->sas->policy : bytes_of(NULL, 0);
    texts[TEXT_ETAG] = answered_etag(response);
    texts[TEXT_VIA] = request->via;
}

/* Truncates every string to its limit. EVENT_BYTES_MAX leaves 512 bytes for strings whose length is
 * bounded elsewhere. */
size_t access_event_texts(const struct call *call, const struct response *response,
                          struct bytes texts[EVENT_TEXTS])
{
    static const uint16_t most[EVENT_TEXTS] = {
        [TEXT_ACCOUNT] = 64, [TEXT_METHOD] = 16, [TEXT_PATH] = EVENT_TEXT_MAX,
        [TEXT_CLIENT] = 64,  [TEXT_TRACE] = 32,  [TEXT_CLIENT_REQUEST] = EVENT_TEXT_MAX,
        [TEXT_OWNER] = 128,  [TEXT_POLICY] = 64, [TEXT_ETAG] = 64,
        [TEXT_VIA] = 64,
    };
    size_t size = 0;

    collect_texts(call, response, texts);
    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        if (texts[i].len > most[i])
            texts[i].len = most[i];
        size += texts[i].len;
    }
    return size;
}

void access_event_put(struct access_event *event, const struct bytes texts[EVENT_TEXTS])
{
    char *to = (char *)(event + 1);

    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        event->lengths[i] = (uint16_t)texts[i].len;
        if (texts[i].len > 0)
            memcpy(to, texts[i].ptr, texts[i].len);
        to += texts[i].len;
    }
}

/* Hashes the signature, so that a log can identify it without revealing it. */
static void hash_signature(const struct call *call, uint8_t ret_hash[SAS_HASH_SIZE])
{
    struct bytes signature = call_query(call, "sig");
    struct sha256_ctx sha;

    sha256_init(&sha);
    sha256_update(&sha, signature.len, (const uint8_t *)signature.ptr);
    sha256_digest(&sha, SAS_HASH_SIZE, ret_hash);
}

/* A part of a transaction is authorized by the signature of the entire transaction. */
void access_event_identify(struct access_event *event, const struct call *call)
{
    event->identity = call->input.identity.kind;
    event->is_forwarded = call->request->is_forwarded;
    if (event->identity != IDENTITY_SAS)
        return;
    event->sas = call->input.identity.sas->kind;
    hash_signature(call_query(call, "sig").ptr || !call->list ? call : call->list, event->sas_hash);
}
