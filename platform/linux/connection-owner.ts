import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { ConnectionOwner } from '../connection-owner.ts';

/** Sockets of the network namespace of this process (proc_net_tcp.rst of the kernel). */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'] as const;
/** TCP_ESTABLISHED: the kernel gives the sockets that a process has closed to uid 0. */
const ESTABLISHED = '01';
/** The uid that this user namespace shows for all users of other ones. */
const OVERFLOW_UID = 65_534;

export const linuxConnectionOwner: ConnectionOwner = async (ends) => {
  const { localAddress, localPort, remoteAddress, remotePort } = ends;
  const [here, there] = [endOf(localAddress, localPort), endOf(remoteAddress, remotePort)];
  if (here === undefined || there === undefined) return undefined;
  for (const table of TABLES) {
    // A kernel without IPv6 has no table of it.
    const text = await readFile(table, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', remote = '', state, , , , uid, , inode] = line.trim().split(/\s+/);
      if (state !== ESTABLISHED || plainEnd(local) !== there || plainEnd(remote) !== here) continue;
      const found = Number(uid);
      return inode !== '0' && Number.isInteger(found) && found !== OVERFLOW_UID ? found : undefined;
    }
  }
  return undefined;
};

/** An IPv4 address that an IPv6 socket has, as an IPv4 socket has it: one end may be of one family, the other of the other. */
const MAPPED = /^0{16}(?:FFFF0000|0000FFFF)(?=[0-9A-F]{8}:)/;

function plainEnd(end: string): string {
  return end.replace(MAPPED, '');
}

/** An address and a port as the tables have them: words of 32 bits in the order of the processor, in hex. */
function endOf(address: string | undefined, port: number | undefined): string | undefined {
  const bytes = address === undefined ? undefined : bytesOf(address);
  if (!bytes || port === undefined) return undefined;
  const words = Array.from({ length: bytes.length / 4 }, (_, word) => bytes.subarray(4 * word, 4 * word + 4));
  const inOrder = words.map((word) => (endianness() === 'LE' ? Buffer.from(word).reverse() : word));
  return `${Buffer.concat(inOrder).toString('hex')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}

function bytesOf(address: string): Buffer | undefined {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (plain === '::1') return Buffer.from([...Array<number>(15).fill(0), 1]);
  const parts = plain.split('.').map(Number);
  return parts.length === 4 && parts.every((part) => part >= 0 && part < 256) ? Buffer.from(parts) : undefined;
}
