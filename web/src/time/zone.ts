import { signal } from '@preact/signals';

const KEY = 'mesh.utc';

/** The zone of the browser, as `Europe/Berlin`. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** True if times are shown, and typed, in UTC in place of the zone of the browser. */
export const isUtc = signal(wasUtc());

/** A view in another program has no storage. */
function wasUtc(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export function setUtc(next: boolean): void {
  isUtc.value = next;
  if (next) localStorage.setItem(KEY, 'yes');
  else localStorage.removeItem(KEY);
}
