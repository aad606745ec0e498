package act

import (
	"context"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// ManifestRestore performs the effects of a restore of manifests.
type ManifestRestore struct {
	Writer kube.Writer // of keepers and VolumeRestoreRequests
	Live   read.Live
	Work   *kube.Worker[*manifestrestore.Report]
	// As is the client of the account that does for users what they ask for in a namespace.
	// Its reads are live.
	As func(namespace string) (client.Client, error)
	// May says whether a requester may do something: what admission cannot ask, because it does not see
	// what a checkpoint holds.
	May read.May
	// Rights asks for rights of a requester, of this moment.
	Rights AskRights
	Mapper apimeta.RESTMapper
	Now    func() time.Time
	System string // the operator's namespace, where the keys are
}

// Act performs one effect.
func (a *ManifestRestore) Act(ctx context.Context, r *capturev1.ManifestRestoreRequest, e fsm.Effect) (string, error) {
	switch e := e.(type) {
	case manifestrestore.CreateKeeper:
		// What is restored is the user's and outlives everything of ours, so the keeper goes
		// with the request.
		kind := capturev1.GroupVersion.WithKind("ManifestRestoreRequest")
		return createKeeper(ctx, a.Writer, request.NewKeeper(r, kind, e.Namespace, request.Terms{}))
	case manifestrestore.Begin:
		return "", a.begin(r, e)
	}
	return "", fmt.Errorf("unknown effect %s", e)
}

// begin begins a job. The error of one that was stopped is returned, so that the request
// waits before the next.
func (a *ManifestRestore) begin(r *capturev1.ManifestRestoreRequest, e manifestrestore.Begin) error {
	key, what := client.ObjectKeyFromObject(r), manifestrestore.For(r.UID, e.Stage)
	job := &restoreJob{ManifestRestore: a, request: r.DeepCopy(), stage: e.Stage, keeper: e.Keeper}
	return a.Work.Ensure(key, what, job.step)
}

// AfterPass forgets the job of a request that is gone or has ended.
func (a *ManifestRestore) AfterPass(key read.Key, r *capturev1.ManifestRestoreRequest, there bool) {
	if !there || r.Status.Phase == manifestrestore.Succeeded || r.Status.Phase == manifestrestore.Failed {
		a.Work.Forget(key)
	}
}
