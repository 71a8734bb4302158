/* Encodes, decodes and compares metadata; see metadata.h and metadata_run.h. */
#include "service/metadata.h"

#include "base/xml.h"

#define PREFIX "x-ms-meta-"

/* Returns true for a C# identifier of ASCII letters, digits and underscores that does not start
 * with a digit.
 * rest: Naming-and-Referencing-Containers--Blobs--and-Metadata */
static bool is_identifier(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool digit = c >= '0' && c <= '9';

        if (!letter && !(digit && i > 0))
            return false;
    }
    return name.len > 0;
}

/* Returns true if the value has non-ASCII characters, which the real service refuses. decision:
 * 863 */
static bool has_others_than_ascii(struct bytes value)
{
    for (size_t i = 0; i < value.len; i++) {
        if ((unsigned char)value.ptr[i] >= 0x80)
            return true;
    }
    return false;
}

static bool next_pair(struct decoder *in, struct bytes *ret_name, struct bytes *ret_value)
{
    if (in->bad || in->at == in->end)
        return false;
    *ret_name = decode_bytes(in);
    *ret_value = decode_bytes(in);
    return !in->bad;
}

/* Returns the value of a name; ptr NULL if none exists. */
static struct bytes value_of(struct bytes metadata, struct bytes name)
{
    struct decoder in;
    struct bytes other, value;

    decoder_init(&in, metadata);
    while (next_pair(&in, &other, &value)) {
        if (bytes_equal_nocase(other, name))
            return value;
    }
    return (struct bytes){ NULL, 0 };
}

static bool has_name(struct bytes metadata, struct bytes name)
{
    return value_of(metadata, name).ptr;
}

/* Returns true if all pairs are also in `all`. Names in a run are unique. */
static bool is_part_of(struct bytes metadata, struct bytes all)
{
    struct decoder in;
    struct bytes name, value, other;

    decoder_init(&in, metadata);
    while (next_pair(&in, &name, &value)) {
        other = value_of(all, name);
        if (!other.ptr || !bytes_equal(other, value))
            return false;
    }
    return true;
}

bool metadata_equal(struct bytes a, struct bytes b)
{
    return is_part_of(a, b) && is_part_of(b, a);
}

bool metadata_next(struct bytes *rest, struct bytes *ret_name, struct bytes *ret_value)
{
    struct decoder in;

    decoder_init(&in, *rest);
    if (!next_pair(&in, ret_name, ret_value))
        return false;
    *rest = bytes_from(*rest, rest->len - (size_t)(in.end - in.at));
    return true;
}

enum error metadata_add(struct call *call, struct text *run, size_t *total, struct bytes name,
                        struct bytes value)
{
    if (name.len == 0)
        return E_EmptyMetadataKey;
    if (!is_identifier(name) || http_has_control(value, '\t') ||
        (has_others_than_ascii(value) && !call->loose))
        return call_fail_header(call, E_InvalidMetadata, PREFIX, name);
    *total += name.len + value.len;
    if (*total > METADATA_MAX_BYTES)
        return call_fail(call, E_MetadataTooLarge, "At most %d bytes.", METADATA_MAX_BYTES);
    if (has_name(text_bytes(run), name))
        return call_fail_header(call, E_InvalidMetadata, PREFIX, name);
    encode_bytes(run, name);
    encode_bytes(run, value);
    return OK;
}

enum error metadata_from_headers(struct call *call, struct bytes *ret_metadata)
{
    const struct request *request = call->request;
    struct bytes prefix = BYTES(PREFIX);
    struct text out;
    size_t total = 0;

    text_init(&out, call->arena, 0);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        enum error e;

        if (!bytes_has_prefix(header->name, prefix))
            continue;
        e = metadata_add(call, &out, &total, bytes_from(header->name_as_sent, prefix.len),
                         header->value);
        if (e)
            return e;
    }
    *ret_metadata = text_bytes(&out);
    return OK;
}

void metadata_answer(struct answer *a, struct bytes metadata)
{
    struct decoder in;
    struct bytes name, value;

    decoder_init(&in, metadata);
    while (next_pair(&in, &name, &value)) {
        struct text header;

        text_init(&header, a->arena, sizeof PREFIX + name.len);
        text_add_string(&header, PREFIX);
        text_add(&header, name);
        response_header(a->response, text_bytes(&header), arena_copy(a->arena, value));
    }
}

void metadata_xml(struct text *out, struct bytes metadata)
{
    struct decoder in;
    struct bytes name, value;

    if (metadata.len == 0) {
        text_add_string(out, "<Metadata />");
        return;
    }
    xml_open(out, "Metadata");
    decoder_init(&in, metadata);
    while (next_pair(&in, &name, &value)) {
        text_printf(out, "<%.*s>", BYTES_ARG(name));
        xml_escape(out, value);
        text_printf(out, "</%.*s>", BYTES_ARG(name));
    }
    xml_close(out, "Metadata");
}
