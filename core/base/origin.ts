import { isNamedLoopback, plainAddress, type ReceivedRequest } from './host-check.ts';
import { isLoopback } from './loopback.ts';

export { plainAddress };

interface Request extends ReceivedRequest {
  /** The client's address as the configured trust in proxies has it. */
  readonly ip?: string | undefined;
}

/** Names of headers that proxies and content delivery networks add to what they pass on. */
const PROXY_HEADERS =
  /^(?:forwarded|via|true-client-ip|(?:cf|fastly)-.*|x-(?:forwarded|original|real|client|cluster|envoy|azure)-.*)$/;

/**
 * Where a request came from: an address, or `proxy <address>` where it came over the loopback but from elsewhere, passed
 * on by a proxy or by a page under another name. So nothing but a caller on this machine has a loopback address here.
 */
export function originOf(request: Request): string {
  const { socket, headers } = request;
  // `ip` is a getter of express, absent from a bare request.
  const ip = request.ip ?? socket.remoteAddress ?? '';
  if (!isLoopback(ip)) return ip;
  const isLocal = isNamedLoopback(headers) && !Object.keys(headers).some((name) => PROXY_HEADERS.test(name));
  return isLocal ? ip : `${PROXY}${plainAddress(ip)}`;
}

const PROXY = 'proxy ';

/** Tells whether a request came over the loopback, but from elsewhere. */
export function isThroughProxy(origin: string): boolean {
  return origin.startsWith(PROXY);
}
