/* The directory of a SAS with sr=d. Names have no hierarchy, so a directory is the part of a name
 * before one of its slashes. sdd, its number of segments, is not signed, but the directory is.
 * rest: Create-service-SAS, Create-user-delegation-SAS "directory-scoped access"; decisions: 71,
 * 975 */
#include "auth/sas_private.h"

/* Maximum number of segments in a name. */
#define DEPTH_MAX 1024

bool sas_is_of_directory(const struct sas_fields *fields, const struct auth_target *target)
{
    return target->service == 'b' && fields->kind != SAS_ACCOUNT &&
           bytes_is(fields->is[SAS_RESOURCE], "d");
}

/* Returns the length of the first `depth` segments, or 0 if no slash follows them. */
static size_t directory_length(struct bytes path, uint64_t depth)
{
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '/' && --depth == 0)
            return i;
    }
    return 0;
}

/* Returns the decoded prefix of a List Blobs request; ptr NULL for other requests. */
static struct bytes listed_prefix(struct arena *arena, const struct request *request)
{
    if (!bytes_is(sas_parameter(arena, request->query, bytes_from_string("comp")), "list") ||
        !bytes_is(sas_parameter(arena, request->query, bytes_from_string("restype")), "container"))
        return bytes_of(NULL, 0);
    return sas_parameter(arena, request->query, bytes_from_string("prefix"));
}

void sas_directory_find(struct arena *arena, const struct request *request,
                        const struct auth_target *target, struct sas_fields *fields)
{
    struct bytes path = target->object;
    uint64_t depth;
    size_t length;

    if (!sas_is_of_directory(fields, target) ||
        !bytes_parse_u64(fields->is[SAS_DEPTH], DEPTH_MAX, &depth) || depth == 0)
        return;
    if (!path.ptr)
        path = listed_prefix(arena, request);
    length = directory_length(path, depth);
    if (length > 0)
        fields->directory = bytes_of(path.ptr, length);
}

enum error sas_directory_check(const struct sas_fields *fields, struct bytes *ret_detail)
{
    const char *detail =
        "The request names no blob or list prefix below a directory of the SAS's depth (sdd).";

    if (fields->directory.ptr)
        return OK;
    if (fields->is[SAS_DEPTH].len == 0)
        detail = "sdd is mandatory. Cannot be empty";
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}
