/* See rados_command.h. */
#include "program/rados_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/cluster.h"

const struct command_option rados_init_options[] = {
    { "unsafe", NULL, "take settings of the cluster that may lose data" },
    { NULL, NULL, NULL },
};

static void say(const char *sentence)
{
    fprintf(stderr, "lagra: %s\n", sentence);
}

int rados_init_run(const struct command_call *call)
{
    const char *place = call->words[0], *problem = "it must be rados:CONF:POOL";
    size_t prefix = strlen(CLUSTER_PREFIX);

    if (strncmp(place, CLUSTER_PREFIX, prefix) == 0 &&
        !store_init_cluster(place + prefix, command_value(call, "unsafe") != NULL, say, &problem)) {
        printf("%s has a store: lagra --store %s\n", place, place);
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "lagra: no store in %s: %s\n", place, problem);
    return EXIT_FAILURE;
}

int rados_upgrade_run(const struct command_call *call)
{
    const char *place = call->words[0], *problem = "it must be rados:CONF:POOL";
    size_t prefix = strlen(CLUSTER_PREFIX);
    unsigned format;

    if (strncmp(place, CLUSTER_PREFIX, prefix) == 0 &&
        !store_raise_cluster(place + prefix, &format, &problem)) {
        printf("%s has format %u\n", place, format);
        return EXIT_SUCCESS;
    }
    fprintf(stderr, "lagra: the format of %s stays as it is: %s\n", place, problem);
    return EXIT_FAILURE;
}
