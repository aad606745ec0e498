package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Bounds of what a status lists.
const (
	mostSkipped = 256 // as the schema says
	mostNames   = 10
	longestName = 253
)

// Intake decides about each object that is read, and counts.
type Intake struct {
	volumes  map[string]bool   // claims that have an entry
	captured map[string]string // the captures of claims that were not taken yet
	claims   map[string]Claim  // that were taken
	rights   rights
	expected int32
	skipped  map[heap]*capturev1.SkippedObjects
	taken    map[string]bool // names of named targets of the resource at hand
	of       Resource
	found    bool // by the query at hand
}

// heap is what skipped objects are grouped by.
type heap struct {
	group, resource string
	reason          meta.Reason
}

// NewIntake begins with what a plan leaves out.
func NewIntake(spec *capturev1.ManifestCaptureRequestSpec, plan Plan) *Intake {
	in := &Intake{
		volumes: map[string]bool{}, captured: map[string]string{}, claims: map[string]Claim{}, skipped: map[heap]*capturev1.SkippedObjects{},
	}
	for _, v := range spec.Volumes {
		in.volumes[v.Claim] = true
		if v.VolumeCaptureRequest != "" {
			in.captured[v.Claim] = v.VolumeCaptureRequest
		}
	}
	for _, s := range plan.Skipped {
		in.skipped[heap{s.Group, s.Resource, s.Reason}] = s.DeepCopy()
	}
	return in
}

// Take returns an object as it is to be captured; nil if it is left out.
func (in *Intake) Take(q Query, raw []byte) ([]byte, error) {
	if in.of != q.Resource {
		in.of, in.taken = q.Resource, map[string]bool{}
	}
	o, err := split(q.Resource, raw)
	if err != nil {
		return nil, fmt.Errorf("take one of %s: %w", q.Title(), err)
	}
	if in.found = true; q.Name == "" && in.taken[o.name] {
		return nil, nil
	}
	why, err := o.skipped()
	if err == nil && why == "" {
		why, err = in.rights.skipped(o)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("take %s %s: %w", q.Title(), o.name, err)
	case why != "" && q.Name != "":
		return nil, invalid("The request names %s %s, which is not captured: %s.", q.Title(), q.Name, why)
	case why != "":
		in.skip(q.Resource, o.name, why)
		return nil, nil
	}
	return in.keep(q, o)
}

func (in *Intake) keep(q Query, o object) ([]byte, error) {
	if o.is("", "persistentvolumeclaims") && !in.volumes[o.name] {
		return nil, &Refusal{capturev1.ReasonVolumeNotCaptured, fmt.Sprintf("PersistentVolumeClaim %s has no entry in spec.volumes; name the capture of its volume there, or say that it may be restored empty, in another request.", o.name)}
	}
	document, err := o.document()
	if err != nil {
		return nil, fmt.Errorf("take %s %s: %w", q.Title(), o.name, err)
	}
	if o.is("", "persistentvolumeclaims") {
		delete(in.captured, o.name)
		if in.claims[o.name], err = o.claim(); err != nil {
			return nil, fmt.Errorf("take claim %s: %w", o.name, err)
		}
	}
	if q.Name != "" {
		in.taken[o.name] = true
	}
	in.expected++
	return document, nil
}

// LeaveOut notes that a resource may not be listed.
func (in *Intake) LeaveOut(r Resource) {
	in.skipped[heap{r.Group, r.Resource, ReasonNotAllowed}] = &capturev1.SkippedObjects{Group: r.Group, Resource: r.Resource, Reason: ReasonNotAllowed}
}

// Done says that all of a query was read: a named target must have been there.
func (in *Intake) Done(q Query) error {
	found := in.found
	in.found = false
	if q.Name != "" && !found {
		return &Refusal{capturev1.ReasonNotFound, fmt.Sprintf("The request names %s %s, which does not exist.", q.Title(), q.Name)}
	}
	return nil
}

// Complete says that everything was read: volumes of claims that are not among the objects would
// never be restored, and nobody would know.
func (in *Intake) Complete() error {
	for _, claim := range slices.Sorted(maps.Keys(in.captured)) {
		return &Refusal{capturev1.ReasonVolumeNotCaptured, fmt.Sprintf(
			"The request names VolumeCaptureRequest %s for PersistentVolumeClaim %s, which is not among the captured objects; without its claim a volume is not restored.", in.captured[claim], claim)}
	}
	return nil
}

func (in *Intake) skip(r Resource, name string, why meta.Reason) {
	key := heap{r.Group, r.Resource, why}
	s := in.skipped[key]
	if s == nil {
		s = &capturev1.SkippedObjects{Group: r.Group, Resource: r.Resource, Reason: why}
		in.skipped[key] = s
	}
	if s.Count++; len(s.Names) < mostNames && len(name) <= longestName {
		s.Names = append(s.Names, name)
	}
}

// Claim is the one of that name that was taken.
func (in *Intake) Claim(name string) Claim { return in.claims[name] }

// Expected is how many objects were taken.
func (in *Intake) Expected() int32 { return in.expected }

// Skipped is what was left out. If there are too many heaps, first those that nobody looked at, and then the largest.
func (in *Intake) Skipped() []capturev1.SkippedObjects {
	var all []capturev1.SkippedObjects
	for _, s := range in.skipped {
		all = append(all, *s)
	}
	byName := func(a, b capturev1.SkippedObjects) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Reason, b.Reason))
	}
	if len(all) > mostSkipped {
		slices.SortFunc(all, func(a, b capturev1.SkippedObjects) int {
			return cmp.Or(cmp.Compare(weight(b), weight(a)), byName(a, b))
		})
		all = all[:mostSkipped]
	}
	slices.SortFunc(all, byName)
	return all
}

// weight is how much a heap is missed: of one that nobody looked at nobody knows.
func weight(s capturev1.SkippedObjects) int32 {
	if s.Count == 0 {
		return math.MaxInt32
	}
	return s.Count
}
