import { invalidInput } from './errors.ts';
import { jsonPointer } from './json-pointer.ts';

/**
 * Refuses keys that mean something else than a field to what reads them: a map with `__proto__` loses it unseen, and a
 * selector without its label means everyone.
 *
 * A list of its own holds what is left to visit, so no depth ends the walk. Each entry knows its parent, from which the
 * path is read once a key is refused: a path for each level would cost the depth squared.
 *
 * @throws MeshError `invalid_input` with the place
 */
export function refusePollution(input: unknown): void {
  const pending: Place[] = [{ value: input }];
  for (let place = pending.pop(); place; place = pending.pop()) {
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const [index, inner] of value.entries()) {
        if (typeof inner === 'object' && inner !== null) pending.push({ value: inner, key: index, parent: place });
      }
      continue;
    }
    for (const key of Object.keys(value)) {
      const inner: unknown = value[key as keyof typeof value];
      if (key === '__proto__' || (key === 'constructor' && hasPrototype(inner))) {
        throw refused({ value: inner, key, parent: place });
      }
      if (typeof inner === 'object' && inner !== null) pending.push({ value: inner, key, parent: place });
    }
  }
}

interface Place {
  readonly value: unknown;
  readonly key?: string | number;
  readonly parent?: Place;
}

/** Characters of the pointer that are shown: a key may be as long as the request. */
const MAX_POINTER = 1_000;

function refused(place: Place) {
  const path: (string | number)[] = [];
  for (let at: Place | undefined = place; at?.key !== undefined; at = at.parent) path.push(at.key);
  const pointer = jsonPointer(path.reverse()).slice(-MAX_POINTER);
  return invalidInput([{ pointer, detail: 'This key is not accepted.' }], `Remove the key ${pointer}.`);
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
