package capture

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

var (
	descLastSuccess = prometheus.NewDesc("statecraft_capture_last_success_timestamp_seconds",
		"When the last snapshot was completed, of each claim that exists and whose volume was captured.", []string{"namespace", "claim"}, nil)

	metricClaims = kube.NewObjectCollector(descLastSuccess)
)

// claimID is one very claim: another that has its name by now holds other data.
type claimID struct {
	read.Key
	uid types.UID
}

type capturedClaim struct {
	claimID
	at time.Time
}

// collectClaims serves, of each claim, how old its last capture is.
func collectClaims(a *kube.Area, _ Config) error {
	return kube.Collect(a, metricClaims, kube.Objects[capturedClaim]{
		Kind: claimKind.Kind,
		List: func(ctx context.Context) ([]capturedClaim, error) { return capturedClaims(ctx, a.Env) },
		Series: func(c capturedClaim) []prometheus.Metric {
			return []prometheus.Metric{
				prometheus.MustNewConstMetric(descLastSuccess, prometheus.GaugeValue, float64(c.at.Unix()), c.Namespace, c.Name)}
		},
	})
}

func capturedClaims(ctx context.Context, e kube.Env) (list []capturedClaim, err error) {
	last := map[claimID]time.Time{}
	err = e.EachCached(ctx, &capturev1.VolumeCaptureRequest{}, func(obj client.Object) {
		if c, is := capturedBy(obj.(*capturev1.VolumeCaptureRequest)); is && c.at.After(last[c.claimID]) {
			last[c.claimID] = c.at
		}
	})
	if err != nil {
		return nil, err
	}
	for id, at := range last {
		claim := claimNames()
		switch err := e.Client.Get(ctx, id.Key, claim); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("look for claim %s: %w", id.Key, err)
		case claim.GetUID() == id.uid:
			list = append(list, capturedClaim{id, at})
		}
	}
	return list, nil
}

// capturedBy is the claim of which a request made a snapshot, and when. A Detach takes the claim away.
func capturedBy(r *capturev1.VolumeCaptureRequest) (capturedClaim, bool) {
	s := &r.Status
	if s.Phase != volumecapture.Succeeded || r.Spec.Mode == capturev1.Detach || s.Origin == nil || s.CompletionTimestamp == nil {
		return capturedClaim{}, false
	}
	return capturedClaim{claimID{read.Key{Namespace: r.Namespace, Name: r.Spec.Target.Name}, s.Origin.ClaimUID}, s.CompletionTimestamp.Time}, true
}
