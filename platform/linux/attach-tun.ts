/**
 * `node attach-tun.ts <interface>`: makes the TUN interface of descriptor 3, an open /dev/net/tun, which coalesces the segments
 * of a TCP stream. It lasts until the descriptor is closed everywhere.
 */
import koffi from 'koffi';

/** linux/if_tun.h and linux/if.h: a request is a struct ifreq, a name with flags behind it. */
const TUNSETIFF = 0x400454ca;
const IFREQ_BYTES = 40;
const FLAGS_AT = 16;
const IFF_TUN = 0x0001;
const IFF_NAPI = 0x0010;
const TUN_FD = 3;

const [interfaceName = ''] = process.argv.slice(2);
const request = Buffer.alloc(IFREQ_BYTES);
request.write(interfaceName, 0, FLAGS_AT - 1, 'latin1');
request.writeUInt16LE(IFF_TUN | IFF_NAPI, FLAGS_AT);
const ioctl = koffi.load(null).func('int ioctl(int, unsigned long, ...)');
if (ioctl(TUN_FD, TUNSETIFF, 'void *', request) < 0) {
  process.stderr.write(`TUNSETIFF failed with error ${koffi.errno()}.`);
  process.exitCode = 1;
}
