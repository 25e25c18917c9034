import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isPort } from '../../net/host-port.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

const DEFAULT_STUN_PORT = 3478;

/** The first address of each family of a host:port, from whoever named it; none of what is no such place. */
export async function addressesOf(name: string): Promise<readonly Endpoint[]> {
  const [, host = '', port] = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(name) ?? [];
  const at = Number(port ?? DEFAULT_STUN_PORT);
  const found = host !== '' && isPort(at) ? await allOf(host) : [];
  return [4, 6].flatMap((family) => {
    const address = found.find((each) => each.family === family)?.address;
    return address === undefined ? [] : [{ address, port: at }];
  });
}

/** None of a name that does not resolve, and of a text that is none: the resolver throws for some. */
async function allOf(host: string): Promise<readonly LookupAddress[]> {
  try {
    return await lookup(host, { all: true });
  } catch {
    return [];
  }
}
