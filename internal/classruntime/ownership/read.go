package ownership

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// Path is the field, as the API server names it when managers conflict.
const Path = ".spec.replicas"

var replicas = fieldpath.MakePathOrDie("spec", "replicas")

// Read is the field of a Deployment, which must have been read live: caches hold no owners. What the spec asks for, and who
// governs, is for the caller to add.
func Read(live *appsv1.Deployment) (Field, error) {
	f := Field{Live: ptr.Deref(live.Spec.Replicas, 1), Asked: AskedOf(live)}
	owners, err := child.Owners(live, replicas)
	if err != nil {
		return f, err
	}
	for _, entry := range owners {
		o := Owner{Manager: entry.Manager, Scale: entry.Subresource == "scale", Applied: entry.Operation == metav1.ManagedFieldsOperationApply}
		if !slices.Contains(f.Owners, o) {
			f.Owners = append(f.Owners, o)
		}
	}
	slices.SortFunc(f.Owners, func(a, b Owner) int { return cmp.Compare(a.Manager, b.Manager) })
	return f, nil
}
