package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

var errNoSettings = &fsm.Error{Class: fsm.Changed, Err: errors.New("the settings were changed since, or cannot be asked for")}

// applySettings begins to bring servers to the settings of the spec. That one refuses is
// what comes of it, and no failure: nothing else waits for it.
func (a Cluster) applySettings(c *valkeyv1.ValkeyCluster, e cluster.ApplySettings) error {
	key := cluster.SettingsWork(client.ObjectKeyFromObject(c))
	settler, is := a.servers.(wire.Settler)
	settings := spec.Live(c)
	if !is || !strings.HasPrefix(e.Print, cluster.SettingsPrint(settings)) {
		return fmt.Errorf("apply settings: %w", errNoSettings)
	}
	return a.Access.Ensure(key, e.Print, kube.WithoutResult(func(ctx context.Context) (bool, error) {
		return true, Settle(ctx, settler, e.At, settings)
	}))
}

// Settle brings servers to settings, and sees that they have them. What one refuses keeps
// neither the others from it nor the server from the rest.
func Settle(ctx context.Context, servers wire.Settler, members []cluster.Member, settings map[string]string) error {
	refusals := make([]string, len(members))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, m := range members {
		g.Go(func() (err error) {
			refusals[i], err = settleOne(ctx, servers, m, settings)
			return classify(m.Pod, err)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if i := slices.IndexFunc(refusals, func(words string) bool { return words != "" }); i >= 0 {
		return &cluster.Refusal{Words: members[i].Pod + ": " + refusals[i]}
	}
	return nil
}

// settleOne tells one server, one setting at a time, and asks it afterwards.
func settleOne(ctx context.Context, servers wire.Settler, m cluster.Member, settings map[string]string) (refused string, err error) {
	names := slices.Sorted(maps.Keys(settings))
	is, err := servers.Settings(ctx, target(m), names)
	if err != nil {
		return "", err
	}
	told := false
	for _, name := range names {
		if cluster.SameSetting(name, settings[name], is[name]) {
			continue
		}
		told = true
		switch err := servers.ConfigSet(ctx, target(m), map[string]string{name: settings[name]}); {
		case errors.Is(err, wire.ErrRefused):
			refused = name + ": " + wire.Words(err)
		case err != nil:
			return "", err
		}
	}
	if !told || refused != "" {
		return refused, nil
	}
	if is, err = servers.Settings(ctx, target(m), names); err != nil {
		return "", err
	}
	for _, name := range names {
		if !cluster.SameSetting(name, settings[name], is[name]) {
			return fmt.Sprintf("%s: it has %q, and not %q", name, is[name], settings[name]), nil
		}
	}
	return "", nil
}

// keepSettings leaves in the configuration what servers are known to start with.
func (a Cluster) keepSettings(ctx context.Context, wanted *corev1.ConfigMap) error {
	var is corev1.ConfigMap
	err := a.Live.Get(ctx, client.ObjectKeyFromObject(wanted), &is)
	switch {
	case apierrors.IsNotFound(err):
		spec.KeepLive(wanted, nil)
	case err != nil:
		return fmt.Errorf("read ConfigMap: %w", err)
	default:
		spec.KeepLive(wanted, &is)
	}
	return nil
}
