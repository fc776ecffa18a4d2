#pragma once

// The one place that says which version this is; CMake reads it here.
#define ESPALIER_VERSION "0.1.0"
