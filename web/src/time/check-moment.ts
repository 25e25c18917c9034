import { effect } from '@preact/signals';
import { route, setQuery } from '../route/route.ts';
import { texts } from '../texts/texts.ts';
import { say } from '../ui/message.tsx';
import { instantOf } from './moment.ts';

/** Keeps `at` of the address an instant that has passed, as the API writes it: pages take it as it stands. */
export function checkMoment(): () => void {
  return effect(() => {
    const text = route.value.query.get('at');
    if (text === null) return;
    const at = instantOf(text);
    const isPast = at !== undefined && Date.parse(at) <= Date.now();
    if (!isPast) say(texts.shell.noMoment(text));
    if (at !== text || !isPast) setQuery({ at: isPast ? at : undefined });
  });
}
