/* See table_json.h. Names of tables and accounts need no escaping; a host comes from the client. */
#include "table/rest/table_json.h"

#include "base/json.h"

static void add_url(struct text *out, const struct call *call, const char *name, struct bytes rest)
{
    text_printf(out, "\"%s\":", name);
    json_write_string(
        out, arena_printf(out->arena, "%.*s/%.*s", BYTES_ARG(call->url_prefix), BYTES_ARG(rest)));
}

/* Writes the members of the object except odata.metadata. */
static void add_members(struct text *out, const struct call *call, enum odata_metadata metadata,
                        struct bytes name)
{
    if (metadata == ODATA_FULL_METADATA) {
        struct bytes path = arena_printf(out->arena, "Tables('%.*s')", BYTES_ARG(name));

        text_printf(out, "\"odata.type\":\"%.*s.Tables\",", BYTES_ARG(call->account_name));
        add_url(out, call, "odata.id", path);
        text_printf(out, ",\"odata.editLink\":\"%.*s\",", BYTES_ARG(path));
    }
    text_printf(out, "\"TableName\":\"%.*s\"", BYTES_ARG(name));
}

void table_json_write(struct text *out, const struct call *call, enum odata_metadata metadata,
                      struct bytes name)
{
    text_add_char(out, '{');
    if (metadata != ODATA_NO_METADATA) {
        add_url(out, call, "odata.metadata", bytes_from_string("$metadata#Tables/@Element"));
        text_add_char(out, ',');
    }
    add_members(out, call, metadata, name);
    text_add_char(out, '}');
}

void table_list_begin(struct text *out, const struct call *call, enum odata_metadata metadata)
{
    text_add_char(out, '{');
    if (metadata != ODATA_NO_METADATA) {
        add_url(out, call, "odata.metadata", bytes_from_string("$metadata#Tables"));
        text_add_char(out, ',');
    }
    text_add_string(out, "\"value\":[");
}

void table_list_add(struct text *out, const struct call *call, enum odata_metadata metadata,
                    struct bytes name)
{
    if (out->ptr[out->len - 1] == '}')
        text_add_char(out, ',');
    text_add_char(out, '{');
    add_members(out, call, metadata, name);
    text_add_char(out, '}');
}

void table_list_end(struct text *out)
{
    text_add_string(out, "]}");
}
