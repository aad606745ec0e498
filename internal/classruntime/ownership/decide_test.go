package ownership

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// The owners that a field may have.
var (
	ours    = Owner{Manager: child.Manager(SpecController), Applied: true}
	lane    = Owner{Manager: child.Manager(LaneController), Applied: true}
	engine  = Owner{Manager: "kube-controller-manager", Scale: true}
	scaled  = Owner{Manager: "kubectl", Scale: true}
	edited  = Owner{Manager: "kubectl-edit"}
	gitOps  = Owner{Manager: "argocd-controller", Applied: true}
	pretend = Owner{Manager: child.Manager(SpecController)} // an update under our name is not ours
)

func TestDecide(t *testing.T) {
	const hpa = "HorizontalPodAutoscaler cart-add"
	two, five := ptr.To(int32(2)), ptr.To(int32(5))
	for what, c := range map[string]struct {
		f    Field
		want Answer
		by   string // who overrides the spec, "-" is none
	}{
		"nothing happened":                {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{ours}}, Answer{carry(2), omit()}, "-"},
		"the spec was edited":             {Field{Live: 2, Want: 3, Asked: two, Owners: []Owner{ours}}, Answer{carry(3), omit()}, "-"},
		"a person scaled":                 {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{scaled}}, Answer{omit(), omit()}, "kubectl"},
		"a person edited":                 {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{edited}}, Answer{omit(), omit()}, "kubectl-edit"},
		"a GitOps tool sets it":           {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{gitOps}}, Answer{omit(), omit()}, "argocd-controller"},
		"an update under our name":        {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{pretend}}, Answer{omit(), omit()}, "statecraft-classruntime"},
		"scaled, then the spec edited":    {Field{Live: 5, Want: 3, Asked: two, Owners: []Owner{scaled}}, Answer{omit(), omit()}, "kubectl"},
		"scaled to what the spec wants":   {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{scaled}}, Answer{carry(2), omit()}, "-"},
		"scaled, and taken back":          {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{scaled}, Retake: true}, Answer{takeOver(2), omit()}, "-"},
		"another wants the same":          {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{ours, gitOps}}, Answer{carry(2), omit()}, "-"},
		"another wants what we no longer": {Field{Live: 2, Want: 3, Asked: two, Owners: []Owner{ours, gitOps}}, Answer{omit(), omit()}, "argocd-controller"},

		"an autoscaler has written":     {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine}, Engine: hpa}, Answer{omit(), omit()}, "-"},
		"an autoscaler is new":          {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{ours}, Engine: hpa}, Answer{carry(2), omit()}, "-"},
		"it is new, the spec edited":    {Field{Live: 2, Want: 4, Asked: two, Owners: []Owner{ours}, Engine: hpa}, Answer{carry(2), omit()}, "-"},
		"it wrote where none owned":     {Field{Live: 5, Want: 2, Asked: two, Engine: hpa}, Answer{omit(), omit()}, "-"},
		"it follows a lane":             {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{lane}, Engine: hpa}, Answer{carry(5), omit()}, "-"},
		"it has written over a lane":    {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine}, Engine: hpa, Lane: ptr.To(int32(4))}, Answer{omit(), omit()}, "-"},
		"it is gone":                    {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine}}, Answer{carry(5), omit()}, "-"},
		"it is gone, the field is ours": {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine, ours}}, Answer{carry(5), omit()}, ""},
		"it is gone, the spec edited":   {Field{Live: 5, Want: 3, Asked: two, Owners: []Owner{engine, ours}}, Answer{takeOver(3), omit()}, "-"},
		"the spec edited, it is gone":   {Field{Live: 5, Want: 3, Asked: two, Owners: []Owner{engine}}, Answer{carry(5), omit()}, "-"},
		"edited to more, it is gone":    {Field{Live: 5, Want: 8, Asked: two, Owners: []Owner{engine}}, Answer{takeOver(8), omit()}, "-"},
		"its limit was raised, it goes": {Field{Live: 9, Want: 4, Own: two, Asked: two, Owners: []Owner{engine}}, Answer{carry(9), omit()}, "-"},
		"its limit is raised, no other": {Field{Live: 4, Want: 6, Own: two, Asked: two, Owners: []Owner{ours}}, Answer{carry(6), omit()}, "-"},
		"edited below its limit":        {Field{Live: 9, Want: 4, Own: ptr.To(int32(3)), Asked: two, Owners: []Owner{engine, ours}}, Answer{carry(9), omit()}, ""},
		"it is gone, and taken back":    {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine, ours}, Retake: true}, Answer{takeOver(2), omit()}, "-"},
		"it is gone, and a person scaled": {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine, scaled}},
			Answer{omit(), omit()}, "kube-controller-manager"},

		"a lane begins":                 {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{ours}, Lane: two}, Answer{omit(), carry(2)}, "-"},
		"a lane wants more":             {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{lane}, Lane: five}, Answer{omit(), carry(5)}, "-"},
		"a lane wants more at once":     {Field{Live: 2, Want: 2, Asked: two, Owners: []Owner{ours}, Lane: five}, Answer{omit(), takeOver(5)}, "-"},
		"a lane yields to a person":     {Field{Live: 3, Want: 2, Asked: two, Owners: []Owner{scaled}, Lane: five}, Answer{omit(), omit()}, "kubectl"},
		"a lane after an autoscaler":    {Field{Live: 3, Want: 2, Asked: two, Owners: []Owner{engine}, Lane: five}, Answer{omit(), takeOver(5)}, "-"},
		"a lane takes back":             {Field{Live: 3, Want: 2, Asked: two, Owners: []Owner{scaled}, Lane: five, Retake: true}, Answer{omit(), takeOver(5)}, "-"},
		"a lane is over":                {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{lane}}, Answer{carry(5), omit()}, "-"},
		"a lane is over, the spec edit": {Field{Live: 5, Want: 3, Asked: two, Owners: []Owner{lane}}, Answer{takeOver(3), omit()}, "-"},

		"scaled to nothing, without a trace": {Field{Live: 0, Want: 2, Asked: two}, Answer{omit(), omit()}, "unknown"},
		"and the spec edited":                {Field{Live: 0, Want: 3, Asked: two}, Answer{omit(), omit()}, "unknown"},
		"and taken back":                     {Field{Live: 0, Want: 2, Asked: two, Retake: true}, Answer{carry(2), omit()}, "-"},
		"and there is an autoscaler":         {Field{Live: 0, Want: 2, Asked: two, Engine: hpa}, Answer{omit(), omit()}, "unknown"},
		"under an autoscaler, taken back":    {Field{Live: 0, Want: 2, Asked: two, Owners: []Owner{scaled}, Engine: hpa, Retake: true}, Answer{takeOver(2), omit()}, "-"},
		"under an autoscaler, by a person":   {Field{Live: 0, Want: 2, Asked: two, Owners: []Owner{scaled}, Engine: hpa}, Answer{omit(), omit()}, "kubectl"},
		"by the spec, under an autoscaler":   {Field{Live: 0, Want: 2, Asked: ptr.To(int32(0)), Owners: []Owner{ours}, Engine: hpa}, Answer{carry(2), omit()}, "-"},
		"by an autoscaler itself":            {Field{Live: 0, Want: 2, Asked: two, Owners: []Owner{engine}, Engine: hpa}, Answer{carry(0), omit()}, "-"},
		"by the spec":                        {Field{Live: 0, Want: 2, Asked: ptr.To(int32(0)), Owners: []Owner{ours}}, Answer{carry(2), omit()}, "-"},
		"no manager is left":                 {Field{Live: 5, Want: 2, Asked: two}, Answer{carry(5), omit()}, "-"},
		"no manager is left, and too few":    {Field{Live: 1, Want: 2, Asked: two}, Answer{carry(2), omit()}, "-"},
		"what was asked for is not known":    {Field{Live: 5, Want: 2, Owners: []Owner{ours}}, Answer{carry(5), omit()}, ""},
		"kept as it was by what went away":   {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{ours}}, Answer{carry(5), omit()}, ""},
	} {
		if diff := cmp.Diff(c.want, Decide(c.f)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		by, is := c.f.Overridden()
		if is != (c.by != "-") || is && by != c.by {
			t.Errorf("%s: overridden %t by %q", what, is, by)
		}
	}
}

