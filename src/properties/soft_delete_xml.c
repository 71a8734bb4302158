/* See properties_xml.h. */
#include "properties/properties_xml.h"

#include "base/dates.h"
#include "base/xml.h"

static const char *header_of(struct call *call, const char *kind, const char *part)
{
    return arena_printf(call->arena, "x-ms-deleted-%s-%s%c", kind, part, '\0').ptr;
}

/* Checks the headers. A container can be restored only under its own name. rest: Restore-Share,
 * "Remarks" */
enum error restore_headers_check(struct call *call, const char *kind, struct bytes name,
                                 instant *ret_deleted)
{
    const char *name_header = header_of(call, kind, "name");
    const char *version_header = header_of(call, kind, "version");
    struct bytes given = call_header(call, name_header);
    struct bytes version = call_header(call, version_header);

    if (given.len == 0)
        return call_fail_header(call, E_MissingRequiredHeader, name_header, given);
    if (version.len == 0)
        return call_fail_header(call, E_MissingRequiredHeader, version_header, version);
    if (!bytes_equal(given, name))
        return call_fail_header(call, E_InvalidHeaderValue, name_header, given);
    if (!deleted_version_parse(version, ret_deleted))
        return call_fail_header(call, E_InvalidHeaderValue, version_header, version);
    return OK;
}

/* ---- lists of deleted containers ---- */

void deleted_lease_xml(struct text *out)
{
    text_add_string(out, "<LeaseStatus>unlocked</LeaseStatus><LeaseState>expired</LeaseState>");
}

void deleted_days_xml(struct text *out, instant deleted, instant expires, instant now)
{
    xml_element_http_date(out, "DeletedTime", deleted);
    xml_element_u64(out, "RemainingRetentionDays", (expires - now) / TICKS_PER_DAY);
}

void deleted_version_xml(struct text *out, instant deleted)
{
    xml_element_string(out, "Deleted", "true");
    xml_element(out, "Version", deleted_version_text(out->arena, deleted));
}
