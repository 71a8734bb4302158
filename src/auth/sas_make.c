/* See sas_make.h. */
#include "auth/sas_make.h"

#include "auth/sas_private.h"
#include "base/url.h"

/* Parses a date. An empty text is valid and leaves *ret_date unchanged. */
static bool read_date(struct bytes text, instant *ret_date)
{
    return text.len == 0 || instant_parse_iso(text, ret_date);
}

static const char *check_dates(const struct sas_fields *fields)
{
    instant start = 0, expiry = INSTANT_MAX, key_start = 0, key_expiry = INSTANT_MAX;

    if (!read_date(fields->is[SAS_START], &start) || !read_date(fields->is[SAS_EXPIRY], &expiry) ||
        !read_date(fields->is[SAS_KEY_START], &key_start) ||
        !read_date(fields->is[SAS_KEY_EXPIRY], &key_expiry))
        return "Times must have the form 2030-01-02T03:04Z or 2030-01-02.";
    return expiry <= start || key_expiry <= key_start ? "The expiry must be after the start."
                                                      : NULL;
}

/* Returns the name that requests are checked against; for a directory, the prefix of all names
 * below it.
 * decision: 39 */
static struct bytes stored_name(struct arena *arena, const struct sas_making *making)
{
    if (making->service != 'b' || !making->object.ptr)
        return making->object;
    return making->is_directory
               ? arena_printf(arena, "%.*s/", BYTES_ARG(url_normalize_path(arena, making->object)))
               : url_normalize_path(arena, making->object);
}

struct bytes sas_make_string(struct arena *arena, const struct sas_making *making,
                             struct bytes *ret_problem)
{
    const struct auth_target target = { .service = making->service,
                                        .name = making->account,
                                        .container = making->container,
                                        .object = stored_name(arena, making) };
    const struct request request = { .query = making->query };
    struct sas_fields fields;
    const char *problem = NULL;

    *ret_problem = bytes_from_string("The fields are not well formed.");
    if (!sas_fields_read(arena, making->query, &fields))
        return bytes_of(NULL, 0);
    sas_directory_find(arena, &request, &target, &fields);
    if (sas_check_form(&fields, &target, ret_problem))
        return bytes_of(NULL, 0);
    problem = check_dates(&fields);
    if (problem) {
        *ret_problem = bytes_from_string(problem);
        return bytes_of(NULL, 0);
    }
    return sas_string(arena, &request, &fields, &target);
}
