/* The properties of a blob or a file that HTTP has, as headers of requests and answers. */
#ifndef LAGRA_SERVICE_HTTP_HEADERS_H
#define LAGRA_SERVICE_HTTP_HEADERS_H

#include "service/answer.h"
#include "service/http_properties.h"

/* x-ms-blob-content-type.. or x-ms-content-type.. */
enum http_header_names { HTTP_HEADERS_OF_BLOB, HTTP_HEADERS_OF_FILE };
/* Is the plain header taken where that one is absent? */
enum standard_headers { STANDARD_IGNORED, STANDARD_USED };

/* returns OK; E_InvalidHeaderValue: a text that cannot be sent back; E_InvalidMd5: no base64, or longer
 * than MD5_STORED_MAX */
enum error http_properties_read(struct call *call, enum http_header_names names,
                                enum standard_headers standard, struct http_properties *ret_http);

/* Returns true if any of those headers was sent, if only empty. They are set together. */
bool http_properties_are_sent(const struct call *call, enum http_header_names names);

/* All but the MD5; or what a service SAS sets in their place.
 * rest: Create-service-SAS "Specify query parameters to override response headers" */
void answer_http_properties(struct answer *a, const struct http_properties *http);
/* Content-MD5 or x-ms-content-md5, if there is one. */
void answer_http_md5(struct answer *a, const char *name, const struct http_properties *http);

#endif
