import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { route, setQuery } from '../route/route.ts';
import { type Group, nameOf, type Summary } from './groups.ts';

/** By which label key peers are grouped, which are left out, and which group is shown peer by peer: all in the address. */
export function GroupingFields({ summary }: { summary: Summary }) {
  const { by, keys, groups } = summary;
  const { query } = route.value;
  const narrowed = query.get('label') ?? '';
  const label = useSignal(narrowed);
  useLayoutEffect(() => {
    label.value = narrowed;
  }, [narrowed]);
  const narrow = (event: Event) => {
    event.preventDefault();
    setQuery({ label: label.value.trim() });
  };
  const [kind, ...name] = (query.get('expand') ?? '').split(' ');
  const isAlone = groups.some((group) => group.kind === 'peer');
  return (
    <form class="grouping" onSubmit={narrow}>
      {by !== null && (
        <label class="field">
          Group by
          <select value={by} onChange={({ currentTarget }) => setQuery({ by: currentTarget.value, expand: undefined })}>
            {!keys.some(({ key }) => key === by) && <option value={by}>{by}</option>}
            {keys.map(({ key, values }) => (
              <option key={key} value={key}>
                {key} ({values} {values === 1 ? 'value' : 'values'})
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="field">
        Only peers with
        <input
          value={label.value}
          placeholder="such as role=db, env=prod"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            label.value = currentTarget.value;
          }}
          onBlur={() => setQuery({ label: label.value.trim() })}
        />
      </label>
      {isAlone && by !== null && (
        <span class="row">
          Expanded: <strong class="break">{nameOf({ kind: kind as Group['kind'], name: name.join(' ') }, by)}</strong>
          <button type="button" onClick={() => setQuery({ expand: undefined })}>
            Collapse
          </button>
        </span>
      )}
    </form>
  );
}
