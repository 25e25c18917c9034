import { formatInstant } from '../base/time.ts';
import type { Question } from '../history/pair/question-reader.ts';
import type { ParsedCauseQuestion } from './question.ts';

/** The call of another tool that answers a question, with its arguments filled in. */
export interface Redirect {
  readonly tool: 'check_connectivity_at' | 'diff_snapshots';
  readonly arguments: Readonly<Record<string, string | number>>;
}

/** A question that another tool answers. */
export type RedirectQuestion = Extract<Question, { readonly about: 'reach' | 'changes' }>;

/** "What could reach db-1?" is a check with one end open, "what changed?" a difference. */
export function redirectOf(asked: RedirectQuestion, { range, isMoment, time }: ParsedCauseQuestion): Redirect {
  const [from, to] = [formatInstant(range.since), formatInstant(range.to)];
  if (asked.about === 'changes') return { tool: 'diff_snapshots', arguments: { from, to } };
  const { src, dst, protocol, port } = asked;
  const [end] = [src, dst].filter((one) => one !== undefined);
  const scope = { ...(protocol && { protocol }), ...(port !== undefined && { port }) };
  const ends = { ...(src?.term && { src: src.term }), ...(dst?.term && { dst: dst.term }) };
  const isOnePeer = end?.peers.length === 1 && end.term === end.peers[0]?.name;
  // Over a range the tool tells of one peer, on all ports.
  const isOverRange = time !== undefined && !isMoment && isOnePeer && protocol === undefined;
  const when = isOverRange ? { from, to } : { at: to };
  return { tool: 'check_connectivity_at', arguments: { ...ends, ...scope, ...when } };
}
