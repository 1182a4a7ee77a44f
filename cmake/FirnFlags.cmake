# Language, warnings, optimisation and sanitizers, the same for every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Assertions stay on in every build: no -DNDEBUG.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

add_compile_definitions(_GNU_SOURCE _FILE_OFFSET_BITS=64)
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wvla
                    -fstack-protector-strong)
# Warnings are errors with the compiler that firn is developed with; others have warnings of their own.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
    set(werror ON)
else()
    set(werror OFF)
endif()
option(FIRN_WERROR "Warnings are errors" ${werror})
if(FIRN_WERROR)
    add_compile_options(-Werror)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FIRN_SANITIZE AND NOT FIRN_TSAN)
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    add_link_options(-Wl,-z,relro,-z,now)
endif()

if(FIRN_SANITIZE AND FIRN_TSAN)
    message(FATAL_ERROR "FIRN_SANITIZE and FIRN_TSAN exclude each other.")
endif()
if(FIRN_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FIRN_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang.")
endif()
if(FIRN_FUZZ)
    # libFuzzer's instrumentation needs a sanitizer's runtime in every program.
    set(FIRN_SANITIZE ON)
endif()
if(FIRN_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
if(FIRN_TSAN)
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND
   (FIRN_SANITIZE OR FIRN_TSAN OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug"))
    # gcc can't know that a function which describes a failure never returns FIRN_OK. Where it inlines much,
    # or instruments, it takes an output that a failed call left alone for one that is then used.
    add_compile_options(-Wno-maybe-uninitialized)
endif()
if(FIRN_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
