package remediation

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
)

// resolveEvery is how soon a target is free after a person has acknowledged an unknown outcome.
const resolveEvery = 5 * time.Second

// resolve takes the marks off targets whose unknown outcome was acknowledged.
func resolve(a *kube.Area) error {
	policies, err := a.Env.Policies(a.Name)
	if err != nil {
		return err
	}
	r := act.Resolver{
		Live: a.Env.LiveReader(), Cached: a.Env.Cached(), May: a.Env.May(), Policies: policies.Look, Reservations: a.Env.Reservations(),
		Left: func(n int) { metricUnresolved.Set(float64(n)) },
	}
	return a.Every("acknowledgements", resolveEvery, r.Resolve)
}
