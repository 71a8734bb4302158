#include "random_op.h"

uint64_t draw(uint64_t *random, uint64_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % below;
}

/* Up to four names of three. */
static const char *random_path(uint64_t *random, char room[16])
{
    size_t depth = 1 + draw(random, 4), used = 0;

    for (size_t i = 0; i < depth; i++) {
        room[used++] = (char)('a' + draw(random, 3));
        room[used++] = '/';
    }
    room[used - 1] = '\0';
    return room;
}

struct op random_op(uint64_t *random, char path[16], char to[16])
{
    static const enum op_kind kinds[] = { OP_FIND,           OP_MAKE_FILE, OP_MAKE_DIRECTORY,
                                          OP_MAKE_DIRECTORY, OP_DELETE,    OP_REPLACE,
                                          OP_RENAME,         OP_RENAME,    OP_RENAME_OVER,
                                          OP_RENAME_OVER,    OP_LIST,      OP_TAG };

    return (struct op){ kinds[draw(random, sizeof kinds / sizeof kinds[0])],
                        random_path(random, path), random_path(random, to),
                        (char)('A' + draw(random, 26)), 0 };
}
