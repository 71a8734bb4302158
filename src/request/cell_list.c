/* Handler of list requests from the root cell: see peer_requests.h. */
#include "request/peer_requests.h"

#include <string.h>

#include "service/other_cells.h"
#include "request/internal_request.h"

struct list_request {
    const struct endpoint *endpoint;
    struct bytes path, query, version;
};

/* Returns true if the string contains only characters that a request's target and headers may
 * contain. */
static bool is_visible(struct bytes text)
{
    return text.ptr && !http_has_control(text, ' ') && !memchr(text.ptr, ' ', text.len);
}

static bool read_request(const struct endpoint_set *all, struct bytes body,
                         struct list_request *ret_request)
{
    struct decoder in;

    decoder_init(&in, body);
    if (decode_u8(&in) != OTHER_CELLS_VERSION)
        return false;
    ret_request->endpoint = endpoint_find(all, decode_bytes(&in));
    ret_request->path = decode_bytes(&in);
    ret_request->query = decode_bytes(&in);
    ret_request->version = decode_bytes(&in);
    return decoder_ok(&in) && ret_request->endpoint && ret_request->path.len > 0 &&
           ret_request->path.ptr[0] == '/' && is_visible(ret_request->path) &&
           !memchr(ret_request->path.ptr, '?', ret_request->path.len) &&
           is_visible(ret_request->query) && is_visible(ret_request->version);
}

int cell_list_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    static const struct bytes version = BYTES("x-ms-version");
    struct list_request request;
    struct http_header header;
    struct internal_response answer;

    if (!read_request(context, body, &request))
        return 400;
    header = (struct http_header){ version, request.version, version };
    internal_request_run(request.endpoint, arena,
                         &(struct internal_request){ .method = METHOD_GET,
                                                     .path = request.path,
                                                     .query = request.query,
                                                     .headers = &header,
                                                     .header_count = 1,
                                                     .is_for_cell = true },
                         &answer);
    if (answer.error)
        return answer.error == E_ServerBusy ? 503 : 500;
    text_add(ret_body, answer.response.body);
    return 200;
}
