import { signal } from '@preact/signals';
import { answer, api } from './client.ts';

/** Undefined until the control plane told. */
export const edition = signal<string | undefined>(undefined);

/** Asks once, where a page depends on it. */
export function askEdition(isNeeded: boolean): void {
  if (!isNeeded || edition.peek() !== undefined) return;
  answer(api.GET('/api/v1/discovery')).then(
    ({ edition: told }) => {
      edition.value = told;
    },
    // The page itself tells what is refused.
    () => {},
  );
}
