// The version, in this one place: CMake, the tool and the package files read it from here.
//
// ABI: while the major number is 0, every minor version is a new SOVERSION (0.1, 0.2, ...). From
// 1.0 on the SOVERSION is the major number. The bits of a filter are not part of the ABI: they are
// frozen for ever (docs/format.md), whatever the version.
#pragma once

#define BLOOMERY_VERSION_MAJOR 0
#define BLOOMERY_VERSION_MINOR 1
#define BLOOMERY_VERSION_PATCH 0
