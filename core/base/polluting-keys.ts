import { invalidInput } from './errors.ts';
import { jsonPointer } from './json-pointer.ts';

/**
 * Refuses keys that mean something else than a field to what reads them: a map with `__proto__` loses it unseen, and a
 * selector without its label means everyone.
 *
 * By a list of its own, not by recursion: the depth is the sender's choice.
 *
 * @throws MeshError `invalid_input` with the place
 */
export function refusePollution(input: unknown): void {
  const pending: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: input, path: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, path } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      const at = [...path, key];
      if (key === '__proto__' || (key === 'constructor' && hasPrototype(inner))) {
        const pointer = jsonPointer(at);
        throw invalidInput([{ pointer, detail: 'This key is not accepted.' }], `Remove the key ${pointer}.`);
      }
      if (typeof inner === 'object' && inner !== null) pending.push({ value: inner, path: at });
    }
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
