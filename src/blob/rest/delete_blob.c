/* Requests and responses of Delete Blob and Undelete Blob. rest: Delete-Blob, Undelete-Blob */
#include "blob/rest/request.h"

/* ---- Delete Blob ---- */

/* The value "permanent" selects another operation. */
static enum error check_delete_type(struct call *call)
{
    struct bytes type = call_query(call, "deletetype");

    return type.ptr ? call_fail_query(call, E_InvalidQueryParameterValue, "deletetype", type,
                                      "The only value is permanent.")
                    : OK;
}

enum error delete_blob_check(struct call *call, struct delete_blob_parameters *p)
{
    static const char name[] = "x-ms-delete-snapshots";
    struct bytes text = call_header(call, name);
    enum error e = blob_refuse_unbuilt(call, REQUEST_DELETE);

    if (!e)
        e = check_delete_type(call);
    if (e)
        return e;
    if (text.len == 0)
        p->snapshots = SNAPSHOTS_REFUSED;
    else if (bytes_is_nocase(text, "include"))
        p->snapshots = SNAPSHOTS_INCLUDED;
    else if (bytes_is_nocase(text, "only"))
        p->snapshots = SNAPSHOTS_ONLY;
    else
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    if (!blob_ref_is_base(blob_resource(call->input.resource)->ref) &&
        p->snapshots != SNAPSHOTS_REFUSED)
        return E_InvalidOperation;
    return OK;
}

static void answer_delete_type(struct answer *a, bool is_permanent)
{
    if (call_since(a->call, "2017-07-29"))
        answer_string(a, "x-ms-delete-type-permanent", is_permanent ? "true" : "false");
}

void delete_blob_answer(struct answer *a, const struct delete_blob_parameters *p,
                        const struct delete_blob_result *r)
{
    (void)p;
    answer_delete_type(a, !r->is_kept);
}

/* ---- permanent deletion ---- */

enum error delete_blob_permanently_check(struct call *call,
                                         struct delete_blob_permanently_parameters *p)
{
    struct bytes snapshots = call_header(call, "x-ms-delete-snapshots");
    enum error e = blob_refuse_unbuilt(call, REQUEST_DELETE);

    (void)p;
    if (!e && snapshots.ptr)
        e = call_fail_header(call, E_InvalidHeaderValue, "x-ms-delete-snapshots", snapshots);
    return e;
}

void delete_blob_permanently_answer(struct answer *a,
                                    const struct delete_blob_permanently_parameters *p,
                                    const struct delete_blob_permanently_result *r)
{
    (void)p;
    (void)r;
    answer_delete_type(a, true);
}

/* ---- Undelete Blob ---- */

/* x-ms-undelete-source is not supported: it names a deletion in an account with a hierarchical
 * namespace. */
enum error undelete_blob_check(struct call *call, struct undelete_blob_parameters *p)
{
    (void)p;
    return blob_refuse_unbuilt(call, REQUEST_UNDELETE);
}

OPERATION_ANSWERS_NOTHING(undelete_blob)
