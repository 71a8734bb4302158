/* Preflight: the request that a browser sends before a request to another origin. Every service has
 * it, through the row
 *
 *   OPERATION(preflight);
 *   ROW("Preflight Blob Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, .., &preflight_functions)
 *
 * It depends only on the service's CORS rules. The target need not exist, and no credentials are
 * checked. preflight.c decides; request/cors.c parses the request and renders the response.
 * rest: Preflight-Blob-Request, Preflight-Queue-Request, Preflight-Table-Request */
#ifndef LAGRA_PROPERTIES_PREFLIGHT_H
#define LAGRA_PROPERTIES_PREFLIGHT_H

#include "service/decision.h"

struct preflight_parameters {
    struct parameters base;
    struct bytes origin;  /* origin of the page */
    struct bytes method;  /* of the following request */
    struct bytes headers; /* of the following request; ptr NULL if not sent */
};
struct preflight_result {
    struct result base;
    uint64_t max_age_s; /* how long the browser may cache the response */
};
OPERATION_DECLARE(preflight);

#endif
