import { invalidInput } from '../base/errors.ts';
import { foldName } from '../base/record.ts';
import { normalizeName } from '../model/resources.ts';

/**
 * Refuses documents of which two have one name.
 *
 * @param at pointer of the document at an index
 * @throws MeshError `invalid_input`
 */
export function refuseDoubles(
  word: 'agent' | 'rule',
  manifests: readonly { readonly metadata: { readonly name: string } }[],
  at: (index: number) => string,
): void {
  const seen = new Set<string>();
  for (const [index, { metadata }] of manifests.entries()) {
    const name = foldName(normalizeName(metadata.name));
    if (seen.has(name)) {
      const detail = `The ${word} ${metadata.name} is named twice: say it once.`;
      throw invalidInput([{ pointer: `${at(index)}/metadata/name`, detail }], detail);
    }
    seen.add(name);
  }
}
