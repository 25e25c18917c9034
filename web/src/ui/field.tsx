import type { Signal } from '@preact/signals';
import { useFaults } from './form.tsx';

interface Named {
  readonly label: string;
  readonly hint?: string;
  /** Names that the API has for it, where its label is none of them. */
  readonly fields?: readonly string[];
}

interface InputProps {
  readonly type?: 'text' | 'password' | 'number' | 'date' | 'datetime-local' | 'url';
  readonly placeholder?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly minLength?: number;
  readonly spellcheck?: boolean;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly maxLength?: number;
}

/** A labelled line of text that is held in a signal. */
export function TextField({
  label,
  hint,
  fields,
  value,
  type = 'text',
  ...props
}: Named & { value: Signal<string> } & InputProps) {
  const { marks, faults } = useFaults(label, fields);
  return (
    <label class="field">
      {label}
      <input
        {...props}
        {...marks}
        type={type as 'text'}
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
      {hint && <span class="hint dim">{hint}</span>}
      {faults}
    </label>
  );
}

/** Several lines of code, held in a signal. */
export function AreaField({
  label,
  hint,
  fields,
  value,
  required = false,
}: Named & Pick<InputProps, 'required'> & { value: Signal<string> }) {
  const { marks, faults } = useFaults(label, fields);
  return (
    <label class="field">
      {label}
      <textarea
        {...marks}
        rows={3}
        class="mono"
        spellcheck={false}
        required={required}
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
      {hint && <span class="hint dim">{hint}</span>}
      {faults}
    </label>
  );
}

/** One of a few. */
export function SelectField({
  label,
  hint,
  fields,
  value,
  options,
}: Named & {
  value: Signal<string>;
  options: readonly (readonly [value: string, text: string])[];
}) {
  const { marks, faults } = useFaults(label, fields);
  return (
    <label class="field">
      {label}
      <select
        {...marks}
        value={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      >
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {hint && <span class="hint dim">{hint}</span>}
      {faults}
    </label>
  );
}

/** Yes or no. */
export function CheckField({ label, hint, fields, value }: Named & { value: Signal<boolean> }) {
  const { marks, faults } = useFaults(label, fields);
  return (
    <label class="check">
      <input
        {...marks}
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked;
        }}
      />
      <span class="stack-small">
        {label}
        {hint && <span class="hint dim">{hint}</span>}
        {faults}
      </span>
    </label>
  );
}
