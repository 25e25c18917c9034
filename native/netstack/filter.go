package main

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sort"
	"sync"
	"time"
)

const (
	protocolICMP   = 1
	protocolTCP    = 6
	protocolUDP    = 17
	protocolICMPv6 = 58

	tcpFIN, tcpSYN, tcpRST, tcpACK = 1, 2, 4, 16

	permitsAll  = 1
	permitsICMP = 2

	maxFlows      = 65536
	maxFragmented = 4096
	sweepInterval = 30 * time.Second
	closedLife    = 2 * time.Minute
	datagramLife  = 3 * time.Minute
	streamLife    = 24 * time.Hour
	fragmentLife  = 30 * time.Second
)

type ports struct{ from, to uint16 }

type permission struct {
	from, to netip.Addr
	flags    byte
	tcp, udp []ports
}

// Disjoint ranges of addresses, sorted: client/firewall/permissions.ts.
type permissions []permission

func readPermissions(r *reader) permissions {
	count := r.u32()
	var all permissions
	for ; count > 0 && !r.bad; count-- {
		one := permission{flags: r.u8(), from: r.address(), to: r.address()}
		one.tcp, one.udp = readPorts(r), readPorts(r)
		all = append(all, one)
	}
	return all
}

func readPorts(r *reader) []ports {
	var all []ports
	for count := r.u16(); count > 0 && !r.bad; count-- {
		all = append(all, ports{r.u16(), r.u16()})
	}
	return all
}

func (all permissions) permits(protocol byte, peer netip.Addr, port uint16) bool {
	at := sort.Search(len(all), func(i int) bool { return all[i].to.Compare(peer) >= 0 })
	if at == len(all) || all[at].from.Compare(peer) > 0 {
		return false
	}
	one := all[at]
	if one.flags&permitsAll != 0 {
		return true
	}
	switch protocol {
	case protocolICMP, protocolICMPv6:
		return one.flags&permitsICMP != 0
	case protocolTCP:
		return within(one.tcp, port)
	case protocolUDP:
		return within(one.udp, port)
	}
	return false
}

func within(all []ports, port uint16) bool {
	at := sort.Search(len(all), func(i int) bool { return all[i].to >= port })
	return at < len(all) && all[at].from <= port
}

// A connection as this node sees it. An echo has its identifier as the local port.
type flowKey struct {
	protocol   byte
	localPort  uint16
	remote     netip.Addr
	remotePort uint16
}

type flow struct {
	isFromPeer bool
	isClosed   bool
	seen       time.Time
}

func (f flow) isOver(key flowKey, now time.Time) bool {
	life := streamLife
	if key.protocol != protocolTCP {
		life = datagramLife
	} else if f.isClosed {
		life = closedLife
	}
	return now.Sub(f.seen) > life
}

type fragmentKey struct {
	from, to netip.Addr
	id       uint32
}

// Judges every packet by the connection that it belongs to, as the table of nftables does: a rule that goes cuts what was
// opened under it. Without rules nothing passes.
type filter struct {
	mutex     sync.Mutex
	in, out   permissions
	flows     map[flowKey]flow
	fragments map[fragmentKey]time.Time
	swept     time.Time
}

func newFilter() *filter {
	return &filter{flows: map[flowKey]flow{}, fragments: map[fragmentKey]time.Time{}, swept: time.Now()}
}

// Returns the connections that were open and are permitted no more.
func (f *filter) use(in, out permissions) []flowKey {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.in, f.out = in, out
	clear(f.fragments)
	var cut []flowKey
	for key, one := range f.flows {
		if !f.isPermitted(key, one.isFromPeer) {
			cut = append(cut, key)
			delete(f.flows, key)
		}
	}
	return cut
}

func (f *filter) mayOpen(protocol byte, peer netip.Addr, port uint16) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.out.permits(protocol, peer, port)
}

func (f *filter) isPermitted(key flowKey, isFromPeer bool) bool {
	if isFromPeer {
		return f.in.permits(key.protocol, key.remote, key.localPort)
	}
	return f.out.permits(key.protocol, key.remote, key.remotePort)
}

