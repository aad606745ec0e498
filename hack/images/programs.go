package main

import "path"

// module is what the programs belong to. This folder is a module of its own, so that the library
// for images is no dependency of theirs.
const module = "github.com/statecraft-dev/statecraft"

// program is a command of this repository that has an image.
type program struct {
	Name    string // of the image, below the registry
	Package string
	Summary string
	// Versioned puts version and commit into binary and labels. An image that is part of users' pods
	// has neither: it is named by digest there, and each new digest restarts every server.
	Versioned bool
}

// programs have images; statecraft-captures is for people, who run it where they are.
var programs = []program{
	{
		Name: "manager", Package: "./cmd/statecraft-manager", Versioned: true,
		Summary: "Runs the controllers of Statecraft",
	},
	{
		Name: "restorer", Package: "./cmd/statecraft-restorer", Versioned: true,
		Summary: "Runs beside a CSI driver and makes volumes from captures",
	},
	{
		Name: "remediation", Package: "./cmd/statecraft-remediation", Versioned: true,
		Summary: "Runs the controllers of area remediation",
	},
	{
		Name: "action", Package: "./cmd/statecraft-action", Versioned: true,
		Summary: "Performs a built-in action in the Job of an execution",
	},
	{
		Name: "valkey-node", Package: "./cmd/statecraft-valkey-node",
		Summary: "Is copied into every Valkey pod, where it starts, probes and stops the server",
	},
}

// binary is the name of the program's file.
func (p program) binary() string { return path.Base(p.Package) }
