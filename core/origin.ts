interface Request {
  /** The client's address as the configured trust in proxies has it. */
  readonly ip?: string | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Where a request came from. One that a proxy passed on without being trusted did not come from the proxy's own address:
 * else a proxy on this machine would make every client look local.
 */
export function originOf(request: Request): string {
  const { socket, headers } = request;
  // `ip` is a getter of express, absent from a bare request.
  const ip = request.ip ?? socket.remoteAddress ?? '';
  const passedOn = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
  return passedOn && ip === socket.remoteAddress ? `proxy ${plainAddress(ip)}` : ip;
}

/** An IPv4 address that arrived over an IPv6 socket, in its own form. */
export function plainAddress(origin: string): string {
  return origin.startsWith('::ffff:') && origin.includes('.') ? origin.slice('::ffff:'.length) : origin;
}

/** Whether a request came from this machine. */
export function isLoopback(origin: string): boolean {
  const address = plainAddress(origin);
  return address === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address);
}
