import { formatHostPort } from '../host-port.ts';
import { decodeCredential } from './credential.ts';

/** Where a relay is and what opens it. `secure` is TLS: the scheme `lrps` instead of `lrp`. */
export interface RelayAddress {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Whom the certificate of a relay with TLS has to name, where that is not `host`. */
  readonly certifiedHost?: string;
  /** Base64url; a secret, so never part of a log line or a status. */
  readonly credential?: string;
}

/** The port of a relay where none is named (docs/node.md#files-and-ports). */
const DEFAULT_RELAY_PORT = 6266;

/** `lrp://<credential>@host:port`, or plain `host:port` as in `--relay-url`. Undefined when it is neither. */
export function parseRelayAddress(text: string): RelayAddress | undefined {
  const url = parseUrl(/^[a-z]+:\/\//.test(text) ? text : `lrp://${text}`);
  if (url === undefined || !['lrp:', 'lrps:'].includes(url.protocol)) return undefined;
  if (url.hostname === '' || url.password !== '' || !['', '/'].includes(url.pathname) || url.search || url.hash) {
    return undefined;
  }
  if (url.username !== '' && decodeCredential(url.username) === undefined) return undefined;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_RELAY_PORT : Number(url.port),
    secure: url.protocol === 'lrps:',
    ...(url.username !== '' && { credential: url.username }),
  };
}

/** The address with its credential, for the node it was made for and for nobody else. */
export function formatRelayAddress({ host, port, secure, credential }: RelayAddress): string {
  return `${secure ? 'lrps' : 'lrp'}://${credential === undefined ? '' : `${credential}@`}${formatHostPort(host, port)}`;
}

/** The same relay, with its credential and its TLS, at another place: what `--relay-url` does. */
export function redirectRelay(address: RelayAddress, override: RelayAddress): RelayAddress {
  return {
    ...override,
    secure: address.secure || override.secure,
    ...(address.secure && { certifiedHost: address.host }),
    ...(address.credential !== undefined && { credential: address.credential }),
  };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
