/* Requests and XML of Get Page Ranges and List Ranges. */
#ifndef LAGRA_SERVICE_RANGE_LIST_XML_H
#define LAGRA_SERVICE_RANGE_LIST_XML_H

#include "service/answer.h"
#include "service/range_list.h"

/* Reads marker and maxresults. A list with either is paged.
 * returns  OK, E_InvalidQueryParameterValue, E_OutOfRangeQueryParameterValue */
enum error range_list_read_page(struct call *call, struct range_list *list);

/* Names of the XML elements. */
struct range_list_names {
    const char *list, *range; /* cleared ranges are always ClearRange */
};
void range_list_answer(struct answer *a, const struct range_list *list,
                       const struct range_list_names *names, const struct content_ranges *ranges);

#endif
