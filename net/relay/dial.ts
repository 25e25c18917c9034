import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { RelayAddress } from './address.ts';

/** How to reach a relay over TLS: its certificate names the host of the address that was given, also at another place. */
export function tlsOptionsOf({ host, port, certifiedHost = host }: RelayAddress): ConnectionOptions {
  if (isIP(certifiedHost) === 0) return { host, port, servername: certifiedHost };
  // An IP address is no server name (RFC 6066, 3); the certificate is compared with it all the same.
  return { host, port, checkServerIdentity: (_name, certificate) => checkServerIdentity(certifiedHost, certificate) };
}