// An edit is used up by whoever governs the number, and is not forgotten while another has claimed it.
func TestAsks(t *testing.T) {
	two := ptr.To(int32(2))
	for what, c := range map[string]struct {
		f    Field
		want *int32
	}{
		"the edit is applied":    {Field{Live: 2, Want: 4, Asked: two, Owners: []Owner{ours}}, ptr.To(int32(4))},
		"an autoscaler governs":  {Field{Live: 2, Want: 4, Asked: two, Owners: []Owner{ours}, Engine: "x"}, ptr.To(int32(4))},
		"it has written":         {Field{Live: 3, Want: 4, Asked: two, Owners: []Owner{engine}, Engine: "x"}, ptr.To(int32(4))},
		"from its limit on":      {Field{Live: 4, Want: 4, Own: two}, two},
		"a lane governs":         {Field{Live: 3, Want: 4, Asked: two, Owners: []Owner{lane}, Lane: two}, ptr.To(int32(4))},
		"a person has scaled":    {Field{Live: 3, Want: 4, Asked: two, Owners: []Owner{scaled}}, two},
		"nothing was on record":  {Field{Live: 3, Want: 4, Owners: []Owner{scaled}}, nil},
		"what was left is kept":  {Field{Live: 5, Want: 2, Asked: two, Owners: []Owner{engine}}, two},
		"it is kept, unrecorded": {Field{Live: 5, Want: 2, Owners: []Owner{engine}}, two},
		"it is kept, and edited": {Field{Live: 5, Want: 3, Asked: two, Owners: []Owner{engine}}, ptr.To(int32(3))},
	} {
		if diff := cmp.Diff(c.want, c.f.Asks(Decide(c.f))); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}
