package rego

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// The places in a pack where answers are read.
var (
	decisions  = ast.MustParseRef("data.statecraft.remediation")
	conditions = ast.MustParseRef("data.statecraft.conditions")
)

// Evaluate answers a question. Whatever pack or input are the cause of comes back as a reply that
// denies, so it has no error.
func Evaluate(ctx context.Context, q policy.Question) policy.Reply {
	p, err := Compile(q.Pack)
	if err != nil {
		reply := policy.Deny(q, fmt.Sprintf("The policy pack does not compile: %s.", err))
		reply.InvalidPack = true
		return reply
	}
	return p.Evaluate(ctx, q)
}

// Evaluate answers a question about this policy, whatever pack the question has.
func (p *Policy) Evaluate(ctx context.Context, q policy.Question) policy.Reply {
	input, err := ast.InterfaceToValue(q.Input.Filled())
	if err != nil {
		return policy.Deny(q, fmt.Sprintf("The policy pack cannot be given its input: %s.", describe(err)))
	}
	var reply policy.Reply
	if reply.Answer, err = p.decide(ctx, input); err != nil {
		reply = policy.Reply{Problem: policy.Cut(fmt.Sprintf("The policy pack cannot decide: %s.", err))}
	}
	for _, c := range q.Conditions {
		if reply.Conditions == nil {
			reply.Conditions = map[string]policy.Verdict{}
		}
		reply.Conditions[c.Name] = p.ask(ctx, input, c)
	}
	return reply
}

func (p *Policy) decide(ctx context.Context, input ast.Value) (policy.Answer, error) {
	var a policy.Answer
	for _, rule := range []struct {
		name string
		into *bool
	}{{"allow", &a.Allow}, {"require_approval", &a.RequireApproval}, {"require_dry_run", &a.RequireDryRun}} {
		is, err := p.boolean(ctx, input, below(decisions, rule.name))
		if err != nil {
			return policy.Answer{}, err
		}
		*rule.into = is
	}
	reasons, err := p.texts(ctx, input, below(decisions, "reasons"))
	if err != nil {
		return policy.Answer{}, err
	}
	a.Reasons = reasons
	return a, nil
}

// ask says whether a condition holds. One that is undefined does not hold.
func (p *Policy) ask(ctx context.Context, input ast.Value, c policy.Condition) policy.Verdict {
	rule := below(conditions, c.Name)
	if len(p.compiler.GetRulesExact(rule)) == 0 {
		return policy.Verdict{Message: policy.Cut(fmt.Sprintf("The policy pack has no condition %s.", c.Name))}
	}
	if c.Parameters == nil {
		c.Parameters = map[string]any{}
	}
	asked, err := ast.InterfaceToValue(map[string]any{"name": c.Name, "parameters": c.Parameters})
	if err == nil {
		with, _ := input.(ast.Object).Merge(ast.NewObject(ast.Item(ast.InternedTerm("condition"), ast.NewTerm(asked))))
		var holds bool
		if holds, err = p.boolean(ctx, with, rule); err == nil {
			return policy.Verdict{Holds: holds}
		}
	}
	return policy.Verdict{Message: policy.Cut(fmt.Sprintf("The policy pack cannot say whether the condition holds: %s.", err))}
}

func below(pkg ast.Ref, name string) ast.Ref { return pkg.Append(ast.StringTerm(name)) }

// boolean is the value of a rule. An undefined one is false.
func (p *Policy) boolean(ctx context.Context, input ast.Value, rule ast.Ref) (bool, error) {
	value, defined, err := p.value(ctx, input, rule)
	if err != nil || !defined {
		return false, err
	}
	if is, ok := value.(bool); ok {
		return is, nil
	}
	return false, fmt.Errorf("%s must be true or false, and is %s", rule, kindOf(value))
}

// texts are the strings of a rule that is a set. An undefined one is empty.
func (p *Policy) texts(ctx context.Context, input ast.Value, rule ast.Ref) ([]string, error) {
	value, defined, err := p.value(ctx, input, rule)
	if err != nil || !defined {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s must be a set of strings, and is %s", rule, kindOf(value))
	}
	var texts []string
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s must hold strings, and holds %s", rule, kindOf(item))
		}
		if len(texts) < policy.MaxReasons {
			texts = append(texts, policy.Cut(text))
		}
	}
	return texts, nil
}

func (p *Policy) value(ctx context.Context, input ast.Value, rule ast.Ref) (value any, defined bool, err error) {
	results, err := rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(rule)))),
		rego.Compiler(p.compiler),
		rego.ParsedInput(input),
		rego.StrictBuiltinErrors(true),
	).Eval(ctx)
	switch {
	case err != nil:
		return nil, false, describe(err)
	case len(results) == 0:
		return nil, false, nil
	case len(results) > 1 || len(results[0].Expressions) != 1:
		return nil, false, errors.New(rule.String() + " has several results")
	}
	return results[0].Expressions[0].Value, true, nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a set or an array"
	case map[string]any:
		return "an object"
	}
	return "a number"
}
