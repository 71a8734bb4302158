/* Error bodies, and the headers of all responses.
 * rest: Status-and-Error-Codes2, "Error response"; semantics 10.2 */
#include "request/request_private.h"

#include <inttypes.h>

#include "base/xml.h"
#include "service/operation.h"

/* As recorded, with a tenant of zeros. Clients with a token credential parse it. decision: 11 */
#define CHALLENGE                                                                                  \
    "Bearer authorization_uri=https://login.microsoftonline.com/"                                  \
    "00000000-0000-0000-0000-000000000000/oauth2/authorize "                                       \
    "resource_id=https://storage.azure.com"

/* Returns the HTTP status of an error. The source's own status is passed on. decision: 52 */
static int status_of(enum error e, const struct problem *problem)
{
    bool of_source = e == E_CannotVerifyCopySource && problem->source_status != 0;

    return of_source ? problem->source_status : error_status(e);
}

static struct bytes message_of(enum error e, const struct problem *problem)
{
    if (problem->message.ptr)
        return problem->message;
    return e == E_CannotVerifyCopySource && problem->source_message.ptr
               ? problem->source_message
               : bytes_from_string(error_message(e));
}

/* Returns true if the response reports the source's status, as versions since 2024-08-04 do.
 * decision: 52 */
static bool shows_source(const struct answer *a, const struct problem *problem)
{
    return problem->source_status != 0 && call_since(a->call, "2024-08-04");
}

static void source_xml(struct text *out, const struct problem *problem)
{
    xml_element_u64(out, "CopySourceStatusCode", (uint64_t)problem->source_status);
    if (problem->source_code.ptr)
        xml_element(out, "CopySourceErrorCode", problem->source_code);
    if (problem->source_message.ptr)
        xml_element(out, "CopySourceErrorMessage", problem->source_message);
}

/* Returns "1.2.3.4" of "1.2.3.4:5000". */
static struct bytes without_port(struct bytes peer)
{
    while (peer.len > 0 && peer.ptr[peer.len - 1] != ':')
        peer.len--;
    return bytes_of(peer.ptr, peer.len > 0 ? peer.len - 1 : 0);
}

/* Adds the message. In "... using this source IP {SourceIP}." the client's address replaces the
 * placeholder. */
static void add_message(struct text *out, const struct answer *a, enum error e,
                        const struct problem *problem)
{
    struct bytes message = message_of(e, problem), rest = { NULL, 0 };

    if (e == E_AuthorizationSourceIPMismatch)
        bytes_cut(message, '{', &message, &rest);
    xml_escape(out, message);
    if (!rest.ptr)
        return;
    xml_escape(out, without_port(a->call->request->peer));
    bytes_cut(rest, '}', &message, &rest);
    xml_escape(out, rest);
}

static void error_xml(struct answer *a, enum error e, const struct problem *problem)
{
    char id[GUID_TEXT_SIZE], time[INSTANT_ISO_SIZE];
    struct text out;

    text_init(&out, a->arena, 512);
    guid_format(&a->call->request_id, id);
    instant_format_iso(answer_time(a), time);
    xml_begin(&out);
    if (a->of_part)
        text_add_char(&out, '\n');
    xml_open(&out, "Error");
    xml_element_string(&out, "Code", error_code(e));
    xml_open(&out, "Message");
    add_message(&out, a, e, problem);
    text_printf(&out, "\nRequestId:%s\nTime:%s", id, time);
    xml_close(&out, "Message");
    for (size_t i = 0; i < problem->field_count; i++)
        xml_element(&out, problem->fields[i].name, problem->fields[i].value);
    if (problem->detail)
        xml_element_string(&out,
                           e == E_AuthenticationFailed ? "AuthenticationErrorDetail" : "Reason",
                           problem->detail);
    if (shows_source(a, problem))
        source_xml(&out, problem);
    xml_close(&out, "Error");
    answer_status(a, status_of(e, problem));
    answer_xml(a, &out);
}

void answer_error(struct answer *a, enum error e, const struct problem *problem)
{
    struct response *response = a->response;

    if (a->call->service->error_of)
        e = a->call->service->error_of(e);
    a->error = e;
    a->content.wanted = false;
    response->header_count = 0;
    response->body_kind = BODY_NONE;
    response->body = (struct bytes){ NULL, 0 };
    response->body_length = 0;
    if (e == E_MisdirectedRequest) {
        answer_elsewhere(a, problem->elsewhere);
        return;
    }
    if (e == E_InvalidRange)
        answer_header(a, "Content-Range",
                      arena_printf(a->arena, "bytes */%" PRIu64, problem->length));
    if (status_of(e, problem) == 304 || a->call->request->method == METHOD_HEAD) {
        answer_status(a, status_of(e, problem)); /* headers only, as in the real service */
        if (a->call->operation && a->call->operation->types_304 &&
            !call_since(a->call, "2020-10-02"))
            answer_string(a, "Content-Type", "application/xml");
        answer_code(a, e);
    } else if (!a->call->service->answer_error || !a->call->service->answer_error(a, e, problem)) {
        error_xml(a, e, problem);
        answer_code(a, e);
    }
    if (shows_source(a, problem))
        answer_u64(a, "x-ms-copy-source-status-code", (uint64_t)problem->source_status);
    if (shows_source(a, problem) && problem->source_code.ptr)
        answer_header(a, "x-ms-copy-source-error-code", problem->source_code);
    if (problem->is_soft_deleted)
        answer_string(a, "x-ms-is-soft-deleted", "true");
    if (problem->retry_after_s > 0)
        answer_u64(a, "Retry-After", problem->retry_after_s);
    if (e == E_NoAuthenticationInformation)
        answer_string(a, "WWW-Authenticate", CHALLENGE);
}

/* Returns true if the client request id is echoed: at most 1,024 visible ASCII characters.
 * semantics 2 */
static bool is_echoed(struct bytes id)
{
    if (!id.ptr || id.len > 1024)
        return false;
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] < 0x21 || id.ptr[i] > 0x7e)
            return false;
    }
    return true;
}

void answer_common(struct work *work)
{
    struct answer *a = &work->answer;
    struct bytes client_id = call_header(&work->call, "x-ms-client-request-id");
    char id[GUID_TEXT_SIZE];

    guid_format(&work->call.request_id, id);
    answer_string(a, "Server", "Lagra/" LAGRA_VERSION);
    answer_header(a, "x-ms-request-id", arena_copy(a->arena, bytes_from_string(id)));
    answer_header(a, "x-ms-version", work->call.version);
    if (call_since(&work->call, "2019-02-02") && is_echoed(client_id))
        answer_header(a, "x-ms-client-request-id", client_id);
#ifdef LAGRA_GATES
    if (work->decision.attempts > 1) /* shows tests that the decision was repeated */
        answer_u64(a, "x-lagra-attempts", work->decision.attempts);
#endif
}
