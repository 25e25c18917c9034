import { containsRange, type IpRange, parseAddress, parseCidr } from '../model/cidr.ts';
import { isGlobal } from '../model/public-addresses.ts';

/** Where a webhook is sent to. */
export interface Target {
  readonly url: URL;
  /** As it is looked up: a name in lower case and Punycode, or an address without brackets. */
  readonly host: string;
  /** Set where the host is an address and not a name. */
  readonly address?: string;
}

/** The targets outside of the internet that the installation allows for webhooks: names, addresses and CIDRs. */
export interface TargetAllowList {
  readonly hosts: ReadonlySet<string>;
  readonly ranges: readonly IpRange[];
}

/** Longest URL. */
export const MAX_URL = 1_024;

/** Reads the entries of the setting; those that are neither name, address nor CIDR are left out ({@link isAllowEntry}). */
export function allowListOf(entries: readonly string[]): TargetAllowList {
  const ranges = entries.map(rangeOf);
  const hosts = entries.filter((_, index) => ranges[index] === undefined).map((entry) => entry.toLowerCase());
  return { hosts: new Set(hosts), ranges: ranges.flatMap((range) => range ?? []) };
}

/** Returns true if an entry of the setting is a name, an address or a CIDR. */
export function isAllowEntry(entry: string): boolean {
  return rangeOf(entry) !== undefined || (/^[\w.-]{1,253}$/.test(entry) && /[a-z]/i.test(entry));
}

function rangeOf(entry: string): IpRange | undefined {
  return parseCidr(entry) ?? parseAddress(entry);
}

/**
 * Reads the URL of a webhook. The URL parser makes every spelling of an address (decimal, octal, hexadecimal, with a dot at
 * the end) the usual one, so what is judged is what would be connected to.
 *
 * @returns why it is refused, as a text
 */
export function targetOf(text: string, allowed: TargetAllowList): Target | string {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'Write a URL such as https://hooks.example.com/mesh.';
  if (url.username !== '' || url.password !== '') {
    return 'Leave out the user name and the password: what a delivery holds is proven by its signature.';
  }
  if (url.hash !== '') return 'Leave out the part from # on: it is not sent.';
  if (url.hostname.endsWith('.')) return 'Write the host without a dot at its end.';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const address = parseAddress(host) ? host : undefined;
  const target: Target = { url, host, ...(address !== undefined && { address }) };
  const refused = address === undefined ? undefined : refusalOf(target, [address], allowed);
  if (refused !== undefined) return refused;
  // A name is resolved at each attempt, so its addresses are checked only then.
  if (address === undefined && url.protocol === 'http:' && !allowed.hosts.has(host) && allowed.ranges.length === 0) {
    return HTTPS_ONLY;
  }
  return target;
}

const HTTPS_ONLY = 'Use https: http is for hosts that the setting app.webhooks.allow names (MESH_WEBHOOK_ALLOW).';

/**
 * Why nothing is sent to the addresses of a target: every single one has to be on the internet or allowed. Undefined where
 * they are.
 */
export function refusalOf(
  { url, host }: Target,
  addresses: readonly string[],
  allowed: TargetAllowList,
): string | undefined {
  if (addresses.length === 0) return `${host} has no address.`;
  const isNamed = allowed.hosts.has(host);
  const isInside = (address: string) => {
    const range = parseAddress(address);
    return range !== undefined && allowed.ranges.some((one) => containsRange(one, range));
  };
  if (isNamed || addresses.every(isInside)) return undefined;
  if (url.protocol !== 'https:') return HTTPS_ONLY;
  const isRefused = addresses.some((address) => {
    const range = parseAddress(address);
    return range === undefined || !(isGlobal(range) || isInside(address));
  });
  if (!isRefused) return undefined;
  // The address is not told: names of the inside would be looked up through it.
  return `${host} is, or also is, an address that is not on the internet; the setting app.webhooks.allow (MESH_WEBHOOK_ALLOW) lets webhooks reach one.`;
}
