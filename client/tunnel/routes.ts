import { type IpRange, overlaps, parseCidr, parseRange } from '../../core/network/cidr.ts';

/** One route as `ip -json route show table all` prints it; only what is read here. */
interface Route {
  readonly dst: string;
  readonly dev?: string;
  readonly type?: string;
}

/**
 * The routes of `ip -json route show table all` that a block has addresses in common with, as "192.168.1.0/24 on eth0".
 * Default routes do not count, nor their halves, by which VPN clients replace them: any overlay is more specific.
 */
export function collidingRoutes(cidr: string, json: string, interfaceName: string): string[] {
  const block = parseCidr(cidr);
  if (!block) return [];
  const colliding = routesOf(json).filter(({ dst, dev, type }) => {
    const range = parseRange(dst);
    return dev !== interfaceName && !NO_HOSTS.has(type ?? '') && range && !isDefault(range) && overlaps(block, range);
  });
  return [
    ...new Set(
      colliding.map(({ dst, dev, type }) => `${dst} ${dev === undefined ? `(${type ?? 'no device'})` : `on ${dev}`}`),
    ),
  ];
}

/** Kinds of routes that say where packets to many go. */
const NO_HOSTS = new Set(['broadcast', 'multicast', 'anycast']);

function isDefault({ family, from, to }: IpRange): boolean {
  return to - from + 1n >= 1n << (family === 4 ? 31n : 127n);
}

function routesOf(json: string): Route[] {
  const routes: unknown = json.trim() === '' ? [] : JSON.parse(json);
  if (!Array.isArray(routes)) return [];
  return routes.filter((route): route is Route => typeof (route as Partial<Route> | null)?.dst === 'string');
}
