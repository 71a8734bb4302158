/* The pages of the console, compressed, as the build has made them of console/ (console/bundle). */
#ifndef LAGRA_CONSOLE_ASSETS_H
#define LAGRA_CONSOLE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *name; /* "index.html"; others have a hash of their content in their names */
    const char *type;
    const unsigned char *bytes; /* gzip */
    size_t size;
};

extern const struct asset console_assets[];
extern const size_t console_asset_count; /* 0: built without npm */

#endif
