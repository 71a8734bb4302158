# The commands of a developer's day. Meson and Ninja do the work; `make help` lists what there is.
.DEFAULT_GOAL := build
BUILD  ?= build
# `make run ARGS="--blobPort 11000"`: any option of `lagra --help`.
ARGS   ?=
# `make run CONSOLE=off`: without the web console, and what it takes to build.
CONSOLE ?= on
SEED   ?= 1
PREFIX ?= /usr/local

.PHONY: help build run test smoke console-test import-test works-with smb-test upgrade-test test-on bookworm trixie arm64 image-test cluster-test cluster-soak sim mutants check asan ubsan tsan fuzz soak bench cells-bench docs deb deb-test reproducible install clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

build: ## build build/lagra with its web console (CONSOLE=off: without), after installing what is missing
	@CONSOLE=$(CONSOLE) tools/prepare build
	@tools/compile $(BUILD) -Dtests=false -Db_lto=true -Doptimization=3 -Dconsole=$(if $(filter off,$(CONSOLE)),disabled,auto)

run: build ## build, serve ./data with the development account on 127.0.0.1:10000, and print a link to the console
	@exec $(BUILD)/lagra --location data --console $(if $(filter off,$(CONSOLE)),off,link) $(ARGS)

test: ## build with gates and pass all tests; ends with "N passed, N failed"
	@tools/prepare test
	@tools/compile build-test -Dgates=true
	@tools/node tests/run.mjs --build build-test

smoke: ## build, and test what has changed since main: two minutes
	@tools/prepare test
	@tools/compile build-test -Dgates=true
	@tools/node tests/smoke.mjs --build build-test

console-test: ## the web console in Debian's Chromium, and what takes minutes there (ARGS="pages", PICTURES=docs/pictures)
	@tools/prepare test
	@tools/compile build-test -Dgates=true
	@LAGRA_BINARY=$(CURDIR)/build-test/lagra CONSOLE_PICTURES=$(PICTURES) tools/node tests/console/run.mjs --long $(ARGS)

import-test: build ## lagra import from versions of Azurite (ARGS="versions --all": each one since 3.20), and of 100,000 blobs, killed on its way: minutes
	@tools/prepare import
	@LAGRA_BINARY=$(CURDIR)/$(BUILD)/lagra tools/node tests/import/run.mjs $(ARGS)

works-with: ## clients that others have written (docs/works-with.md): installs them, 2.5 GiB
	@tools/prepare works-with
	@tools/compile build-test -Dgates=true
	@LAGRA_BINARY=$(CURDIR)/build-test/lagra tools/node tests/works_with/run.mjs

smb-test: ## SMB's Linux client in User-Mode Linux: minutes
	@tools/prepare smb-test
	@tools/compile build-test -Dgates=true
	@tools/node tests/run.mjs --build build-test linux

upgrade-test: ## this program and that of the last release, or OLDER=COMMIT, on one data folder, there and back, with traffic
	@tools/prepare test
	@tools/compile build-test -Dgates=true
	@LAGRA_OLDER=$$(tools/older $(OLDER)) && export LAGRA_OLDER && tools/node tests/run.mjs --build build-test clients:upgrade

test-on: ## another Debian in a folder, as root: make test-on trixie (or bookworm) builds there and passes the shorter tests
	@tools/prepare test-on
	@tools/compile build-test -Dgates=true
	@tests/platforms/run $(filter-out $@,$(MAKECMDGOALS))
bookworm trixie:
	@:

arm64: ## cross-built for arm64, unit tests and some clients in QEMU's emulation: many minutes
	@tools/prepare arm64
	@tests/platforms/arm64

image-test: ## build the image of packaging/Containerfile with podman, and run it: minutes
	@tools/prepare image
	@tools/node tests/image/run.mjs

cluster-test: ## cells on a CephFS that it starts: machines die, hang and are evicted under writers; two minutes (ARGS="hang")
	@tools/prepare cluster-test
	@tools/compile build-test -Dgates=true
	@tools/node tests/cluster/run.mjs --build build-test $(ARGS)

