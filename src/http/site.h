/* Detects cross-site requests, which a browser sends on behalf of a page of another web site,
 * possibly under a name that the site has pointed at this machine (DNS rebinding). Pure functions.
 * decision: 551 */
#ifndef LAGRA_HTTP_SITE_H
#define LAGRA_HTTP_SITE_H

#include "base/url.h"
#include "http/http.h"

/* Returns true if the requested host is certainly this server. Over TLS that is any host, because
 * the certificate vouches for it; otherwise a name or loopback address of this machine, or one of
 * `names` ("a.example,b.example"). */
bool site_host_is_ours(struct arena *arena, const struct request *request, struct bytes names);
/* Returns true if the requested host is an IP address, which DNS rebinding cannot affect. */
bool site_host_is_address(struct arena *arena, const struct request *request);
/* Reads the requested host and port. Returns false if the request has none. */
bool site_read_authority(struct arena *arena, const struct request *request, struct url *ret_url);

/* Returns true if a page served from this port sent the request, according to Sec-Fetch-Site if
 * present, else Origin. source: W3C Fetch Metadata; rfc: 6454 7 */
bool site_is_own_page(const struct request *request);
/* Returns true if a page from another site or port sent the request. Programs other than browsers
 * send neither header. */
bool site_is_other_page(const struct request *request);
/* Returns true if a browser sent the request. Checks Accept-Language, which browsers add to every
 * request and pages cannot remove. The other headers are not sufficient: over plain HTTP, browsers
 * send no Sec-Fetch-Site, and no Origin with a same-origin GET. source: Fetch 4.5; rfc: 9110
 * 12.5.4 */
bool site_is_browser(const struct request *request);

#endif
