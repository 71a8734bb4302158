/* OData headers, and responses in OData formats: see odata.h. */
#include "table/rest/odata.h"

#include "base/json.h"
#include "base/xml.h"
#include "service/operation.h"

/* ---- formats ---- */

enum media { MEDIA_JSON, MEDIA_ATOM, MEDIA_OTHER };

static enum media media_of(struct bytes type)
{
    static const char *const json[] = { "application/json", "application/*", "*/*", "json" };
    static const char *const atom[] = { "application/atom+xml", "application/xml", "text/xml",
                                        "atom" };

    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++) {
        if (bytes_is_nocase(type, json[i]))
            return MEDIA_JSON;
    }
    for (size_t i = 0; i < sizeof atom / sizeof atom[0]; i++) {
        if (bytes_is_nocase(type, atom[i]))
            return MEDIA_ATOM;
    }
    return MEDIA_OTHER;
}

/* Parses "odata=nometadata"; ignores other parameters. Returns false for an unknown format. */
static bool read_parameter(struct bytes parameter, enum odata_metadata *ret_metadata)
{
    static const char *const names[] = { [ODATA_NO_METADATA] = "nometadata",
                                         [ODATA_MINIMAL_METADATA] = "minimalmetadata",
                                         [ODATA_FULL_METADATA] = "fullmetadata" };
    struct bytes name, value;

    bytes_cut(parameter, '=', &name, &value);
    if (!bytes_is_nocase(bytes_trim(name), "odata"))
        return true;
    value = bytes_trim(value);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_is_nocase(value, names[i])) {
            *ret_metadata = (enum odata_metadata)i;
            return true;
        }
    }
    return false;
}

/* Parses "application/json;odata=fullmetadata;charset=utf-8". */
static enum media read_media(struct bytes text, enum odata_metadata *ret_metadata)
{
    struct bytes type, rest, parameter;
    enum media media;

    bytes_cut(text, ';', &type, &rest);
    media = media_of(bytes_trim(type));
    while (media == MEDIA_JSON && rest.ptr) {
        bytes_cut(rest, ';', &parameter, &rest);
        if (!read_parameter(parameter, ret_metadata))
            return MEDIA_OTHER;
    }
    return media;
}

/* Returns the first supported media type that the client accepts. */
static enum media read_accept(struct bytes text, enum odata_metadata *ret_metadata)
{
    enum media best = MEDIA_OTHER;

    while (text.ptr) {
        enum odata_metadata metadata = ODATA_MINIMAL_METADATA;
        struct bytes one;
        enum media media;

        bytes_cut(text, ',', &one, &text);
        media = read_media(one, &metadata);
        if (media == MEDIA_JSON) {
            *ret_metadata = metadata;
            return media;
        }
        if (media == MEDIA_ATOM)
            best = media;
    }
    return best;
}

/* $format takes precedence over Accept; the default is JSON. decision: 142 */
static enum error read_form(struct call *call, enum odata_metadata *ret_metadata)
{
    struct bytes format = call_query(call, "$format");
    struct bytes accept = call_header(call, "accept");
    enum media media = MEDIA_JSON;

    *ret_metadata = ODATA_MINIMAL_METADATA;
    if (format.ptr)
        media = read_media(format, ret_metadata);
    else if (accept.len > 0)
        media = read_accept(accept, ret_metadata);
    if (media == MEDIA_ATOM)
        return E_AtomFormatNotSupported;
    if (media == MEDIA_JSON)
        return OK;
    return format.ptr ? call_fail_query(call, E_InvalidQueryParameterValue, "$format", format,
                                        "Not a supported response format.")
                      : call_fail_header(call, E_InvalidHeaderValue, "Accept", accept);
}

/* Checks a version such as "3.0" or "3.0;NetFx": 1.0 to 3.0, which clients send regardless of what
 * they support. */
static enum error check_version(struct call *call, const char *name, const char *shown)
{
    struct bytes value = call_header(call, name);
    struct bytes number, rest;

    if (!value.ptr)
        return OK;
    bytes_cut(value, ';', &number, &rest);
    number = bytes_trim(number);
    if (bytes_is(number, "1.0") || bytes_is(number, "2.0") || bytes_is(number, "3.0"))
        return OK;
    return call_fail_header(call, E_InvalidHeaderValue, shown, value);
}

static enum odata_preference preference_of(const struct call *call)
{
    struct bytes text = call_header(call, "prefer");

    if (bytes_is_nocase(text, "return-no-content"))
        return PREFERS_NO_CONTENT;
    return bytes_is_nocase(text, "return-content") ? PREFERS_CONTENT : PREFERS_NOTHING;
}

/* Refuses OData options that would change the response; ignores unknown ones. decision: 190
 * rest: Query-Operators-Supported-for-the-Table-Service "Unsupported query operators" */
static enum error check_options(struct call *call)
{
    static const char *const options[] = { "$orderby", "$skip", "$skiptoken", "$inlinecount",
                                           "$expand" };

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (call_query(call, options[i]).ptr)
            return E_NotImplemented;
    }
    return OK;
}

enum error odata_read(struct call *call, const struct odata **ret_odata)
{
    struct odata *odata = arena_alloc(call->arena, sizeof *odata);
    enum error e = check_version(call, "dataserviceversion", "DataServiceVersion");

    if (!e)
        e = check_options(call);
    if (!e)
        e = read_form(call, &odata->metadata);
    odata->preference = preference_of(call);
    *ret_odata = odata;
    return e;
}

enum error odata_check_body(struct call *call)
{
    struct bytes type = call_header(call, "content-type");
    enum odata_metadata metadata;
    enum media media = type.ptr ? read_media(type, &metadata) : MEDIA_JSON;

