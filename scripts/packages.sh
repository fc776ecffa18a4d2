# Sourced by ./quickstart and ./test: the Debian packages that each job needs, and how to get the missing ones.
# shellcheck shell=bash disable=SC2034

build_packages=(g++ cmake ninja-build pkg-config libcli11-dev libcpp-httplib-dev libfmt-dev nlohmann-json3-dev libhwy-dev
  liblbfgs-dev liblzma-dev libre2-dev libunistring-dev libutf8proc-dev libxxhash-dev zlib1g-dev libzstd-dev)
python_packages=(pybind11-dev python3-dev)
mpi_packages=(libopenmpi-dev openmpi-bin)
test_packages=(libgtest-dev librapidcheck-dev python3-pytest python3-hypothesis python3-numpy python3-scipy
  python3-sklearn python3-pandas)
# Pages are looked at in a browser where these are.
browser_packages=(chromium chromium-driver python3-selenium)
# Packages are made and checked where these are; nothing else needs them.
package_packages=(dpkg-dev lintian mandoc zsh mmdebstrap python3-build python3-venv)
ci_packages=(git clang clang-format clang-tidy libclang-rt-14-dev python3-distributed)
fuzz_packages=(clang libclang-rt-14-dev llvm-14)
program_fuzz_packages=(afl++)
valgrind_packages=(valgrind)
site_packages=(mkdocs-material doxygen)

# require_packages NAME...: silent and quick when all are there; installs what is missing when run as root.
require_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "No dpkg here, so nothing was checked. By their Debian names, this needs: $*" >&2
    return
  fi

  local installed name missing=()
  # dpkg-query fails when it does not know one of the names; it lists the others all the same.
  installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for name in "$@"; do
    grep --quiet --line-regexp --fixed-strings "$name installed" <<<"$installed" || missing+=("$name")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    echo "Some packages are missing. Install them, then run this again:" >&2
    echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  echo "Installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  # A fresh machine may still be busy with its own upgrades: wait for its lock. A bare root may have no /dev/pts.
  apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" >/dev/null
}
