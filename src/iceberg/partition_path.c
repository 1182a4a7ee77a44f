#include "iceberg/partition_spec.h"

/* Form encoding: letters, digits and ".-*_" stay, a space becomes "+", every other byte %XX. */
static firn_status append_encoded(firn_slice text, firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '-' || c == '*' || c == '_';
        if (plain || c == ' ') {
            FIRN_TRY(firn_buffer_append_byte(out, plain ? c : '+', error));
        } else {
            FIRN_TRY(firn_buffer_printf(out, error, "%%%02X", c));
        }
    }
    return FIRN_OK;
}

firn_status firn_partition_path(const firn_partition_spec *spec, const firn_value *values,
                                firn_buffer *out, firn_error *error) {
    if (firn_partition_spec_is_unpartitioned(spec)) return FIRN_OK;
    firn_status status = FIRN_OK;
    firn_buffer text = firn_buffer_with_maximum(out->maximum);
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        firn_buffer_clear(&text);
        FIRN_CHECK(
            firn_transform_print(&field->transform, field->result_type, &values[i], &text, error));
        if (i > 0) FIRN_CHECK(firn_buffer_append_byte(out, '/', error));
        FIRN_CHECK(append_encoded(firn_slice_text(field->name), out, error));
        FIRN_CHECK(firn_buffer_append_byte(out, '=', error));
        FIRN_CHECK(append_encoded(firn_buffer_slice(&text), out, error));
    }
out:
    firn_buffer_release(&text);
    return status;
}
