package read

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Tried is what the API server said to a change as a dry run.
type Tried struct {
	// Refusal says who refuses the change, and why; empty if nobody does.
	Refusal  string
	Warnings []string
}

// Trial is a change of an object that is tried.
type Trial struct {
	// Patch is a JSON merge patch.
	Patch map[string]any
	// Delete deletes it instead, as the very object that was read, in whatever version it is.
	Delete bool
	// Grace is the grace period of the deletion in seconds; nil is that of the object.
	Grace *int64
}

// DryRun sends a change of an object as a dry run, with the rights of a ServiceAccount. It stores nothing,
// and cannot store anything, so observers can be handed one.
type DryRun func(ctx context.Context, account Key, target *unstructured.Unstructured, change Trial) (Tried, error)
