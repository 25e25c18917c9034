import type { InterfaceAddress } from '../isolation.ts';

/** Messages of rtnetlink(7). Pure. */
const RTM_NEWLINK = 16;
const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const NLM_F_REQUEST = 1;
const NLM_F_ACK = 4;
const NLM_F_CREATE = 0x400;
const NLM_F_REPLACE = 0x100;
const IFF_UP = 1;
const IFLA_MTU = 4;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_F_NODAD = 2;
const AF_INET = 2;
const AF_INET6 = 10;
const HEADER_BYTES = 16;
const ERROR_AT = 16;

/** Asks for an interface to be up. @param mtu 0 leaves it as it is */
export function upMessage(index: number, mtu: number): Uint8Array {
  const body = new DataView(new ArrayBuffer(16));
  body.setInt32(4, index, true);
  body.setUint32(8, IFF_UP, true);
  body.setUint32(12, IFF_UP, true);
  const size = new DataView(new ArrayBuffer(4));
  size.setUint32(0, mtu, true);
  return message(RTM_NEWLINK, 0, bytesOf(body), ...(mtu > 0 ? [attribute(IFLA_MTU, bytesOf(size))] : []));
}

/** Adds an address or removes it; its block is routed with it. */
export function addressMessage(index: number, { ip, prefix }: InterfaceAddress, isAdded: boolean): Uint8Array {
  const isIpv4 = ip.length === 4;
  const body = new DataView(new ArrayBuffer(8));
  body.setUint8(0, isIpv4 ? AF_INET : AF_INET6);
  body.setUint8(1, prefix);
  body.setUint8(2, isIpv4 ? 0 : IFA_F_NODAD);
  body.setUint32(4, index, true);
  const attributes = [attribute(IFA_LOCAL, ip), attribute(IFA_ADDRESS, ip)];
  const [type, flags] = isAdded ? [RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE] : [RTM_DELADDR, 0];
  return message(type, flags, bytesOf(body), ...attributes);
}

/** @returns the errno of an answer, 0 where it was done; undefined where it is no answer */
export function errnoIn(answer: Uint8Array): number | undefined {
  if (answer.length < ERROR_AT + 4) return undefined;
  return -new DataView(answer.buffer, answer.byteOffset).getInt32(ERROR_AT, true);
}

function message(type: number, flags: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = Buffer.concat([new Uint8Array(HEADER_BYTES), ...parts]);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt16LE(flags | NLM_F_REQUEST | NLM_F_ACK, 6);
  return bytes;
}

function attribute(type: number, value: Uint8Array): Uint8Array {
  // Lengths of 4 and 16 bytes need no padding.
  const bytes = Buffer.alloc(4 + value.length);
  bytes.writeUInt16LE(bytes.length, 0);
  bytes.writeUInt16LE(type, 2);
  bytes.set(value, 4);
  return bytes;
}

const bytesOf = (view: DataView): Uint8Array => new Uint8Array(view.buffer);
