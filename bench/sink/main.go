// sink: the platform as fast as it can be, for the benchmark only: it counts and stores no records.
//
//	POST /api/resources/{schema}/batch {"resources":[...]} -> 202, batchId
//	GET  /api/batches/{id}                                 -> completed at once, all records successful
//	POST /partner/schema-definitions                       -> the definition, echoed with an id
//	GET  /stats ; POST /reset?latency_ms= ; POST /outage?on=true: 503 to everything of the platform until on=false
//
// env: ADDR (127.0.0.1:0, any free port; the first line of output names the one taken)
//
//	LOG (none): a file that gets a line of JSON for each accepted batch, with the time in milliseconds, and the id and the
//	version of each record. bench/live/writer.mjs puts the version into a customer's lastName and a transaction's total.
//
// It is deliberately cheap, since it shares the machine with what is measured: a one-pass JSON scanner that
// refuses what is not JSON and finds each record's id, and a bitmap that tells an id's second arrival.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const maxID = 16 << 20

// Records with an id up to this one are kept as they came: whoever asks can see that all contenders send the same.
const sampled = 200

type counters struct {
	Requests, Records, Bytes, Polls, Bad, NoID atomic.Int64
	ids                                        []uint32 // bitmap
	Distinct                                   atomic.Int64
	sumID                                      atomic.Int64 // with Distinct: that it was these ids and no others
	samples                                    sync.Map     // id -> json.RawMessage
}

var (
	mu     sync.RWMutex
	bySch  = map[string]*counters{}
	seq    atomic.Int64
	polls  atomic.Int64
	lat    time.Duration
	first  atomic.Int64
	last   atomic.Int64
	maxInF atomic.Int64
	inF    atomic.Int64
	order  atomic.Int64 // customers records received after the first transactions batch
	down   atomic.Bool
	logMu  sync.Mutex
	logTo  *os.File // nil if nothing is logged
)

// A batch as it is logged.
type accepted struct {
	At       float64 `json:"at"`
	Schema   string  `json:"schema"`
	IDs      []int64 `json:"ids"`
	Versions []int64 `json:"versions"`
}

// note logs an accepted batch. Batches that are accepted one after the other stand in this order in the log.
func (a *accepted) note() {
	logMu.Lock()
	defer logMu.Unlock()
	a.At = float64(time.Now().UnixMicro()) / 1000
	line, err := json.Marshal(a)
	if err == nil {
		_, err = logTo.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func get(s string) *counters {
	mu.RLock()
	c := bySch[s]
	mu.RUnlock()
	if c != nil {
		return c
	}
	mu.Lock()
	defer mu.Unlock()
	if c = bySch[s]; c == nil {
		c = &counters{ids: make([]uint32, maxID/32)}
		bySch[s] = c
	}
	return c
}

// scanner walks one JSON document and reports every member of an object and every element of an array (k is nil).
type scanner struct {
	b []byte
	i int
}

func (s *scanner) ws() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}
func (s *scanner) str() ([]byte, bool) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, false
	}
	s.i++
	st := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[st : s.i-1], true
		case c == '\\':
			s.i += 2
		case c < 0x20:
			return nil, false
		default:
			s.i++
		}
	}
	return nil, false
}
func (s *scanner) value(depth int, onKey func(depth int, k []byte, v []byte)) bool {
	s.ws()
	if s.i >= len(s.b) {
		return false
	}
	switch c := s.b[s.i]; c {
	case '{':
		s.i++
		s.ws()
		if s.i < len(s.b) && s.b[s.i] == '}' {
			s.i++
			return true
		}
		for {
			s.ws()
			k, ok := s.str()
			if !ok {
				return false
			}
			s.ws()
			if s.i >= len(s.b) || s.b[s.i] != ':' {
				return false
			}
			s.i++
			s.ws()
			st := s.i
			if !s.value(depth+1, onKey) {
				return false
			}
			onKey(depth, k, s.b[st:s.i])
			s.ws()
			if s.i >= len(s.b) {
				return false
			}
			if s.b[s.i] == ',' {
				s.i++
				continue
			}
			if s.b[s.i] == '}' {
				s.i++
				return true
			}
			return false
		}
	case '[':
		s.i++
		s.ws()
		if s.i < len(s.b) && s.b[s.i] == ']' {
			s.i++
			return true
		}
		for {
			st := s.i
			if !s.value(depth+1, onKey) {
				return false
			}
			onKey(depth, nil, s.b[st:s.i])
			s.ws()
			if s.i >= len(s.b) {
				return false
			}
			if s.b[s.i] == ',' {
				s.i++
				continue
			}
			if s.b[s.i] == ']' {
				s.i++
				return true
			}
			return false
		}
	case '"':
		_, ok := s.str()
		return ok
	case 't':
		return s.lit("true")
	case 'f':
		return s.lit("false")
	case 'n':
		return s.lit("null")
	default:
		st := s.i
		for s.i < len(s.b) && (s.b[s.i] >= '0' && s.b[s.i] <= '9' || s.b[s.i] == '-' || s.b[s.i] == '+' || s.b[s.i] == '.' || s.b[s.i] == 'e' || s.b[s.i] == 'E') {
			s.i++
		}
		return s.i > st
	}
}
func (s *scanner) lit(l string) bool {
	if s.i+len(l) <= len(s.b) && string(s.b[s.i:s.i+len(l)]) == l {
		s.i += len(l)
		return true
	}
	return false
}

