import { checkServerIdentity } from 'node:tls';

export type ServerIdentityCheck = typeof checkServerIdentity;

/**
 * Whether a certificate is that of a server of the bus. One that is known by its name has to have this name. Node knows
 * none for a server that is known by its address, which is no server name (RFC 6066, 3): its certificate has to have a
 * host of the list.
 */
export function identifiedAs(hosts: () => readonly string[]): ServerIdentityCheck {
  return (name, certificate) => {
    const known = hosts();
    const wanted = known.includes(name) ? [name] : known;
    const refusals = wanted.map((host) => checkServerIdentity(host, certificate));
    return refusals.includes(undefined) ? undefined : refusals[0];
  };
}
