/* Fence commands: cluster/fence.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/fence.h"

static char path[64], output[80];

static int make_script(const char *script)
{
    FILE *file = fopen(path, "w");

    if (!file)
        return -1;
    fputs(script, file);
    fclose(file);
    return chmod(path, 0700);
}

static void setup(void)
{
    snprintf(path, sizeof path, "%s", "/tmp/lagra-fence-XXXXXX");
    close(mkstemp(path));
    snprintf(output, sizeof output, "%s.out", path);
}

static bool run(const char *script)
{
    struct owner_record record;
    struct owner_identity self;

    memset(&record, 0, sizeof record);
    memset(&self, 0, sizeof self);
    record.cell = 12;
    record.owner.pid = 99;
    snprintf(record.owner.name, sizeof record.owner.name, "%s", "one; exit 7");
    snprintf(record.owner.address, sizeof record.owner.address, "%s", "192.0.2.1:10000");
    snprintf(self.client, sizeof self.client, "%s", "client5");
    assert_int_equal(make_script(script), 0);
    return fence_run(path, &record, &self);
}

/* Arguments are passed as they are, empty ones too, and no shell reads them. */
static void arguments(void **state)
{
    char read[256] = "";
    char script[256];
    FILE *file;

    (void)state;
    setup();
    snprintf(script, sizeof script, "#!/bin/sh\nfor a; do echo \"[$a]\"; done > %s\n", output);
    assert_true(run(script));
    file = fopen(output, "r");
    assert_non_null(file);
    assert_true(fread(read, 1, sizeof read - 1, file) > 0);
    fclose(file);
    assert_string_equal(read, "[12]\n[one; exit 7]\n[192.0.2.1:10000]\n[]\n[99]\n"
                              "[00000000-0000-0000-0000-000000000000]\n[client5]\n");
    unlink(path);
    unlink(output);
}

/* Success is exit code 0, and nothing else. */
static void outcomes(void **state)
{
    struct owner_record record;
    struct owner_identity self;

    (void)state;
    setup();
    assert_true(run("#!/bin/sh\nexit 0\n"));
    assert_false(run("#!/bin/sh\nexit 1\n"));
    assert_false(run("#!/bin/sh\nkill -9 $$\n"));
    unlink(path);
    memset(&record, 0, sizeof record);
    memset(&self, 0, sizeof self);
    assert_false(fence_run("/nonexistent/command", &record, &self));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments),
        cmocka_unit_test(outcomes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
