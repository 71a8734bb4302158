/* See analytics_private.h. Fields with client input are HTML-encoded and quoted, like the samples
 * of the reference. */
#include "analytics/analytics_private.h"

#include <assert.h>
#include <inttypes.h>

#include "http/http.h"

struct texts {
    struct bytes of[ANALYTICS_TEXTS];
};

static struct texts texts_of(const struct analytics_event *event)
{
    const char *at = (const char *)(event + 1);
    struct texts texts;

    for (size_t i = 0; i < ANALYTICS_TEXTS; i++) {
        texts.of[i] = bytes_of(at, event->lengths[i]);
        at += event->lengths[i];
    }
    return texts;
}

/* ---- fields, each preceded by a semicolon ---- */

static void add_plain(struct text *line, struct bytes text)
{
    text_add_char(line, ';');
    text_add(line, text);
}

static void add_name(struct text *line, const char *name)
{
    add_plain(line, bytes_from_string(name));
}

static void add_number(struct text *line, uint64_t number)
{
    text_add_char(line, ';');
    text_add_u64(line, number);
}

/* Encodes like HttpUtility.HtmlEncode; also control characters and invalid UTF-8, which could end a
 * line or the file. */
static void add_encoded(struct text *line, struct bytes text)
{
    bool is_utf8 = bytes_is_utf8(text);

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '&')
            text_add_string(line, "&amp;");
        else if (c == '<')
            text_add_string(line, "&lt;");
        else if (c == '>')
            text_add_string(line, "&gt;");
        else if (c == '"')
            text_add_string(line, "&quot;");
        else if (c == '\'')
            text_add_string(line, "&#39;");
        else if (c < 0x20 || c == 0x7F)
            text_printf(line, "&#%u;", c);
        else if (c >= 0x80 && !is_utf8)
            text_printf(line, "%%%02X", c);
        else
            text_add_char(line, (char)c);
    }
}

/* Writes an empty value without quotes. */
static void add_quoted(struct text *line, struct bytes text)
{
    text_add_char(line, ';');
    if (text.len == 0)
        return;
    text_add_char(line, '"');
    add_encoded(line, text);
    text_add_char(line, '"');
}

