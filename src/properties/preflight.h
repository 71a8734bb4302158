/* Preflight: what a browser asks before a request to another origin. The same of every service, by
 * the row
 *
 *   OPERATION(preflight);
 *   ROW("Preflight Blob Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, .., &preflight_functions)
 *
 * It is about the service's CORS rules alone: what the target names need not be there, and nobody
 * is authenticated. preflight.c decides; cors.c reads and answers.
 * rest: Preflight-Blob-Request, Preflight-Queue-Request, Preflight-Table-Request */
#ifndef LAGRA_PROPERTIES_PREFLIGHT_H
#define LAGRA_PROPERTIES_PREFLIGHT_H

#include "service/decision.h"

struct preflight_parameters {
    struct parameters base;
    struct bytes origin;  /* where the page is from */
    struct bytes method;  /* of the request that is to follow */
    struct bytes headers; /* that it will have; ptr NULL: not said */
};
struct preflight_result {
    struct result base;
    uint64_t max_age_s; /* so long the answer holds */
};
OPERATION_DECLARE(preflight);

#endif
