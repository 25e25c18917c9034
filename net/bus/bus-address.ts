import { formatHostPort, type HostPort, parseHostPort } from '../host-port.ts';
import { identifiedAs } from './server-identity.ts';

/** Where a bus is that others run. */
export interface BusAddress {
  /** `host:port` of its servers. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  /** PEM text of whom its certificates come from; whom this machine trusts unless set. */
  readonly ca?: string;
  /** The credentials in the URL. */
  readonly login: { readonly user: string; readonly pass: string } | { readonly token: string } | undefined;
}

const URL_PARTS = /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/]+)\/?$/;

/**
 * Servers of one bus, `nats://host:port` or `tls://host:port` with commas between, each with `user:password@` or `token@` where
 * it is asked for. Says what is wrong without repeating what may be a secret.
 */
export function parseBusUrl(urls: string): BusAddress | { readonly problem: string } {
  const parts = urls.split(',').map((url) => URL_PARTS.exec(url.trim()));
  const servers: HostPort[] = [];
  for (const part of parts) {
    const place = parseHostPort(part?.[3] ?? '') ?? parseHostPort(`${part?.[3]}:4222`);
    if (!part || place === undefined || place.port === 0) {
      return { problem: 'must have the form nats://<host>:<port> or tls://<host>:<port>, several with commas between' };
    }
    servers.push(place);
  }
  const schemes = new Set(parts.map((part) => part?.[1]));
  if (schemes.size > 1) return { problem: 'must have nats:// or tls:// for all servers alike' };
  const logins = new Set(parts.map((part) => part?.[2]).filter((login) => login !== undefined && login !== ''));
  if (logins.size > 1) return { problem: 'must have the same user and password for all servers' };
  const [text] = logins;
  const login = text === undefined ? undefined : loginOf(text);
  if (login === 'malformed') return { problem: 'must have user and password percent-encoded' };
  return { servers: servers.map(({ host, port }) => formatHostPort(host, port)), tls: schemes.has('tls'), login };
}

/** How a client connects there, `servers` being all that are tried. */
export function connectionOptions({ tls, ca }: BusAddress, servers: readonly string[]) {
  if (!tls) return {};
  const hosts = servers.flatMap((server) => parseHostPort(server)?.host ?? []);
  const checked = { rejectUnauthorized: true, checkServerIdentity: identifiedAs(() => hosts) };
  return { tls: { ...checked, ...(ca !== undefined && { ca }) } };
}

function loginOf(text: string): BusAddress['login'] | 'malformed' {
  const [first = '', ...rest] = text.split(':');
  try {
    const user = decodeURIComponent(first);
    return rest.length === 0 ? { token: user } : { user, pass: decodeURIComponent(rest.join(':')) };
  } catch {
    return 'malformed';
  }
}
