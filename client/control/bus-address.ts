import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';

export interface BusTls {
  readonly rejectUnauthorized: true;
  readonly checkServerIdentity?: typeof checkServerIdentity;
}

/** How the bus is spoken to, by its address. */
export interface BusManner {
  /** TLS or nothing; undefined: TLS where the bus offers it, else in clear. */
  readonly tls: BusTls | undefined;
  /** Whether the credential of this node is sent: over TLS, to this machine, or where it is asked for. */
  readonly signsIn: boolean;
}

/** `inClear`: the credential is asked to be sent without TLS too. */
export function busMannerOf(url: string, inClear: boolean): BusManner {
  const { protocol, hostname = '' } = URL.parse(url) ?? {};
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'tls:') return { tls: certifiedAs(host), signsIn: true };
  return { tls: undefined, signsIn: inClear || isLoopback(host) };
}

/** Its certificate names the host of the address; a name is compared by the client library. */
function certifiedAs(host: string): BusTls {
  if (isIP(host) === 0) return { rejectUnauthorized: true };
  // An IP address is no server name (RFC 6066, 3), and is compared all the same.
  const checked: typeof checkServerIdentity = (_name, certificate) => checkServerIdentity(host, certificate);
  return { rejectUnauthorized: true, checkServerIdentity: checked };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
