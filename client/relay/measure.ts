import { connect } from 'node:net';
import type { HostPort } from '../../net/host-port.ts';
import type { Lookup } from '../lookup.ts';

const CONNECT_MS = 3_000;
/** The better one counts: the first may have waited for this machine itself. */
const TRIES = 2;

/** Milliseconds of a round trip to a TCP port, its name looked up before; undefined where nothing answers. */
export async function roundTripTo({ host, port }: HostPort, lookup: Lookup): Promise<number | undefined> {
  const [place] = await lookup(host).catch(() => []);
  if (place === undefined) return undefined;
  let best: number | undefined;
  for (let n = 0; n < TRIES; n++) {
    const took = await connectTime({ host: place.address, port });
    if (took === undefined) return best;
    best = Math.min(best ?? took, took);
  }
  return best;
}

function connectTime(place: HostPort): Promise<number | undefined> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ ...place, timeout: CONNECT_MS });
    const end = (took: number | undefined) => {
      socket.destroy();
      resolve(took);
    };
    socket.once('connect', () => end(performance.now() - startedAt));
    socket.once('timeout', () => end(undefined));
    socket.once('error', () => end(undefined));
  });
}