// idNum takes 12, "12", "C-000000012" to 12.
func idNum(v []byte) int64 {
	n, seen := int64(0), false
	for _, c := range v {
		if c >= '0' && c <= '9' {
			n, seen = n*10+int64(c-'0'), true
		} else if seen {
			break
		}
	}
	if !seen {
		return -1
	}
	return n
}

var pool = sync.Pool{New: func() any { b := make([]byte, 0, 512<<10); return &b }}

func post(w http.ResponseWriter, r *http.Request) {
	now := time.Now().UnixNano()
	first.CompareAndSwap(0, now)
	if n := inF.Add(1); n > maxInF.Load() {
		maxInF.Store(n)
	}
	defer inF.Add(-1)
	p := strings.Split(r.URL.Path, "/") // "", api, resources, {schema}, batch
	if len(p) != 5 || p[4] != "batch" || r.Method != "POST" {
		http.Error(w, `{"success":false,"message":"not found"}`, 404)
		return
	}
	c := get(p[3])
	bp := pool.Get().(*[]byte)
	buf := (*bp)[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			http.Error(w, "read", 400)
			return
		}
	}
	key, versionKey := "externalId", "lastName"
	if p[3] == "transactions" {
		key, versionKey = "transactionId", "transactionTotal"
	}
	batch := accepted{Schema: p[3]}
	version := int64(-1)
	recs, noid, sum, distinct := int64(0), int64(0), int64(0), int64(0)
	id := int64(-1)
	s := scanner{b: buf}
	ok := s.value(0, func(d int, k, v []byte) {
		if d == 2 && string(k) == key { // {"resources":[ {key: v
			id = idNum(v)
		} else if d == 2 && logTo != nil && string(k) == versionKey {
			version = idNum(v)
		} else if d == 1 && k == nil {
			recs++
			if logTo != nil {
				batch.IDs, batch.Versions = append(batch.IDs, id), append(batch.Versions, version)
				version = -1
			}
			if id < 0 || id >= maxID {
				noid++
			} else {
				sum += id
				if id <= sampled {
					c.samples.Store(id, json.RawMessage(append([]byte(nil), v...)))
				}
				wd, bit := &c.ids[id/32], uint32(1)<<(id%32)
				for {
					o := atomic.LoadUint32(wd)
					if o&bit != 0 {
						break
					}
					if atomic.CompareAndSwapUint32(wd, o, o|bit) {
						distinct++
						break
					}
				}
			}
			id = -1
		}
	})
	s.ws()
	if !ok || s.i != len(buf) || recs == 0 {
		c.Bad.Add(1)
		http.Error(w, `{"success":false,"message":"bad json"}`, 400)
		return
	}
	c.Requests.Add(1)
	c.Records.Add(recs)
	c.Bytes.Add(int64(len(buf)))
	c.NoID.Add(noid)
	c.Distinct.Add(distinct)
	c.sumID.Add(sum)
	if p[3] == "customers" {
		mu.RLock()
		t := bySch["transactions"]
		mu.RUnlock()
		if t != nil && t.Requests.Load() > 0 {
			order.Add(recs)
		}
	}
	*bp = buf
	pool.Put(bp)
	if lat > 0 {
		time.Sleep(lat)
	}
	last.Store(time.Now().UnixNano())
	if logTo != nil {
		batch.note()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(202)
	fmt.Fprintf(w, `{"success":true,"message":"Accepted","data":{"batchId":"b-%d-%d","message":"Batch accepted","recordCount":%d,"schemaDefinitionId":"%s"}}`, seq.Add(1), recs, recs, p[3])
}

