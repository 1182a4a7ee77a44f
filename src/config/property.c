#include <string.h>

#include "base/nearest.h"
#include "config/config_internal.h"

/* The settings of catalogs and of storage as PyIceberg's documentation names them. */
static const char *const known[] = {
    "type",
    "uri",
    "warehouse",
    "echo",
    "pool_pre_ping",
    "init_catalog_tables",
    "credential",
    "token",
    "scope",
    "audience",
    "resource",
    "oauth2-server-uri",
    "prefix",
    "ssl",
    "auth",
    "access-delegation",
    "snapshot-loading-mode",
    "namespace-separator",
    "view-endpoints-supported",
    "py-catalog-impl",
    "py-io-impl",
    "catalog-impl",
    "io-impl",
    "profile-name",
    "region_name",
    "botocore_session",
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "downcast-ns-timestamp-to-us-on-write",
    "client.region",
    "client.access-key-id",
    "client.secret-access-key",
    "client.session-token",
    "client.profile-name",
    "client.role-arn",
    "client.role-session-name",
    "s3.endpoint",
    "s3.access-key-id",
    "s3.secret-access-key",
    "s3.session-token",
    "s3.profile-name",
    "s3.role-session-name",
    "s3.role-arn",
    "s3.signer",
    "s3.signer.uri",
    "s3.signer.endpoint",
    "s3.region",
    "s3.resolve-region",
    "s3.proxy-uri",
    "s3.connect-timeout",
    "s3.request-timeout",
    "s3.force-virtual-addressing",
    "s3.path-style-access",
    "s3.retry-strategy-impl",
    "s3.anonymous",
    "s3.remote-signing-enabled",
    "s3.sse.type",
    "s3.sse.key",
    "s3.sse.md5",
};

/* Families of settings whose members are not listed one by one. */
static const char *const families[] = {
    "gcs.",      "adls.",   "hdfs.", "hf.",   "oss.", "hive.",          "glue.",
    "dynamodb.", "header.", "rest.", "auth.", "ssl.", "table-default.", "table-override.",
};

firn_status firn_config_check_property(const char *where, const char *key, firn_error *error) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(key, known[i]) == 0) return FIRN_OK;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t length = strlen(families[i]);
        if (strncmp(key, families[i], length) == 0 && key[length] != '\0') return FIRN_OK;
    }
    char note[FIRN_NEAREST_NOTE_SIZE];
    return firn_fail(error, FIRN_INVALID, "%s: a catalog has no setting \"%s\"%s", where, key,
                     firn_nearest_note(note, key, known, sizeof known / sizeof *known, "\"", "\""));
}

/* "scheme://user:password@host". */
static bool has_password(const char *value) {
    const char *authority = strstr(value, "://");
    if (authority == NULL) return false;
    authority += 3;
    size_t length = strcspn(authority, "/?#");
    const char *at = memchr(authority, '@', length);
    return at != NULL && memchr(authority, ':', (size_t)(at - authority)) != NULL;
}

bool firn_config_is_secret(const char *key, const char *value) {
    static const char *const parts[] = {
        "secret",      "password", "token",         "credential",    "connection-string",
        "account-key", "sse.key",  "authorization", "access_key_id", "access-key-id",
        "cookie",      "api-key"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcasestr(key, parts[i]) != NULL) return true;
    }
    return has_password(value);
}
