/* HTTP properties of a blob or a file as request and response headers. */
#ifndef LAGRA_SERVICE_HTTP_HEADERS_H
#define LAGRA_SERVICE_HTTP_HEADERS_H

#include "service/answer.h"
#include "service/http_properties.h"

/* Select x-ms-blob-content-type etc. or x-ms-content-type etc. */
enum http_header_names { HTTP_HEADERS_OF_BLOB, HTTP_HEADERS_OF_FILE };
/* Selects whether the standard header replaces a missing x-ms- header. */
enum standard_headers { STANDARD_IGNORED, STANDARD_USED };

/* Reads the properties. Returns OK; E_InvalidHeaderValue if a value cannot be sent back;
 * E_InvalidMd5 if it is not base64 or is longer than MD5_STORED_MAX. */
enum error http_properties_read(struct call *call, enum http_header_names names,
                                enum standard_headers standard, struct http_properties *ret_http);

/* Returns true if any of these headers was sent, even if empty. They are set together. */
bool http_properties_are_sent(const struct call *call, enum http_header_names names);

/* Adds all properties except the MD5. A service SAS can override them.
 * rest: Create-service-SAS "Specify query parameters to override response headers" */
void answer_http_properties(struct answer *a, const struct http_properties *http);
/* Adds the MD5 under this name (Content-MD5 or x-ms-content-md5), if there is one. */
void answer_http_md5(struct answer *a, const char *name, const struct http_properties *http);

#endif