    if (media == MEDIA_JSON)
        return OK;
    return media == MEDIA_ATOM ? E_AtomFormatNotSupported
                               : call_fail_header(call, E_InvalidHeaderValue, "Content-Type", type);
}

enum error odata_refuse(struct call *call, enum error e, const char *message)
{
    return e && message ? call_fail(call, e, "%s", message) : e;
}

/* ---- responses ---- */

void odata_answer(struct answer *a)
{
    answer_string(a, "Cache-Control", "no-cache");
    answer_string(a, "X-Content-Type-Options", "nosniff");
}

void odata_answer_preference(struct answer *a)
{
    enum odata_preference preference = preference_of(a->call);

    if (preference != PREFERS_NOTHING)
        answer_string(a, "Preference-Applied",
                      preference == PREFERS_CONTENT ? "return-content" : "return-no-content");
}

void odata_answer_json(struct answer *a, const struct odata *odata, const struct text *json)
{
    static const char *const types[] = {
        [ODATA_NO_METADATA] = "application/json;odata=nometadata;streaming=true;charset=utf-8",
        [ODATA_MINIMAL_METADATA] =
            "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
        [ODATA_FULL_METADATA] = "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
    };

    answer_string(a, "Content-Type", types[odata->metadata]);
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(json);
}

struct entity_view entity_view_of(const struct call *call, const struct odata *odata,
                                  struct bytes table)
{
    return (struct entity_view){ .metadata = odata->metadata,
                                 .url_prefix = call->url_prefix,
                                 .account = call->account_name,
                                 .table = table };
}

void entity_answer_etag(struct answer *a, struct etag etag, instant modified)
{
    char *text = arena_bytes(a->arena, ENTITY_ETAG_SIZE);

    (void)modified; /* not sent for an entity */
    answer_header(a, "ETag", bytes_of(text, entity_etag_format(etag.v, text)));
}

/* ---- errors ---- */

/* Returns true for codes whose message the service replaces by the details. */
static bool detail_is_message(enum error e)
{
    return e == E_InvalidInput || e == E_OutOfRangeInput;
}

/* Returns true if the message starts with the number of its part of a transaction. It does not if
 * the server is busy, nor in a changeset of one operation that was refused because of the data.
 * Recorded both ways; decision: 146, 1037 */
static bool has_number(const struct answer *a, enum error e)
{
    bool by_data =
        e == E_EntityAlreadyExists || e == E_ResourceNotFound || e == E_UpdateConditionNotSatisfied;
    bool is_alone =
        a->parts == 1 && a->call->operation && a->call->operation->rights.effect == WRITES;

    return a->of_part && e != E_ServerBusy && !(by_data && is_alone);
}

static struct bytes error_text(const struct answer *a, enum error e, const struct problem *problem)
{
    char id[GUID_TEXT_SIZE], time[INSTANT_ISO_SIZE];
    struct text out;

    text_init(&out, a->arena, 256);
    if (has_number(a, e))
        text_printf(&out, "%zu:", a->part);
    guid_format(&a->call->request_id, id);
    instant_format_iso(answer_time(a), time);
    if (problem->detail && detail_is_message(e))
        text_add_string(&out, problem->detail);
    else
        text_add_string(&out, error_message(e));
    if (problem->detail && !detail_is_message(e))
        text_printf(&out, "\n%s", problem->detail);
    text_printf(&out, "\nRequestId:%s\nTime:%s", id, time);
    return text_bytes(&out);
}

/* Writes the XML error of operations with ?comp=, which are not OData, as in the real service. */
static void answer_error_xml(struct answer *a, enum error e, const struct problem *problem)
{
    struct text out;

    text_init(&out, a->arena, 512);
    text_printf(&out,
                "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"%s\"><m:code>%s"
                "</m:code><m:message xml:lang=\"en-US\">",
                "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata", error_code(e));
    xml_escape(&out, error_text(a, e, problem));
    text_add_string(&out, "</m:message></m:error>");
    answer_status(a, error_status(e));
    answer_xml(a, &out);
    answer_code(a, e);
}

/* Returns true for errors that the service finds before it starts an OData response, as in the
 * real service: an invalid query, a missing table. */
static bool is_early(const struct answer *a, enum error e)
{
    return e == E_TableNotFound || (e == E_InvalidInput && a->call->method == METHOD_GET);
}

static void answer_error_json(struct answer *a, enum error e, const struct problem *problem)
{
    struct odata odata = { .metadata = ODATA_MINIMAL_METADATA };
    struct text out;

    read_accept(call_header(a->call, "accept"), &odata.metadata);
    text_init(&out, a->arena, 512);
    text_printf(&out,
                "{\"odata.error\":{\"code\":\"%s\",\"message\":{\"lang\":\"en-US\",\"value\":",
                error_code(e));
    json_write_string(&out, error_text(a, e, problem));
    text_add_string(&out, "}}}");
    answer_status(a, error_status(e));
    if (is_early(a, e)) {
        answer_string(a, "X-Content-Type-Options", "nosniff");
    } else {
        odata_answer(a);
        odata_answer_preference(a);
    }
    odata_answer_json(a, &odata, &out);
}

/* Renders an error. A JSON error has no header with the code, as in the real service. decision:
 * 144 */
bool odata_answer_error(struct answer *a, enum error e, const struct problem *problem)
{
    if (call_query(a->call, "comp").ptr)
        answer_error_xml(a, e, problem);
    else
        answer_error_json(a, e, problem);
    return true;
}
