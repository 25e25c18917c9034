import { MeshError } from './errors.ts';
import { isLoopback } from './loopback.ts';

/** The parts of a request that show how it arrived. */
export interface ReceivedRequest {
  readonly socket: { readonly localAddress?: string | undefined; readonly remoteAddress?: string | undefined };
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([\w.-]{1,253}))(?::\d{1,5})?$/i;
const PAGE = /^https?:\/\/([^/]+)$/i;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Refuses what a page of another site sends through a browser that was told that its name is this address (DNS
 * rebinding). A browser names the page in `Origin`, but not where it believes to read its own site: then `Host` holds
 * the name, which is foreign. On the loopback, where such a page finds what nothing else reaches, every `Host` counts.
 * A request with a bearer token and no sign of a browser is nobody's page: pages have no token to send.
 *
 * @param own names of this control plane, in lower case, besides those of the loopback
 * @param readsToken whether a token is asked for: where none is, one that is made up says nothing about who sends it
 */
export function refuseForeignHost(
  { socket, headers }: ReceivedRequest,
  own: ReadonlySet<string>,
  readsToken = true,
): MeshError | undefined {
  const { host, origin, cookie, authorization } = headers;
  const isPage = origin !== undefined || cookie !== undefined;
  if (!isPage && ((readsToken && isBearer(authorization)) || !isLoopback(socket.localAddress ?? ''))) return undefined;
  const name = nameOf(host);
  if (name === undefined) return new MeshError('host_not_allowed', 'Send a Host header that names this control plane.');
  // An address in place of a name was looked up by nobody.
  if (!isAddress(name) && !isOwn(name, own)) {
    const detail = `This control plane does not answer as ${name}: if that is a name of it, add http://${host} to app.publicUrls in config.yaml and start it again.`;
    return new MeshError('host_not_allowed', detail);
  }
  if (origin === undefined || isSameSite(origin, host)) return undefined;
  const page = nameOf(authorityOf(origin));
  if (page !== undefined && isOwn(page, own)) return undefined;
  const site = page === undefined ? 'other sites' : String(origin);
  const detail = `Pages of ${site} may not use this control plane: if one is its own, add its address to app.publicUrls in config.yaml and start it again.`;
  return new MeshError('host_not_allowed', detail);
}

/** Returns true if the request names the loopback as its host, and does not come from a page of another site. */
export function isNamedLoopback({ host, origin }: ReceivedRequest['headers']): boolean {
  const name = nameOf(host);
  return name !== undefined && isLoopback(name) && (origin === undefined || isSameSite(origin, host));
}

/** An IPv4 address that arrived over an IPv6 socket, in its own form. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}

type Header = string | readonly string[] | undefined;

function isBearer(authorization: Header): boolean {
  return typeof authorization === 'string' && /^Bearer /i.test(authorization);
}

function isOwn(name: string, own: ReadonlySet<string>): boolean {
  return isLoopback(name) || own.has(name);
}

function isAddress(name: string): boolean {
  return name.includes(':') || IPV4.test(name);
}

function isSameSite(origin: Header, host: Header): boolean {
  return typeof host === 'string' && authorityOf(origin)?.toLowerCase() === host.toLowerCase();
}

function authorityOf(origin: Header): string | undefined {
  return typeof origin === 'string' ? PAGE.exec(origin)?.[1] : undefined;
}

/** The host of `host:port` in lower case, without brackets; undefined where it is malformed. */
function nameOf(authority: Header): string | undefined {
  const match = typeof authority === 'string' ? AUTHORITY.exec(authority) : null;
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, '');
}
