#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/machine.h"
#include "support/check.h"

static void test_memory(void **state) {
    (void)state;
    int64_t memory = firn_machine_memory();
    int64_t physical = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    print_message("%lld of %lld bytes\n", (long long)memory, (long long)physical);
    assert_true(memory > 0);
    assert_true(memory <= physical);
    assert_true(firn_machine_memory() == memory);
}

/* A limit at the root of the hierarchy is one for this process too. */
static void test_limit_of_the_root(void **state) {
    (void)state;
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "r");
        if (file == NULL) continue;
        long long limit = 0;
        int found = fscanf(file, "%lld", &limit);
        fclose(file);
        if (found == 1 && limit > 0) assert_true(firn_machine_memory() <= limit);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_limit_of_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
