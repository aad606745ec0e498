package policy

import "time"

// Input is what a policy can read as input. It tells a policy nothing that changes from look to
// look without reason, so that answers can be remembered.
type Input struct {
	Request Request `json:"request"`
	// Parent is absent unless the execution is a step of a RemediationRequest.
	Parent     *Parent    `json:"parent,omitempty"`
	Namespace  Namespace  `json:"namespace"`
	Executions Executions `json:"executions"`
	Change     Change     `json:"change"`
	// Pods is absent while they are not known: before they were read, and for targets that have none.
	Pods *Pods `json:"pods,omitempty"`
	// Now is the time in RFC 3339, cut to the minute.
	Now string `json:"now"`
}

// Request is what is asked for, and by whom.
type Request struct {
	Action     string         `json:"action"`
	Target     Target         `json:"target"`
	Parameters map[string]any `json:"parameters"`
	Requester  Requester      `json:"requester"`
	// Risk of the action: Low, Medium or High.
	Risk string `json:"risk"`
	// Rollback says that the execution takes another one back.
	Rollback bool `json:"rollback"`
}

// Parent is the step of a RemediationRequest that the execution carries out.
type Parent struct {
	Name string `json:"name"`
	Step string `json:"step"`
	// Attempt is which try of the step it is, from 1.
	Attempt int32 `json:"attempt"`
	// Undo says that it takes the step back.
	Undo bool `json:"undo"`
}

// Target is the object to repair.
type Target struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`
	// Gone says that the object that the action was done to is not there any more. Another one may have its name.
	Gone   bool              `json:"gone"`
	Labels map[string]string `json:"labels"`
	// Managers are the names of those who manage fields of the object. They tell that GitOps owns it.
	Managers []string `json:"managers"`
	// Owners are the kinds of the objects that own it.
	Owners []string `json:"owners"`
}

// Requester is who made the execution, as admission recorded it.
type Requester struct {
	Username       string   `json:"username"`
	Groups         []string `json:"groups"`
	ServiceAccount bool     `json:"serviceAccount"`
}

// Namespace is that of the execution.
type Namespace struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

// Pods counts those of the target.
type Pods struct {
	Wanted   int64 `json:"wanted"`
	Ready    int64 `json:"ready"`
	Restarts int64 `json:"restarts"`
}

// Executions counts the others that have begun and not ended.
type Executions struct {
	OnTarget    int64 `json:"onTarget"`
	InNamespace int64 `json:"inNamespace"`
	// LastEnd is when the last one on the target ended, in RFC 3339. It is absent if there was none.
	LastEnd string `json:"lastEnd,omitempty"`
}

// Change is what the plan would change.
type Change struct {
	Summary string        `json:"summary"`
	Changes []FieldChange `json:"changes"`
}

// FieldChange is one field that would change. From and To are JSON, and empty where there is no value.
type FieldChange struct {
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Minute writes a time as the input holds it.
func Minute(t time.Time) string {
	return t.UTC().Truncate(time.Minute).Format(time.RFC3339)
}

// Filled has empty maps and lists where the input has none: counting null is an error in Rego,
// and an author of policies should not have to know which of them may be absent.
func (i Input) Filled() Input {
	i.Request.Parameters = fillMap(i.Request.Parameters)
	i.Request.Target.Labels = fillMap(i.Request.Target.Labels)
	i.Request.Target.Managers = fillList(i.Request.Target.Managers)
	i.Request.Target.Owners = fillList(i.Request.Target.Owners)
	i.Request.Requester.Groups = fillList(i.Request.Requester.Groups)
	i.Namespace.Labels = fillMap(i.Namespace.Labels)
	i.Change.Changes = fillList(i.Change.Changes)
	return i
}

func fillMap[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func fillList[E any](l []E) []E {
	if l == nil {
		return []E{}
	}
	return l
}
