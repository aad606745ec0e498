package manifest

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Query is one LIST.
type Query struct {
	Resource
	Name   string // of a named target; "" is all
	Labels string // a label selector; "" is all
	// Optional says that it is left out if it may not be listed.
	Optional bool
}

// Plan is what to read, in order, and what is not even looked at.
type Plan struct {
	Queries []Query
	Skipped []capturev1.SkippedObjects
}

// Refusal says that a request asks for something that cannot be captured.
type Refusal struct {
	Reason  meta.Reason
	Message string
}

func (r *Refusal) Error() string { return string(r.Reason) + ": " + r.Message }

func invalid(format string, args ...any) *Refusal {
	return &Refusal{capturev1.ReasonInvalidTarget, fmt.Sprintf(format, args...)}
}

// PlanOf says what to read for a request, given every namespaced resource that can be listed.
func PlanOf(spec *capturev1.ManifestCaptureRequestSpec, served []Resource) (Plan, error) {
	p := planner{spec: spec, served: served}
	if err := p.targets(); err != nil {
		return Plan{}, err
	}
	if err := p.selector(); err != nil {
		return Plan{}, err
	}
	return p.plan()
}

type planner struct {
	spec     *capturev1.ManifestCaptureRequestSpec
	served   []Resource
	names    map[Resource][]string
	selected []Resource
	optional bool // what is selected
	labels   string
	skipped  []capturev1.SkippedObjects
}

func (p *planner) find(group, resource string) (Resource, bool) {
	i := slices.IndexFunc(p.served, func(r Resource) bool { return r.is(group, resource) })
	if i < 0 {
		return Resource{}, false
	}
	return p.served[i], true
}

// wanted is a resource that a request names. That it cannot be had is not passed over.
func (p *planner) wanted(group, resource string) (Resource, error) {
	r, served := p.find(group, resource)
	if !served {
		return r, invalid("The API server serves no namespaced resource %s that can be listed.", Resource{Group: group, Resource: resource}.Title())
	}
	if why, never := r.never(); never {
		return r, invalid("The request names %s, which are never captured: %s.", r.Title(), why)
	}
	if r.Secrets() && !p.spec.IncludeSecrets {
		return r, invalid("Secrets are only captured with spec.includeSecrets.")
	}
	return r, nil
}

func (p *planner) targets() error {
	p.names = map[Resource][]string{}
	for _, t := range p.spec.Targets {
		r, err := p.wanted(t.Group, t.Resource)
		if err != nil {
			return err
		}
		if !slices.Contains(p.names[r], t.Name) {
			p.names[r] = append(p.names[r], t.Name)
		}
	}
	return nil
}

func (p *planner) selector() error {
	s := p.spec.Selector
	if s == nil {
		return nil
	}
	if s.LabelSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
		if err != nil {
			return invalid("The label selector of the request is not valid: %v.", err)
		}
		p.labels = selector.String()
	}
	if len(s.Resources) == 0 {
		p.everything()
		p.optional = s.OnForbidden == capturev1.ForbiddenSkip
		return nil
	}
	for _, named := range s.Resources {
		r, err := p.wanted(named.Group, named.Resource)
		if err != nil {
			return err
		}
		if !slices.Contains(p.selected, r) {
			p.selected = append(p.selected, r)
		}
	}
	return nil
}

// everything takes all that can be taken. What is kept out on purpose is not worth a word,
// but for what somebody may miss.
func (p *planner) everything() {
	for _, r := range p.served {
		why, never := r.never()
		switch {
		case never && why == ReasonNotAtOneTime && !r.is("", "events") && !r.is("events.k8s.io", "events"):
			p.skipped = append(p.skipped, capturev1.SkippedObjects{Group: r.Group, Resource: r.Resource, Reason: why})
		case never:
		case r.Secrets() && !p.spec.IncludeSecrets:
			p.skipped = append(p.skipped, capturev1.SkippedObjects{Resource: r.Resource, Reason: ReasonNotAsked})
		default:
			p.selected = append(p.selected, r)
		}
	}
}

// plan reads what is named first, so that it can be told from what is found besides.
func (p *planner) plan() (Plan, error) {
	all := slices.Clone(p.selected)
	for r := range p.names {
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	sortByRank(all)
	plan := Plan{Skipped: p.skipped}
	for _, r := range all {
		slices.Sort(p.names[r])
		for _, name := range p.names[r] {
			plan.Queries = append(plan.Queries, Query{Resource: r, Name: name})
		}
		if slices.Contains(p.selected, r) {
			plan.Queries = append(plan.Queries, Query{Resource: r, Labels: p.labels, Optional: p.optional})
		}
	}
	if len(plan.Queries) == 0 {
		return plan, invalid("The request selects no resource.")
	}
	return plan, nil
}

// Missing is the rule that a ServiceAccount needs to read what a query asks for.
func (q Query) Missing() string {
	return fmt.Sprintf(`apiGroups: [%q], resources: [%q], verbs: ["list"]`, q.Group, q.Resource.Resource)
}
