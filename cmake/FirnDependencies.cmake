# System libraries only; nothing is downloaded. scripts/deps.sh installs what is missing on Debian.
find_package(PkgConfig REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(BROTLI REQUIRED IMPORTED_TARGET libbrotlidec libbrotlienc)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)

# Debian's snappy has no pkg-config file.
find_path(SNAPPY_INCLUDE_DIR snappy-c.h REQUIRED)
find_library(SNAPPY_LIBRARY snappy REQUIRED)
add_library(firn_snappy INTERFACE)
target_include_directories(firn_snappy SYSTEM INTERFACE "${SNAPPY_INCLUDE_DIR}")
target_link_libraries(firn_snappy INTERFACE "${SNAPPY_LIBRARY}")

# Which folder of src/ uses which library.
set(FIRN_LIBRARIES_base PkgConfig::JANSSON Threads::Threads m)
set(FIRN_LIBRARIES_codec PkgConfig::ZSTD PkgConfig::ZLIB PkgConfig::LZ4 PkgConfig::BROTLI firn_snappy)
set(FIRN_LIBRARIES_storage PkgConfig::CRYPTO)
set(FIRN_LIBRARIES_catalog PkgConfig::SQLITE)
set(FIRN_LIBRARIES_config PkgConfig::YAML)
