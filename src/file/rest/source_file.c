#include "file/rest/source_file.h"

#include "base/codec.h"
#include "acl/permission_store.h"
#include "service/driver.h"

static bool is_file(const struct operation *operation)
{
    return strcmp(operation->name, "Get File Properties") == 0;
}

static const struct get_file_properties_result *result_of(const struct result *result)
{
    return (const struct get_file_properties_result *)(const void *)result;
}

static enum error read_facts(const struct operation *operation, const struct result *result,
                             struct source_facts *ret_facts)
{
    const struct file *file;

    if (!is_file(operation))
        return E_InvalidUri; /* share or directory */
    file = &result_of(result)->shown.file;
    *ret_facts = (struct source_facts){
        .content = file->content,
        .etag = file->etag,
        .http = file->http,
        .metadata = file->metadata,
    };
    return OK;
}

/* ---- for copies in other cells ---- */

struct finding {
    const struct get_file_properties_result *of;
    struct bytes descriptor;
};

static enum error find_descriptor(struct decision *d, void *context)
{
    struct finding *finding = context;
    uint64_t number = finding->of->shown.file.permission;

    return number == 0 ? OK : permission_find(d, finding->of->space, number, &finding->descriptor);
}

/* The permission's number means nothing in another cell, so its descriptor is sent. */
static enum error write(struct decision *d, const struct result *result, struct text *out)
{
    struct finding finding = { .of = result_of(result) };
    enum error e = deciding_run_unawaited(d, find_descriptor, &finding);

    deciding_end(d);
    if (e)
        return e;
    encode_bytes(out, file_encode(d->arena, &finding.of->shown.file));
    encode_bytes(out, finding.descriptor);
    return OK;
}

static const struct result *read(struct arena *arena, struct bytes text)
{
    struct get_file_properties_result *result = arena_alloc(arena, sizeof *result);
    struct decoder in;
    struct bytes file;

    decoder_init(&in, text);
    file = decode_bytes(&in);
    result->descriptor = decode_bytes(&in);
    return decoder_ok(&in) && file_decode(file, &result->shown.file) &&
                   result->shown.file.kind == TREE_FILE
               ? &result->base
               : NULL;
}

const struct source_functions file_source_functions = {
    .facts = read_facts,
    .write = write,
    .read = read,
};

const struct get_file_properties_result *source_file(const struct open_source *open)
{
    return open->is_own && is_file(open->operation) ? result_of(open->result) : NULL;
}
