import { getSystemErrorName } from 'node:util';
import type { Isolation } from '../isolation.ts';
import { type CLibrary, SystemCallError } from './c-library.ts';
import { addressMessage, errnoIn, upMessage } from './rtnetlink.ts';

const O_RDWR_NONBLOCK_CLOEXEC = 2 | 0o4_000 | 0o2_000_000;
/** netdevice(7), tun.txt of the kernel. */
const TUNSETIFF = 0x4004_54ca;
const IFF_TUN_NO_PI = 0x1001;
const IFREQ_BYTES = 40;
const IFREQ_FLAGS_AT = 16;
const AF_NETLINK = 16;
const SOCK_RAW = 3;
const SOCK_CLOEXEC = 0o2_000_000;
const ANSWER_BYTES = 4_096;
const SIOCGIFINDEX = 0x8933;

type Network = Pick<Isolation, 'openTun' | 'openRoutes' | 'bringUp' | 'addAddress' | 'removeAddress'>;

export function linuxNetwork(library: CLibrary): Network {
  const open = library.take('int open(const char *file, int flags)');
  const control = library.take('int ioctl(int fd, ulong request, _Inout_ void *argument)');
  const makeSocket = library.take('int socket(int domain, int type, int protocol)');
  const send = library.take('long send(int fd, const void *bytes, size_t length, int flags)');
  const receive = library.take('long recv(int fd, _Out_ void *bytes, size_t length, int flags)');

  const request = (routes: number, message: Uint8Array, what: string): void => {
    send(routes, message, message.length, 0);
    const answer = new Uint8Array(ANSWER_BYTES);
    const errno = errnoIn(answer.subarray(0, receive(routes, answer, answer.length, 0))) ?? 0;
    if (errno !== 0) throw new SystemCallError(what, getSystemErrorName(-errno));
  };
  /** Interfaces are numbered in the namespace of the socket. */
  const indexOf = (routes: number, name: string): number => {
    const ask = namedRequest(name);
    control(routes, SIOCGIFINDEX, ask);
    return new DataView(ask.buffer).getInt32(IFREQ_FLAGS_AT, true);
  };
  return {
    openTun(name) {
      const fd = open('/dev/net/tun', O_RDWR_NONBLOCK_CLOEXEC);
      const ask = namedRequest(name);
      new DataView(ask.buffer).setUint16(IFREQ_FLAGS_AT, IFF_TUN_NO_PI, true);
      control(fd, TUNSETIFF, ask);
      return fd;
    },
    openRoutes: () => makeSocket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0),
    bringUp: (routes, name, mtu) => request(routes, upMessage(indexOf(routes, name), mtu), `bring up ${name}`),
    addAddress: (routes, name, address) =>
      request(routes, addressMessage(indexOf(routes, name), address, true), `add an address to ${name}`),
    removeAddress: (routes, name, address) =>
      request(routes, addressMessage(indexOf(routes, name), address, false), `remove an address from ${name}`),
  };
}

function namedRequest(name: string): Uint8Array<ArrayBuffer> {
  const ask = new Uint8Array(IFREQ_BYTES);
  ask.set(Buffer.from(name));
  return ask;
}
