import { checkServerIdentity } from 'node:tls';

export type ServerIdentityCheck = typeof checkServerIdentity;

/**
 * Returns a check that a certificate belongs to a server of the bus. A server that is known by its name must have this name.
 * Node passes no name for a server that is known by its address, which is no server name (RFC 6066, 3): its certificate must
 * have a host of the list.
 */
export function identifiedAs(hosts: () => readonly string[]): ServerIdentityCheck {
  return (name, certificate) => {
    const known = hosts();
    const wanted = known.includes(name) ? [name] : known;
    const refusals = wanted.map((host) => checkServerIdentity(host, certificate));
    return refusals.includes(undefined) ? undefined : refusals[0];
  };
}
