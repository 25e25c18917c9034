import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { Options, optionId } from '../design/options.tsx';
import type { Suggestion } from './suggestion.ts';
import './words-field.css';

interface WordsFieldProps {
  readonly label: string;
  readonly words: readonly string[];
  readonly change: (words: readonly string[]) => void;
  /** Returns words that go on from a text. */
  readonly complete: (text: string) => readonly Suggestion[];
  readonly placeholder?: string;
  /** Stands between words that are typed or pasted at once. */
  readonly separator?: RegExp;
  readonly faults?: readonly string[] | undefined;
}

const MAX_LENGTH = 200;

/**
 * Several words, each a chip. Enter takes the chosen suggestion or the text as it is; leaving the field takes the text too;
 * Backspace in the empty field takes the last word out.
 */
export function WordsField({ label, words, change, complete, placeholder, separator, faults = [] }: WordsFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal('');
  const isOpen = useSignal(false);
  /** −1 for the text itself. */
  const chosen = useSignal(-1);
  const suggestions = isOpen.value ? complete(text.value).filter(({ word }) => !words.includes(word)) : [];
  const set = (next: string) => {
    text.value = next;
    chosen.value = -1;
  };
  const take = (typed: string) => {
    const taken = separator ? typed.split(separator) : [typed];
    const added = taken.map((word) => word.trim()).filter((word) => word !== '' && !words.includes(word));
    set('');
    isOpen.value = false;
    if (added.length > 0) change([...words, ...new Set(added)]);
  };
  const remove = (word: string) => {
    change(words.filter((one) => one !== word));
    input.current?.focus();
  };
  const move = (step: number) => {
    if (!isOpen.value) isOpen.value = true;
    else chosen.value = Math.max(-1, Math.min(suggestions.length - 1, chosen.value + step));
  };
  const onKey = (event: KeyboardEvent) => {
    const { key } = event;
    const suggestion = suggestions[chosen.value];
    if (key === 'ArrowDown') move(1);
    else if (key === 'ArrowUp') move(-1);
    else if (key === 'Escape' && isOpen.value) {
      isOpen.value = false;
      chosen.value = -1;
    } else if (key === 'Enter' && (suggestion || text.value.trim() !== '')) {
      take(suggestion?.word ?? text.value);
      // Ctrl Enter goes on to the form, with the word.
      if (event.ctrlKey || event.metaKey) return;
    } else if (key === 'Backspace' && text.value === '' && words.length > 0) change(words.slice(0, -1));
    else return;
    event.preventDefault();
  };
  const list = `${id}-list`;
  const fault = `${id}-fault`;
  return (
    <div class="field words-field">
      <label for={id}>{label}</label>
      <div class="words">
        {words.map((word) => (
          <span key={word} class="word">
            <span class="break">{word}</span>
            <button type="button" aria-label={`Remove ${word} from ${label}`} onClick={() => remove(word)}>
              <span aria-hidden="true">×</span>
            </button>
          </span>
        ))}
        <input
          id={id}
          ref={input}
          type="text"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={suggestions.length > 0}
          aria-controls={suggestions.length > 0 ? list : undefined}
          aria-activedescendant={suggestions[chosen.value] && optionId(list, chosen.value)}
          aria-invalid={faults.length > 0}
          aria-describedby={faults.length > 0 ? fault : undefined}
          placeholder={words.length === 0 ? placeholder : undefined}
          autocomplete="off"
          spellcheck={false}
          maxLength={MAX_LENGTH}
          value={text.value}
          onInput={({ currentTarget }) => {
            set(currentTarget.value);
            isOpen.value = currentTarget.value !== '';
          }}
          onClick={() => (isOpen.value = true)}
          onKeyDown={onKey}
          onBlur={() => take(text.value)}
        />
        {suggestions.length > 0 && (
          <Options
            id={list}
            label={label}
            options={suggestions.map(({ word, about }) => ({ value: word, text: word, about }))}
            active={chosen.value}
            take={({ value }) => take(value)}
            onKey={onKey}
          />
        )}
      </div>
      {faults.length > 0 && (
        <span id={fault} class="fault break">
          {faults.join(' ')}
        </span>
      )}
    </div>
  );
}
