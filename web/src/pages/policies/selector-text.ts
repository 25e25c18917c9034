import type { Selector } from '../../api/types.ts';

type Expression = NonNullable<Selector['matchExpressions']>[number];

/** Labels of a selector as kubectl writes them: `role=db, env in (prod, stage), tier!=old, gpu, !legacy`. */
export function labelsText({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...equal, ...matchExpressions.map(expressionText)].join(', ');
}

function expressionText({ key, operator, values = [] }: Expression): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(', ')})`;
    case 'NotIn':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(', ')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return operator satisfies never;
  }
}

type Labels = Pick<Selector, 'matchLabels' | 'matchExpressions'>;

/** What a text of labels means; or the first part that is none. */
export function labelsOf(text: string): Labels | string {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: Expression[] = [];
  for (const part of partsOf(text)) {
    const read = partOf(part);
    if (!read) return part;
    if ('operator' in read) matchExpressions.push(read);
    else if (Object.hasOwn(matchLabels, read.key)) return part;
    else matchLabels[read.key] = read.value;
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

/** Parts between commas that stand in no brackets. */
function partsOf(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const letter of text) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (letter === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${letter}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const SET = /^([\w./-]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUAL = /^([\w./-]+)\s*(==?|!=)\s*([\w.-]+)$/;
const PRESENT = /^(!?)\s*([\w./-]+)$/;

function partOf(part: string): Expression | { readonly key: string; readonly value: string } | undefined {
  const [, setKey = '', word, list = ''] = SET.exec(part) ?? [];
  if (word) {
    const values = list
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '');
    return values.length === 0 ? undefined : { key: setKey, operator: word === 'in' ? 'In' : 'NotIn', values };
  }
  const [, key = '', sign, value = ''] = EQUAL.exec(part) ?? [];
  if (sign) return sign === '!=' ? { key, operator: 'NotIn', values: [value] } : { key, value };
  const [, not, present] = PRESENT.exec(part) ?? [];
  return present === undefined ? undefined : { key: present, operator: not ? 'DoesNotExist' : 'Exists' };
}

/** Names with spaces or commas between. */
export function namesOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}
