/* Requests that pages of other web sites have a browser send, perhaps under a name of their own that they have pointed
 * at this machine (DNS rebinding). Pure functions. decision: 551 */
#ifndef LAGRA_HTTP_SITE_H
#define LAGRA_HTTP_SITE_H

#include "base/url.h"
#include "http/http.h"

/* Returns whether the host that the request names is certainly this server's: any host over TLS, whose certificate
 * vouches for it; else a name or loopback address of this machine, or one of `names` ("a.example,b.example"). */
bool site_host_is_ours(struct arena *arena, const struct request *request, struct bytes names);
/* Returns whether that host is an IP address, which DNS cannot point elsewhere. */
bool site_host_is_address(struct arena *arena, const struct request *request);
/* Reads the host and port that the request names. Returns false if it names none. */
bool site_read_authority(struct arena *arena, const struct request *request, struct url *ret_url);

/* Returns whether a page of this port sends the request, by Sec-Fetch-Site if the browser sends it, else by Origin.
 * source: W3C Fetch Metadata; rfc: 6454 7 */
bool site_is_own_page(const struct request *request);
/* Returns whether a page of another site or port sends it. Programs that are no browsers send neither header. */
bool site_is_other_page(const struct request *request);
/* Returns whether a browser sends it: browsers add Accept-Language to every request, and pages cannot remove it; over HTTP they send
 * no Sec-Fetch-Site, and no Origin with a GET for the site of the page. source: Fetch 4.5; rfc: 9110 12.5.4 */
bool site_is_browser(const struct request *request);

#endif
