import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Host names without port; `any` where a proxy in front decides. */
export type AllowedHosts = readonly string[] | 'any';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * Refuses a page of another site that reaches this server through the browser (DNS rebinding). Browsers name the page
 * in `Origin`; on the loopback the `Host` must be known too, because that is where such a page finds a server.
 *
 * @returns why, or undefined when the request may go on.
 */
export function refuseRebinding(
  { headers, socket }: IncomingMessage,
  hosts: readonly string[],
  allowed: AllowedHosts,
): string | undefined {
  if (allowed === 'any') return undefined;
  const known = (name: string) => LOOPBACK.has(name) || hosts.includes(name);
  const { origin, host } = headers;
  if (origin !== undefined && !known(nameOf(origin))) return 'This Origin is not allowed.';
  const onLoopback = LOOPBACK.has((socket.localAddress ?? '').replace('::ffff:', ''));
  const name = nameOf(`http://${host ?? ''}`);
  if (onLoopback && isIP(name) === 0 && !known(name)) return 'This Host is not allowed.';
  return undefined;
}

function nameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}
