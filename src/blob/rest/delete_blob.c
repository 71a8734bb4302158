/* Delete Blob as a request and as an answer. rest: Delete-Blob */
#include "blob/rest/request.h"

enum error delete_blob_check(struct call *call, struct delete_blob_parameters *p)
{
    static const char name[] = "x-ms-delete-snapshots";
    struct bytes text = call_header(call, name);
    enum error e = blob_refuse_unbuilt(call, REQUEST_DELETE);

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

void delete_blob_answer(struct answer *a, const struct delete_blob_parameters *p,
                        const struct delete_blob_result *r)
{
    (void)p;
    (void)r;
    if (call_since(a->call, "2017-07-29"))
        answer_string(a, "x-ms-delete-type-permanent", "true");
}
