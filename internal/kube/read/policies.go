package read

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Policies looks whether the admission policies of an area are those that are shipped. It reads live: what is
// not in force any more protects nothing.
type Policies struct {
	Live      Live
	Shipped   guard.Shipped
	Namespace string // of the record
	Area      string // whose record it is
}

// shippedLabel is on all policies and bindings that are shipped.
var shippedLabel = Labels{"app.kubernetes.io/part-of": "statecraft"}

// Look says what is wrong with them, or since when nothing is.
func (p Policies) Look(ctx context.Context) (guard.Verdict, error) {
	var policies admissionv1.ValidatingAdmissionPolicyList
	if err := p.Live.List(ctx, &policies, shippedLabel); err != nil {
		return guard.Verdict{}, fmt.Errorf("list admission policies: %w", err)
	}
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	if err := p.Live.List(ctx, &bindings, shippedLabel); err != nil {
		return guard.Verdict{}, fmt.Errorf("list bindings of admission policies: %w", err)
	}
	live := guard.Live{Policies: policies.Items, Bindings: bindings.Items}
	var record corev1.ConfigMap
	switch is, err := Find(ctx, p.Live, Key{Namespace: p.Namespace, Name: guard.RecordName(p.Area)}, &record, nil); {
	case err != nil:
		return guard.Verdict{}, err
	case is == presence.Here:
		live.Record = guard.RecordOf(&record)
	}
	return p.Shipped.Judge(live), nil
}
