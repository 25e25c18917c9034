import { MeshError } from '../../../core/base/errors.ts';

const NAME = /^[A-Za-z_][\w.-]*$/;
const FAMILIES: ReadonlySet<string> = new Set(['ip', 'ip6', 'inet', 'arp', 'bridge', 'netdev']);

/**
 * "inet filter input" as words of a command: nft reads its arguments as a script, in which other characters may be commands.
 * The kernel takes any name, from whoever may load rules.
 *
 * @throws MeshError `unavailable` for other names
 */
export function nftName(of: string): readonly string[] {
  const [family = '', ...names] = of.split(' ');
  if (FAMILIES.has(family) && names.length > 0 && names.every((name) => NAME.test(name))) return [family, ...names];
  throw new MeshError('unavailable', `${JSON.stringify(of)} has a name that is not given to nft`);
}

/** Whether `nftName` takes it. */
export function isNftName(of: string): boolean {
  try {
    return nftName(of).length > 0;
  } catch {
    return false;
  }
}
