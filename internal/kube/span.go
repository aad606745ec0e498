package kube

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Spans go to OpenTelemetry's global provider, which drops them unless the
// manager was started with tracing.
func tracer() trace.Tracer { return otel.Tracer("statecraft") }

// pass opens the span of a pass and measures it.
func (t *Trace) pass(ctx context.Context, key read.Key) (context.Context, func(error)) {
	began := time.Now() // a duration of ours, not the machine's clock
	ctx, span := tracer().Start(ctx, t.kind, trace.WithAttributes(attribute.String("object", key.String())))
	return ctx, func(err error) {
		metricPassSeconds.WithLabelValues(t.kind).Observe(time.Since(began).Seconds())
		end(span, err)
	}
}

// effect opens the span of one effect.
func (t *Trace) effect(ctx context.Context, e fsm.Effect) (context.Context, func(error)) {
	ctx, span := tracer().Start(ctx, e.String())
	return ctx, func(err error) { end(span, err) }
}

func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
