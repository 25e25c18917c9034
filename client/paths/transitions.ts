import type { Transport } from './status.ts';

/**
 * Which state may follow which. The contract's words, with one transition more than its first system had: `ice-ready` goes to
 * `lrp-ready` at once, so that a dead direct path costs no packets beyond those sent before it was noticed.
 */
export const TRANSITIONS: Readonly<Record<Transport, readonly Transport[]>> = {
  probing: ['ice-ready', 'lrp-ready', 'failed', 'closed'],
  'lrp-ready': ['ice-ready', 'probing', 'failed', 'closed'],
  'ice-ready': ['lrp-ready', 'probing', 'failed', 'closed'],
  failed: ['probing', 'closed'],
  closed: [],
};

/** The states from one to another, without the first and with the last; empty where none leads there. */
export function statesTo(from: Transport, to: Transport): readonly Transport[] {
  if (from === to) return [];
  if (TRANSITIONS[from].includes(to)) return [to];
  const between = TRANSITIONS[from].find((state) => TRANSITIONS[state].includes(to));
  return between === undefined ? [] : [between, to];
}
