package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// Unknown is what a person can look at of an execution whose outcome is not known.
type Unknown struct {
	Namespace string
	Ref       remediationv1.ExecutionRef
	Execution *remediationv1.KubernetesExecution // nil if it is gone
	Requester string                             // "" if it is not known
	// Marked are the objects that bear its mark.
	Marked []reserve.Ref
	// Since is when they were marked: an acknowledgement that was made before does not count.
	Since metav1.Time
	// Target is what was to be changed, as it is now; nil if it was not read.
	Target *unstructured.Unstructured
	Pods   []corev1.Pod // of its Job
	// Unseen says what could not be looked at, and how to do so.
	Unseen []string
}

// Title names the execution.
func (u Unknown) Title() string {
	if u.Ref.Name == "" {
		return fmt.Sprintf("KubernetesExecution with UID %s in namespace %s", u.Ref.UID, u.Namespace)
	}
	return Kind + " " + u.Namespace + "/" + u.Ref.Name
}

// Sections are the witnesses, the target with its token and its managed fields, and the ways on.
func (u Unknown) Sections() []explain.Section {
	var all []explain.Section
	if u.Execution != nil {
		all = append(all, Effect(u.Execution))
	}
	return append(all, u.mark(), u.target(), u.pods(), u.waysOn(), u.unseen())
}

// Head says what is not known.
func (u Unknown) Head() string {
	gone := ""
	if u.Execution == nil {
		gone = ", which is gone,"
	}
	return "It is not known whether " + u.Title() + gone + " changed its target. No other execution touches the target until a person has looked at it, and says so."
}

func (u Unknown) mark() explain.Section {
	s := explain.Section{Title: "Mark"}
	for _, r := range u.Marked {
		s.Add("On", fmt.Sprintf("%s, UID %s", r.Title(), r.UID))
	}
	if !u.Since.IsZero() {
		s.Add("Since", explain.Moment(u.Since))
	}
	s.Add("Asked by", u.Requester)
	s.AddExact("UID", string(u.Ref.UID))
	return s
}

func (u Unknown) target() explain.Section {
	s := explain.Section{Title: "Target"}
	if u.Execution != nil && u.Execution.Status.Plan != nil {
		t := u.Execution.Status.Plan.Target
		s.Add("Planned", fmt.Sprintf("%s %s (%s), UID %s", t.Kind, t.Name, t.APIVersion, t.UID))
		if u.Target != nil && u.Target.GetUID() != t.UID {
			s.Add("Now", fmt.Sprintf("Another object has that name, UID %s: the one that may have been changed is gone.", u.Target.GetUID()))
			return s
		}
		s.AddExact("Changes", u.changesNow(u.Execution.Status.Plan)...)
	}
	if u.Target != nil {
		s.Add("Token", u.token())
		s.Add("Written", writers(u.Target)...)
	}
	return s
}

// changesNow are the planned changes, each with what is there now.
func (u Unknown) changesNow(p *remediationv1.Plan) (lines []string) {
	for i, line := range changes(p) {
		if u.Target != nil && i < len(p.Changes) {
			path := action.ParsePath(p.Changes[i].Path)
			if f, err := action.Read(u.Target.Object, []action.Path{path}); err == nil {
				if now, is := f.Values[path.String()]; is {
					line += ", is " + string(now.Raw) + " now"
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// token is what the annotation of the target says of this execution.
func (u Unknown) token() string {
	switch action.ReadToken(u.Target.Object, u.Ref.UID) {
	case action.Done:
		return "The target bears the token of this execution: the change was made, at whatever time, unless another client wrote the token."
	case action.Started:
		return "The target bears the token of this execution, which had begun to write and may not have finished."
	}
	if other := u.Target.GetAnnotations()[remediationv1.TokenAnnotation]; other != "" {
		return "The target bears the token of another execution, " + other + ", which says nothing about this one."
	}
	return "The target bears no token. Unless a user removed it, this execution has not written it so far."
}

// mostWriters are shown, the latest.
const mostWriters = 6

// writers are the managed fields of an object: who wrote it, and when.
func writers(obj *unstructured.Unstructured) (lines []string) {
	fields := slices.Clone(obj.GetManagedFields())
	at := func(f metav1.ManagedFieldsEntry) metav1.Time {
		if f.Time == nil {
			return metav1.Time{}
		}
		return *f.Time
	}
	slices.SortStableFunc(fields, func(a, b metav1.ManagedFieldsEntry) int { return at(b).Compare(at(a).Time) })
	for _, f := range fields[:min(len(fields), mostWriters)] {
		line := fmt.Sprintf("%s by %s", explain.Moment(at(f)), or(f.Manager, "(unnamed)"))
		if f.Subresource != "" {
			line += " (" + f.Subresource + ")"
		}
		if f.Manager == writer {
			line += ": an action, perhaps this one"
		}
		lines = append(lines, line)
	}
	return lines
}

// writer is the field manager of actions.
const writer = "statecraft-action"

func (u Unknown) pods() explain.Section {
	s := explain.Section{Title: "Pods"}
	for _, p := range u.Pods {
		words := "has ended, as its kubelet reports."
		if !reportedEnded(p) {
			words = fmt.Sprintf("is %s, and node %s has not reported its end: it may STILL WRITE. Do not acknowledge before it is gone, or its node is off.",
				or(string(p.Status.Phase), "in no phase"), or(p.Spec.NodeName, "(none)"))
		}
		s.Add("Pod", p.Name+" "+words)
	}
	return s
}

// reportedEnded says that the kubelet reported the end of every container. A phase alone is no proof: the collector of pods
// calls those of a lost node Failed while they may still run.
func reportedEnded(p corev1.Pod) bool {
	statuses := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	running := func(c corev1.ContainerStatus) bool { return c.State.Terminated == nil }
	return len(statuses) > 0 && !slices.ContainsFunc(statuses, running)
}

// waysOn are both: the change was made, or it was not. To acknowledge is the same for either; what follows is not.
func (u Unknown) waysOn() explain.Section {
	s := explain.Section{Title: "Ways on"}
	back := ""
	if x := u.Execution; x != nil && x.Status.Plan != nil && x.Status.Plan.Inverse != nil {
		back = " If it is not wanted, another execution takes it back: " + call(x.Status.Plan.Inverse.Action, x.Status.Plan.Inverse.Parameters) + "."
	}
	s.Add("Made", "If the change was made, acknowledge that."+back)
	s.Add("Not made", "If it was not, acknowledge that, too. Another execution may then make it; this one never tries again.")
	return s
}

func (u Unknown) unseen() explain.Section {
	s := explain.Section{Title: "Not looked at"}
	s.Add("Note", u.Unseen...)
	return s
}
