/* HTTP properties of a blob's or a file's content, set together by the operations that set
 * properties. */
#ifndef LAGRA_SERVICE_HTTP_PROPERTIES_H
#define LAGRA_SERVICE_HTTP_PROPERTIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define MD5_STORED_MAX 64
struct http_properties {
    struct bytes content_type, content_encoding, content_language, content_disposition,
        cache_control; /* ptr NULL if none */
    bool has_md5;
    uint8_t md5_size; /* size of the MD5, or of the value sent instead of one */
    uint8_t md5[MD5_STORED_MAX];
};

#endif
