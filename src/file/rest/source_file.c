#include "file/rest/source_file.h"

static bool is_file(const struct operation *operation)
{
    return strcmp(operation->name, "Get File Properties") == 0;
}

static const struct get_file_properties_result *result_of(const struct result *result)
{
    return (const struct get_file_properties_result *)(const void *)result;
}

enum error file_source(const struct operation *operation, const struct result *result,
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

const struct get_file_properties_result *source_file(const struct open_source *open)
{
    return open->is_own && is_file(source_read_operation(open->inner))
               ? result_of(source_read_result(open->inner))
               : NULL;
}
