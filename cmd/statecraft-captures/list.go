package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
)

func list(ctx context.Context, g leaks.Gatherer, o options, out io.Writer) error {
	inv, err := g.Look(ctx)
	if err != nil {
		return err
	}
	return printRequests(out, inv, o.namespace, time.Now())
}

// short is how kubectl abbreviates a kind.
var short = map[string]string{
	"VolumeCaptureRequest": "vcr", "ManifestCaptureRequest": "mcr", "VolumeRestoreRequest": "vrr", "ManifestRestoreRequest": "mrr",
}

// printRequests prints a line per request, and one per capture that outlives its request.
func printRequests(out io.Writer, inv leaks.Inventory, namespace string, now time.Time) error {
	requests := slices.DeleteFunc(slices.Clone(inv.Sized()), func(r leaks.Request) bool { return namespace != "" && r.Namespace != namespace })
	slices.SortFunc(requests, func(a, b leaks.Request) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	w := table(out)
	row(w, "NAMESPACE", "REQUEST", "READY", "PHASE", "WHAT", "SIZE", "AGE")
	for _, r := range requests {
		row(w, r.Namespace, short[r.Kind]+"/"+r.Name, r.Ready, r.Phase, r.What, size(r.Size), age(r.Created, now))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return printRetained(out, inv, namespace, now)
}

func size(q *resource.Quantity) string {
	if q == nil {
		return ""
	}
	return q.String()
}

// printRetained prints what is kept though its request is gone, until when, and how to restore it.
func printRetained(out io.Writer, inv leaks.Inventory, namespace string, now time.Time) error {
	all := slices.DeleteFunc(inv.Retained(), func(r leaks.Retained) bool { return namespace != "" && r.Of.Namespace != namespace })
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	w := table(out)
	row(w, "NAMESPACE", "RETAINED OF", "WHAT", "SIZE", "EXPIRES IN", "AGE", "RESTORE WITH SOURCE")
	for _, r := range all {
		row(w, r.Of.Namespace, short[r.Kind]+"/"+r.Of.Name, r.What, size(r.Size), duration.HumanDuration(max(0, r.Expires.Sub(now))), age(r.Created, now), r.Source)
	}
	return w.Flush()
}

// table aligns columns as kubectl does.
func table(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 6, 4, 3, ' ', 0) }

func row(w io.Writer, cells ...string) {
	for i, cell := range cells {
		if cell == "" {
			cell = "<none>"
		}
		if i > 0 {
			cell = "\t" + cell
		}
		fmt.Fprint(w, cell)
	}
	fmt.Fprintln(w)
}

func age(since, now time.Time) string {
	if since.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(since))
}