/* Writes "Thursday, 19-Jun-14 22:58:10 GMT", the form in the samples (RFC 850). */
static void add_date(struct text *line, struct bytes date)
{
    static const char *const days[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday" };
    char text[INSTANT_HTTP_SIZE];
    size_t day = 0;
    instant at;

    text_add_char(line, ';');
    if (!instant_parse_http(date, &at))
        return;
    instant_format_http(at, text); /* "Thu, 19 Jun 2014 22:58:10 GMT" */
    while (memcmp(days[day], text, 3) != 0)
        day++;
    text_printf(line, "%s, %.2s-%.3s-%.2s %.8s GMT", days[day], text + 5, text + 8, text + 14,
                text + 17);
}

static void add_ms(struct text *line, uint64_t ns)
{
    add_number(line, (ns + 500000) / 1000000);
}

/* ---- outcome ---- */

void outcome_write(struct text *to, enum analytics_who who, enum analytics_outcome outcome)
{
    static const char *const whose[ANALYTICS_WHO] = {
        [WHO_AUTHORIZED] = "", [WHO_SAS] = "SAS", [WHO_ANONYMOUS] = "Anonymous"
    };
    static const char *const outcomes[ANALYTICS_OUTCOMES] = {
        [OUTCOME_SUCCESS] = "Success",
        [OUTCOME_THROTTLING] = "ThrottlingError",
        [OUTCOME_CLIENT_TIMEOUT] = "ClientTimeoutError",
        [OUTCOME_SERVER_TIMEOUT] = "ServerTimeoutError",
        [OUTCOME_CLIENT_OTHER] = "ClientOtherError",
        [OUTCOME_SERVER_OTHER] = "ServerOtherError",
        [OUTCOME_AUTHORIZATION] = "AuthorizationError",
        [OUTCOME_NETWORK] = "NetworkError",
    };

    text_add_string(to, whose[who]);
    text_add_string(to, outcomes[outcome]);
}

/* "In version 2017-04-17 and later, ClientOtherError is not used. Instead, this field contains the
 * error code." */
static void add_status(struct text *line, const struct analytics_event *event, unsigned version)
{
    text_add_char(line, ';');
    if (event->outcome == OUTCOME_CLIENT_OTHER && event->says_code && event->error)
        text_add_string(line, error_code(event->error));
    else if (event->outcome == OUTCOME_SUCCESS && event->is_bearer && version == 2)
        text_add_string(line, "OAuthSuccess");
    else
        outcome_write(line, event->who, event->outcome);
}

static void add_who(struct text *line, const struct analytics_event *event,
                    const struct bytes account)
{
    static const char *const whose[ANALYTICS_WHO] = {
        [WHO_AUTHORIZED] = "authenticated", [WHO_SAS] = "sas", [WHO_ANONYMOUS] = "anonymous"
    };

    add_name(line, event->is_bearer ? "bearer" : whose[event->who]);
    add_plain(line, event->who == WHO_AUTHORIZED ? account : bytes_of(NULL, 0));
    add_plain(line, account);
}

/* ---- the lines ---- */

/* A copy is logged as three operations with one id: itself, its source, its destination. */
enum part { PART_ITSELF, PART_SOURCE, PART_DESTINATION };

static void add_begin(struct text *line, const struct analytics_event *event, unsigned version,
                      enum part part)
{
    static const char *const suffixes[] = { "", "Source", "Destination" };
    char name[ANALYTICS_NAME_SIZE], began[INSTANT_ISO_SIZE];

    analytics_name(event, name);
    instant_format_iso(event->ended - event->all_ns / 100, began);
    text_add_string(line, version == 2 ? "2.0" : "1.0");
    add_name(line, began);
    add_name(line, name);
    text_add_string(line, suffixes[part]);
    add_status(line, event, version);
    if (event->status > 0)
        add_number(line, (uint64_t)event->status);
    else
        add_name(line, "Unknown");
    add_ms(line, event->all_ns);
    add_ms(line, event->all_ns - event->wire_ns);
}

/* Writes the size fields. Those of failed requests "may be empty"; we leave them empty if no
 * response was started. */
static void add_sizes(struct text *line, const struct analytics_event *event)
{
    add_number(line, event->request_head_bytes);
    add_number(line, event->received);
    if (event->status > 0) {
        add_number(line, event->response_head_bytes);
        add_number(line, event->sent);
    } else {
        text_add_string(line, ";;");
    }
    if (event->content_length != HTTP_LENGTH_UNKNOWN)
        add_number(line, event->content_length);
    else
        add_number(line, event->received);
}

/* Writes the bearer-token fields. Application, audience, issuer, principal name and authorization
 * details are not recorded, so those fields are empty. */
static void add_bearer(struct text *line, const struct texts *texts)
{
    add_quoted(line, texts->of[ANALYTICS_OWNER]);
    add_quoted(line, texts->of[ANALYTICS_TENANT]);
    text_add_string(line, ";;;;;;");
}

static void add_line(struct text *line, const struct analytics_event *event,
                     const struct texts *texts, unsigned version, enum part part)
{
    static const struct bytes nothing = { NULL, 0 };
    struct bytes key = texts->of[part == PART_SOURCE ? ANALYTICS_SOURCE : ANALYTICS_KEY];
    bool is_whole = part == PART_ITSELF;
    char id[GUID_TEXT_SIZE];

    guid_format(&event->request, id);
    add_begin(line, event, version, part);
    add_who(line, event, account_name(event->account));
    add_name(line, event->service_name);
    add_quoted(line, texts->of[ANALYTICS_URL]);
    add_quoted(line, key);
    add_name(line, id);
    add_number(line, part);
    add_plain(line, texts->of[ANALYTICS_CLIENT]);
    add_plain(line, texts->of[ANALYTICS_VERSION]);
    add_sizes(line, event);
    add_quoted(line, is_whole ? texts->of[ANALYTICS_REQUEST_MD5] : nothing);
    add_quoted(line, is_whole ? texts->of[ANALYTICS_SERVER_MD5] : nothing);
    add_quoted(line, is_whole ? texts->of[ANALYTICS_ETAG] : nothing);
    add_date(line, is_whole ? texts->of[ANALYTICS_MODIFIED] : nothing);
    add_quoted(line, is_whole ? texts->of[ANALYTICS_CONDITIONS] : nothing);
    add_quoted(line, texts->of[ANALYTICS_AGENT]);
    add_quoted(line, texts->of[ANALYTICS_REFERRER]);
    add_quoted(line, texts->of[ANALYTICS_CLIENT_REQUEST]);
    if (version == 2)
        add_bearer(line, texts);
    text_add_char(line, '\n');
}

void line_write(const struct analytics_event *event, unsigned version, struct text *to)
{
    const struct texts texts = texts_of(event);
    size_t before = to->len;

    assert(version == 1 || version == 2);
    assert(event->wire_ns <= event->all_ns);
    add_line(to, event, &texts, version, PART_ITSELF);
    if (event->operation && strcmp(event->operation->name, "Copy Blob") == 0) {
        add_line(to, event, &texts, version, PART_SOURCE);
        add_line(to, event, &texts, version, PART_DESTINATION);
    }
    assert(to->len - before <= LINES_BYTES_MAX);
}