cluster-soak: ## faults of clusters by lot: 200 machines, 20 OSDs, 10 MDS; an hour (ARGS="--seed 2 --minutes 10")
	@tools/prepare cluster-test
	@tools/compile build-test -Dgates=true
	@tools/node tests/cluster/run.mjs --build build-test --campaign $(ARGS)

check: ## format, rooms, headers, names, lengths, sources, operations: under half a minute
	@tools/prepare check
	@tools/compile build-test -Dgates=true
	@tools/check build-test

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/prepare test
	@tools/compile build-asan -Dgates=true -Db_sanitize=address,undefined -Db_lundef=false
	@tools/node tests/run.mjs --build build-asan

ubsan: ## the tests under UndefinedBehaviorSanitizer alone
	@tools/prepare test
	@tools/compile build-ubsan -Dgates=true -Db_sanitize=undefined -Db_lundef=false
	@tools/node tests/run.mjs --build build-ubsan

tsan: ## the tests under ThreadSanitizer
	@tools/prepare test
	@tools/compile build-tsan -Dgates=true -Db_sanitize=thread -Db_lundef=false
	@tools/node tests/run.mjs --build build-tsan

fuzz: ## every fuzzer for FUZZ_SECONDS (default 60) each
	@tools/prepare fuzz
	@CC=clang tools/compile build-fuzz -Dfuzz=true -Dtests=true
	@tests/fuzz/run build-fuzz $${FUZZ_SECONDS:-60}

sim: ## one run of the simulator: make sim SEED=n [ARGS="--clients 2 --verbose"]
	@tools/prepare test
	@tools/compile build-test -Dgates=true -- tests/sim/simulate
	@build-test/tests/sim/simulate --seed $(SEED) $(ARGS)

mutants: ## change 300 lines, one after the other, and see which no test notices: hours (ARGS="--count 10 --rooms http")
	@tools/prepare test
	@tools/compile build-test -Dgates=true
	@tools/node tests/mutants/run.mjs --build build-test --seed $(SEED) $(ARGS)

soak: ## the long crash campaigns: 10,000 kill -9 points, many power cuts, new seeds of the simulator
	@tools/prepare test
	@tools/compile build-test -Dgates=true
	@tools/node tests/run.mjs --build build-test --soak

bench: build ## Lagra beside Azurite and nginx (ARGS="--baseline FILE": and an older Lagra)
	@tools/prepare bench
	@tools/compile build-bench -Dtests=true -- bench/load bench/smb_load
	@tools/node bench/run.mjs --build build-bench $(ARGS)

cells-bench: ## a cell on a CephFS that it starts, next to Ceph's own gateway for S3 (ARGS="--objects 20000"): minutes
	@tools/prepare cells-bench
	@tools/compile build-cells-bench -Db_lto=true -Doptimization=3 -- lagra bench/load
	@tools/node bench/cells.mjs --build build-cells-bench $(ARGS)

docs: build ## print the tables of docs/api-coverage.md, docs/options.md and docs/failure-guarantees.md
	@$(BUILD)/lagra operations --markdown > docs/api-coverage.md
	@$(BUILD)/lagra options --markdown > docs/options.md
	@tools/checks/limits --print

deb: ## build Debian packages of the commit into build-deb, and look at them (tests/package)
	@tools/prepare deb
	@packaging/deb build-deb
	@tests/package/run build-deb

deb-test: ## the package on a fresh Debian 12, as root: install, serve, azure-cli, promtool, backup, restore, check; and there a clone and make run
	@tools/prepare deb-test
	@ls build-deb/lagra_*.deb >/dev/null 2>&1 || packaging/deb build-deb
	@tests/package/fresh build-deb
	@tests/package/first_minutes

reproducible: ## build the packages and the source archive twice, and compare them
	@tools/prepare deb
	@tests/package/reproducible build-reproducible

install: build ## install into PREFIX (default /usr/local)
	@meson configure $(BUILD) --prefix $(PREFIX) && meson install -C $(BUILD)

clean: ## remove every build folder
	rm -rf build build-*
