import { Resolver } from 'node:dns/promises';
import { isLoopback } from '../../core/base/loopback.ts';

/** Every address that a name has, IPv4 first. @throws Error where it has none or nobody answers in time */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

const TIMEOUT_MS = 2_500;
const TRIES = 2;
const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Asks the name servers of the machine. Not by `getaddrinfo`: that holds one of the few threads of the process, which passwords
 * and files share, for as long as somebody's name server takes its time. So names of `/etc/hosts` are not known, but for
 * `localhost`, which always is the loopback (RFC 6761).
 */
export const resolveByDns: Resolve = async (host, signal) => {
  if (isLoopback(host)) return LOOPBACK;
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.throwIfAborted();
    const found = [v4, v6].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};
