/* Logs one line per response for --debug: client, request and result. */
#include <string.h>

#include "base/log.h"
#include "base/url.h"
#include "observe/observed_request.h"

/* Adds the query as it was sent, but without the signature of a SAS, which grants access. The value
 * of a parameter with a percent-encoded name is hidden too, because the name may be "sig". */
static void add_query(struct text *to, struct bytes query)
{
    struct bytes name, value;
    const char *before = "?";

    while (url_take_parameter(&query, &name, &value)) {
        if (value.ptr && (bytes_is_nocase(name, "sig") || memchr(name.ptr, '%', name.len)))
            value = bytes_from_string("***");
        text_printf(to, "%s%.*s%s%.*s", before, BYTES_ARG(name), value.ptr ? "=" : "",
                    BYTES_ARG(value));
        before = "&";
    }
}

const char *request_log_code(const struct answer *answer)
{
    return answer->error ? error_code(answer->error) : "";
}

void request_log(const struct observed_request *observed)
{
    const struct request *http = &observed->exchange->request;
    const struct response *response = &observed->exchange->response;
    const char *code = request_log_code(observed->answer);
    char id[GUID_TEXT_SIZE];
    struct text query;

    if (!log_enabled(LOG_DEBUG))
        return;
    guid_format(&observed->call->request_id, id);
    text_init(&query, observed->exchange->arena, 128);
    add_query(&query, http->query);
    log_line(LOG_DEBUG, "%.*s %d %s%s%.*s %.*s%.*s request %s", BYTES_ARG(http->peer),
             response->status, code, code[0] ? " " : "", BYTES_ARG(http->method_text),
             BYTES_ARG(http->path), BYTES_ARG(text_bytes(&query)), id);
}
