import { denyForms, isolateForms, limitForms, revokeForms } from './forms/closing.ts';
import { type Form, form } from './forms/form.ts';
import { allowForms, keepForms, onlyForms } from './forms/opening.ts';
import { unfinishedForms } from './forms/unfinished.ts';
import type { Token } from './lexicon.ts';
import { match, type Slots } from './match.ts';

/** The grammar, in the order in which it is tried. `{both}` are two sides, `{source}` reaches and `{target}` is reached. */
export const FORMS: readonly Form[] = [
  form('denyByDefault', 'deny everything by default', [
    'DENY|CLOSE {everything} BY_DEFAULT',
    'DENY|CLOSE ACCESS BY_DEFAULT',
  ]),
  form('deletePolicy', 'delete the policy <name>', [
    'DELETE|REVOKE|DENY POLICY {name}',
    'DELETE|REVOKE|DENY {name} POLICY',
  ]),
  form('renamePolicy', 'rename the policy <name> to <name>', [
    'RENAME POLICY {name} TO {next}',
    'RENAME {name} POLICY TO {next}',
  ]),
  form('undo', 'undo the last change', ['UNDO LAST_CHANGE', 'UNDO']),
  ...onlyForms(),
  ...denyForms(),
  ...allowForms(),
  ...isolateForms(),
  ...revokeForms(),
  ...limitForms(),
  ...keepForms(),
  ...unfinishedForms(),
];

/** The sentences that are understood. */
export const SHAPES: readonly string[] = FORMS.flatMap(({ shape }) => shape ?? []);

/** The form that fits a whole statement, and what its slots caught. */
export function formOf(words: readonly Token[]): { form: Form; slots: Slots } | undefined {
  const tokens = words[0]?.sym === 'KEEP' ? words.map(withoutReaching) : words;
  for (const candidate of FORMS) {
    for (const pattern of candidate.patterns) {
      const slots = match(pattern, tokens);
      if (slots) return { form: candidate, slots };
    }
  }
  return undefined;
}

/** "Keep web from reaching db" forbids it, and "keep web reaching db" does not. */
function withoutReaching(token: Token): Token {
  return token.sym === 'REACHING' && token.text.startsWith('from ') ? { ...token, sym: 'FROM' } : token;
}
