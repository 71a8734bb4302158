/* What any port must do (store/rados/port.h): the same tests for the fake and for a cluster. */
#ifndef LAGRA_TESTS_RADOS_CONFORMANCE_H
#define LAGRA_TESTS_RADOS_CONFORMANCE_H

#include "store/rados/port.h"

/* A pool without objects. */
struct port_under_test {
    struct port *port;
    /* Returns when all ops that were sent are done. */
    void (*settle)(struct port_under_test *under_test);
    void *context;
};

/* The tests of cmocka; *state is a struct port_under_test. */
void conformance_absent_objects(void **state);
void conformance_creation(void **state);
void conformance_compares_see_the_state_before(void **state);
void conformance_all_or_none(void **state);
void conformance_removal(void **state);
void conformance_last_change(void **state);
void conformance_lists(void **state);
void conformance_order(void **state);
void conformance_sizes(void **state);
void conformance_bytes(void **state);
void conformance_labels(void **state);
void conformance_names(void **state);

/* All of them, for an array of struct CMUnitTest. */
#define CONFORMANCE_TESTS(set_up, tear_down)                                                       \
    cmocka_unit_test_setup_teardown(conformance_absent_objects, set_up, tear_down),                \
        cmocka_unit_test_setup_teardown(conformance_creation, set_up, tear_down),                  \
        cmocka_unit_test_setup_teardown(conformance_compares_see_the_state_before, set_up,         \
                                        tear_down),                                                \
        cmocka_unit_test_setup_teardown(conformance_all_or_none, set_up, tear_down),               \
        cmocka_unit_test_setup_teardown(conformance_removal, set_up, tear_down),                   \
        cmocka_unit_test_setup_teardown(conformance_last_change, set_up, tear_down),               \
        cmocka_unit_test_setup_teardown(conformance_lists, set_up, tear_down),                     \
        cmocka_unit_test_setup_teardown(conformance_order, set_up, tear_down),                     \
        cmocka_unit_test_setup_teardown(conformance_sizes, set_up, tear_down),                     \
        cmocka_unit_test_setup_teardown(conformance_bytes, set_up, tear_down),                     \
        cmocka_unit_test_setup_teardown(conformance_labels, set_up, tear_down),                    \
        cmocka_unit_test_setup_teardown(conformance_names, set_up, tear_down)

#endif
