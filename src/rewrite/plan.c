#include "rewrite/plan.h"

#include <stdint.h>

/* Row groups of at most a quarter of a file are not cut: the files' sizes then differ by an eighth at most. */
#define DIVISIBLE_SHARE 4
/* A piece this much larger than a row group may be is cut. */
#define OVERSIZE 1.5
/* … into pieces of no fewer rows than this, whatever the table asks for. */
#define FEWEST_ROWS 100

__extension__ typedef __int128 wide;

typedef struct binpacker {
    const firn_plan_limits *limits;
    firn_rewrite_plan *plan;
    int64_t total; /* weight of all units, by which files are cut */
    bool by_rows;  /* the footers give no sizes */
} binpacker;

static int64_t weight_of(const binpacker *planner, const firn_plan_unit *unit) {
    return planner->by_rows ? unit->rows : unit->compressed;
}

/* numerator × factor ÷ denominator without overflow; all at least 0, denominator above 0, the result fits. */
static int64_t share(int64_t numerator, int64_t factor, int64_t denominator) {
    return (int64_t)((wide)numerator * factor / denominator);
}

/* The same, rounded up. */
static int64_t share_up(int64_t numerator, int64_t factor, int64_t denominator) {
    return (int64_t)(((wide)numerator * factor + denominator - 1) / denominator);
}

static firn_plan_piece piece_of(const firn_plan_unit *unit, int64_t first, int64_t count,
                                size_t output) {
    return (firn_plan_piece){.input = unit->input,
                             .row_group = unit->row_group,
                             .first_row = first,
                             .row_count = count,
                             .compressed = share(unit->compressed, count, unit->rows),
                             .uncompressed = share(unit->uncompressed, count, unit->rows),
                             .held = unit->held,
                             .output = output};
}

/* The file in which the point `position` of the whole lies. */
static size_t output_at(const binpacker *planner, int64_t position) {
    int64_t count = (int64_t)planner->limits->output_count;
    int64_t output = share(position, count, planner->total);
    return (size_t)(output < count ? output : count - 1);
}

/* Into how many pieces of equal rows a piece must be cut so that none is oversized. */
static int64_t parts_of(const firn_plan_limits *limits, const firn_plan_piece *piece) {
    double by_bytes = (double)piece->uncompressed / (double)limits->row_group_bytes;
    double by_rows = (double)piece->row_count / (double)limits->row_group_rows;
    double by_memory = (double)piece->compressed / (double)limits->most_memory;
    double most = by_bytes > by_rows ? by_bytes : by_rows;
    if (by_memory > most) most = by_memory;
    if (most <= OVERSIZE) return 1;
    double highest = (double)(piece->row_count / FEWEST_ROWS + 1);
    return most + 1 < highest ? (int64_t)most + 1 : (int64_t)highest;
}

static firn_status add_piece(binpacker *planner, const firn_plan_unit *unit, int64_t first,
                             int64_t count, size_t output, firn_error *error) {
    firn_plan_piece whole = piece_of(unit, first, count, output);
    int64_t parts = parts_of(planner->limits, &whole);
    for (int64_t i = 0; i < parts; i++) {
        int64_t begin = share(count, i, parts);
        int64_t end = share(count, i + 1, parts);
        FIRN_TRY(firn_vector_push(&planner->plan->pieces, error,
                                  piece_of(unit, first + begin, end - begin, output)));
    }
    return FIRN_OK;
}

/*
 * Files end where the whole divides evenly. A large row group is cut there by rows; a small one goes, whole, to the file
 * that holds its middle.
 */
static firn_status place_unit(binpacker *planner, const firn_plan_unit *unit, int64_t position,
                              firn_error *error) {
    int64_t weight = weight_of(planner, unit);
    int64_t files = (int64_t)planner->limits->output_count;
    bool divisible = weight > planner->total / files / DIVISIBLE_SHARE;
    if (!divisible || files == 1) {
        size_t output = output_at(planner, position + weight / 2);
        return add_piece(planner, unit, 0, unit->rows, output, error);
    }
    int64_t row = 0;
    while (row < unit->rows) {
        size_t output = output_at(planner, position + share(weight, row, unit->rows));
        int64_t end = unit->rows;
        if ((int64_t)output + 1 < files) {
            int64_t cut = share_up(planner->total, (int64_t)output + 1, files) - position;
            if (cut < weight) end = share_up(unit->rows, cut, weight);
            if (end <= row) end = row + 1;
            if (end > unit->rows) end = unit->rows;
        }
        FIRN_TRY(add_piece(planner, unit, row, end - row, output, error));
        row = end;
    }
    return FIRN_OK;
}

static firn_status place_units(binpacker *planner, const firn_plan_unit *units, size_t count,
                               firn_error *error) {
    int64_t position = 0;
    for (size_t i = 0; i < count; i++) {
        if (units[i].rows <= 0) continue;
        FIRN_TRY(place_unit(planner, &units[i], position, error));
        position += weight_of(planner, &units[i]);
    }
    return FIRN_OK;
}

/* Numbers the files that have rows from 0 on without gaps. */
static void close_gaps(firn_rewrite_plan *plan) {
    size_t number = 0;
    for (size_t i = 0; i < plan->pieces.count; i++) {
        firn_plan_piece *piece = &plan->pieces.items[i];
        size_t old = piece->output;
        bool last = i + 1 == plan->pieces.count || plan->pieces.items[i + 1].output != old;
        piece->output = number;
        if (last) number++;
    }
    plan->output_count = number;
}

