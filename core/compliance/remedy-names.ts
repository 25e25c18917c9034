import { foldName } from '../base/record.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';

/** A name that no policy has yet. */
export function freeName(state: Pick<NetworkState, 'policies' | 'waiting'>, wanted: string): string {
  const taken = new Set([...writtenPolicies(state).keys()].map(foldName));
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`;
  return name;
}
