import type { LookupAddress } from 'node:dns';
import { lookup as lookUp } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** Finds the addresses of a host. @throws Error where there are none */
export type Lookup = (host: string) => Promise<readonly LookupAddress[]>;

/** Finds hosts also while DNS is away. */
export interface Addresses {
  readonly lookup: Lookup;
  /** Returns the last addresses of a host while DNS does not answer; undefined while it does, and for a host that was never found. */
  lastWhileAway(host: string): Promise<readonly LookupAddress[] | undefined>;
}

/** Asks the resolver of this host, which throws at once for texts that are no names. */
export const askDns: Lookup = async (host) => lookUp(host, { all: true });

/** Returns a lookup in the form that sockets of Node take. */
export function socketLookup(lookup: Lookup): LookupFunction {
  return (host, { all }, done) => {
    lookup(host).then(
      (found) => {
        const [first] = found;
        if (all) done(null, [...found]);
        else if (first) done(null, first.address, first.family);
        else done(new Error(`${host} has no address.`), '', 4);
      },
      (error: NodeJS.ErrnoException) => done(error, '', 4),
    );
  };
}
