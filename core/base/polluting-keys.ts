import { invalidInput } from './errors.ts';
import { jsonPointer } from './json-pointer.ts';
import { JSON_LIMITS, tooDeep } from './json-text.ts';

/** Characters of the pointer that are shown: a key may be as long as the request. */
const MAX_POINTER = 1_000;

/**
 * Refuses keys that mean something else than a field to what reads them: a map with `__proto__` loses it unseen, and a
 * selector without its label means everyone.
 *
 * @throws MeshError `invalid_input` with the place, or for more levels than a request may have
 */
export function refusePollution(input: unknown): void {
  const reversed = pathOfPollution(input, 0);
  if (!reversed) return;
  const pointer = jsonPointer(reversed.reverse()).slice(-MAX_POINTER);
  throw invalidInput([{ pointer, detail: 'This key is not accepted.' }], `Remove the key ${pointer}.`);
}

/** The path to the first such key, its last part first: it is made on the way back, so that no level copies it. */
function pathOfPollution(value: unknown, depth: number): (string | number)[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > JSON_LIMITS.depth) throw tooDeep();
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const path = pathOfPollution(value[index], depth + 1);
      if (path) {
        path.push(index);
        return path;
      }
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    const inner: unknown = value[key as keyof typeof value];
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(inner))) return [key];
    const path = pathOfPollution(inner, depth + 1);
    if (path) {
      path.push(key);
      return path;
    }
  }
  return undefined;
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
