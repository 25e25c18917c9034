import { type IpRange, overlaps, parseCidr, parseRange } from '../../core/model/cidr.ts';

export interface KnownRoute {
  /** As the system prints its destination. */
  readonly text: string;
  /** The same whole; empty when it cannot be read. */
  readonly cidr: string;
  readonly device?: string;
  /** In place of a device, as `blackhole`. */
  readonly kind?: string;
}

/** Kinds of routes that say where packets to many go. */
const FOR_MANY = new Set(['broadcast', 'multicast', 'anycast']);

/** The routes of `ip -json route show table all` that a block has addresses in common with. */
export function collidingRoutes(cidr: string, json: string, interfaceName: string): string[] {
  const parsed: unknown = json.trim() === '' ? [] : JSON.parse(json);
  const routes = Array.isArray(parsed) ? parsed.flatMap(readRoute) : [];
  return collidingNames(cidr, routes, interfaceName);
}

/**
 * The routes that a block has addresses in common with, as "192.168.1.0/24 on eth0". Default routes do not count, nor
 * their halves, by which VPN clients replace them: any overlay is more specific.
 */
export function collidingNames(cidr: string, routes: readonly KnownRoute[], interfaceName: string): string[] {
  const block = parseCidr(cidr);
  if (!block) return [];
  const colliding = routes.filter((route) => {
    const range = parseRange(route.cidr);
    return route.device !== interfaceName && range && !isDefault(range) && overlaps(block, range);
  });
  const names = colliding.map(({ text, device, kind }) =>
    device === undefined ? `${text} (${kind ?? 'no device'})` : `${text} on ${device}`,
  );
  return [...new Set(names)];
}

function isDefault({ family, from, to }: IpRange): boolean {
  return to - from + 1n >= 1n << (family === 4 ? 31n : 127n);
}

function readRoute(value: unknown): KnownRoute[] {
  const { dst, dev, type } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof dst !== 'string' || FOR_MANY.has(String(type))) return [];
  return [
    {
      text: dst,
      cidr: dst,
      ...(typeof dev === 'string' && { device: dev }),
      ...(typeof type === 'string' && { kind: type }),
    },
  ];
}
