import { lookUpById } from '../../model/find.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Group } from './who.ts';

const MAX_NAME = 40;

/** Returns a group as a part of a policy's name: `db`, `web-1`, `web-1-and-2-more`, `peers`. */
export function selectorName({ selector, network }: Group, { peers }: Pick<NetworkState, 'peers'>): string {
  const { peers: ids, notPeers = [], matchLabels = {}, matchExpressions = [] } = selector;
  const [first, ...more] = ids ?? [];
  const list =
    first === undefined
      ? []
      : [lookUpById(peers, first)?.name ?? 'gone', ...(more.length > 0 ? [`and-${more.length}-more`] : [])];
  const labels = [
    ...Object.values(matchLabels),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      if (operator === 'In') return values[0] ?? key;
      return operator === 'Exists' ? key : `no-${values[0] ?? key}`;
    }),
  ];
  const others = labels.length > 0 ? labels : network === undefined ? [] : [network];
  const parts = list.length > 0 ? list : others;
  const named = parts.length === 0 ? [notPeers.length > 0 ? 'most-peers' : 'peers'] : parts;
  return named
    .join('-')
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, MAX_NAME);
}
