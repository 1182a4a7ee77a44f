/* Progress goes to a terminal and nowhere else. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "support/check.h"

/* Runs some progress with standard error at `descriptor`. */
static void run(int descriptor, bool wanted) {
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0);
    assert_true(dup2(descriptor, STDERR_FILENO) >= 0);
    firn_progress progress;
    firn_progress_begin(&progress, "compacting", 2048, wanted);
    firn_progress_advance(&progress, 512);
    usleep(200000);
    firn_progress_advance(&progress, 512);
    firn_progress_end(&progress);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
}

/* Counts files, with standard error at `descriptor`; what comes soon after another line is not shown. */
static void tell(int descriptor) {
    int before = dup(STDERR_FILENO);
    assert_true(before >= 0);
    assert_true(dup2(descriptor, STDERR_FILENO) >= 0);
    firn_progress progress;
    firn_progress_begin(&progress, NULL, 0, true);
    usleep(200000);
    firn_progress_tell(&progress, "reading footers", 1, 4);
    firn_progress_tell(&progress, "reading footers", 2, 4);
    firn_progress_end(&progress);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
}

static size_t read_some(int descriptor, char *text, size_t size) {
    assert_int_equal(fcntl(descriptor, F_SETFL, O_NONBLOCK), 0);
    ssize_t length = read(descriptor, text, size - 1);
    text[length < 0 ? 0 : length] = '\0';
    return strlen(text);
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* A terminal hands on what was written in its own time, and not all at once. */
static void read_until(int descriptor, const char *ending, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < 100 && !ends_with(text, ending); i++) {
        struct pollfd ready = {.fd = descriptor, .events = POLLIN};
        (void)poll(&ready, 1, 100);
        length += read_some(descriptor, text + length, size - length);
    }
}

static void test_terminal(void **state) {
    (void)state;
    char text[1024];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) skip();
    int inner = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (inner < 0) skip();
    setenv("TERM", "xterm", 1);
    run(inner, true);
    /* The line is taken away in the end. */
    read_until(terminal, "B/s\r\033[K", text, sizeof text);
    assert_non_null(strstr(text, "compacting  50 %  1.0 KB of 2.0 KB, "));
    assert_true(ends_with(text, "B/s\r\033[K"));
    tell(inner);
    read_until(terminal, "files\r\033[K", text, sizeof text);
    assert_non_null(strstr(text, "reading footers  25 %  1 of 4 files"));
    assert_null(strstr(text, "2 of 4"));
    run(inner, false);
    assert_int_equal(read_some(terminal, text, sizeof text), 0);
    setenv("TERM", "dumb", 1);
    run(inner, true);
    assert_int_equal(read_some(terminal, text, sizeof text), 0);
    close(inner);
    close(terminal);
}

static void test_no_terminal(void **state) {
    (void)state;
    char text[1024];
    int ends[2];
    setenv("TERM", "xterm", 1);
    assert_int_equal(pipe(ends), 0);
    run(ends[1], true);
    assert_int_equal(read_some(ends[0], text, sizeof text), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_no_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
