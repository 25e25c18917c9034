import { TEXT_LIMITS } from '../base/text.ts';
import { visibleLine } from '../base/visible-line.ts';

/** People named in one entry of the audit log; the rest are counted. */
const MAX_NAMES = 20;

/** The name of a group as an issuer has it, for a line of the audit log. */
export function groupWord(displayName: string): string {
  return visibleLine(displayName).slice(0, TEXT_LIMITS.name);
}

/** Says of people by their user names who joined a group and who left it; empty where nobody did. */
export function movesText(joined: readonly string[], left: readonly string[]): string {
  const told = [...movedText(joined, 'joined'), ...movedText(left, 'left')];
  return told.length === 0 ? '' : `: ${told.join('; ')}`;
}

function movedText(names: readonly string[], verb: string): string[] {
  if (names.length === 0) return [];
  const more = names.length - MAX_NAMES;
  return [`${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''} ${verb}`];
}
