/* The console's pages, plain and compressed, which the build creates from console/
 * (console/bundle). */
#ifndef LAGRA_CONSOLE_ASSETS_H
#define LAGRA_CONSOLE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *name; /* "index.html"; other names contain a hash of the content */
    const char *type;
    const char *hash;           /* hash of the content, for ETags */
    const unsigned char *bytes; /* plain */
    size_t size;
    const unsigned char *gzip;
    size_t gzip_size;
};

extern const struct asset console_assets[];
extern const size_t console_asset_count; /* 0 if built without npm */

#endif
