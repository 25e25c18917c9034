import type { components } from '../../api/schema.d.ts';
import { actorText } from '../../design/actor-words.ts';

export type AuditEntry = components['schemas']['Audit'];

const NAMED = 3;

/** As `1 entry`, `2,000 entries`. */
export function entriesText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'entry' : 'entries'}`;
}

/** Nobody reviewed what the settings of the workspace approve by themselves. */
export function approvedBy(reviewer: string): string {
  return reviewer === '' ? 'approved by itself' : `reviewed by ${actorText(reviewer)}`;
}

/** What an entry is about and why, in words. */
export function whatOf(entry: AuditEntry): string {
  const { event, changes = [] } = entry;
  if (event) return sentenceOf(eventText(entry), whyOf(entry));
  const named = changes.slice(0, NAMED).map(({ type, kind, name }) => `${type} ${kind} ${name}`);
  const more = changes.length > NAMED ? `and ${changes.length - NAMED} more` : '';
  return sentenceOf(whyOf(entry), named.join(', '), more);
}

/** An event in words; of a refusal, which call was refused and how often; of drift, which control and how. */
export function eventText({ event = '', detail: { operation, count, control, from, to } = {} }: AuditEntry): string {
  const words = event.replaceAll(/[._]/g, ' ');
  if (event === 'compliance.drift' && typeof control === 'string') return `${words}: ${control} ${from} → ${to}`;
  if (event !== 'refused') return words;
  const call = operation === 'more' || typeof operation !== 'string' ? 'other calls' : operation.replaceAll('_', ' ');
  const times = typeof count === 'number' && count > 1 ? ` ${count.toLocaleString('en')} times` : '';
  return `${call} refused${times}`;
}

/** Refusals of earlier versions have their code alone. */
export function whyOf({ reason, detail: { code } = {} }: AuditEntry): string {
  return reason ?? (typeof code === 'string' ? code.replaceAll('_', ' ') : '');
}

const sentenceOf = (...parts: readonly string[]) => parts.filter((text) => text !== '').join(': ');
