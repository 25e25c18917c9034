const IPV4 = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
/** `::1` and `::ffff:127.0.0.0/104` in the form of RFC 5952 that a URL gives them. */
const IPV6 = /^\[::(?:1|ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})\]$/;
/** RFC 6761 section 6.3: no name server is asked for these. */
const NAME = /^(?:[a-z0-9_-]+\.)*localhost\.?$/;

/**
 * Returns true where a host is this machine alone: an address of 127.0.0.0/8, `::1`, either inside IPv6, or a name of RFC 6761.
 *
 * @param host an address, in brackets or not, or a name
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  if (name.includes(':')) return IPV6.test(URL.parse(`http://[${name.replace(/^\[|\]$/g, '')}]`)?.hostname ?? '');
  return IPV4.test(name) || NAME.test(name);
}

/** Does the same for the host of a URL or of `host:port`; false where the text is neither. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopback(URL.parse(url.includes('://') ? url : `tcp://${url}`)?.hostname ?? '');
}

/** Returns true where the host of a URL names whatever machine reads it: a loopback, or no address in particular. */
export function isThisMachine(host: string): boolean {
  return isLoopback(host) || ['0.0.0.0', '::', '[::]'].includes(host);
}
