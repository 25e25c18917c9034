import type { Effect, EffectGroup } from './effect.ts';
import { type PortSpan, spanText } from './port-spans.ts';
import type { Risk } from './risk.ts';

/** One change as people read it. */
export interface ShownChange {
  readonly action: 'create' | 'update' | 'delete';
  readonly resource: string;
  readonly name: string;
  /** YAML; empty for a creation. */
  readonly before: string;
  /** YAML; empty for a deletion. */
  readonly after: string;
}

const MAX_ROWS = 40;
const MAX_NAMES = 6;

/** The plan as Markdown, for display and for messages that ask for approval. The same plan gives the same text. */
export function diffMarkdown(
  summary: string,
  changes: readonly ShownChange[],
  effect: Effect,
  risk: Risk,
  warnings: readonly string[],
): string {
  const lines = [
    `# ${plain(summary)}`,
    '',
    `Risk: **${risk.level}**${risk.reasons.length > 0 ? ` (${risk.reasons.map(plain).join('; ')})` : ''}`,
    '',
  ];
  lines.push('## Changes', '');
  if (changes.length === 0) lines.push('None.');
  for (const { action, resource, name, before, after } of changes) {
    lines.push(`### ${action} ${resource} \`${code(name)}\``, '', '```diff', ...lineDiff(before, after), '```', '');
  }
  lines.push(...table('Opens', effect, 'opened'), ...table('Closes', effect, 'closed'));
  lines.push(`Unchanged: ${effect.unchangedPairs} pairs of peers.`);
  if (warnings.length > 0) lines.push('', '## Warnings', '', ...warnings.map((warning) => `- ${plain(warning)}`));
  return `${lines.join('\n')}\n`;
}

function table(title: string, effect: Effect, side: 'opened' | 'closed'): string[] {
  const rows = effect.groups.filter((group) => group[side].length > 0);
  const pairs = side === 'opened' ? effect.openedPairs : effect.closedPairs;
  if (rows.length === 0) return [`## ${title}`, '', 'Nothing.', ''];
  const shown = rows.slice(0, MAX_ROWS).map((group) => row(group, group[side]));
  const rest = rows.length - shown.length;
  return [
    `## ${title} (${pairs} ${pairs === 1 ? 'pair' : 'pairs'})`,
    '',
    '| from | to | ports |',
    '|---|---|---|',
    ...shown,
    ...(rest > 0 ? [`| … | … | ${rest} more rows |`] : []),
    '',
  ];
}

function row({ src, dst }: EffectGroup, spans: readonly PortSpan[]): string {
  return `| ${names(src)} | ${names(dst)} | ${spanText(spans)} |`;
}

function names(all: readonly string[]): string {
  const shown = [...all].sort().slice(0, MAX_NAMES).map(plain).join(', ');
  return all.length > MAX_NAMES ? `${shown} and ${all.length - MAX_NAMES} more` : shown;
}

/** Text from users as text: no markup, one line. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#]/g, '\\$&');
}

function code(text: string): string {
  return text.replaceAll('`', "'");
}

/** Lines of the longest common subsequence stay, the others go or come. */
function lineDiff(before: string, after: string): string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  if (old.length * fresh.length > MAX_CELLS)
    return [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)];
  const width = fresh.length + 1;
  const length = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      length[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const out: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      out.push(` ${old[i]}`);
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= fresh.length || at(i + 1, j) >= at(i, j + 1))) out.push(`-${old[i++]}`);
    else out.push(`+${fresh[j++]}`);
  }
  return out;
}

/** Longer texts are shown whole instead of compared line by line. */
const MAX_CELLS = 4_000_000;

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
