package main

import (
	"flag"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

func show(args []string) error {
	if len(args) < 1 {
		usage()
	}
	s, err := readSession(args[0])
	if err != nil {
		return err
	}
	only := 0
	if len(args) > 1 {
		only, _ = strconv.Atoi(args[1])
	}
	fmt.Printf("seed %d, config %s, %.0f s\n", s.Seed, s.Config, s.Seconds)
	if only == 0 {
		for _, op := range s.Setup {
			fmt.Println("setup:", op.Note)
		}
	}
	for i, st := range s.Steps {
		if only > 0 && i+1 != only {
			continue
		}
		fmt.Printf("step %d (%d ms)\n", i+1, st.MS)
		for j, op := range st.Ops {
			fmt.Printf("  %s  -> %d\n", op.Note, st.Codes[j])
			if only > 0 {
				fmt.Printf("    %s %s\n    %s\n", op.Method, op.Path, op.Body)
			}
		}
		var keys []string
		for k := range st.Delta {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			fmt.Printf("    %s\n", k)
			var fl []string
			for f := range st.Delta[k] {
				fl = append(fl, f)
			}
			sort.Strings(fl)
			for _, f := range fl {
				fmt.Printf("      %s: %s\n", f, strings.ReplaceAll(st.Delta[k][f], "\n", "\n              "))
			}
		}
		if len(st.Wake) > 0 {
			fmt.Printf("    queue: %v\n", st.Wake)
		}
	}
	return nil
}

func stats(args []string) error {
	fs := flag.NewFlagSet("stats", flag.ExitOnError)
	dir := fs.String("golden", "golden", "folder of the golden files")
	fs.Parse(args)
	files, err := goldenFiles(*dir, "")
	if err != nil {
		return err
	}
	sum, in, secs := map[string]int{}, map[string]int{}, 0.0
	conf := map[string]int{}
	for _, f := range files {
		s, err := readSession(f)
		if err != nil {
			return err
		}
		secs += s.Seconds
		conf[s.Config]++
		for k, v := range counts(s) {
			sum[k] += v
			in[k]++
		}
	}
	if len(files) == 0 {
		return fmt.Errorf("no golden files in %s", *dir)
	}
	if err := writeIndex(*dir); err != nil {
		return err
	}
	fmt.Printf("%d sessions, %.0f s each on average, configs %v\n", len(files), secs/float64(len(files)), conf)
	var keys []string
	for k := range sum {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Printf("%6d  %s (in %d sessions)\n", sum[k], k, in[k])
	}
	return nil
}
