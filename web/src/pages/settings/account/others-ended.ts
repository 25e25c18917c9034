import { signal } from '@preact/signals';
import { say } from '../../../ui/message.tsx';

const count = signal(0);

/** Read by the list of sessions, which is then read again each time others ended. */
export const othersEnded: { readonly value: number } = count;

/** Says what was done that ended the person's other sessions. */
export function sayOthersEnded(text: string): void {
  count.value += 1;
  say(text);
}
