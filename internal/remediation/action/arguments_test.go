package action

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// kubelet does to the args of a container what a kubelet does: $(NAME) becomes a variable of the
// environment, if there is one, and $$ a dollar.
func kubelet(args []string, env map[string]string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		text := strings.Builder{}
		for j := 0; j < len(arg); j++ {
			if arg[j] != '$' || j+1 == len(arg) {
				text.WriteByte(arg[j])
				continue
			}
			end := strings.IndexByte(arg[j:], ')')
			switch {
			case arg[j+1] == '$':
				text.WriteByte('$')
				j++
			case arg[j+1] == '(' && end > 0:
				name := arg[j+2 : j+end]
				if value, is := env[name]; is {
					text.WriteString(value)
				} else {
					text.WriteString("$(" + name + ")")
				}
				j += end
			default:
				text.WriteByte('$')
			}
		}
		out[i] = text.String()
	}
	return out
}

var environment = map[string]string{"TOKEN": "secret", "parameters.s": "other"}

func TestACommandIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringN(1, 20, -1), rapid.SampledFrom([]string{"-f", "--uid=x", "$(TOKEN)", "$$(TOKEN)", "$", "$$", "a b", "\n", `"`}))
		c := Command{
			Action: "update_configmap", Execution: "e1", Footprint: strings.Repeat("0", 64),
			Target: Target{
				APIVersion: word.Draw(t, "version"), Kind: word.Draw(t, "kind"), Resource: word.Draw(t, "resource"),
				Namespace: rapid.StringN(0, 9, -1).Draw(t, "namespace"), Name: word.Draw(t, "name"), UID: "u1",
			},
			Parameters: Params{"data": map[string]string{"k": strings.ReplaceAll(word.Draw(t, "value"), "\x00", "")}},
			Timeout:    time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "timeout")), TerminationLog: word.Draw(t, "log"),
		}
		got, err := ParseArguments(kubelet(c.Arguments(), environment))
		if diff := cmp.Diff(c, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}

func TestArgumentsThatAreRefused(t *testing.T) {
	c := Command{
		Action: "scale_deployment", Execution: "e1", Footprint: "f", Timeout: time.Second, Parameters: Params{"replicas": int64(3)},
		Target: Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "shop", Name: "web", UID: "u1"},
	}
	whole := c.Arguments()
	if _, err := ParseArguments(whole); err != nil {
		t.Fatal(err)
	}
	for say, c := range map[string]struct{ drop, add, want string }{
		"no action":                {drop: "--action", want: `There is no built-in action "".`},
		"another action":           {add: "--action=drain", want: `There is no built-in action "drain".`},
		"no UID":                   {drop: "--uid", want: "flag --uid is missing"},
		"no footprint":             {drop: "--footprint", want: "flag --footprint is missing"},
		"no execution":             {drop: "--execution", want: "flag --execution is missing"},
		"no name":                  {drop: "--name", want: "flag --name is missing"},
		"no timeout":               {drop: "--timeout", want: "flag --timeout is missing"},
		"no parameters":            {drop: "--parameters", want: "Parameter replicas is required."},
		"parameters that are none": {add: "--parameters=[]", want: "read parameters: json: cannot unmarshal array into Go value of type map[string]v1.JSON"},
		"a parameter too many":     {add: `--parameters={"replicas":1,"x":2}`, want: `Parameter "x" is unknown; the action takes: replicas.`},
		"a word":                   {add: "web", want: `argument "web" is no flag`},
		"an unknown flag":          {add: "--kubeconfig=x", want: "flag provided but not defined: -kubeconfig"},
	} {
		t.Run(say, func(t *testing.T) {
			var args []string
			for _, arg := range whole {
				if c.drop == "" || !strings.HasPrefix(arg, c.drop+"=") {
					args = append(args, arg)
				}
			}
			if c.add != "" {
				args = append(args, c.add)
			}
			got, err := ParseArguments(args)
			if err == nil || err.Error() != c.want {
				t.Errorf("err = %v, want %s", err, c.want)
			}
			if got.TerminationLog != TerminationLog {
				t.Errorf("it cannot be reported to %q", got.TerminationLog)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	p := Params{"s": "a b;$(TOKEN)", "n": int64(-3), "b": true, "o": map[string]string{"k": "<v>"}, "dash": "-f"}
	target := Target{Name: "web", Namespace: "shop", UID: "u1"}
	for say, c := range map[string]struct {
		args, want []string
		target     Target
		err        string
	}{
		"literals stay":                   {args: []string{"--force", "$HOME", "$$", "$"}, want: []string{"--force", "$HOME", "$$", "$"}},
		"a string is one argument":        {args: []string{"$(parameters.s)"}, want: []string{"a b;$(TOKEN)"}},
		"an integer is written":           {args: []string{"$(parameters.n)"}, want: []string{"-3"}},
		"a boolean is written":            {args: []string{"$(parameters.b)"}, want: []string{"true"}},
		"an object is JSON":               {args: []string{"$(parameters.o)"}, want: []string{`{"k":"<v>"}`}},
		"the target has a name":           {args: []string{"$(target.namespace)", "$(target.name)", "$(target.uid)"}, want: []string{"shop", "web", "u1"}},
		"a target may have no namespace":  {args: []string{"$(target.namespace)"}, target: Target{Name: "n1"}, want: []string{""}},
		"a reference within text":         {args: []string{"--x=$(parameters.s)"}, err: `Argument "--x=$(parameters.s)" of the action's definition has a reference within text: a reference must be an argument of its own.`},
		"two references":                  {args: []string{"$(parameters.s)$(parameters.n)"}, err: `Argument "$(parameters.s)$(parameters.n)" of the action's definition has a reference within text: a reference must be an argument of its own.`},
		"a variable of the environment":   {args: []string{"$(TOKEN)"}, err: "The action's definition has an argument with the unknown reference $(TOKEN)."},
		"another field of the target":     {args: []string{"$(target.labels)"}, err: "The action's definition has an argument with the unknown reference $(target.labels)."},
		"a parameter that has no value":   {args: []string{"$(parameters.x)"}, err: "The action's definition has an argument $(parameters.x), and the parameter has neither a value nor a default."},
		"a value whose pattern allows it": {args: []string{"$(parameters.dash)"}, want: []string{"-f"}},
		"a name that is an option":        {args: []string{"$(target.name)"}, target: Target{Name: "--all"}, err: "The target's name begins with a dash, which the action would take for an option."},
	} {
		t.Run(say, func(t *testing.T) {
			if c.target == (Target{}) {
				c.target = target
			}
			got, err := Expand(c.args, p, c.target)
			if sayOf(err) != c.err {
				t.Fatalf("err = %v, want %s", err, c.err)
			}
			if diff := cmp.Diff(c.want, kubelet(got, environment)); err == nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever a value is, it is one argument, and the others are what they were.
func TestNoValueReachesBeyondItsArgument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.StringMatching(`[$()a-zA-Z. -]{0,20}`), rapid.SampledFrom([]string{"$(TOKEN)", "$$(TOKEN)", "$(parameters.s)"})).Draw(t, "value")
		got, err := Expand([]string{"do", "$(parameters.s)", "--end"}, Params{"s": value}, Target{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"do", value, "--end"}, kubelet(got, environment)); diff != "" {
			t.Error(diff)
		}
	})
}
