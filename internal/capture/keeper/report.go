package keeper

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const recheck = 30 * time.Second

// report keeps when the object was lost and until when the keeper stays. Both
// are stamped once: what the namespace was at the loss cannot be seen later. Mode
// TTL knows its end from the beginning, and says so.
func report(out *capturev1.ObjectKeeper, in input, _ fsm.Pass) {
	s := &out.Status
	switch {
	case in.Obj.Spec.Mode == capturev1.TTL:
		if s.ExpiresAt == nil {
			s.ExpiresAt = &metav1.Time{Time: in.Obj.CreationTimestamp.Add(ttl(in))}
		}
	case s.Phase != Expiring:
		s.LostAt, s.ExpiresAt = nil, nil
	case s.ExpiresAt == nil && in.World.Followed == presence.Gone && in.World.Live && in.World.Namespace != "":
		s.LostAt = &metav1.Time{Time: in.Now.Truncate(time.Second)}
		s.ExpiresAt = s.LostAt.DeepCopy()
		if keep := retention(in); keep > 0 { // rounded up: too long is safe, too short is not
			s.ExpiresAt.Time = in.Now.Add(keep + time.Second - time.Nanosecond).Truncate(time.Second)
		}
	}
}

// retention is how long the keeper outlives what it followed.
func retention(in input) time.Duration {
	var keep time.Duration
	if in.Obj.Spec.Mode == capturev1.FollowObjectWithTTL {
		keep = ttl(in)
	}
	if grace := in.Obj.Spec.NamespaceGrace; in.World.Namespace == Ending && grace != nil {
		keep = max(keep, grace.Duration)
	}
	return keep
}

// ttl is zero where the mode has none.
func ttl(in input) time.Duration {
	if in.Obj.Spec.TTL == nil {
		return 0
	}
	return in.Obj.Spec.TTL.Duration
}

// conditions: a keeper that cannot see is neither ready nor not.
func conditions(_ input, d fsm.Decision) []metav1.Condition {
	if d.Reason == ReasonCannotFollow {
		return []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionUnknown}}
	}
	return nil
}
