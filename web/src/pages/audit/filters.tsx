import { useSignal } from '@preact/signals';
import { holds } from '../../api/workspace.ts';
import { actorOf } from '../../design/actor-words.ts';
import { route, setQuery } from '../../route/route.ts';
import { instantOf, instantOfLocal, localText, zone } from '../../time/moment.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FIELDS, KINDS } from './filter.ts';

/** What is looked for. It goes into the address at once, so that it can be shared and comes back. */
export function Filters() {
  const { query } = route.value;
  const of = (name: string) => query.get(name) ?? '';
  const [actor, kind, name, type, log] = [
    useSignal(of('actor')),
    useSignal(of('kind')),
    useSignal(of('name')),
    useSignal(of('type')),
    useSignal(of('log')),
  ];
  const [from, to] = [useSignal(localOf(of('from'))), useSignal(localOf(of('to')))];
  const submit = (event: Event) => {
    event.preventDefault();
    setQuery({
      actor: actorOf(actor.value.trim()),
      kind: kind.value,
      name: name.value.trim(),
      type: type.value,
      log: log.value,
      from: instantOfLocal(from.value),
      to: instantOfLocal(to.value),
    });
  };
  const kinds = [...new Set([...KINDS, ...(kind.value ? [kind.value] : [])])];
  const isFiltered = [...FIELDS, 'log'].some((field) => query.has(field));
  return (
    <details open={isFiltered || isWide()}>
      <summary>Filters</summary>
      <form class="filters" onSubmit={submit}>
        {holds('workspaces:write') && (
          <SelectField
            label="Log"
            value={log}
            options={[
              ['', 'this workspace'],
              ['installation', 'the installation: sign-ins, accounts, workspaces'],
            ]}
          />
        )}
        <TextField
          label="Who"
          placeholder="Such as ada or agent ops"
          value={actor}
          autocomplete="off"
          spellcheck={false}
        />
        <SelectField label="Kind" value={kind} options={[['', 'any'], ...kinds.map((one) => [one, one] as const)]} />
        <TextField label="Name of what changed" value={name} autocomplete="off" spellcheck={false} />
        <SelectField
          label="Entries"
          value={type}
          options={[
            ['', 'any'],
            ['commit', 'changes'],
            ['event', 'security events'],
          ]}
        />
        <TextField label={`From (${zone()})`} type="datetime-local" value={from} />
        <TextField label={`To (${zone()})`} type="datetime-local" value={to} />
        <button type="submit">Show</button>
        {isFiltered && (
          <button
            type="button"
            class="quiet"
            onClick={() => setQuery(Object.fromEntries([...FIELDS, 'log'].map((field) => [field, undefined])))}
          >
            Clear the filters
          </button>
        )}
      </form>
    </details>
  );
}

/** On a narrow screen the list comes first. */
const isWide = () => matchMedia('(min-width: 720px)').matches;

/** An instant of the address as its field has it: empty for what is none. */
function localOf(text: string): string {
  const at = instantOf(text);
  return at === undefined ? '' : localText(at);
}
