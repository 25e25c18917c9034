import { isThisMachine } from '../../../../core/base/loopback.ts';

/** Returns true where a text is the address of a control plane that other machines may reach. */
export function isReachable(server: string): boolean {
  const url = URL.parse(server);
  return url !== null && /^https?:$/.test(url.protocol) && !isThisMachine(url.hostname);
}