/* What a row group holds so far, as parts of what it may hold. */
typedef struct row_group_load {
    int64_t rows, memory;
    double load; /* of rows and bytes; 1 is full */
    double wanted_memory_load;
} row_group_load;

static int64_t memory_of(const firn_plan_piece *piece, const firn_plan_piece *previous) {
    /* The output's chunks leave memory as they are written; about half of them are there at a time. */
    int64_t memory = piece->compressed / 2;
    bool opened = previous != NULL && previous->input == piece->input;
    return opened ? memory : memory + piece->held;
}

static row_group_load add_to(row_group_load filling, const firn_plan_limits *limits,
                             const firn_plan_piece *piece, const firn_plan_piece *previous) {
    double by_bytes = (double)piece->uncompressed / (double)limits->row_group_bytes;
    double by_rows = (double)piece->row_count / (double)limits->row_group_rows;
    filling.load += by_bytes > by_rows ? by_bytes : by_rows;
    filling.rows += piece->row_count;
    filling.memory += memory_of(piece, previous);
    filling.wanted_memory_load = (double)filling.memory / (double)limits->wanted_memory;
    return filling;
}

static double load_of(const row_group_load *filling) {
    return filling->load > filling->wanted_memory_load ? filling->load
                                                       : filling->wanted_memory_load;
}

/* What all pieces from `first` on that go to the same file amount to. */
static row_group_load rest_of_output(const firn_rewrite_plan *plan, const firn_plan_limits *limits,
                                     size_t first) {
    row_group_load rest = {0};
    const firn_plan_piece *previous = NULL;
    size_t output = plan->pieces.items[first].output;
    for (size_t i = first; i < plan->pieces.count; i++) {
        const firn_plan_piece *piece = &plan->pieces.items[i];
        if (piece->output != output) break;
        rest = add_to(rest, limits, piece, previous);
        previous = piece;
    }
    return rest;
}

/* Takes a row group out of the rest of its file, so that the rest need not be added up again for each. */
static void take_from(row_group_load *rest, const row_group_load *taken,
                      const firn_plan_limits *limits) {
    rest->rows -= taken->rows;
    rest->memory -= taken->memory < rest->memory ? taken->memory : rest->memory;
    rest->load -= taken->load < rest->load ? taken->load : rest->load;
    rest->wanted_memory_load = (double)rest->memory / (double)limits->wanted_memory;
}

/*
 * Whether a row group ends before `next`. Row groups of a file get about equal loads: the rest is divided by the number
 * of row groups that it needs, and a row group ends where it is nearest to that share.
 */
static bool ends_before(const row_group_load *now, const row_group_load *with_next,
                        const firn_plan_limits *limits, double fair_share) {
    if (with_next->load > 1 || with_next->memory > limits->most_memory) return true;
    if (now->rows < FIRN_PLAN_FEW_ROWS) return false;
    if (with_next->wanted_memory_load > 1) return true;
    return (load_of(now) + load_of(with_next)) / 2 > fair_share;
}

static double fair_share_of(double rest) {
    double groups = (double)(int64_t)rest;
    if (groups < rest) groups += 1;
    return groups < 1 ? 1 : rest / groups;
}

static firn_status make_row_groups(firn_rewrite_plan *plan, const firn_plan_limits *limits,
                                   firn_error *error) {
    const firn_plan_piece *pieces = plan->pieces.items;
    row_group_load rest = {0};
    for (size_t first = 0; first < plan->pieces.count;) {
        bool new_output = first == 0 || pieces[first].output != pieces[first - 1].output;
        if (new_output) rest = rest_of_output(plan, limits, first);
        double fair_share = fair_share_of(load_of(&rest));
        row_group_load now = add_to((row_group_load){0}, limits, &pieces[first], NULL);
        size_t end = first + 1;
        for (; end < plan->pieces.count && pieces[end].output == pieces[first].output; end++) {
            row_group_load with_next = add_to(now, limits, &pieces[end], &pieces[end - 1]);
            if (ends_before(&now, &with_next, limits, fair_share)) break;
            now = with_next;
        }
        firn_plan_row_group group = {first, end - first, now.rows, pieces[first].output};
        FIRN_TRY(firn_vector_push(&plan->row_groups, error, group));
        take_from(&rest, &now, limits);
        first = end;
    }
    return FIRN_OK;
}

firn_status firn_rewrite_plan_make(const firn_plan_unit *units, size_t count,
                                   const firn_plan_limits *limits, firn_rewrite_plan *out,
                                   firn_error *error) {
    *out = (firn_rewrite_plan){0};
    binpacker planner = {.limits = limits, .plan = out};
    for (size_t i = 0; i < count; i++) {
        if (units[i].rows <= 0) continue;
        if (__builtin_add_overflow(planner.total, units[i].compressed, &planner.total)) {
            return firn_fail(error, FIRN_LIMIT,
                             "the sizes of the group's files add up to more "
                             "than firn can count");
        }
    }
    if (planner.total <= 0) {
        planner.by_rows = true;
        for (size_t i = 0; i < count; i++) planner.total += units[i].rows > 0 ? units[i].rows : 0;
    }
    if (planner.total == 0) return FIRN_OK;
    FIRN_TRY(place_units(&planner, units, count, error));
    close_gaps(out);
    return make_row_groups(out, limits, error);
}

void firn_rewrite_plan_release(firn_rewrite_plan *plan) {
    firn_vector_release(&plan->pieces);
    firn_vector_release(&plan->row_groups);
    plan->output_count = 0;
}
