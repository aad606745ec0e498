package kube

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// spansOf runs something with an exporter in memory.
func spansOf(t *testing.T, run func()) tracetest.SpanStubs {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	was := otel.GetTracerProvider()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
	t.Cleanup(func() { otel.SetTracerProvider(was) })
	run()
	return exporter.GetSpans()
}

func TestSpansOfAPass(t *testing.T) {
	b := newBench(lampMachine())
	b.pass(t)
	b.world[off] = fsm.Do("Polish", effect("polish"), effect("shine"))
	b.fails["shine"] = errors.New("slipped")
	spans := spansOf(t, func() { b.pass(t) })

	var names []string
	for _, s := range spans {
		names = append(names, s.Name+" "+s.Status.Code.String())
	}
	want := []string{"polish Unset", "shine Error", "Lamp Unset"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	pass := spans[2]
	if pass.Attributes[0].Value.AsString() != "room/lamp" {
		t.Errorf("attributes: %v", pass.Attributes)
	}
	for _, s := range spans[:2] {
		if s.Parent.SpanID() != pass.SpanContext.SpanID() {
			t.Errorf("%s is not below its pass", s.Name)
		}
	}
}

func TestASpanOfAFailedPassSaysSo(t *testing.T) {
	b := newBench(lampMachine())
	spans := spansOf(t, func() { b.blindPass(t) })
	if len(spans) != 1 || spans[0].Status.Code != codes.Error {
		t.Errorf("%+v", spans)
	}
}
