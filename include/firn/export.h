/** Symbol visibility and attributes of the public interface. */
#ifndef FIRN_EXPORT_H
#define FIRN_EXPORT_H

#if defined(__GNUC__)
#define FIRN_API __attribute__((visibility("default")))
#define FIRN_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#define FIRN_MUST_CHECK __attribute__((warn_unused_result))
#else
#define FIRN_API
#define FIRN_PRINTF(format_at, first_at)
#define FIRN_MUST_CHECK
#endif

#endif
