import { effect } from '@preact/signals';
import { route, setQuery } from '../route/route.ts';
import { say } from '../ui/message.tsx';
import { instantOf } from './moment.ts';

/** Keeps `at` of the address an instant that has passed, as the API writes it: pages take it as it stands. */
export function checkMoment(): () => void {
  return effect(() => {
    const text = route.value.query.get('at');
    if (text === null) return;
    const at = instantOf(text);
    const isPast = at !== undefined && Date.parse(at) <= Date.now();
    if (!isPast) say(`${text.slice(0, 60)} is no time in the past. What is shown is now.`);
    if (at !== text || !isPast) setQuery({ at: isPast ? at : undefined });
  });
}
