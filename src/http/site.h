/* Detects requests that a browser sends on behalf of pages of other web sites, possibly under a
 * name that they have pointed at this machine (DNS rebinding). Pure functions. decision: 551 */
#ifndef LAGRA_HTTP_SITE_H
#define LAGRA_HTTP_SITE_H

#include "base/url.h"
#include "http/http.h"

/* Returns true if the host in the request is certainly this server: any host over TLS, whose
 * certificate vouches for it; else a name or loopback address of this machine, or one of `names`
 * ("a.example,b.example"). */
bool site_host_is_ours(struct arena *arena, const struct request *request, struct bytes names);
/* Returns true if that host is an IP address, which DNS cannot point elsewhere. */
bool site_host_is_address(struct arena *arena, const struct request *request);
/* Reads the host and port of the request. Returns false if it has none. */
bool site_read_authority(struct arena *arena, const struct request *request, struct url *ret_url);

/* Returns true if the request was sent by a page served from this port, according to Sec-Fetch-Site
 * if the browser sends it, else Origin. source: W3C Fetch Metadata; rfc: 6454 7 */
bool site_is_own_page(const struct request *request);
/* Returns true if the request was sent by a page from another site or port. Programs other than
 * browsers send neither header. */
bool site_is_other_page(const struct request *request);
/* Returns true if a browser sent the request. Browsers add Accept-Language to every request, and
 * pages cannot remove it. The other headers are not enough: over HTTP, browsers send no
 * Sec-Fetch-Site, and no Origin with a GET for the page's own site. source: Fetch 4.5;
 * rfc: 9110 12.5.4 */
bool site_is_browser(const struct request *request);

#endif
