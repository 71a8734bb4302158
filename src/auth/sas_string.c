/* The string to sign of a SAS: a line per field, empty if the field is absent.
 * rest: Create-account-SAS, Create-service-SAS, Create-user-delegation-SAS "Specify the signature"
 *
 * The fields added by each version (sv) follow the reference and the clients' own builders, from
 * which tests/unit/auth/sas_vectors.mjs generates test vectors. */
#include "auth/sas_private.h"

#include <assert.h>

#include "base/encode.h"
#include "base/url.h"

struct writer {
    struct text out;
    const struct request *request;
    const struct sas_fields *fields;
    const struct auth_target *target;
};

static void add_line(struct writer *w, struct bytes value)
{
    text_add(&w->out, value);
    text_add_char(&w->out, '\n');
}

static void add_field(struct writer *w, enum sas_field field)
{
    add_line(w, w->fields->is[field]);
}

static void add_fields(struct writer *w, enum sas_field first, enum sas_field last)
{
    for (enum sas_field field = first; field <= last; field++)
        add_field(w, field);
}

/* ---- account SAS ---- */

static void add_account(struct writer *w)
{
    add_line(w, w->target->name);
    add_field(w, SAS_PERMISSIONS);
    add_field(w, SAS_SERVICES);
    add_field(w, SAS_TYPES);
    add_field(w, SAS_START);
    add_field(w, SAS_EXPIRY);
    add_field(w, SAS_ADDRESSES);
    add_field(w, SAS_PROTOCOL);
    add_field(w, SAS_VERSION);
    if (sas_since(w->fields, "2020-12-06"))
        add_field(w, SAS_ENCRYPTION_SCOPE);
}

/* ---- service and user delegation SAS ---- */

static const char *service_name(char service)
{
    switch (service) {
    case 'q':
        return "queue";
    case 't':
        return "table";
    case 'f':
        return "file";
    default:
        assert(service == 'b');
        return "blob";
    }
}

/* Returns true if the SAS is for an entire container, queue, table or share. */
static bool is_of_container(const struct writer *w)
{
    struct bytes resource = w->fields->is[SAS_RESOURCE];

    return !resource.ptr || w->target->service == 'q' ||
           bytes_is(resource, w->target->service == 'f' ? "s" : "c");
}

static bool is_of_directory(const struct writer *w)
{
    return sas_is_of_directory(w->fields, w->target);
}

/* Adds "/blob/account/container/blob"; a table is named in lower case, from the parameter tn. */
static void add_resource(struct writer *w)
{
    const struct auth_target *target = w->target;
    struct bytes container = target->container;

    if (target->service == 't')
        container = arena_copy_lower(w->out.arena, w->fields->is[SAS_TABLE]);
    if (sas_since(w->fields, "2015-02-21")) {
        text_add_char(&w->out, '/');
        text_add_string(&w->out, service_name(target->service));
    }
    text_add_char(&w->out, '/');
    text_add(&w->out, target->name);
    text_add_char(&w->out, '/');
    text_add(&w->out, container);
    if (!is_of_container(w)) {
        text_add_char(&w->out, '/');
        text_add(&w->out, is_of_directory(w) ? w->fields->directory : target->object);
    }
    text_add_char(&w->out, '\n');
}

/* Adds sr, and for the SAS of a blob the snapshot or version of the request, because it must not
 * grant access to the blob's snapshots and versions. The SAS of a container or directory does.
 * decisions: 71, 805 */
static void add_blob_resource(struct writer *w)
{
    add_field(w, SAS_RESOURCE);
    if (!is_of_container(w) && !is_of_directory(w)) {
        text_add(&w->out, w->fields->is[SAS_SNAPSHOT]);
        text_add(&w->out, w->fields->is[SAS_VERSION_ID]);
    }
    text_add_char(&w->out, '\n');
}

static void add_key(struct writer *w)
{
    add_fields(w, SAS_KEY_OID, SAS_KEY_VERSION);
    if (w->target->service == 'b' && sas_since(w->fields, "2020-02-10"))
        add_fields(w, SAS_AUTHORIZED_OID, SAS_CORRELATION);
    if (sas_since(w->fields, "2025-07-05"))
        add_fields(w, SAS_KEY_USER_TID, SAS_USER_OID);
}

/* Adds "name:value\n" for each named header, and the line feed. */
static void add_signed_headers(struct writer *w)
{
    struct bytes rest = w->fields->is[SAS_HEADERS], name;

    while (rest.len > 0) {
        bytes_cut(rest, ',', &name, &rest);
        text_add(&w->out, name);
        text_add_char(&w->out, ':');
        if (name.len > 0)
            text_add(&w->out,
                     request_find_header(w->request, arena_copy_lower(w->out.arena, name)));
        text_add_char(&w->out, '\n');
    }
    text_add_char(&w->out, '\n');
}

/* Adds "\nname:value" for each named parameter, and the line feed. */
static void add_signed_parameters(struct writer *w)
{
    struct bytes rest = w->fields->is[SAS_PARAMETERS], name;

    while (rest.len > 0) {
        bytes_cut(rest, ',', &name, &rest);
        text_add_char(&w->out, '\n');
        text_add(&w->out, name);
        text_add_char(&w->out, ':');
        text_add(&w->out, sas_parameter(w->out.arena, w->request->query, name));
    }
    text_add_char(&w->out, '\n');
}

static void add_service(struct writer *w)
{
    const struct sas_fields *fields = w->fields;
    char service = w->target->service;
    bool delegated = fields->kind == SAS_DELEGATION;

    add_field(w, SAS_PERMISSIONS);
    add_field(w, SAS_START);
    add_field(w, SAS_EXPIRY);
    add_resource(w);
    if (delegated)
        add_key(w);
    else
        add_field(w, SAS_POLICY);
    if (sas_since(fields, "2015-04-05"))
        add_fields(w, SAS_ADDRESSES, SAS_PROTOCOL);
    add_field(w, SAS_VERSION);
    if (service == 'b' && sas_since(fields, "2018-11-09"))
        add_blob_resource(w);
    if (service == 'b' && sas_since(fields, "2020-12-06"))
        add_field(w, SAS_ENCRYPTION_SCOPE);
    if (delegated && service == 'b' && sas_since(fields, "2026-04-06")) {
        add_signed_headers(w);
        add_signed_parameters(w);
    }
    if ((service == 'b' || service == 'f') && sas_since(fields, "2013-08-15"))
        add_fields(w, SAS_CACHE_CONTROL, SAS_CONTENT_TYPE);
    if (service == 't')
        add_fields(w, SAS_START_PARTITION, SAS_END_ROW);
    w->out.len--; /* no line feed after the last line */
}

struct bytes sas_string(struct arena *arena, const struct request *request,
                        const struct sas_fields *fields, const struct auth_target *target)
{
    struct writer w = { .request = request, .fields = fields, .target = target };

    text_init(&w.out, arena, 512 + target->container.len + target->object.len);
    if (fields->kind == SAS_ACCOUNT)
        add_account(&w);
    else
        add_service(&w);
    return text_bytes(&w.out);
}
