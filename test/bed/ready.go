package bed

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

// readyEvery is how often a starting server is asked whether it is ready.
const readyEvery = 50 * time.Millisecond

// await asks ready until it says yes, a server ends, or startTimeout passes. An error of ready is not final: it
// becomes part of the error if nothing better comes.
func (b *Bed) await(ctx context.Context, what string, ready func(context.Context) (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyEvery, startTimeout, true, func(ctx context.Context) (bool, error) {
		if err := b.healthy(); err != nil {
			return false, err
		}
		var done bool
		done, last = ready(ctx)
		return done, nil
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, process.ErrExited):
		return err
	default:
		return fmt.Errorf("wait for %s: %w\n%s", what, errors.Join(err, last), b.logTails())
	}
}

func (b *Bed) logTails() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var text string
	for _, server := range b.servers {
		text += fmt.Sprintf("--- %s\n%s", server.Log, process.Tail(server.Log))
	}
	return text
}

func (b *Bed) waitForAPI(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return b.await(ctx, "the API server", func(ctx context.Context) (bool, error) {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil, err
	})
}

// waitForControllers returns once the controllers that every test leans on have done something: pods need the
// default ServiceAccount, and owners need garbage collection.
func (b *Bed) waitForControllers(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	err = b.await(ctx, "the default service account", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return b.waitForGarbageCollection(ctx, client)
}

// waitForGarbageCollection leaves an orphan for the collector to find.
func (b *Bed) waitForGarbageCollection(ctx context.Context, client kubernetes.Interface) error {
	orphans := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	orphan := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "bed-orphan",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "bed-gone", UID: "00000000-0000-0000-0000-000000000000",
		}},
	}}
	if _, err := orphans.Create(ctx, orphan, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create orphan: %w", err)
	}
	return b.await(ctx, "garbage collection", func(ctx context.Context) (bool, error) {
		_, err := orphans.Get(ctx, orphan.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}
