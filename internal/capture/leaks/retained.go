package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Retained is a capture whose request is gone.
type Retained struct {
	Kind    string // of the request
	Of      Name   // the request
	What    string // was captured, in words
	Size    *resource.Quantity
	Expires time.Time
	Created time.Time
	Source  string // how a restore names it
}

// Retained is what can be restored though its request is gone, and until when.
func (i Inventory) Retained() (all []Retained) {
	volumes := map[types.UID]Artifact{}
	for _, a := range i.Artifacts {
		if a.Kind == Volume {
			volumes[a.Request] = a
		}
	}
	for _, k := range i.Keepers {
		if k.Expires == nil || k.Deleted != nil {
			continue
		}
		for _, a := range i.Artifacts {
			if !slices.Contains(a.Keepers, k.UID) {
				continue
			}
			if a.Kind == Holder { // of the volume itself, which nobody owns
				a = volumes[a.Request]
			}
			if field := sources[a.Kind]; field != "" {
				all = append(all, Retained{k.Kind, k.Of, a.What, a.Size, *k.Expires, a.Created, field + ": " + a.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Retained) int {
		return cmp.Or(cmp.Compare(a.Of.Namespace, b.Of.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Of.Name, b.Of.Name))
	})
	return all
}

// sources are the fields by which a restore names an artifact.
var sources = map[Kind]string{Checkpoint: "checkpoint", Content: "volumeSnapshotContent", Volume: "persistentVolume"}

// claim is what a capture of a volume is of.
func claim(name string) string {
	if name == "" {
		return ""
	}
	return "claim " + name
}

// manifests is what a capture of manifests is of.
func manifests(objects int32, volumes []capturev1.ManifestVolume) string {
	var claims []string
	for _, v := range volumes {
		if v.VolumeCaptureRequest != "" {
			claims = append(claims, v.Claim)
		}
	}
	switch {
	case objects == 0:
		return ""
	case len(claims) == 0:
		return fmt.Sprintf("%d objects", objects)
	}
	return fmt.Sprintf("%d objects, volumes of %s", objects, strings.Join(claims, " "))
}

func sizeOf(bytes *int64) *resource.Quantity {
	if bytes == nil || *bytes <= 0 {
		return nil
	}
	return resource.NewQuantity(*bytes, resource.BinarySI)
}
