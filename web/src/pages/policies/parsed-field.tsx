import { useSignal } from '@preact/signals';
import { useFaults } from '../../ui/form.tsx';

interface ParsedFieldProps<T> {
  readonly label: string;
  readonly hint?: string;
  /** Pointers of what it stands for in the policy. */
  readonly at?: readonly string[];
  readonly value: T;
  readonly text: (value: T) => string;
  /** What the text means, or why it means nothing. */
  readonly read: (text: string) => { readonly value: T } | { readonly fault: string };
  readonly change: (value: T) => void;
}

/** A line of text that stands for a value. What is typed stays as it is typed, until the value changes elsewhere. */
export function ParsedField<T>({ label, hint, at = [], value, text, read, change }: ParsedFieldProps<T>) {
  const typed = useSignal(text(value));
  const fault = useSignal('');
  const meant = read(typed.value);
  const isSame = 'fault' in meant ? fault.value !== '' : JSON.stringify(meant.value) === JSON.stringify(value);
  const { marks, faults } = useFaults('', at);
  const shown = isSame ? typed.value : text(value);
  return (
    <label class="field">
      {label}
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={shown}
        {...marks}
        aria-invalid={'aria-invalid' in marks || (isSame && fault.value !== '')}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          const next = read(currentTarget.value);
          fault.value = 'fault' in next ? next.fault : '';
          if ('value' in next) change(next.value);
        }}
      />
      {isSame && fault.value !== '' && (
        <span class="fault" role="alert">
          {fault.value}
        </span>
      )}
      {hint && <span class="hint dim">{hint}</span>}
      {faults}
    </label>
  );
}
