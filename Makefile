# Everything a contributor runs. `make help` lists the targets; the scripts behind
# them are in hack/. Tools are pinned in tools.mod and built on first use.
TOOL := go tool -modfile=tools.mod
BED  := go run ./test/bed/cmd/bed
IMAGES = GOTOOLCHAIN=$(shell sed -n "s/^toolchain //p" hack/images/go.mod) go -C hack/images run .
MODULE := github.com/statecraft-dev/statecraft

# AREA is one area, by its name in internal/areas; empty is all of them. LEVEL of e2e is core or
# full. BUDGET cuts sim and mutants short, SEED repeats a run, PLAN one plan of it. SECONDS is how long soak goes on.
# NODES of the bed: 0 is a control plane alone, which needs no root. CSI=1 adds a CSI driver with snapshots.
AREA    ?=
LEVEL   ?= core
BUDGET  ?=
SEED    ?=
PLAN    ?=
SECONDS ?= 600
NODES   ?= 1
CSI     ?=

# VERSION is that of images and chart. REGISTRY is where push puts them.
VERSION   ?= $(shell hack/version)
REGISTRY  ?=
export AREA LEVEL BUDGET SEED PLAN

.DEFAULT_GOAL := help
.PHONY: help test scenario integration sim soak e2e mutants bench rights bed-up bed-down bed-status bed-rounds run lint generate verify images push chart install plugin

help: ## List the targets
	@awk -F ':.*## ' '/^##@ / {print "\n" substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Without a cluster

test: ## Test what needs no cluster, with the race detector (seconds)
	@hack/test quick -race
	@hack/test machines

scenario: ## Rewrite the transcripts of all machines and show what changed
	@hack/scenario

mutants: ## Break kernel and machines on purpose, one mutant at a time; every one must be caught (BUDGET=, SEED=)
	@hack/mutants

lint: ## Run the linters and the import law
	@go run ./hack/law
	@$(TOOL) golangci-lint run ./...

generate: ## Write deepcopy code, CRDs, roles and the reference pages
	@hack/generate

verify: ## Check everything that needs no test run: generated files, format, lint, law, modules
	@hack/verify

##@ With a real control plane

# Some tests compare the whole machine before and after, or measure: no other bed runs beside them.
integration: ## Test what needs an API server, a Valkey server or another real part
	@hack/test servers -p 1 -timeout 15m
	@hack/test alone -p 1 -timeout 15m
	@hack/test integration -p 2 -parallel 4 -timeout 20m
	@hack/test images -timeout 40m

sim: ## Try a fault at every call of every controller (AREA=, BUDGET=8m, FAULTS=, SEED=)
	@hack/sim

soak: ## Try pairs of faults for so long (SECONDS=, AREA=, SEED=)
	@DEPTH=2 BUDGET=$(SECONDS)s hack/sim

bench: ## Measure against the bare engine and print the table
	@hack/bench

##@ With real nodes

e2e: ## Test on real nodes (AREA=, LEVEL=core|full, GROUP= a word that names of tests begin with)
	@hack/test e2e -p 1 -timeout 50m

rights: ## Compare what each account may do with what it does in tests (LEVEL=core|full); every unused right needs a reason
	@hack/audit

bed-up: ## Start a real cluster on this machine and say how to talk to it (NODES=0 to 3, CSI=1)
	@$(BED) up -nodes $(NODES) $(if $(CSI),-csi)

bed-down: ## Stop it, and leave nothing behind
	@$(BED) down

bed-status: ## Show what runs
	@$(BED) status

bed-rounds: ## Start and stop it ten times, and compare the machine before and after
	@STATECRAFT_BED_ROUNDS=10 go test ./test/bed/cmd/bed -count=1 -v -timeout 20m -run '^TestUpAndDownLeaveNothing'

# Its own process group gets Ctrl-C, and not make, which would complain of it.
run: ## Run the managers against the bed until Ctrl-C (AREA=), and the restorer if it has a CSI driver
	@exec bash -c 'set -m; hack/run || exit'

##@ The product

images: ## Build the images into dist/, with a list of their modules (VERSION=)
	@$(IMAGES) build -root $(CURDIR) -version $(VERSION) -commit "$$(git rev-parse --short=12 HEAD)" -out $(CURDIR)/dist
	@$(IMAGES) list -dir $(CURDIR)/dist

push: ## Push the images of dist/ to a registry, logged on as docker is (REGISTRY=)
	@$(IMAGES) push -registry "$(REGISTRY)" -dir $(CURDIR)/dist

chart: ## Pack the chart with the digests of dist/, and render dist/install.yaml of it (REGISTRY=)
	@go run ./hack/chart pack -version $(VERSION) -registry "$(or $(REGISTRY),statecraft.local)" -out dist
	@hack/manifest dist/statecraft-$(VERSION).tgz >dist/install.yaml
	@ls dist/statecraft-$(VERSION).tgz dist/install.yaml

plugin: ## Build kubectl-statecraft into bin/; kubectl finds it in your PATH
	@go build -ldflags "-s -w -X $(MODULE)/internal/version.version=$(VERSION)" -o bin/kubectl-statecraft ./cmd/kubectl-statecraft

install: ## Install images and chart on the cluster that `make bed-up` started, and build the plugin
	@hack/install $(VERSION)
