package plugin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// isTerminal says that a person types what is read.
func isTerminal(in io.Reader) bool {
	file, is := in.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// ask asks a person. Only the very word is a yes; the end of the input, or of the program, is none.
func ask(ctx context.Context, in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question)
	answer := make(chan string, 1)
	go func() { // a terminal does not know of the end of the program
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- line
	}()
	select {
	case line := <-answer:
		return strings.TrimSpace(line) == "yes"
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false
	}
}

// secretFlags are not repeated on a screen.
var secretFlags = map[string]bool{"token": true}

// again is the command as it was given, in one namespace, with flags instead of those that it had.
func again(cmd *cobra.Command, args []string, namespace string, flags ...string) string {
	words := append([]string{"kubectl", "statecraft", cmd.Name()}, args...)
	words = append(words, "-n", namespace)
	given := map[string]bool{"namespace": true, "yes": true}
	for _, f := range flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		given[name] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if given[f.Name] || secretFlags[f.Name] {
			return
		}
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name+"="+v)
		}
	})
	words = append(words, flags...)
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell reads it as one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
