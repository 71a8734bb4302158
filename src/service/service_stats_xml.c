/* Get Service Stats as a request and as an answer.
 * rest: Get-Blob-Service-Stats, Get-Queue-Service-Stats, Get-Table-Service-Stats */
#include "base/xml.h"
#include "service/answer.h"
#include "service/service_properties.h"

/* Only the secondary endpoint has it; the primary's answer as recorded. */
enum error get_service_stats_check(struct call *call, struct get_service_stats_parameters *p)
{
    (void)p;
    if (!call->secondary)
        return call_fail_query(call, E_InvalidQueryParameterValue, "comp", call_query(call, "comp"),
                               "");
    return OK;
}

void get_service_stats_answer(struct answer *a, const struct get_service_stats_parameters *p,
                              const struct get_service_stats_result *r)
{
    char date[INSTANT_HTTP_SIZE];
    struct text out;

    (void)p;
    instant_format_http(r->last_sync, date);
    text_init(&out, a->arena, 256);
    xml_begin(&out);
    xml_open(&out, "StorageServiceStats");
    xml_open(&out, "GeoReplication");
    xml_element_string(&out, "Status", "live");
    xml_element_string(&out, "LastSyncTime", date);
    xml_close(&out, "GeoReplication");
    xml_close(&out, "StorageServiceStats");
    answer_xml(a, 200, &out);
}
