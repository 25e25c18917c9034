package main

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

const (
	quotedBytes = 64
	// Communication administratively prohibited: RFC 1812, RFC 4443.
	prohibitedV4, prohibitedV6 = 13, 1
)

// Returns what a router answers that does not pass a packet on: the program learns at once that no policy permits its
// connection. Nil where none is due, which is so for errors and for sources that are not the node's own.
func refusalOf(packet []byte, own []netip.Addr) []byte {
	p, err := parsePacket(packet)
	if err != nil || !slices.Contains(own, p.source) || p.isError || p.isLaterFragment {
		return nil
	}
	quoted := packet[:min(len(packet), quotedBytes)]
	message := make([]byte, 8, 8+len(quoted))
	if p.source.Is4() {
		message[0], message[1] = 3, prohibitedV4
		message = append(message, quoted...)
		binary.BigEndian.PutUint16(message[2:], checksum(message, 0))
		header := make([]byte, 20, 20+len(message))
		header[0], header[8], header[9] = 0x45, 64, protocolICMP
		binary.BigEndian.PutUint16(header[2:], uint16(20+len(message)))
		copy(header[12:], p.destination.AsSlice())
		copy(header[16:], p.source.AsSlice())
		binary.BigEndian.PutUint16(header[10:], checksum(header, 0))
		return append(header, message...)
	}
	message[0], message[1] = 1, prohibitedV6
	message = append(message, quoted...)
	header := make([]byte, 40, 40+len(message))
	header[0], header[6], header[7] = 0x60, protocolICMPv6, 64
	binary.BigEndian.PutUint16(header[4:], uint16(len(message)))
	copy(header[8:], p.destination.AsSlice())
	copy(header[24:], p.source.AsSlice())
	pseudo := sum(header[8:40]) + uint32(len(message)) + protocolICMPv6
	binary.BigEndian.PutUint16(message[2:], checksum(message, pseudo))
	return append(header, message...)
}

func sum(bytes []byte) (total uint32) {
	for at := 0; at+1 < len(bytes); at += 2 {
		total += uint32(binary.BigEndian.Uint16(bytes[at:]))
	}
	if len(bytes)%2 == 1 {
		total += uint32(bytes[len(bytes)-1]) << 8
	}
	return total
}

// The Internet checksum, RFC 1071.
func checksum(bytes []byte, begun uint32) uint16 {
	total := begun + sum(bytes)
	for total > 0xffff {
		total = total>>16 + total&0xffff
	}
	return ^uint16(total)
}
