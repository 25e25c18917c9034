import type { Selector } from '../model/policy.ts';
import type { WorkspaceSettings } from '../model/workspaces.ts';

/** Which peers the controls of a framework are about. */
export type DataScope = 'cde' | 'ephi' | 'everyone';

/** A label that puts a peer in scope; of a key alone any value does that is not a no. */
type Mark = readonly [key: string, value?: string];

const DEFAULT_MARKS: Readonly<Record<Exclude<DataScope, 'everyone'>, readonly Mark[]>> = {
  cde: [['compliance.scope', 'cde'], ['pci'], ['data', 'cardholder']],
  ephi: [['compliance.scope', 'ephi'], ['phi'], ['ephi'], ['data', 'phi']],
};

/** Values of a label that say it is not meant. */
const NO: ReadonlySet<string> = new Set(['false', 'no', 'none']);

/** Which labels put a peer in the scope of a framework. */
export interface ScopeRule {
  readonly includes: (labels: Readonly<Record<string, string>>) => boolean;
  /** The peers of each label, for policies about them. */
  readonly selectors: readonly Selector[];
  /** As `compliance.scope=cde, or any pci`. */
  readonly text: string;
}

/** The labels of a workspace, where its settings name some; else those that everyone has. */
export function scopeRule(scope: DataScope, { compliance }: Pick<WorkspaceSettings, 'compliance'>): ScopeRule {
  if (scope === 'everyone') return { includes: () => true, selectors: [{}], text: 'every peer' };
  const own = compliance?.[scope];
  const marks = own ? own.map(markOf) : DEFAULT_MARKS[scope];
  return {
    includes: (labels) => marks.some((mark) => isMarked(labels, mark)),
    selectors: marks.map(selectorOf),
    text: marks.map(([key, value]) => (value === undefined ? `any ${key}` : `${key}=${value}`)).join(', or '),
  };
}

function isMarked(labels: Readonly<Record<string, string>>, [key, value]: Mark): boolean {
  const found = Object.hasOwn(labels, key) ? labels[key] : undefined;
  return found !== undefined && (value === undefined ? !NO.has(found.toLowerCase()) : found === value);
}

function selectorOf([key, value]: Mark): Selector {
  if (value !== undefined) return { matchLabels: { [key]: value } };
  return {
    matchExpressions: [
      { key, operator: 'Exists' },
      { key, operator: 'NotIn', values: [...NO] },
    ],
  };
}

function markOf(text: string): Mark {
  const end = text.indexOf('=');
  return [text.slice(0, end), text.slice(end + 1)];
}
