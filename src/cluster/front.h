/* The front end's HTTP application: passes requests to the service while this process owns the cell,
 * and rejects them with 503 until then. A process goes from standing by to serving once, and never back:
 * it ends when it loses its cell.
 *
 *   standing by  GET /-/live   200
 *                GET /-/ready  503, and why in the body
 *                all else      503 ServerBusy with Retry-After
 *   serving      the service's responses, while the tenure holds; afterwards connections are closed
 *                without a response
 *
 * Requests for cells of other front ends will be forwarded from here. */
#ifndef LAGRA_CLUSTER_FRONT_H
#define LAGRA_CLUSTER_FRONT_H

#include "base/tenure.h"
#include "http/http.h"

/* The state that all doors of a process share. */
struct front {
    atomic_bool serves; /* what follows is set, and does not change any more */
    const struct tenure *tenure;
};

/* What request.listener_tag points to: one service. */
struct front_door {
    struct front *front;
    const struct http_application *application; /* of the service */
    void *tag;                                  /* its listener_tag, once the front serves */
    bool is_json;                               /* errors of the Table service */
};

/* Returns the application of the doors; `service` is the one of their services. */
struct http_application front_application_for(const struct http_application *service);
/* Has the doors pass requests on from now on. Main thread, once. */
void front_serve(struct front *front, const struct tenure *tenure);

#endif