// poll answers for any batch: its number of records is part of the id that post gave it.
func poll(w http.ResponseWriter, r *http.Request) {
	polls.Add(1)
	id := strings.TrimPrefix(r.URL.Path, "/api/batches/")
	n := id[strings.LastIndexByte(id, '-')+1:]
	if _, err := strconv.Atoi(n); err != nil {
		http.Error(w, `{"success":false,"message":"no such batch"}`, 404)
		return
	}
	const at = "2026-01-01T00:00:00.000Z"
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"success":true,"message":"OK","data":{"batchId":%q,"progress":{"totalRecords":%s,"processedRecords":%s,`+
		`"successfulRecords":%s,"pendingRecords":0,"failedRecords":0,"successRate":100},"createdAt":%q,"startedAt":%q,`+
		`"completedAt":%q,"errors":null,"pendingResources":[]}}`, id, n, n, n, at, at, at)
}

// define echoes a schema definition. Its id is its name, so that uploads by id and by name come to the same place.
func define(w http.ResponseWriter, r *http.Request) {
	d := map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		http.Error(w, `{"success":false,"message":"bad json"}`, 400)
		return
	}
	d["id"], d["versionNumber"] = d["name"], 1
	if d["externalIdField"] == nil {
		d["externalIdField"] = d["external_id_field"]
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"success": true, "message": "OK", "data": d})
}

// unlessDown answers with 503 during an outage.
func unlessDown(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, `{"success":false,"message":"unavailable"}`, 503)
			return
		}
		handle(w, r)
	}
}

func stats(w http.ResponseWriter, r *http.Request) {
	out := map[string]any{"polls": polls.Load(), "maxInFlight": maxInF.Load(), "outOfOrderCustomers": order.Load(),
		"spanSeconds": float64(last.Load()-first.Load()) / 1e9}
	mu.RLock()
	defer mu.RUnlock()
	for k, c := range bySch {
		out[k] = map[string]any{"requests": c.Requests.Load(), "records": c.Records.Load(), "bytes": c.Bytes.Load(), "bad": c.Bad.Load(),
			"noId": c.NoID.Load(), "distinct": c.Distinct.Load(), "sumId": c.sumID.Load(), "samples": samplesOf(c)}
	}
	json.NewEncoder(w).Encode(out)
}

func samplesOf(c *counters) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	c.samples.Range(func(id, record any) bool {
		out[strconv.FormatInt(id.(int64), 10)] = record.(json.RawMessage)
		return true
	})
	return out
}

func main() {
	addr := os.Getenv("ADDR")
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	if name := os.Getenv("LOG"); name != "" {
		var err error
		if logTo, err = os.Create(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/resources/", unlessDown(post))
	mux.HandleFunc("/api/batches/", unlessDown(poll))
	mux.HandleFunc("/partner/schema-definitions", unlessDown(define))
	mux.HandleFunc("/outage", func(w http.ResponseWriter, r *http.Request) {
		down.Store(r.URL.Query().Get("on") == "true")
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("/stats", stats)
	mux.HandleFunc("/reset", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		bySch = map[string]*counters{}
		mu.Unlock()
		for _, v := range []*atomic.Int64{&polls, &first, &last, &maxInF, &order} {
			v.Store(0)
		}
		if v := r.URL.Query().Get("latency_ms"); v != "" {
			n, _ := strconv.Atoi(v)
			lat = time.Duration(n) * time.Millisecond
		}
		io.WriteString(w, "ok\n")
	})
	listener, err := net.Listen("tcp", addr)
	if err == nil {
		fmt.Printf("http://%s\n", listener.Addr())
		err = http.Serve(listener, mux)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
