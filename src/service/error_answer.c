/* Error bodies and the headers that every answer has.
 * rest: Status-and-Error-Codes2, "Error response"; semantics 10.2 */
#include "service/service_private.h"

#include "base/xml.h"

/* As recorded, with a tenant that is none: clients that hold a token credential read it. decision: 11 */
#define CHALLENGE                                                                                  \
    "Bearer authorization_uri=https://login.microsoftonline.com/"                                  \
    "00000000-0000-0000-0000-000000000000/oauth2/authorize "                                       \
    "resource_id=https://storage.azure.com"

static void error_xml(struct decision *d, enum error e)
{
    char id[GUID_TEXT_SIZE], time[INSTANT_ISO_SIZE];
    struct text out;

    text_init(&out, d->arena, 512);
    guid_format(&d->call->request_id, id);
    instant_format_iso(d->now, time);
    xml_begin(&out);
    xml_open(&out, "Error");
    xml_element_string(&out, "Code", error_code(e));
    xml_open(&out, "Message");
    xml_escape(&out, bytes_from_string(error_message(e)));
    text_printf(&out, "\nRequestId:%s\nTime:%s", id, time);
    xml_close(&out, "Message");
    for (size_t i = 0; i < d->error_field_count; i++)
        xml_element(&out, d->error_fields[i].name, d->error_fields[i].value);
    if (d->error_detail)
        xml_element_string(&out,
                           e == E_AuthenticationFailed ? "AuthenticationErrorDetail" : "Reason",
                           d->error_detail);
    xml_close(&out, "Error");
    answer_xml(d, error_status(e), &out);
}

void answer_error(struct decision *d, enum error e)
{
    /* Headers that an error keeps from its decide function (Content-Range of a 416). */
    size_t kept = e == E_InvalidRange ? d->response->header_count : 0;

    d->send.wanted = false;
    d->response->header_count = kept;
    d->response->body_kind = BODY_NONE;
    d->response->body = (struct bytes){ NULL, 0 };
    d->response->body_length = 0;
    if (error_status(e) == 304 || d->call->request->method == METHOD_HEAD)
        answer(d, error_status(e)); /* headers alone, as recorded */
    else
        error_xml(d, e);
    answer_string(d, "x-ms-error-code", error_code(e));
    if (e == E_NoAuthenticationInformation)
        answer_string(d, "WWW-Authenticate", CHALLENGE);
}

/* At most 1,024 visible ASCII characters are echoed. semantics 2 */
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
    struct decision *d = &work->decision;
    struct bytes client_id = call_header(&work->call, "x-ms-client-request-id");
    char id[GUID_TEXT_SIZE];

    guid_format(&work->call.request_id, id);
    answer_string(d, "Server", "Lagra/" LAGRA_VERSION);
    answer_header(d, "x-ms-request-id", arena_copy(d->arena, bytes_from_string(id)));
    answer_header(d, "x-ms-version", work->call.version);
    if (is_echoed(client_id))
        answer_header(d, "x-ms-client-request-id", client_id);
#ifdef LAGRA_GATES
    if (work->attempts > 1) /* a test sees that it was decided again */
        answer_u64(d, "x-lagra-attempts", work->attempts);
#endif
}
