// Log-judge verifies an audit log of Mesh by the packages of Go's own checksum database: the signed note, the tiles, the
// entries in them, and proofs. It reads what to verify as JSON, and says what it verified.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const tileHeight = 8

type head struct {
	Size int64
	Root string
}

type input struct {
	// Prefix is the URL of the log, Token what is sent to it.
	Prefix, Token string
	// Key is the verifier key of the log.
	Key       string
	Inclusion []struct {
		Index  int64
		Leaf   string
		To     head
		Hashes []string
	}
	Consistency []struct {
		From, To head
		Hashes   []string
	}
}

func main() {
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	size, root := openCheckpoint(in)
	entries := checkTiles(in, tlog.Tree{N: size, Hash: root})
	for _, p := range in.Inclusion {
		check(tlog.CheckRecord(hashes(p.Hashes), p.To.Size, hash(p.To.Root), p.Index, hash(p.Leaf)))
	}
	for _, p := range in.Consistency {
		check(tlog.CheckTree(hashes(p.Hashes), p.To.Size, hash(p.To.Root), p.From.Size, hash(p.From.Root)))
	}
	fmt.Printf(`{"size":%d,"entries":%d,"inclusion":%d,"consistency":%d}`+"\n", size, entries, len(in.Inclusion), len(in.Consistency))
}

func openCheckpoint(in input) (int64, tlog.Hash) {
	verifier, err := note.NewVerifier(in.Key)
	check(err)
	opened, err := note.Open(get(in, "checkpoint"), note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		fail("not a checkpoint: %q", opened.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	return size, hash(lines[2])
}

// checkTiles holds each entry against its leaf, which the tiles prove to be in the tree.
func checkTiles(in input, tree tlog.Tree) int64 {
	reader := tlog.TileHashReader(tree, tiles{in})
	for first := int64(0); first < tree.N; first += 1 << tileHeight {
		width := tree.N - first
		if width > 1<<tileHeight {
			width = 1 << tileHeight
		}
		tile := tlog.Tile{H: tileHeight, L: 0, N: first >> tileHeight, W: int(width)}
		bundle := get(in, strings.Replace(path(tile), "tile/0/", "tile/entries/", 1))
		for n := first; n < first+width; n++ {
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			stored, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, n)})
			check(err)
			if tlog.RecordHash(bundle[2:end]) != stored[0] {
				fail("entry %d is not its leaf", n)
			}
			bundle = bundle[end:]
		}
		if len(bundle) != 0 {
			fail("%d bytes too many in the bundle from %d on", len(bundle), first)
		}
	}
	return tree.N
}

type tiles struct{ in input }

func (tiles) Height() int { return tileHeight }

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, tile := range wanted {
		data = append(data, get(t.in, path(tile)))
	}
	return data, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// path is that of c2sp.org/tlog-tiles, which leaves out the height.
func path(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", tileHeight), "tile/", 1)
}

func get(in input, path string) []byte {
	request, err := http.NewRequest("GET", in.Prefix+path, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+in.Token)
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != http.StatusOK {
		fail("%s: %s %s", path, response.Status, body)
	}
	return body
}

func hashes(texts []string) (all []tlog.Hash) {
	for _, text := range texts {
		all = append(all, hash(text))
	}
	return all
}

func hash(text string) (h tlog.Hash) {
	bytes, err := base64.StdEncoding.DecodeString(text)
	check(err)
	if copy(h[:], bytes) != len(h) {
		fail("not a hash: %q", text)
	}
	return h
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
