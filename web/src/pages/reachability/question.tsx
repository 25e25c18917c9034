import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { type Asked, queryOf } from '../../reach/asked.ts';
import { goTo, linkTo } from '../../route/route.ts';
import { SelectField } from '../../ui/field.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP', 'ICMP'] as const;
const SUGGESTED = 20;

/** Who, whom, and on which port. Asking changes the address. */
export function Question({ asked }: { asked: Asked }) {
  const [src, dst] = [useSignal(asked.src), useSignal(asked.dst)];
  const [protocol, port] = [useSignal(asked.protocol), useSignal(asked.port)];
  useLayoutEffect(() => {
    [src.value, dst.value, protocol.value, port.value] = [asked.src, asked.dst, asked.protocol, asked.port];
  }, [asked.src, asked.dst, asked.protocol, asked.port]);
  const submit = (event: Event) => {
    event.preventDefault();
    const next = { src: src.value, dst: dst.value, protocol: protocol.value, port: port.value };
    const trimmed = Object.fromEntries(Object.entries(next).map(([name, value]) => [name, value.trim()]));
    goTo(linkTo('reachability', [], queryOf(trimmed as typeof next)));
  };
  return (
    <form class="question" onSubmit={submit} aria-label="Who may reach whom">
      <EndField label="From" value={src} />
      <EndField label="To" value={dst} />
      <SelectField
        label="Protocol"
        value={protocol}
        options={[['', 'any'], ...PROTOCOLS.map((name) => [name, name] as const)]}
      />
      <label class="field port">
        Port
        <input
          inputMode="numeric"
          value={port.value}
          autocomplete="off"
          maxLength={5}
          onInput={({ currentTarget }) => {
            port.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit" class="primary">
        Check
      </button>
    </form>
  );
}

/** One end; the names that begin as what is typed are suggested. */
function EndField({ label, value }: { label: string; value: { value: string } }) {
  const id = useId();
  const typed = useSignal('');
  const loaded = useLoaded(
    async () => {
      const prefix = typed.value;
      if (prefix === '' || /[=,!]/.test(prefix)) return [];
      const query = { prefix, limit: SUGGESTED, fields: ['name' as const] };
      return (await answer(api.GET('/api/v1/peers', { params: { query } }))).items.map(({ name }) => name);
    },
    { live: false },
  );
  return (
    <label class="field end">
      {label}
      <input
        list={id}
        value={value.value}
        placeholder="anyone"
        title="Peer, label=value, address or outside. Empty: anyone"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
          typed.value = currentTarget.value.trim();
        }}
      />
      <datalist id={id}>
        {(loaded.value.value ?? []).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ReadResult of={loaded.value} loading="" />
    </label>
  );
}
