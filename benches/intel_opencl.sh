#!/bin/sh
# Intel's OpenCL driver for processors, from PyPI, in a folder of its own: a compiler that has little in common with PoCL's
# and Mesa's, and OpenCL 3.1. It has a licence of Intel's; nothing of it goes into gpubench.
#
#     benches/intel_opencl.sh FOLDER          fetches it, and says with which environment it is the one OpenCL driver
set -eu
[ "$#" = 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1/vendors"
folder=$(cd "$1" && pwd)
[ -x "$folder/venv/bin/pip" ] || python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet intel-opencl-rt intel-cmplr-lib-rt
"$folder/venv/bin/pip" list 2> /dev/null | grep intel-opencl-rt >&2
# The system's loader is the one that gpubench finds elsewhere, too.
rm -f "$folder"/venv/lib/libOpenCL.so*
echo "$folder/venv/lib/libintelocl.so" > "$folder/vendors/intel.icd"
echo "LD_LIBRARY_PATH=$folder/venv/lib OCL_ICD_VENDORS=$folder/vendors gpubench devices"
