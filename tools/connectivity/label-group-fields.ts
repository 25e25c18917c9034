import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { isLabelTerm } from '../../core/peers/peer-filter.ts';
import { type Grouping, labelGroups, type PeerGroup } from '../../core/state/label-groups.ts';
import type { NetworkState } from '../../core/state/state.ts';

/** How a question puts peers into groups. */
export const groupingFields = {
  by: lineOfText(TEXT_LIMITS.term)
    .min(1)
    .optional()
    .describe('Label key; none: the one that most peers have, with few values'),
  expand: lineOfText(TEXT_LIMITS.term)
    .optional()
    .describe('Value whose peers stand alone, 200 at most; empty: those without the key'),
  label: lineOfText(TEXT_LIMITS.term).optional().describe('Only peers with k=v,k!=v'),
};

export const groupKind = z.enum(['label', 'unlabelled', 'rest', 'peer', 'outside']);

/** @throws MeshError `invalid_input` for what is no label */
export function groupedBy(state: NetworkState, grouping: Grouping) {
  if (grouping.label !== undefined && !isLabelTerm(grouping.label)) {
    const detail = 'Write key=value, several apart by commas.';
    throw invalidInput([{ pointer: '/label', detail }], `/label: ${detail}`);
  }
  return labelGroups(state, grouping);
}

export function onlineIn(state: NetworkState, { peers }: PeerGroup): number {
  return peers.filter((name) => state.presence.get(name)?.spec.online).length;
}
