import type { Signal } from '@preact/signals';

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
  value,
  type = 'text',
  ...props
}: { label: string; hint?: string; value: Signal<string> } & InputProps) {
  return (
    <label class="field">
      {label}
      <input
        {...props}
        type={type as 'text'}
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
      {hint && <span class="hint dim">{hint}</span>}
    </label>
  );
}

/** One of a few. */
export function SelectField({
  label,
  hint,
  value,
  options,
}: {
  label: string;
  hint?: string;
  value: Signal<string>;
  options: readonly (readonly [value: string, text: string])[];
}) {
  return (
    <label class="field">
      {label}
      <select
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
    </label>
  );
}

/** Yes or no. */
export function CheckField({ label, hint, value }: { label: string; hint?: string; value: Signal<boolean> }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked;
        }}
      />
      <span class="stack-small">
        {label}
        {hint && <span class="hint dim">{hint}</span>}
      </span>
    </label>
  );
}
