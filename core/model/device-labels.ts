import { invalidInput, MeshError } from '../base/errors.ts';
import { listOf } from '../base/list.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { labelKeySchema, labelValueSchema, MAX_LABELS } from './labels.ts';
import { RESERVED_LABEL_PREFIX } from './presets.ts';
import type { TokenSpec } from './token-record.ts';

/** Labels that a join token grants: `role=web`, or `zone` for any value. */
export const deviceLabelsSchema = listOf(
  lineOfText(TEXT_LIMITS.term)
    .refine(isGrant, { error: 'write a label as key=value, or as key for any value' })
    .refine((text) => !text.startsWith(RESERVED_LABEL_PREFIX), {
      error: `labels that begin with ${RESERVED_LABEL_PREFIX} are set by the control plane alone`,
    }),
  MAX_LABELS,
);

function isGrant(text: string): boolean {
  const [key, value] = splitGrant(text);
  return labelKeySchema.safeParse(key).success && (value === undefined || labelValueSchema.safeParse(value).success);
}

/** The key of a grant and its value; undefined for any value. */
export function splitGrant(text: string): [string, string | undefined] {
  const end = text.indexOf('=');
  return end < 0 ? [text, undefined] : [text.slice(0, end), text.slice(end + 1)];
}

/**
 * The labels that a device asks for, where its token grants each of them. One that the token gives anyway may be asked for.
 *
 * @throws MeshError `forbidden` that says what it grants
 */
export function grantedLabels(
  { kind, labels, deviceLabels = [] }: Pick<TokenSpec, 'kind' | 'labels' | 'deviceLabels'>,
  asked: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const grants = new Set(kind === 'join' ? deviceLabels : []);
  for (const [key, value] of Object.entries(asked)) {
    if (Object.hasOwn(labels, key) ? labels[key] === value : isGranted(grants, key, value)) continue;
    const all = [...Object.entries(labels).map(([own, is]) => `${own}=${is}`), ...grants];
    const what = all.length === 0 ? 'no labels' : all.join(', ');
    throw new MeshError(
      'forbidden',
      `This token does not grant the label ${key}=${value}: it grants ${what}. Ask for others, or for a token that does.`,
    );
  }
  if (Object.keys({ ...asked, ...labels }).length <= MAX_LABELS) return asked;
  const detail = `With those of its token a device has at most ${MAX_LABELS} labels.`;
  throw invalidInput([{ pointer: '/labels', detail }], detail);
}

function isGranted(grants: ReadonlySet<string>, key: string, value: string): boolean {
  return !key.startsWith(RESERVED_LABEL_PREFIX) && (grants.has(key) || grants.has(`${key}=${value}`));
}
