/** The version of the library and of the program. */
#ifndef FIRN_VERSION_H
#define FIRN_VERSION_H

#define FIRN_VERSION "0.1.0"

#endif