// Tells whether a packet passes.
func (f *filter) judge(bytes []byte, isFromPeer bool) bool {
	p, err := parsePacket(bytes)
	if err != nil {
		return false
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	now := time.Now()
	f.sweep(now)
	fragment := fragmentKey{p.source, p.destination, p.fragmentID}
	if p.isLaterFragment {
		seen, ok := f.fragments[fragment]
		return ok && now.Sub(seen) < fragmentLife
	}
	if p.hasFragments && len(f.fragments) >= maxFragmented {
		return false
	}
	passes := f.judgeWhole(p, isFromPeer, now)
	if passes && p.hasFragments {
		f.fragments[fragment] = now
	}
	return passes
}

func (f *filter) judgeWhole(p packet, isFromPeer bool, now time.Time) bool {
	if p.isError {
		inner, err := parsePacket(p.payload)
		if err != nil {
			return false
		}
		key, ok := inner.key(!isFromPeer)
		one, tracked := f.flows[key]
		return ok && tracked && f.isPermitted(key, one.isFromPeer)
	}
	key, ok := p.key(isFromPeer)
	if !ok {
		return false
	}
	one, tracked := f.flows[key]
	if tracked && (one.isOver(key, now) || one.isClosed && p.begins()) {
		tracked = false
	}
	if !tracked {
		if !p.begins() || !f.isPermitted(key, isFromPeer) || len(f.flows) >= maxFlows {
			return false
		}
		one = flow{isFromPeer: isFromPeer}
	} else if !f.isPermitted(key, one.isFromPeer) {
		return false
	}
	one.seen = now
	one.isClosed = one.isClosed || p.flags&(tcpFIN|tcpRST) != 0
	f.flows[key] = one
	return true
}

func (f *filter) sweep(now time.Time) {
	if now.Sub(f.swept) < sweepInterval {
		return
	}
	f.swept = now
	for key, one := range f.flows {
		if one.isOver(key, now) {
			delete(f.flows, key)
		}
	}
	for key, seen := range f.fragments {
		if now.Sub(seen) > fragmentLife {
			delete(f.fragments, key)
		}
	}
}

type packet struct {
	protocol                      byte
	source, destination           netip.Addr
	sourcePort, destinationPort   uint16
	flags                         byte
	isRequest, isReply, isError   bool
	hasFragments, isLaterFragment bool
	fragmentID                    uint32
	payload                       []byte
}

var errShort = errors.New("packet is cut off")

func parsePacket(b []byte) (p packet, err error) {
	switch {
	case len(b) >= 20 && b[0]>>4 == 4:
		header := int(b[0]&15) * 4
		if header < 20 || len(b) < header {
			return p, errShort
		}
		p.protocol = b[9]
		p.source, p.destination = netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
		fragment := binary.BigEndian.Uint16(b[6:])
		p.isLaterFragment, p.hasFragments = fragment&0x1fff != 0, fragment&0x2000 != 0
		p.fragmentID = uint32(binary.BigEndian.Uint16(b[4:]))
		b = b[header:]
	case len(b) >= 40 && b[0]>>4 == 6:
		p.protocol = b[6]
		p.source, p.destination = netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
		b = b[40:]
		if p.protocol == 44 && len(b) >= 8 {
			fragment := binary.BigEndian.Uint16(b[2:])
			p.isLaterFragment, p.hasFragments = fragment&0xfff8 != 0, fragment&1 != 0
			p.fragmentID = binary.BigEndian.Uint32(b[4:])
			p.protocol = b[0]
			b = b[8:]
		}
	default:
		return p, errShort
	}
	if p.isLaterFragment {
		return p, nil
	}
	if len(b) < 8 {
		return p, errShort
	}
	switch p.protocol {
	case protocolTCP, protocolUDP:
		p.sourcePort, p.destinationPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
		// An error quotes 8 bytes.
		if p.protocol == protocolTCP && len(b) > 13 {
			p.flags = b[13]
		}
	case protocolICMP:
		p.isRequest, p.isReply = b[0] == 8, b[0] == 0
		p.isError = b[0] == 3 || b[0] == 11 || b[0] == 12
	case protocolICMPv6:
		p.isRequest, p.isReply = b[0] == 128, b[0] == 129
		p.isError = b[0] >= 1 && b[0] <= 4
	}
	if p.isRequest || p.isReply {
		identifier := binary.BigEndian.Uint16(b[4:])
		p.sourcePort, p.destinationPort = identifier, identifier
	}
	p.payload = b[8:]
	return p, nil
}

// Tells whether a connection may begin with it.
func (p packet) begins() bool {
	switch p.protocol {
	case protocolTCP:
		return p.flags&(tcpSYN|tcpACK|tcpRST) == tcpSYN
	case protocolUDP:
		return true
	}
	return p.isRequest
}

func (p packet) key(isFromPeer bool) (flowKey, bool) {
	switch p.protocol {
	case protocolTCP, protocolUDP:
	case protocolICMP, protocolICMPv6:
		if !p.isRequest && !p.isReply {
			return flowKey{}, false
		}
		remote := p.destination
		if isFromPeer {
			remote = p.source
		}
		// A request of the peer and one of ours with the same identifier are two connections.
		isOpenedByPeer := isFromPeer == p.isRequest
		var side uint16
		if isOpenedByPeer {
			side = 1
		}
		return flowKey{p.protocol, p.sourcePort, remote, side}, true
	default:
		return flowKey{}, false
	}
	if isFromPeer {
		return flowKey{p.protocol, p.destinationPort, p.source, p.sourcePort}, true
	}
	return flowKey{p.protocol, p.sourcePort, p.destination, p.destinationPort}, true
}
