/** The parts that several verbs show of a table. Everything that a report keeps is copied into it. */
#ifndef FIRN_REPORT_TABLE_FACTS_H
#define FIRN_REPORT_TABLE_FACTS_H

#include "iceberg/manifest.h"
#include "report/report.h"
#include "table/table.h"

/** "data", "position_deletes", "equality_deletes". */
const char *firn_content_name(firn_content content);

/** The list `fields`: every field at any depth under its dotted name. */
void firn_facts_add_schema(firn_section *section, const firn_schema *schema);
/** The list `fields` of a partition spec; `schema` names the sources where it has them. */
void firn_facts_add_spec(firn_section *section, const firn_partition_spec *spec,
                         const firn_schema *schema);
void firn_facts_add_sort_order(firn_section *section, const firn_sort_order *order,
                               const firn_schema *schema);
/** The list `refs`. */
void firn_facts_add_refs(firn_section *section, const char *heading,
                         const firn_table_metadata *metadata);
/** The list `snapshots`. */
void firn_facts_add_snapshots(firn_section *section, const char *heading,
                              const firn_table_metadata *metadata);
/** Facts of one snapshot. */
void firn_facts_add_snapshot(firn_section *section, const firn_snapshot *snapshot);
/** The object `properties`. */
void firn_facts_add_properties(firn_section *section, const firn_table_metadata *metadata);

/** A partition tuple: an object of names and values in JSON, "day=2024-01-31, region=eu" in text. */
firn_cell firn_facts_partition(firn_report *report, const firn_partition_spec *spec,
                               const firn_value *values, size_t count);
/** A bound of a partition field as text; null when it is absent or can't be read. */
firn_cell firn_facts_bound(firn_report *report, const firn_partition_field *field,
                           firn_slice bound);

/** manifests, manifests_opened: how many of a snapshot's manifests there are, and were read to list its files. */
void firn_facts_manifests_opened(firn_section *section, const firn_live_files *files);

#endif
