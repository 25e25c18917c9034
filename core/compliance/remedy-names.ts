import { foldName } from '../base/record.ts';
import type { NetworkState } from '../state/state.ts';

/** A name that no policy has yet. */
export function freeName({ policies }: Pick<NetworkState, 'policies'>, wanted: string): string {
  const taken = new Set([...policies.keys()].map(foldName));
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`;
  return name;
}
