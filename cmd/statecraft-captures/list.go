package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

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

// printRequests prints a line per request, and one per keeper that outlives its request.
func printRequests(out io.Writer, inv leaks.Inventory, namespace string, now time.Time) error {
	requests := slices.DeleteFunc(slices.Clone(inv.Sized()), func(r leaks.Request) bool { return namespace != "" && r.Namespace != namespace })
	slices.SortFunc(requests, func(a, b leaks.Request) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	w := table(out)
	row(w, "NAMESPACE", "REQUEST", "READY", "PHASE", "ARTIFACT", "SIZE", "AGE")
	for _, r := range requests {
		size := ""
		if r.Size != nil {
			size = r.Size.String()
		}
		row(w, r.Namespace, short[r.Kind]+"/"+r.Name, r.Ready, r.Phase, r.Artifact, size, age(r.Created, now))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if namespace != "" {
		return nil // keepers have none
	}
	return printRetained(out, inv, now)
}

// printRetained prints what is kept though its request is gone, and until when.
func printRetained(out io.Writer, inv leaks.Inventory, now time.Time) error {
	w := table(out)
	head := false
	for _, k := range inv.Keepers {
		if k.Expires == nil || k.Deleted != nil {
			continue
		}
		for _, a := range inv.Artifacts {
			if !slices.Contains(a.Keepers, k.UID) || a.Kind == leaks.Chunk {
				continue
			}
			if !head {
				fmt.Fprintln(w)
				row(w, "RETAINED", "KEEPER", "EXPIRES IN", "AGE")
				head = true
			}
			row(w, string(a.Kind)+"/"+a.Name, k.Name, duration.HumanDuration(max(0, k.Expires.Sub(now))), age(a.Created, now))
		}
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
