/* CORS: the text's first lines are a rule's origins, methods and headers, and what a request
 * asks for. */
#include <stdlib.h>

#include "fuzz.h"
#include "properties/cors_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = bytes_of(data, size), parts[6] = { { NULL, 0 } };
    struct cors_rules rules = { .count = 1 };
    const struct cors_rule *rule;

    for (size_t i = 0; i < 6; i++)
        bytes_cut(rest.ptr ? rest : bytes_from_string(""), '\n', &parts[i], &rest);
    rules.items[0] = (struct cors_rule){ .origins = parts[0],
                                         .methods = parts[1],
                                         .allowed_headers = parts[2],
                                         .exposed_headers = parts[2] };
    rule = cors_rule_of(&rules, parts[3], parts[4]);
    if (rule && parts[4].len > rules.items[0].methods.len)
        abort();
    /* Who may have all, may have some. */
    if (cors_rule_allows(&rules.items[0], parts[5])) {
        struct bytes first, others;

        bytes_cut(parts[5], ',', &first, &others);
        if (!cors_rule_allows(&rules.items[0], first) || !cors_rule_allows(&rules.items[0], others))
            abort();
    }
    return 0;
}
