/* HTTP properties in requests and responses; see http_headers.h. */
#include "service/http_headers.h"

#include "base/encode.h"

/* Names of the x-ms- headers and of the standard headers. */
static const struct property_names {
    const char *of[2], *standard;
} type_names = { { "x-ms-blob-content-type", "x-ms-content-type" }, "content-type" },
  encoding_names = { { "x-ms-blob-content-encoding", "x-ms-content-encoding" },
                     "content-encoding" },
  language_names = { { "x-ms-blob-content-language", "x-ms-content-language" },
                     "content-language" },
  disposition_names = { { "x-ms-blob-content-disposition", "x-ms-content-disposition" }, NULL },
  cache_names = { { "x-ms-blob-cache-control", "x-ms-cache-control" }, "cache-control" },
  md5_names = { { "x-ms-blob-content-md5", "x-ms-content-md5" }, NULL };

static enum error read_property(struct call *call, const char *name, const char *standard_name,
                                struct bytes *ret_value)
{
    struct bytes value = call_header(call, name);

    if (!value.ptr && standard_name)
        value = call_header(call, standard_name);
    if (http_has_control(value, '\t')) /* it will be a response header */
        return call_fail_header(call, E_InvalidHeaderValue, name, (struct bytes){ NULL, 0 });
    if (value.len == 0)
        value = (struct bytes){ NULL, 0 }; /* empty means not set */
    *ret_value = value;
    return OK;
}

/* Reads the MD5. Its length is not checked, as in the real service; only Put Blob verifies it.
 * decision: 16 */
static enum error read_md5(struct call *call, const char *name, struct http_properties *http)
{
    struct bytes text = call_header(call, name);
    struct bytes md5;

    http->has_md5 = false;
    if (text.len == 0)
        return OK;
    md5 = base64_decode(call->arena, text);
    if (!md5.ptr || md5.len > sizeof http->md5)
        return E_InvalidMd5;
    memcpy(http->md5, md5.ptr, md5.len);
    http->md5_size = (uint8_t)md5.len;
    http->has_md5 = true;
    return OK;
}

bool http_properties_are_sent(const struct call *call, enum http_header_names names)
{
    const struct property_names *const all[] = { &type_names,     &encoding_names,
                                                 &language_names, &disposition_names,
                                                 &cache_names,    &md5_names };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (call_header(call, all[i]->of[names]).ptr)
            return true;
    }
    return false;
}

enum error http_properties_read(struct call *call, enum http_header_names names,
                                enum standard_headers standard, struct http_properties *ret_http)
{
    struct http_properties http = { .has_md5 = false };
    const struct {
        const struct property_names *names;
        struct bytes *to;
    } properties[] = {
        { &type_names, &http.content_type },
        { &encoding_names, &http.content_encoding },
        { &language_names, &http.content_language },
        { &disposition_names, &http.content_disposition },
        { &cache_names, &http.cache_control },
    };
    enum error e = OK;

    for (size_t i = 0; i < sizeof properties / sizeof properties[0] && !e; i++)
        e = read_property(call, properties[i].names->of[names],
                          standard == STANDARD_USED ? properties[i].names->standard : NULL,
                          properties[i].to);
    if (!e)
        e = read_md5(call, md5_names.of[names], &http);
    if (!e)
        *ret_http = http;
    return e;
}

static void answer_property(struct answer *a, const char *name, struct bytes value,
                            enum sas_override which)
{
    const struct sas *sas = a->call->input.identity.sas;

    if (sas && sas->overrides[which].ptr)
        value = sas->overrides[which];
    if (value.ptr)
        answer_header(a, name, value);
}

void answer_http_properties(struct answer *a, const struct http_properties *http)
{
    answer_property(a, "Content-Type", http->content_type, OVERRIDE_CONTENT_TYPE);
    answer_property(a, "Content-Encoding", http->content_encoding, OVERRIDE_CONTENT_ENCODING);
    answer_property(a, "Content-Language", http->content_language, OVERRIDE_CONTENT_LANGUAGE);
    answer_property(a, "Content-Disposition", http->content_disposition,
                    OVERRIDE_CONTENT_DISPOSITION);
    answer_property(a, "Cache-Control", http->cache_control, OVERRIDE_CACHE_CONTROL);
}

void answer_http_md5(struct answer *a, const char *name, const struct http_properties *http)
{
    if (http->has_md5)
        answer_header(a, name, base64_encode(a->arena, bytes_of(http->md5, http->md5_size)));
}
