# Program, libraries, public headers, pkg-config file, man page and completions.
foreach(target IN ITEMS firn firn_shared firn_static)
    if(TARGET ${target})
        install(TARGETS ${target}
                RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
                LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
        list(APPEND product ${target})
    endif()
endforeach()
# What `make` builds: everything that is installed, and nothing of the tests.
add_custom_target(product DEPENDS ${product})

install(DIRECTORY include/firn DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")

configure_file(cmake/firn.pc.in "${CMAKE_BINARY_DIR}/firn.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/firn.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES docs/firn.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" OPTIONAL)
install(FILES completions/firn.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
        RENAME firn OPTIONAL)
install(FILES completions/_firn DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" OPTIONAL)
