import { useId } from 'preact/hooks';
import { viewerTime } from '../../ui/zoned-time.tsx';
import { typedTime } from './order-rows.ts';

interface TimeFieldProps {
  readonly label: string;
  readonly value: string;
  /** What can be written, as examples. */
  readonly forms: string;
  /** What an empty field means. */
  readonly placeholder: string;
  /** Texts that are often meant. */
  readonly options?: readonly string[];
  /** Of the workspace; undefined until it is known. */
  readonly timeZone: string | undefined;
  readonly faults: readonly string[] | undefined;
  readonly change: (text: string) => void;
}

/** A time of an order, in text. It says what can be written, by whose clocks it is read, and what those of the viewer show then. */
export function TimeField({ label, value, forms, placeholder, options = [], timeZone, ...of }: TimeFieldProps) {
  const id = useId();
  const { faults = [], change } = of;
  const at = timeZone === undefined ? undefined : typedTime(value, timeZone);
  const own = at && timeZone && viewerTime(at, timeZone);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        list={options.length > 0 ? `${id}-options` : undefined}
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        maxLength={64}
        aria-invalid={faults.length > 0}
        aria-describedby={`${id}-hint ${id}-faults`}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id={`${id}-options`}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
      <span id={`${id}-hint`} class="hint dim break">
        As {forms}
        {timeZone && `, in ${timeZone}`}.{own && ` That is ${own}.`}
      </span>
      <span id={`${id}-faults`}>
        <RowFaultsText of={faults} />
      </span>
    </div>
  );
}

export function RowFaultsText({ of = [] }: { of: readonly string[] | undefined }) {
  return of.length === 0 ? null : <span class="fault break">{of.join(' ')}</span>;
}
