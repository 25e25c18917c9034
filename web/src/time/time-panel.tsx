import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { answer, api } from '../api/client.ts';
import { useLoaded } from '../api/load.ts';
import { route, setQuery } from '../route/route.ts';
import { ReadResult } from '../ui/read-result.tsx';
import { exactTime } from '../ui/time.tsx';
import { ago, DAY_MS, HOUR_MS, instantOfLocal, justBefore, localText, zone } from './moment.ts';
import './time-panel.css';

/** Now, a few moments that are often asked about, or one that is typed. */
export function TimePanel({ close }: { close: () => void }) {
  const at = route.value.query.get('at');
  const typed = useSignal(localText(at ?? new Date().toISOString()));
  const first = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    first.current?.focus();
  }, []);
  const last = useLoaded(() =>
    answer(api.GET('/api/v1/changes', { params: { query: { from: ago(30 * DAY_MS), limit: 1 } } })),
  );
  const lastAt = last.value.value?.items[0]?.at;
  const go = (moment: string | undefined) => {
    setQuery({ at: moment });
    close();
  };
  const moment = instantOfLocal(typed.value);
  const isAhead = moment !== undefined && Date.parse(moment) > Date.now();
  const submit = (event: Event) => {
    event.preventDefault();
    if (moment !== undefined && !isAhead) go(moment);
  };
  return (
    <div class="stack">
      <h2>View another time</h2>
      <p class="small dim">Pages with a history show the network as it was then.</p>
      <ul class="stack-small">
        {at && <Choice label="Back to now" go={() => go(undefined)} />}
        <li>
          <button type="button" ref={first} onClick={() => go(ago(HOUR_MS))}>
            An hour ago
          </button>
        </li>
        <Choice label="24 hours ago" go={() => go(ago(DAY_MS))} />
        {lastAt && <Choice label="Before the last change" go={() => go(justBefore(lastAt))} />}
      </ul>
      <ReadResult of={last.value}>
        {({ items }) => items.length === 0 && <p class="small dim">Nothing changed in the last 30 days.</p>}
      </ReadResult>
      <form class="stack-small" onSubmit={submit}>
        <label class="field">
          Date and time ({zone()})
          <input
            type="datetime-local"
            step={1}
            required
            value={typed.value}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value;
            }}
          />
        </label>
        <p class="small dim">
          {moment === undefined ? '' : isAhead ? 'Choose a time in the past.' : exactTime(moment)}
        </p>
        <button type="submit" class="primary" disabled={moment === undefined || isAhead}>
          View this time
        </button>
      </form>
    </div>
  );
}

function Choice({ label, go }: { label: string; go: () => void }) {
  return (
    <li>
      <button type="button" onClick={go}>
        {label}
      </button>
    </li>
  );
}
